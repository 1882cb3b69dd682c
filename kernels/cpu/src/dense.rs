//! Dense linear algebra by faer, compiled in this crate once for each scalar type: in a program that calls generic code, faer's
//! kernels would be compiled again.

use crate::number::Number;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::ldlt::factor as ldlt;
use faer::linalg::cholesky::llt::factor::{
    LltError, LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::linalg::matmul::triangular::{BlockStructure, matmul_with_conj as triangular};
use faer::linalg::{matmul, triangular_solve};
use faer::traits::ComplexField;
use faer::{Accum, ColRef, Conj, MatMut, MatRef, Par, Spec, c32, c64};

/// A matrix, and whether its entries are conjugated.
pub type Conjugable<'a, T> = (MatRef<'a, T>, Conj);

/// A factor of a product, the part of it that is not zero, and whether its entries are conjugated.
pub type Part<'a, T> = (MatRef<'a, T>, BlockStructure, Conj);

/// The functions, by scalar type. They are no part of the public interface.
pub trait Dense: Number + ComplexField {
    /// Σ |x|². (n)
    #[doc(hidden)]
    fn squared_norm(x: ColRef<'_, Self>) -> Self::Part;

    /// C ← α A B, or C + α A B. (m × n, m × k, k × n)
    #[doc(hidden)]
    fn matmul(
        c: MatMut<'_, Self>,
        accum: Accum,
        a: Conjugable<'_, Self>,
        b: MatRef<'_, Self>,
        alpha: Self,
        par: Par,
    );

    /// The same with parts of the matrices. Entries of C outside of its part are left alone.
    #[doc(hidden)]
    fn triangular_matmul(
        c: (MatMut<'_, Self>, BlockStructure),
        accum: Accum,
        a: Part<'_, Self>,
        b: Part<'_, Self>,
        alpha: Self,
        par: Par,
    );

    /// B ← L⁻¹ B with L lower triangular. (n × n, n × m)
    #[doc(hidden)]
    fn solve_lower(l: Conjugable<'_, Self>, b: MatMut<'_, Self>, par: Par);

    /// B ← U⁻¹ B with U upper triangular. (n × n, n × m)
    #[doc(hidden)]
    fn solve_upper(u: Conjugable<'_, Self>, b: MatMut<'_, Self>, par: Par);

    /// Bytes of working memory of [`cholesky`](Self::cholesky), as a buffer.
    #[doc(hidden)]
    fn cholesky_memory(order: usize, par: Par) -> MemBuffer;

    /// A ← L in the lower triangle; the upper one is working memory, and diagonal entries may have a rounding error as imaginary
    /// part. (n × n)
    ///
    /// # Errors
    /// The first column whose pivot is not positive.
    #[doc(hidden)]
    fn cholesky(a: MatMut<'_, Self>, par: Par, memory: &mut MemBuffer) -> Result<(), usize>;

    /// A ← L D Lᴴ without pivoting: L with a unit diagonal below the diagonal, D, which is real, on it; the upper triangle is working
    /// memory. (n × n)
    ///
    /// # Errors
    /// The first column whose pivot is zero.
    #[doc(hidden)]
    fn ldlt(a: MatMut<'_, Self>, par: Par) -> Result<(), usize>;
}

macro_rules! compiled {
    ($($scalar:ident: |$given:ident| $conj:expr;)*) => {$(
        impl Dense for $scalar {
            fn squared_norm(x: ColRef<'_, Self>) -> Self::Part {
                x.squared_norm_l2()
            }

            fn matmul(
                c: MatMut<'_, Self>,
                accum: Accum,
                (a, $given): Conjugable<'_, Self>,
                b: MatRef<'_, Self>,
                alpha: Self,
                par: Par,
            ) {
                matmul::matmul_with_conj(c, accum, a, $conj, b, Conj::No, alpha, par);
            }

            fn triangular_matmul(
                (c, of_c): (MatMut<'_, Self>, BlockStructure),
                accum: Accum,
                (a, of_a, conj_a): Part<'_, Self>,
                (b, of_b, conj_b): Part<'_, Self>,
                alpha: Self,
                par: Par,
            ) {
                let [conj_a, conj_b] = [conj_a, conj_b].map(|$given| $conj);
                triangular(c, of_c, accum, a, of_a, conj_a, b, of_b, conj_b, alpha, par);
            }

            fn solve_lower((l, $given): Conjugable<'_, Self>, b: MatMut<'_, Self>, par: Par) {
                triangular_solve::solve_lower_triangular_in_place_with_conj(l, $conj, b, par);
            }

            fn solve_upper((u, $given): Conjugable<'_, Self>, b: MatMut<'_, Self>, par: Par) {
                triangular_solve::solve_upper_triangular_in_place_with_conj(u, $conj, b, par);
            }

            fn cholesky_memory(order: usize, par: Par) -> MemBuffer {
                MemBuffer::new(cholesky_in_place_scratch::<Self>(order, par, Spec::default()))
            }

            fn cholesky(a: MatMut<'_, Self>, par: Par, memory: &mut MemBuffer) -> Result<(), usize> {
                let regularization = LltRegularization::default();
                match cholesky_in_place(a, regularization, par, MemStack::new(memory), Spec::default()) {
                    Ok(_) => Ok(()),
                    Err(LltError::NonPositivePivot { index }) => Err(index),
                }
            }

            fn ldlt(a: MatMut<'_, Self>, par: Par) -> Result<(), usize> {
                let scratch = ldlt::cholesky_in_place_scratch::<Self>(a.nrows(), par, Spec::default());
                let mut memory = MemBuffer::new(scratch);
                let regularization = ldlt::LdltRegularization::default();
                match ldlt::cholesky_in_place(a, regularization, par, MemStack::new(&mut memory), Spec::default()) {
                    Ok(_) => Ok(()),
                    Err(ldlt::LdltError::ZeroPivot { index }) => Err(index),
                }
            }
        }
    )*};
}

compiled! {
    f32: |_conj| Conj::No;
    f64: |_conj| Conj::No;
    c32: |conj| conj;
    c64: |conj| conj;
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    /// Entries of order 1, each different.
    fn entry(i: usize, j: usize) -> c64 {
        c64::new(((7 * i + 3 * j) % 11) as f64 / 11.0 - 0.5, ((5 * i + 8 * j) % 13) as f64 / 13.0 - 0.5)
    }

    /// L with a real positive diagonal. (n × n)
    fn lower(n: usize) -> Mat<c64> {
        Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
            core::cmp::Ordering::Less => c64::ZERO,
            core::cmp::Ordering::Equal => c64::new(2.0, 0.0),
            core::cmp::Ordering::Greater => entry(i, j).over((n as f64).sqrt()),
        })
    }

    #[test]
    fn a_complex_matrix_is_factored() {
        for n in [1, 2, 7, 64, 150] {
            let l = lower(n);
            let a = &l * l.adjoint();
            let mut again = a.clone();
            let mut memory = c64::cholesky_memory(n, Par::Seq);
            c64::cholesky(again.as_mut(), Par::Seq, &mut memory).unwrap();
            for j in 0..n {
                for i in j..n {
                    assert!((again[(i, j)] - l[(i, j)]).abs() < 1e-13, "n {n}");
                }
            }
        }
    }

    #[test]
    fn an_indefinite_complex_matrix_is_factored() {
        for n in [1, 2, 7, 64, 150, 300] {
            let l = lower(n);
            let signed = Mat::from_fn(n, n, |i, j| if j % 3 == 1 { -l[(i, j)] } else { l[(i, j)] });
            let mut a = &signed * l.adjoint();
            c64::ldlt(a.as_mut(), Par::Seq).unwrap();
            for j in 0..n {
                let sign = if j % 3 == 1 { -1.0 } else { 1.0 };
                assert!((a[(j, j)].re - 4.0 * sign).abs() < 1e-12, "n {n}");
                assert!((j + 1..n).all(|i| (a[(i, j)].times(2.0) - l[(i, j)]).abs() < 1e-12), "n {n}");
            }
        }
    }

    #[test]
    fn both_halves_of_a_complex_system_are_solved() {
        for (n, m) in [(1, 1), (9, 2), (80, 3)] {
            let (l, b) = (lower(n), Mat::from_fn(n, m, entry));
            let (mut y, mut x) = (&l * &b, l.adjoint() * &b);
            c64::solve_lower((l.as_ref(), Conj::No), y.as_mut(), Par::Seq);
            c64::solve_upper((l.transpose(), Conj::Yes), x.as_mut(), Par::Seq);
            assert!((y - &b).norm_max() < 1e-13 && (x - &b).norm_max() < 1e-13, "n {n}");
        }
    }

    #[test]
    fn an_operand_of_a_product_is_conjugated() {
        let (a, b) = (Mat::from_fn(8, 5, entry), Mat::from_fn(8, 3, |i, j| entry(j, i + 1)));
        let mut c = Mat::zeros(5, 3);
        c64::matmul(c.as_mut(), Accum::Replace, (a.transpose(), Conj::Yes), b.as_ref(), c64::ONE, Par::Seq);
        assert!((c - a.adjoint() * &b).norm_max() < 1e-15);
    }
}
