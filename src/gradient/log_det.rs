//! Derivatives of the change of log det A.
//!
//! With Z = A'⁻¹ V and C = L⁻¹ V,
//!
//! ```text
//! log det A' − log det A:      L̄ = −2 tril(Z diag(w) Cᵀ)      V̄ = 2 Z diag(w)      w̄_c = v_cᵀ z_c
//! ```
//!
//! In L̄ the derivatives of the two logarithms are subtracted before they are rounded: A'⁻¹ L = L⁻ᵀ − Z diag(w) Cᵀ.

use super::given::{check, check_tangents, square};
use super::solve::{lower, regular, solve_l, solve_lt, subtract_lower};
use super::tangent::{CotangentsMut, Modified, Tangents};
use crate::check::extent;
use crate::cpu::InPlace;
use crate::error::Error;
use crate::real::Real;
use faer::Mat;

/// Z, and C diag(w). (n × k each)
fn solutions<T: Real + InPlace>(of: &Modified<'_, T>) -> Result<(Mat<T>, Mat<T>), Error> {
    check(of)?;
    regular(of.l)?;
    let mut z = of.v.to_owned();
    solve_l(of.new, z.as_mut());
    solve_lt(of.new, z.as_mut());
    let mut c = of.v.to_owned();
    solve_l(of.l, c.as_mut());
    for (r, column) in c.col_iter_mut().enumerate() {
        let w = of.weights.of(r);
        column.iter_mut().for_each(|x| *x *= w);
    }
    Ok((z, c))
}

/// As [`log_det_change_vjp`](super::log_det_change_vjp).
pub(super) fn pull<T: Real + InPlace>(
    of: &Modified<'_, T>,
    cotangent: T,
    to: CotangentsMut<'_, T>,
) -> Result<(), Error> {
    let (mut z, c) = solutions(of)?;
    let (n, k) = of.v.shape();
    square("to.l", n, to.l.as_ref())?;
    extent("to.v", "columns", k, to.v.ncols())?;
    let CotangentsMut { mut l, mut v, weights } = to;
    for r in 0..k {
        let mut sum = T::ZERO;
        for i in 0..n {
            let once = cotangent * z[(i, r)];
            let twice = once + once;
            sum += of.v[(i, r)] * once;
            v[(i, r)] = twice * of.weights.of(r);
            z[(i, r)] = twice;
        }
        weights[r] = sum;
    }
    l.fill(T::ZERO);
    subtract_lower(l, z.as_ref(), c.transpose());
    Ok(())
}

/// As [`log_det_change_jvp`](super::log_det_change_jvp).
pub(super) fn push<T: Real + InPlace>(of: &Modified<'_, T>, along: &Tangents<'_, T>) -> Result<T, Error> {
    let (z, c) = solutions(of)?;
    check_tangents(of, along)?;
    let through_l = lower(along.l, c.as_ref());
    let mut sum = T::ZERO;
    for r in 0..of.v.ncols() {
        let (w, dw) = (of.weights.of(r), along.weights.map_or(T::ZERO, |weights| weights[r]));
        for i in 0..of.v.nrows() {
            let once = w * along.v[(i, r)] - through_l[(i, r)];
            sum += z[(i, r)] * (once + once + dw * of.v[(i, r)]);
        }
    }
    Ok(sum)
}
