//! Derivatives of X = A⁻¹ B, by L.

use super::given::square;
use crate::check::extent;
use crate::error::Error;
use crate::real::Real;
use faer::linalg::matmul::triangular::BlockStructure;
use faer::{Accum, Conj, Mat, MatMut, MatRef, Par};

/// As [`solve_vjp`](super::solve_vjp): the cotangents of L and B.
///
/// With b̄ = A⁻¹ x̄ the cotangent of A is −b̄ xᵀ, and that of L the lower triangle of −(b̄ xᵀ + x b̄ᵀ) L.
pub(super) fn pull<T: Real>(
    l: MatRef<'_, T>,
    x: MatRef<'_, T>,
    cotangent: MatRef<'_, T>,
) -> Result<(Mat<T>, Mat<T>), Error> {
    let (n, m) = (l.nrows(), x.ncols());
    check(l, x)?;
    extent("cotangent", "rows", n, cotangent.nrows())?;
    extent("cotangent", "columns", m, cotangent.ncols())?;
    let mut b = cotangent.to_owned();
    solve_l(l, b.as_mut());
    let z = b.clone(); // Lᵀ b̄
    solve_lt(l, b.as_mut());
    let y = lower_transposed(l, x);
    let mut of_l = Mat::zeros(n, n);
    subtract_lower(of_l.as_mut(), b.as_ref(), y.transpose());
    subtract_lower(of_l.as_mut(), x, z.transpose());
    Ok((of_l, b))
}

/// As [`solve_jvp`](super::solve_jvp): dX = L⁻ᵀ (L⁻¹ (dB − dL Lᵀ X) − dLᵀ X).
pub(super) fn push<T: Real>(
    l: MatRef<'_, T>,
    x: MatRef<'_, T>,
    (of_l, of_b): (MatRef<'_, T>, MatRef<'_, T>),
) -> Result<Mat<T>, Error> {
    let (n, m) = (l.nrows(), x.ncols());
    check(l, x)?;
    square("tangent_l", n, of_l)?;
    extent("tangent_b", "rows", n, of_b.nrows())?;
    extent("tangent_b", "columns", m, of_b.ncols())?;
    let mut to = of_b - lower(of_l, lower_transposed(l, x).as_ref());
    solve_l(l, to.as_mut());
    to -= lower_transposed(of_l, x);
    solve_lt(l, to.as_mut());
    Ok(to)
}

fn check<T: Real>(l: MatRef<'_, T>, x: MatRef<'_, T>) -> Result<(), Error> {
    square("l", l.nrows(), l)?;
    extent("x", "rows", l.nrows(), x.nrows())?;
    regular(l)
}

/// Checks that no pivot is zero.
pub(super) fn regular<T: Real>(l: MatRef<'_, T>) -> Result<(), Error> {
    match (0..l.nrows()).find(|&column| l[(column, column)] == T::ZERO) {
        Some(column) => Err(Error::Singular { column }),
        None => Ok(()),
    }
}

/// B ← L⁻¹ B.
pub(super) fn solve_l<T: Real>(l: MatRef<'_, T>, b: MatMut<'_, T>) {
    T::solve_lower((l, Conj::No), b, Par::Seq);
}

/// B ← L⁻ᵀ B.
pub(super) fn solve_lt<T: Real>(l: MatRef<'_, T>, b: MatMut<'_, T>) {
    T::solve_upper((l.transpose(), Conj::No), b, Par::Seq);
}

/// L X for the lower triangle of L.
pub(super) fn lower<T: Real>(l: MatRef<'_, T>, x: MatRef<'_, T>) -> Mat<T> {
    let mut to = Mat::zeros(l.nrows(), x.ncols());
    let (full, triangle) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
    let (l, x) = ((l, triangle, Conj::No), (x, full, Conj::No));
    T::triangular_matmul((to.as_mut(), full), Accum::Replace, l, x, T::ONE, Par::Seq);
    to
}

/// Lᵀ X for the lower triangle of L.
pub(super) fn lower_transposed<T: Real>(l: MatRef<'_, T>, x: MatRef<'_, T>) -> Mat<T> {
    let mut to = Mat::zeros(l.nrows(), x.ncols());
    let (full, triangle) = (BlockStructure::Rectangular, BlockStructure::TriangularUpper);
    let (l, x) = ((l.transpose(), triangle, Conj::No), (x, full, Conj::No));
    T::triangular_matmul((to.as_mut(), full), Accum::Replace, l, x, T::ONE, Par::Seq);
    to
}

/// Subtracts the lower triangle of X Y.
pub(super) fn subtract_lower<T: Real>(to: MatMut<'_, T>, x: MatRef<'_, T>, y: MatRef<'_, T>) {
    let (full, triangle) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
    let (x, y) = ((x, full, Conj::No), (y, full, Conj::No));
    T::triangular_matmul((to, triangle), Accum::Add, x, y, -T::ONE, Par::Seq);
}
