//! Matrices that are not processed in lanes: as single factors, under the same contract.

use super::operand::BatchRef;
use super::tiles::{Extent, Tile};
use crate::cpu::HostFactor;
use crate::element::Element;
use crate::error::Error;
use crate::factor::Factor;
use crate::factor::verbs::Compiled;
use crate::host::threads::Threads;
use crate::operand::Operand;
use crate::report::Modification;
use crate::storage::Safeguard;
use crate::sweep::weights::Weights;
use cholupdate_kernels::batch::change::Change;
use cholupdate_kernels::number::Number;
use faer::{Mat, Par};

/// Scalars for which a single factor in host memory is compiled.
pub(crate) trait Alone: Element + Compiled<HostFactor<Self>> {}
impl<T: Element + Compiled<HostFactor<T>>> Alone for T {}

/// A single factor of L.
fn single<T: Alone>(l: &Mat<T>) -> Result<Factor<T, HostFactor<T>>, Error> {
    let (l, start) = T::checked(&Operand::Host(l.as_ref()), Par::Seq)?;
    Ok(Factor::new(HostFactor::new(Threads::Fixed(1), Safeguard::default(), l), start))
}

/// The new factor of matrix number `at` of a tile, number `matrix` of the batch.
///
/// # Errors
/// As [`Cholesky::modify`](crate::Cholesky::modify).
pub(crate) fn modify<T: Alone>(
    (tile, extent, at): (&Tile<T>, Extent, usize),
    change: &Change<'_, T>,
    matrix: usize,
) -> Result<(Mat<T>, Modification), Error> {
    let (order, [_, _, rank]) = (tile.orders[at] as usize, change.v.shape());
    let weights: Vec<T::Part> = (0..rank).map(|r| change.weights.of(matrix, r, rank)).collect();
    // What has no weight may be anything, as in lanes.
    let entry = |i, r: usize| {
        if weights[r] == T::Part::ZERO { T::ZERO } else { change.v.get(matrix, i, r) }
    };
    let v = Mat::from_fn(order, rank, entry);
    let mut factor = single(&tile.factor(extent, at))?;
    let report = T::modify(&mut factor, &Operand::Host(v.as_ref()), Weights::Each(&weights))?;
    Ok((T::to_l(&factor)?, report))
}

/// The factor of matrix number `at` of a tile with a further row and column, number `matrix` of `a`.
///
/// # Errors
/// As [`Cholesky::append`](crate::Cholesky::append), naming `a`.
pub(crate) fn append<T: Alone>(
    (tile, extent, at): (&Tile<T>, Extent, usize),
    a: BatchRef<'_, T>,
    matrix: usize,
) -> Result<(Mat<T>, Modification), Error> {
    let order = tile.orders[at] as usize;
    let cross = Mat::from_fn(order, 1, |i, _| a.get(matrix, i, 0));
    let corner = Mat::from_fn(1, 1, |_, _| a.get(matrix, order, 0));
    let (cross, corner) = (Operand::Host(cross.as_ref()), Operand::Host(corner.as_ref()));
    let mut factor = single(&tile.factor(extent, at))?;
    let report = T::append(&mut factor, &cross, &corner, Par::Seq).map_err(|error| match error {
        Error::NonFinite { argument: "corner", .. } => {
            Error::NonFinite { argument: "a", row: order, column: 0 }
        }
        error => error.with_argument("a"),
    })?;
    Ok((T::to_l(&factor)?, report))
}

/// The factor of matrix number `at` of a tile without a row and column.
///
/// # Errors
/// As [`Cholesky::remove`](crate::Cholesky::remove).
pub(crate) fn remove<T: Alone>(
    (tile, extent, at): (&Tile<T>, Extent, usize),
    row: usize,
) -> Result<(Mat<T>, Modification), Error> {
    let mut factor = single(&tile.factor(extent, at))?;
    let report = T::remove(&mut factor, &[row])?;
    Ok((T::to_l(&factor)?, report))
}

/// The factor of A, of which the lower triangle is read.
///
/// # Errors
/// As [`Cholesky::new`](crate::Cholesky::new).
pub(crate) fn factorize<T: Alone>(a: &Mat<T>) -> Result<Mat<T>, Error> {
    T::factored(&Operand::Host(a.as_ref()), Par::Seq).map(|(l, _)| l)
}

/// L with a real diagonal that is not negative.
///
/// # Errors
/// As [`Cholesky::from_factor`](crate::Cholesky::from_factor).
pub(crate) fn adopt<T: Alone>(l: &Mat<T>) -> Result<Mat<T>, Error> {
    T::checked(&Operand::Host(l.as_ref()), Par::Seq).map(|(l, _)| l)
}
