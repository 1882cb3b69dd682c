//! Checks of arguments, each naming what is wrong.

use crate::error::Error;
use crate::scalar::Scalar;
use faer::{ColRef, MatRef, Par};
use rayon::prelude::*;

/// `found` must be `expected`.
pub(crate) fn extent(
    argument: &'static str,
    extent: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Shape { argument, extent, expected, found }) }
}

/// Every entry must be finite; the largest magnitude.
pub(crate) fn finite<T: Scalar>(argument: &'static str, a: MatRef<'_, T>) -> Result<T, Error> {
    columns(argument, a, |_| 0)
}

/// Every entry of the lower triangle must be finite; the largest magnitude.
pub(crate) fn finite_lower<T: Scalar>(argument: &'static str, a: MatRef<'_, T>) -> Result<T, Error> {
    columns(argument, a, |j| j.min(a.nrows()))
}

fn columns<T: Scalar>(
    argument: &'static str,
    a: MatRef<'_, T>,
    first_row: impl Fn(usize) -> usize,
) -> Result<T, Error> {
    let mut largest = T::ZERO;
    for column in 0..a.ncols() {
        let first = first_row(column);
        match largest_entry(a.col(column).subrows(first, a.nrows() - first)) {
            Ok(entry) => largest = largest.max(entry),
            Err(row) => return Err(Error::NonFinite { argument, row: first + row, column }),
        }
    }
    Ok(largest)
}

/// Columns of V that are looked at together.
pub(crate) const COLUMNS_AT_ONCE: usize = 256;

/// The largest magnitude in each column, or its first row that is not finite. Shared among the threads of
/// `par` where that pays.
pub(crate) fn largest_entries<T: Scalar>(a: MatRef<'_, T>, largest: &mut [Result<T, usize>], par: Par) {
    const WORTH_SHARING: usize = 1 << 17;
    debug_assert!(largest.len() == a.ncols());
    if matches!(par, Par::Seq) || a.nrows() * a.ncols() < WORTH_SHARING {
        largest.iter_mut().zip(a.col_iter()).for_each(|(largest, column)| *largest = largest_entry(column));
    } else {
        let together = a.ncols().div_ceil(par.degree().max(1));
        let largest = largest.par_iter_mut().enumerate().with_min_len(together);
        largest.for_each(|(j, largest)| *largest = largest_entry(a.col(j)));
    }
}

/// The largest magnitude in `column`, or the first row that is not finite.
pub(crate) fn largest_entry<T: Scalar>(column: ColRef<'_, T>) -> Result<T, usize> {
    // x · 0 is 0 for every finite x and NaN for every other; the probe keeps the loops free of branches.
    fn scan<T: Scalar>(entries: impl Iterator<Item = T>, start: (T, T)) -> (T, T) {
        entries.fold(start, |(largest, probe), x| {
            let a = x.abs();
            (if a > largest { a } else { largest }, probe + x * T::ZERO)
        })
    }
    let start = (T::ZERO, T::ZERO);
    let (largest, probe) = match column.try_as_col_major() {
        Some(contiguous) => {
            // Several chains at once: one alone would wait for every addition.
            let (chunks, rest) = contiguous.as_slice().as_chunks::<8>();
            let mut lanes = [start; 8];
            for chunk in chunks {
                for (lane, &x) in lanes.iter_mut().zip(chunk) {
                    *lane = scan(core::iter::once(x), *lane);
                }
            }
            let (largest, probe) = scan(rest.iter().copied(), start);
            lanes.iter().fold((largest, probe), |(m, p), &(largest, probe)| (m.max(largest), p + probe))
        }
        None => scan(column.iter().copied(), start),
    };
    if probe == T::ZERO { Ok(largest) } else { Err(column.iter().position(|x| !x.is_finite()).unwrap_or(0)) }
}
