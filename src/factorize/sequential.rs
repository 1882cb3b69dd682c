//! One thread: Banachiewicz's method by rows and Crout's by columns, in several layouts.

use super::storage::{Columns, Nested, Rows, Storage, to_mat};
use crate::error::Error;
use crate::real::Real;
use faer::{Mat, MatRef};
use std::time::{Duration, Instant};

/// The sequential methods. They differ in the order of the entries and in the memory layout of the matrix.
///
/// Source: J. P. T. Ruschel, *Parallel Implementations of the Cholesky Decomposition on CPUs and GPUs*, UFRGS
/// (2016), sections 4.1 and 4.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sequential {
    /// Row after row, from one row-major array to another.
    Banachiewicz,
    /// Column after column, from one array of rows to another.
    CroutNested,
    /// The same from one row-major array to another.
    CroutContiguous,
    /// The same from one column-major array to another: a sum over a row of L accesses memory with a stride.
    CroutTransposed,
    /// Row-major, in the array of A.
    CroutInPlace,
    /// Column-major, in the array of A.
    CroutInPlaceTransposed,
}

impl Sequential {
    /// All of them, in the order of the thesis.
    pub const ALL: [Self; 6] = [
        Self::Banachiewicz,
        Self::CroutNested,
        Self::CroutContiguous,
        Self::CroutTransposed,
        Self::CroutInPlace,
        Self::CroutInPlaceTransposed,
    ];
}

pub(super) fn factorize<T: Real>(a: MatRef<'_, T>, variant: Sequential) -> Result<(Mat<T>, Duration), Error> {
    match variant {
        Sequential::Banachiewicz => run::<T, Rows<T>>(a, |a, l, n| banachiewicz(a, l, n)),
        Sequential::CroutNested => run::<T, Nested<T>>(a, |a, l, n| crout(Some(a), l, n)),
        Sequential::CroutContiguous => run::<T, Rows<T>>(a, |a, l, n| crout(Some(a), l, n)),
        Sequential::CroutTransposed => run::<T, Columns<T>>(a, |a, l, n| crout(Some(a), l, n)),
        Sequential::CroutInPlace => run_in_place::<T, Rows<T>>(a),
        Sequential::CroutInPlaceTransposed => run_in_place::<T, Columns<T>>(a),
    }
}

fn run<T: Real, S: Storage<T>>(
    a: MatRef<'_, T>,
    method: impl FnOnce(&S, &mut S, usize) -> Result<(), Error>,
) -> Result<(Mat<T>, Duration), Error> {
    let order = a.nrows();
    let (a, mut l) = (S::from_lower(a), S::zeros(order));
    let start = Instant::now();
    method(&a, &mut l, order)?;
    let elapsed = start.elapsed();
    Ok((to_mat(order, &l), elapsed))
}

fn run_in_place<T: Real, S: Storage<T>>(a: MatRef<'_, T>) -> Result<(Mat<T>, Duration), Error> {
    let order = a.nrows();
    let mut l = S::from_lower(a);
    let start = Instant::now();
    crout(None, &mut l, order)?;
    let elapsed = start.elapsed();
    Ok((to_mat(order, &l), elapsed))
}

/// Computes l_jj from a_jj and the sum of the squares left of it.
pub(super) fn pivot<T: Real>(a: T, sum: T, column: usize) -> Result<T, Error> {
    let square = a - sum;
    if square > T::ZERO { Ok(square.sqrt()) } else { Err(Error::NotPositiveDefinite { column }) }
}

/// Row after row.
fn banachiewicz<T: Real, S: Storage<T>>(a: &S, l: &mut S, order: usize) -> Result<(), Error> {
    for i in 0..order {
        for j in 0..i {
            l.set(i, j, (a.get(i, j) - l.dot(i, j, j)) / l.get(j, j));
        }
        l.set(i, i, pivot(a.get(i, i), l.dot(i, i, i), i)?);
    }
    Ok(())
}

/// Column after column. Without `a`, `l` holds A.
fn crout<T: Real, S: Storage<T>>(a: Option<&S>, l: &mut S, order: usize) -> Result<(), Error> {
    for j in 0..order {
        let diagonal = pivot(a.unwrap_or(l).get(j, j), l.dot(j, j, j), j)?;
        l.set(j, j, diagonal);
        for i in j + 1..order {
            l.set(i, j, (a.unwrap_or(l).get(i, j) - l.dot(i, j, j)) / diagonal);
        }
    }
    Ok(())
}
