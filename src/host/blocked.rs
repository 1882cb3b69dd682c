//! Initial factors and products of factors, by faer.

use crate::error::Error;
use crate::scalar::Scalar;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{
    LltError, LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::{Accum, Mat, MatMut, MatRef, Par, Spec};

/// A ← L, zero above the diagonal; only the lower triangle of A is read. (n × n)
///
/// # Errors
/// `NotPositiveDefinite` at the first pivot that is not positive.
pub(crate) fn factorize<T: Scalar>(a: MatMut<'_, T>, par: Par) -> Result<(), Error> {
    factorize_in(a, par, &mut Memory::default()).map_err(|column| Error::NotPositiveDefinite { column })
}

/// Working memory of [`factorize_in`]. It fits the largest order so far.
#[derive(Default)]
pub struct Memory(Option<(usize, MemBuffer)>);

/// The same, with working memory that is kept between calls.
///
/// # Errors
/// The first column whose pivot is not positive.
pub(crate) fn factorize_in<T: Scalar>(
    mut a: MatMut<'_, T>,
    par: Par,
    Memory(memory): &mut Memory,
) -> Result<(), usize> {
    let order = a.nrows();
    let (_, buffer) = match memory.take() {
        Some(fitting) if fitting.0 >= order => memory.insert(fitting),
        _ => {
            let needed = cholesky_in_place_scratch::<T>(order, par, Spec::default());
            memory.insert((order, MemBuffer::new(needed)))
        }
    };
    let made = cholesky_in_place(
        a.as_mut(),
        LltRegularization::default(),
        par,
        MemStack::new(buffer),
        Spec::default(),
    );
    match made {
        Ok(_) => {
            // faer uses the strict upper triangle of diagonal blocks as working memory.
            for j in 1..a.ncols() {
                a.as_mut().col_mut(j).subrows_mut(0, j).fill(T::ZERO);
            }
            Ok(())
        }
        Err(LltError::NonPositivePivot { index }) => Err(index),
    }
}

/// L Lᵀ, both triangles. (n × n)
pub(crate) fn reconstruct<T: Scalar>(l: MatRef<'_, T>, par: Par) -> Mat<T> {
    let mut a = Mat::zeros(l.nrows(), l.ncols());
    matmul(
        a.as_mut(),
        BlockStructure::TriangularLower,
        Accum::Replace,
        l,
        BlockStructure::TriangularLower,
        l.transpose(),
        BlockStructure::TriangularUpper,
        T::ONE,
        par,
    );
    for j in 0..a.ncols() {
        for i in j + 1..a.nrows() {
            a[(j, i)] = a[(i, j)];
        }
    }
    a
}
