//! Derivatives of the factor of A bordered by rows and columns: L' = (L 0; S D), S = Bᵀ L⁻ᵀ, D Dᵀ = C − S Sᵀ.

use super::given::square;
use super::solve::{lower, regular, subtract_lower};
use crate::check::extent;
use crate::error::Error;
use crate::real::Real;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place as solve_l, solve_upper_triangular_in_place as solve_lt,
};
use faer::{Mat, MatRef, Par};

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
    let of_d = Mat::from_fn(more, more, |i, j| if i < j { T::ZERO } else { of_d[(i, j)] });
    let upper = Mat::from_fn(more, more, |i, j| if i > j { T::ZERO } else { d[(j, i)] });
    let product = upper * of_d; // Dᵀ D̄
    // Φ + Φᵀ, whose diagonal is that of the product.
    let mut twice = Mat::from_fn(more, more, |i, j| product[(i.max(j), i.min(j))]);
    solve_lt(d.transpose(), twice.as_mut(), Par::Seq);
    let mut twice = twice.transpose().to_owned();
    solve_lt(d.transpose(), twice.as_mut(), Par::Seq);
    let mut cross = (of_s - &twice * s).transpose().to_owned(); // (order, more)
    solve_lt(l.transpose(), cross.as_mut(), Par::Seq);
    let mut to = Mat::from_fn(order, order, |i, j| if i < j { T::ZERO } else { of_l[(i, j)] });
    subtract_lower(to.as_mut(), cross.as_ref(), s);
    let half = T::ONE / T::TWO;
    let corner = Mat::from_fn(more, more, |i, j| match i.cmp(&j) {
        core::cmp::Ordering::Less => T::ZERO,
        core::cmp::Ordering::Equal => half * twice[(i, i)],
        core::cmp::Ordering::Greater => twice[(i, j)],
    });
    Ok([to, cross, corner])
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
    solve_l(l, across.as_mut(), Par::Seq);
    let product = s * &across; // S dSᵀ
    let mut change =
        Mat::from_fn(more, more, |i, j| of_corner[(i.max(j), i.min(j))] - product[(i, j)] - product[(j, i)]);
    solve_l(d, change.as_mut(), Par::Seq);
    let mut change = change.transpose().to_owned();
    solve_l(d, change.as_mut(), Par::Seq);
    let half = T::ONE / T::TWO;
    let change = Mat::from_fn(more, more, |i, j| match i.cmp(&j) {
        core::cmp::Ordering::Less => T::ZERO,
        core::cmp::Ordering::Equal => half * change[(i, i)],
        core::cmp::Ordering::Greater => change[(i, j)],
    });
    let corner = lower(d, change.as_ref());
    Ok(Mat::from_fn(new.nrows(), new.nrows(), |i, j| match (i < order, j < order) {
        _ if i < j => T::ZERO,
        (true, _) => of_l[(i, j)],
        (false, true) => across[(j, i - order)],
        (false, false) => corner[(i - order, j - order)],
    }))
}
