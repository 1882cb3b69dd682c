//! Initial factors and products of factors, by faer.

use super::dense::Dense;
use crate::error::Error;
use faer::dyn_stack::MemBuffer;
use faer::linalg::matmul::triangular::BlockStructure;
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// A ← L, zero above the diagonal; only the lower triangle of A is read. (n × n)
///
/// # Errors
/// `NotPositiveDefinite` at the first pivot that is not positive.
pub(crate) fn factorize<T: Dense>(a: MatMut<'_, T>, par: Par) -> Result<(), Error> {
    factorize_in(a, par, &mut Memory::default()).map_err(|column| Error::NotPositiveDefinite { column })
}

/// Working memory of [`factorize_in`]. It fits the largest order so far.
#[derive(Default)]
pub struct Memory(Option<(usize, MemBuffer)>);

/// The same, with working memory that is kept between calls.
///
/// # Errors
/// The first column whose pivot is not positive.
pub(crate) fn factorize_in<T: Dense>(
    mut a: MatMut<'_, T>,
    par: Par,
    Memory(memory): &mut Memory,
) -> Result<(), usize> {
    let order = a.nrows();
    let (_, buffer) = match memory.take() {
        Some(fitting) if fitting.0 >= order => memory.insert(fitting),
        _ => memory.insert((order, T::cholesky_memory(order, par))),
    };
    T::cholesky(a.as_mut(), par, buffer)?;
    // faer uses the strict upper triangle of diagonal blocks as working memory.
    for j in 1..a.ncols() {
        a.as_mut().col_mut(j).subrows_mut(0, j).fill(T::ZERO);
    }
    Ok(())
}

/// L Lᵀ, both triangles. (n × n)
pub(crate) fn reconstruct<T: Dense>(l: MatRef<'_, T>, par: Par) -> Mat<T> {
    product(l, l, par)
}

/// K Lᵀ of lower triangles, which is symmetric. (n × n, n × n)
pub(crate) fn product<T: Dense>(k: MatRef<'_, T>, l: MatRef<'_, T>, par: Par) -> Mat<T> {
    let mut a = Mat::zeros(l.nrows(), l.ncols());
    let (lower, upper) = (BlockStructure::TriangularLower, BlockStructure::TriangularUpper);
    T::triangular_matmul(
        (a.as_mut(), lower),
        Accum::Replace,
        (k, lower),
        (l.transpose(), upper),
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
