//! The calls that differentiate a solve with a factor, and the factor of a bordered matrix.

use super::tangent::{AppendCotangents, SolveCotangents};
use crate::check::room_for_copy;
use crate::error::Error;
use crate::operand::Operand;
use crate::scalar::RealScalar;
use faer::Mat;

/// Reverse mode of a solve, X = A⁻¹ B with A = L Lᵀ: the cotangents of L and B from that of X.
///
/// # Shapes
/// L (n × n), of which the lower triangle is read; X and its cotangent (n × m).
///
/// # Errors
/// `Shape`, or `Singular` if a pivot of L is zero.
///
/// # Cost
/// 5 m n² flops, on one thread.
pub fn solve_vjp<'a, T: RealScalar>(
    l: impl Into<Operand<'a, T>>,
    x: impl Into<Operand<'a, T>>,
    cotangent: impl Into<Operand<'a, T>>,
) -> Result<SolveCotangents<T>, Error> {
    let [l, x, cotangent] = [l.into(), x.into(), cotangent.into()];
    room_for_copy::<T>("l", l.shape())?;
    room_for_copy::<T>("x", x.shape())?;
    let [l, x, cotangent] = [l.on_host()?, x.on_host()?, cotangent.on_host()?];
    let (l, b) = T::pull_solve(l.as_ref(), x.as_ref(), cotangent.as_ref())?;
    Ok(SolveCotangents { l, b })
}

/// Forward mode of a solve, X = A⁻¹ B with A = L Lᵀ: the tangent of X from those of L and B. (n × m)
///
/// # Shapes
/// L and its tangent (n × n), of which the lower triangles are read; X and the tangent of B (n × m).
///
/// # Errors
/// As [`solve_vjp`].
///
/// # Cost
/// 5 m n² flops, on one thread.
pub fn solve_jvp<'a, T: RealScalar>(
    l: impl Into<Operand<'a, T>>,
    x: impl Into<Operand<'a, T>>,
    tangent_l: impl Into<Operand<'a, T>>,
    tangent_b: impl Into<Operand<'a, T>>,
) -> Result<Mat<T>, Error> {
    let [l, x, of_l, of_b] = [l.into(), x.into(), tangent_l.into(), tangent_b.into()];
    room_for_copy::<T>("x", x.shape())?;
    let [l, x, of_l, of_b] = [l.on_host()?, x.on_host()?, of_l.on_host()?, of_b.on_host()?];
    T::push_solve(l.as_ref(), x.as_ref(), (of_l.as_ref(), of_b.as_ref()))
}

/// Reverse mode of [`append`](crate::Cholesky::append): the cotangents of L and of the new rows and columns from that of L'.
///
/// # Shapes
/// L' and its cotangent ((n + m) × (n + m)), of which the lower triangles are read; `order` is n. The leading n × n entries of L' are L.
///
/// # Errors
/// `Shape`, `OutOfRange`, naming `order`, or `Singular` if a pivot of L' is zero.
///
/// # Cost
/// 2 m n² + O(m² n + m³) flops, on one thread.
pub fn append_vjp<'a, T: RealScalar>(
    l_new: impl Into<Operand<'a, T>>,
    order: usize,
    cotangent: impl Into<Operand<'a, T>>,
) -> Result<AppendCotangents<T>, Error> {
    let [new, cotangent] = [l_new.into(), cotangent.into()];
    room_for_copy::<T>("l_new", new.shape())?;
    let [new, cotangent] = [new.on_host()?, cotangent.on_host()?];
    let [l, cross, corner] = T::pull_append(new.as_ref(), order, cotangent.as_ref())?;
    Ok(AppendCotangents { l, cross, corner })
}

/// Forward mode of [`append`](crate::Cholesky::append): the tangent of L' from those of L and of the new rows and columns.
/// ((n + m) × (n + m), zero above the diagonal)
///
/// # Shapes
/// L' ((n + m) × (n + m)), `order` is n; the tangents of L (n × n), of the new columns beside A (n × m), and of the corner (m × m). Of L',
/// L and the corner the lower triangles are read.
///
/// # Errors
/// As [`append_vjp`].
///
/// # Cost
/// 2 m n² + O(m² n + m³) flops, on one thread.
pub fn append_jvp<'a, T: RealScalar>(
    l_new: impl Into<Operand<'a, T>>,
    order: usize,
    tangent_l: impl Into<Operand<'a, T>>,
    tangent_cross: impl Into<Operand<'a, T>>,
    tangent_corner: impl Into<Operand<'a, T>>,
) -> Result<Mat<T>, Error> {
    let [new, of_l, cross, corner] =
        [l_new.into(), tangent_l.into(), tangent_cross.into(), tangent_corner.into()];
    room_for_copy::<T>("l_new", new.shape())?;
    let [new, of_l, cross, corner] = [new.on_host()?, of_l.on_host()?, cross.on_host()?, corner.on_host()?];
    T::push_append(new.as_ref(), order, [of_l.as_ref(), cross.as_ref(), corner.as_ref()])
}
