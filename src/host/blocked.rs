//! Initial factors and products of factors, by faer.

use super::layout::make_diagonal_real;
use crate::error::Error;
use cholupdate_kernels::dense::Dense;
use faer::dyn_stack::MemBuffer;
use faer::linalg::matmul::triangular::BlockStructure;
use faer::{Accum, Conj, Mat, MatMut, MatRef, Par};

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
    make_diagonal_real(a.as_mut());
    // faer uses the strict upper triangle of diagonal blocks as working memory.
    for j in 1..a.ncols() {
        a.as_mut().col_mut(j).subrows_mut(0, j).fill(T::ZERO);
    }
    Ok(())
}

/// L Lᴴ, both triangles. (n × n)
pub(crate) fn reconstruct<T: Dense>(l: MatRef<'_, T>, par: Par) -> Mat<T> {
    product(l, l, par)
}

/// K Lᴴ of lower triangles, which is equal to its conjugate transpose. (n × n, n × n)
pub(crate) fn product<T: Dense>(k: MatRef<'_, T>, l: MatRef<'_, T>, par: Par) -> Mat<T> {
    let mut a = Mat::zeros(l.nrows(), l.ncols());
    let (lower, upper) = (BlockStructure::TriangularLower, BlockStructure::TriangularUpper);
    T::triangular_matmul(
        (a.as_mut(), lower),
        Accum::Replace,
        (k, lower, Conj::No),
        (l.transpose(), upper, Conj::Yes),
        T::ONE,
        par,
    );
    for j in 0..a.ncols() {
        // The imaginary part of a diagonal entry is what rounding has left.
        a[(j, j)] = T::of_real(a[(j, j)].real());
        for i in j + 1..a.nrows() {
            a[(j, i)] = a[(i, j)].conj();
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use cholupdate_kernels::number::Number;
    use faer::c64;

    #[test]
    fn factors_and_products_of_complex_matrices_have_real_diagonals() {
        for n in [1, 2, 7, 64, 150] {
            let entry =
                |i: usize, j: usize| c64::new((7 * i + 3 * j) as f64 % 11.0, (5 * i + 8 * j) as f64 % 13.0);
            let l = Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
                core::cmp::Ordering::Less => c64::ZERO,
                core::cmp::Ordering::Equal => c64::new(30.0 + i as f64, 0.0),
                core::cmp::Ordering::Greater => entry(i, j).over(n as f64),
            });
            let a = reconstruct(l.as_ref(), Par::Seq);
            assert!((&a - &l * l.adjoint()).norm_max() < 1e-14 * a.norm_max(), "n {n}");
            assert!((0..n).all(|j| (0..=j).all(|i| a[(i, j)] == a[(j, i)].conj())), "n {n}");
            let mut again = a.clone();
            factorize(again.as_mut(), Par::Seq).unwrap();
            assert!((&again - &l).norm_max() < 1e-14 * l.norm_max(), "n {n}");
            assert!((0..n).all(|j| again[(j, j)].im == 0.0 && again[(j, j)].re > 0.0), "n {n}");
        }
    }
}
