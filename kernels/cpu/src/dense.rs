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
