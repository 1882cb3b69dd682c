//! Checks of what each process has, and what all know of it.

use super::moves;
use super::network::Network;
use super::rows::LocalRows;
use crate::check::finite;
use crate::error::Error;
use crate::real::Real;
use crate::sweep::cyclic::Cyclic;
use faer::{Mat, MatRef};

/// Checks that the rows of a process are finite. The error names the row of the whole matrix.
pub(super) fn finite_rows<T: Real>(
    name: &'static str,
    cyclic: &Cyclic,
    rows: MatRef<'_, T>,
) -> Result<(), Error> {
    finite(name, rows).map(|_| ()).map_err(|error| match error {
        Error::NonFinite { argument, row, column } => {
            Error::NonFinite { argument, row: cyclic.row(row), column }
        }
        error => error,
    })
}

/// The same for the lower triangle.
pub(super) fn finite_lower_rows<T: Real>(
    name: &'static str,
    cyclic: &Cyclic,
    rows: MatRef<'_, T>,
) -> Result<(), Error> {
    for j in 0..rows.ncols() {
        let first = cyclic.before(j);
        if let Some(at) = rows.col(j).iter().skip(first).position(|x| !x.is_finite()) {
            return Err(Error::NonFinite { argument: name, row: cyclic.row(first + at), column: j });
        }
    }
    Ok(())
}

/// The largest of a number that each process has, if it fits.
///
/// # Errors
/// `Overflow`, on all processes.
pub(super) fn fits(net: &impl Network, mine: f64, argument: &'static str, most: f64) -> Result<f64, Error> {
    let mut word = [!mine.to_bits()];
    net.least(&mut word);
    let largest = f64::from_bits(!word[0]);
    if !(largest <= most) { Err(Error::Overflow { argument }) } else { Ok(largest) }
}

/// The pivots of all processes. (n)
pub(super) fn all_pivots<T: Real>(net: &impl Network, l: &LocalRows<T>) -> Vec<T> {
    let (cyclic, mine) = (l.cyclic, l.diagonal().collect::<Vec<_>>());
    let mut all = Mat::zeros(cyclic.order, 1);
    moves::gather_rows(net, &cyclic, MatRef::from_column_major_slice(&mine, mine.len(), 1), all.as_mut());
    (0..cyclic.order).map(|i| all[(i, 0)]).collect()
}
