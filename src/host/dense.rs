//! Dense linear algebra by faer, compiled in this crate once for each scalar type: in a program that calls generic code, faer's
//! kernels would be compiled again.

use crate::float::Float;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::ldlt::factor as ldlt;
use faer::linalg::cholesky::llt::factor::{
    LltError, LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular};
use faer::linalg::{matmul, triangular_solve};
use faer::traits::RealField;
use faer::{Accum, MatMut, MatRef, Par, Spec};

/// A factor of a product, and the part of it that is not zero.
pub type Part<'a, T> = (MatRef<'a, T>, BlockStructure);

/// The functions, by scalar type. They are no part of the public interface.
pub trait Dense: Float + RealField {
    /// C ← α A B, or C + α A B. (m × n, m × k, k × n)
    #[doc(hidden)]
    fn matmul(
        c: MatMut<'_, Self>,
        accum: Accum,
        a: MatRef<'_, Self>,
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
    fn solve_lower(l: MatRef<'_, Self>, b: MatMut<'_, Self>, par: Par);

    /// B ← U⁻¹ B with U upper triangular. (n × n, n × m)
    #[doc(hidden)]
    fn solve_upper(u: MatRef<'_, Self>, b: MatMut<'_, Self>, par: Par);

    /// Bytes of working memory of [`cholesky`](Self::cholesky), as a buffer.
    #[doc(hidden)]
    fn cholesky_memory(order: usize, par: Par) -> MemBuffer;

    /// A ← L in the lower triangle; the upper one is working memory. (n × n)
    ///
    /// # Errors
    /// The first column whose pivot is not positive.
    #[doc(hidden)]
    fn cholesky(a: MatMut<'_, Self>, par: Par, memory: &mut MemBuffer) -> Result<(), usize>;

    /// A ← L D Lᵀ without pivoting: L with a unit diagonal below the diagonal, D on it; the upper triangle is working memory. (n × n)
    ///
    /// # Errors
    /// The first column whose pivot is zero.
    #[doc(hidden)]
    fn ldlt(a: MatMut<'_, Self>, par: Par) -> Result<(), usize>;
}

macro_rules! compiled {
    ($($scalar:ident)*) => {$(
        impl Dense for $scalar {
            fn matmul(c: MatMut<'_, Self>, accum: Accum, a: MatRef<'_, Self>, b: MatRef<'_, Self>, alpha: Self, par: Par) {
                matmul::matmul(c, accum, a, b, alpha, par);
            }

            fn triangular_matmul(
                (c, of_c): (MatMut<'_, Self>, BlockStructure),
                accum: Accum,
                (a, of_a): Part<'_, Self>,
                (b, of_b): Part<'_, Self>,
                alpha: Self,
                par: Par,
            ) {
                triangular(c, of_c, accum, a, of_a, b, of_b, alpha, par);
            }

            fn solve_lower(l: MatRef<'_, Self>, b: MatMut<'_, Self>, par: Par) {
                triangular_solve::solve_lower_triangular_in_place(l, b, par);
            }

            fn solve_upper(u: MatRef<'_, Self>, b: MatMut<'_, Self>, par: Par) {
                triangular_solve::solve_upper_triangular_in_place(u, b, par);
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

compiled!(f32 f64);
