//! Proves that A' is indefinite, by a direction t with tᵀ A' t < 0. Any such t is a proof, however it was computed.
//!
//! The search is for the t in which A' = L (I + P S Pᵀ) Lᵀ, with P = L⁻¹ V, is smallest: with x the vector for which ‖(I + P₊
//! P₊ᵀ)^(−1/2) P₋ x‖ is largest, by the power method, q = (I + P₊ P₊ᵀ)⁻¹ P₋ x and t = L⁻ᵀ q. Then
//!
//! ```text
//! tᵀ A' t = ‖Lᵀ t‖² + Σ w_r (v_rᵀ t)²
//! ```
//!
//! is evaluated with a bound of its rounding errors, so errors in P and t cannot lead to a wrong refusal. The bound counts
//! min(n, 8 √n) + 4 roundings for a sum of n terms. For n ≤ 64 it is rigorous. For n > 64 it is probabilistic: under the
//! assumptions of Higham and Mary (2019) a sum exceeds it with a probability of at most 2 n exp(−32).

use super::Given;
use crate::error::Error;
use crate::real::Real;
use crate::storage::Side;
use faer::linalg::matmul::matmul;
use faer::prelude::Solve;
use faer::{Accum, Col, Mat, MatMut, MatRef, Par};

/// L, in the memory of the host or of an engine.
pub(crate) trait Triangle<T> {
    /// B ← L⁻¹ B, or L⁻ᵀ B. (n × m)
    ///
    /// # Errors
    /// `NonFinite`; `Device`.
    fn solve(&self, side: Side, rhs: MatMut<'_, T>) -> Result<(), Error>;

    /// B ← Lᵀ B. (n × m)
    ///
    /// # Errors
    /// `Device`.
    fn multiply_transposed(&self, rhs: MatMut<'_, T>) -> Result<(), Error>;

    /// An upper bound of the 2-norm of any row.
    fn row_norm(&self) -> f64;
}

/// Whether A' has been proved indefinite. If the result is false, A' may still be indefinite. For n > 64 the proof holds with
/// the probability that the module documentation states.
///
/// # Cost
/// k + 1 solves with L and a product.
///
/// # Errors
/// `Device`.
pub(crate) fn indefinite<T: Real>(l: &impl Triangle<T>, given: &Given<T>) -> Result<bool, Error> {
    let Given { v, weights, .. } = given;
    let (order, rank) = v.shape();
    let of_sign = |sign: T| (0..rank).filter(move |&r| weights[r] * sign > T::ZERO);
    let plus = of_sign(T::ONE).count();
    if plus > order.max(64) {
        // Their Gram matrix would cost more than the recurrence.
        return Ok(false);
    }
    let sources: Vec<usize> = of_sign(T::ONE).chain(of_sign(-T::ONE)).collect();
    let mut p =
        Mat::from_fn(order, sources.len(), |i, r| v[(i, sources[r])] * weights[sources[r]].abs().sqrt());
    if !solved(l, Side::L, &mut p)? {
        return Ok(false);
    }
    let p = Mat::from_fn(order, sources.len(), |i, r| p[(i, r)].to_f64());
    let Some(q) = direction(p.split_at_col(plus)) else { return Ok(false) };
    let mut t = Mat::from_fn(order, 1, |i, _| T::from_f64(q[i]));
    Ok(solved(l, Side::Transpose, &mut t)? && is_proof(l, given, &t)?)
}

/// Solves with L. Returns false if the solution is not finite.
fn solved<T: Real>(l: &impl Triangle<T>, side: Side, rhs: &mut Mat<T>) -> Result<bool, Error> {
    match l.solve(side, rhs.as_mut()) {
        Ok(()) => Ok(rhs.as_ref().is_all_finite()),
        Err(Error::NonFinite { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// q, scaled to norm 1.
fn direction((plus, minus): (MatRef<'_, f64>, MatRef<'_, f64>)) -> Option<Col<f64>> {
    /// Where A' is far from definite, the power method converges in far fewer steps.
    const STEPS: usize = 30;
    let mut gram = Mat::identity(plus.ncols(), plus.ncols());
    matmul(gram.as_mut(), Accum::Add, plus.transpose(), plus, 1.0, Par::Seq);
    let gram = gram.llt(faer::Side::Lower).ok()?;
    let first = (0..minus.ncols()).max_by(|&a, &b| {
        let [a, b] = [a, b].map(|r| minus.col(r).norm_l2());
        a.total_cmp(&b)
    })?;
    let mut x = Col::from_fn(minus.ncols(), |r| if r == first { 1.0 } else { 0.0625 });
    let (mut q, mut largest) = (Col::zeros(minus.nrows()), 0.0);
    for _ in 0..STEPS {
        q = minus * &x;
        q -= plus * gram.solve(plus.transpose() * &q);
        x = minus.transpose() * &q;
        let norm = x.norm_l2();
        if !(norm > 0.0 && norm.is_finite()) {
            return None;
        }
        x.iter_mut().for_each(|x| *x /= norm);
        if norm < 1.001 * largest {
            break;
        }
        largest = norm;
    }
    let norm = q.norm_l2();
    q.iter_mut().for_each(|q| *q /= norm);
    let finite = q.iter().all(|q| q.is_finite());
    finite.then_some(q)
}

/// Whether tᵀ A' t < 0 by more than the bound of its rounding errors. (n × 1)
fn is_proof<T: Real>(l: &impl Triangle<T>, given: &Given<T>, t: &Mat<T>) -> Result<bool, Error> {
    let Given { v, weights, .. } = given;
    let order = t.nrows();
    // A sum of n terms has an error of at most n roundings (Higham, *Accuracy and Stability*, section 3.1), and of less than λ
    // √n roundings with a probability of 1 − 2 n exp(−λ² / 2) (Higham and Mary, *A new approach to probabilistic rounding error
    // analysis*, 2019). Here λ = 8, so the bound is probabilistic for n > 64.
    let roundings = (order as f64).min(8.0 * (order as f64).sqrt()) + 4.0;
    let length: f64 = t.col(0).iter().map(|t| t.to_f64().abs()).sum();
    let mut product = t.clone();
    l.multiply_transposed(product.as_mut())?;
    let norm = product.col(0).iter().map(|a| a.to_f64() * a.to_f64()).sum::<f64>().sqrt();
    // ‖|Lᵀ| |t|‖ ≤ Σ |t_i| ‖l_i‖.
    let off = roundings * T::UNIT.to_f64() * l.row_norm() * length;
    let (mut above, mut below) = ((norm + off) * (norm + off), 0.0);
    for (r, weight) in weights.iter().map(|weight| weight.to_f64()).enumerate() {
        let products = v.col(r).iter().zip(t.col(0).iter()).map(|(v, t)| v.to_f64() * t.to_f64());
        let (sum, all) = products.fold((0.0_f64, 0.0), |(sum, all), x| (sum + x, all + x.abs()));
        let off = roundings * (f64::EPSILON / 2.0) * all;
        if weight > 0.0 {
            above += weight * (sum.abs() + off) * (sum.abs() + off);
        } else {
            let least = (sum.abs() - off).max(0.0);
            below -= weight * least * least;
        }
    }
    let rounded = 1.0 + 8.0 * (order + weights.len()) as f64 * f64::EPSILON;
    Ok(above * rounded < below && below.is_finite())
}
