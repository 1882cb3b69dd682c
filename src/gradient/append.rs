//! Derivatives of the factor of A bordered by rows and columns: L' = (L 0; S D), S = Bᵀ L⁻ᵀ, D Dᵀ = C − S Sᵀ.

use super::given::square;
use super::solve::{lower, lower_transposed, regular, solve_l, solve_lt, subtract_lower};
use crate::check::extent;
use crate::error::Error;
use crate::host::layout;
use crate::real::Real;
use faer::{Accum, Conj, Mat, MatRef, Par};

/// The parts of L': L, S and D.
fn parts<T: Real>(new: MatRef<'_, T>, order: usize) -> Result<[MatRef<'_, T>; 3], Error> {
    let rows = new.nrows();
    square("l_new", rows, new)?;
    if order > rows {
        return Err(Error::OutOfRange { argument: "order", rule: "at most the number of rows of `l_new`" });
    }
    regular(new)?;
    Ok(divided(new, order))
}

fn divided<T>(a: MatRef<'_, T>, order: usize) -> [MatRef<'_, T>; 3] {
    let more = a.nrows() - order;
    [
        a.submatrix(0, 0, order, order),
        a.submatrix(order, 0, more, order),
        a.submatrix(order, order, more, more),
    ]
}

/// The lower triangle, with half of the diagonal.
fn half_triangle<T: Real>(a: MatRef<'_, T>) -> Mat<T> {
    let mut to = layout::lower(a);
    let half = T::ONE / T::TWO;
    to.as_mut().diagonal_mut().column_vector_mut().iter_mut().for_each(|x| *x *= half);
    to
}

/// As [`append_vjp`](super::append_vjp): the cotangents of L, B and C.
///
/// With Φ the lower triangle of Dᵀ D̄ and half its diagonal, M = D⁻ᵀ (Φ + Φᵀ) D⁻¹ is twice the cotangent of C − S Sᵀ. Then
/// S̄ ← S̄ − M S, B̄ = L⁻ᵀ S̄ᵀ, and L̄ ← L̄ − tril(B̄ S).
pub(super) fn pull<T: Real>(
    new: MatRef<'_, T>,
    order: usize,
    cotangent: MatRef<'_, T>,
) -> Result<[Mat<T>; 3], Error> {
    let [l, s, d] = parts(new, order)?;
    square("cotangent", new.nrows(), cotangent)?;
    let [of_l, of_s, of_d] = divided(cotangent, order);
    let more = d.nrows();
    let product = lower_transposed(d, layout::lower(of_d).as_ref()); // Dᵀ D̄
    // Φ + Φᵀ, whose diagonal is that of the product.
    let mut twice = Mat::from_fn(more, more, |i, j| product[(i.max(j), i.min(j))]);
    solve_lt(d, twice.as_mut());
    let mut twice = twice.transpose().to_owned();
    solve_lt(d, twice.as_mut());
    let mut of_s = of_s.to_owned();
    T::matmul(of_s.as_mut(), Accum::Add, (twice.as_ref(), Conj::No), s, -T::ONE, Par::Seq);
    let mut cross = of_s.transpose().to_owned(); // (order, more)
    solve_lt(l, cross.as_mut());
    let mut to = layout::lower(of_l);
    subtract_lower(to.as_mut(), cross.as_ref(), s);
    Ok([to, cross, half_triangle(twice.as_ref())])
}

/// As [`append_jvp`](super::append_jvp): dS = (dBᵀ − S dLᵀ) L⁻ᵀ, and dD = D Ψ(D⁻¹ (dC − dS Sᵀ − S dSᵀ) D⁻ᵀ), where Ψ takes the lower
/// triangle and half the diagonal.
pub(super) fn push<T: Real>(
    new: MatRef<'_, T>,
    order: usize,
    [of_l, of_cross, of_corner]: [MatRef<'_, T>; 3],
) -> Result<Mat<T>, Error> {
    let [l, s, d] = parts(new, order)?;
    let more = d.nrows();
    square("tangent_l", order, of_l)?;
    extent("tangent_cross", "rows", order, of_cross.nrows())?;
    extent("tangent_cross", "columns", more, of_cross.ncols())?;
    square("tangent_corner", more, of_corner)?;
    let mut across = of_cross - lower(of_l, s.transpose()); // dSᵀ before the solve
    solve_l(l, across.as_mut());
    let mut product = Mat::zeros(more, more); // S dSᵀ
    T::matmul(product.as_mut(), Accum::Replace, (s, Conj::No), across.as_ref(), T::ONE, Par::Seq);
    let mut change =
        Mat::from_fn(more, more, |i, j| of_corner[(i.max(j), i.min(j))] - product[(i, j)] - product[(j, i)]);
    solve_l(d, change.as_mut());
    let mut change = change.transpose().to_owned();
    solve_l(d, change.as_mut());
    let corner = lower(d, half_triangle(change.as_ref()).as_ref());
    Ok(Mat::from_fn(new.nrows(), new.nrows(), |i, j| match (i < order, j < order) {
        _ if i < j => T::ZERO,
        (true, _) => of_l[(i, j)],
        (false, true) => across[(j, i - order)],
        (false, false) => corner[(i - order, j - order)],
    }))
}
