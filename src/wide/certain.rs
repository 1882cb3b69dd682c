//! Proves that A' is indefinite, by a direction t with tᴴ A' t < 0. Any such t is a proof, however it was computed.
//!
//! The search is for the t in which A' = L (I + P S Pᴴ) Lᴴ, with P = L⁻¹ V, is smallest: with x the vector for which ‖(I + P₊
//! P₊ᴴ)^(−1/2) P₋ x‖ is largest, by the power method, q = (I + P₊ P₊ᴴ)⁻¹ P₋ x and t = L⁻ᴴ q. Then
//!
//! ```text
//! tᴴ A' t = ‖Lᴴ t‖² + Σ w_r |v_rᴴ t|²
//! ```
//!
//! is evaluated with a bound of its rounding errors, so errors in P and t cannot lead to a wrong refusal. The bound counts
//! min(n, 8 √n) + 4 roundings for a sum of n terms. For n ≤ 64 it is rigorous. For n > 64 it is probabilistic: under the
//! assumptions of Higham and Mary (2019) a sum exceeds it with a probability of at most 2 n exp(−32).
//!
//! For complex numbers, P is searched as the real matrix of twice the order that maps real and imaginary parts of x to those of
//! P x, and the real and the imaginary part of a product of vectors are sums of 2 n terms each.

use super::Given;
use crate::error::Error;
use crate::storage::Side;
use cholupdate_kernels::dense::Dense;
use cholupdate_kernels::number::{Float, Number};
use faer::linalg::matmul::matmul;
use faer::prelude::Solve;
use faer::{Accum, Col, ColRef, Mat, MatMut, MatRef, Par};

/// L, in the memory of the host or of an engine.
pub(crate) trait Triangle<T> {
    /// B ← L⁻¹ B, or L⁻ᴴ B. (n × m)
    ///
    /// # Errors
    /// `NonFinite`; `Device`.
    fn solve(&self, side: Side, rhs: MatMut<'_, T>) -> Result<(), Error>;

    /// B ← Lᴴ B. (n × m)
    ///
    /// # Errors
    /// `Device`.
    fn multiply_transposed(&self, rhs: MatMut<'_, T>) -> Result<(), Error>;

    /// An upper bound of the 2-norm of any row.
    fn row_norm(&self) -> f64;
}

/// Whether A' has been proved indefinite. If the result is false, A' may still be indefinite. For more than 64
/// terms of a sum the proof holds with the probability that the module documentation states.
///
/// # Cost
/// k + 1 solves with L and a product.
///
/// # Errors
/// `Device`.
pub(crate) fn indefinite<T: Dense>(l: &impl Triangle<T>, given: &Given<T>) -> Result<bool, Error> {
    let Given { v, weights, .. } = given;
    let (order, rank) = v.shape();
    let of_sign = |sign: T::Part| (0..rank).filter(move |&r| weights[r] * sign > T::Part::ZERO);
    let plus = of_sign(T::Part::ONE).count();
    if plus > order.max(64) {
        // Their Gram matrix would cost more than the recurrence.
        return Ok(false);
    }
    let sources: Vec<usize> = of_sign(T::Part::ONE).chain(of_sign(-T::Part::ONE)).collect();
    let root = |r: usize| weights[r].abs().sqrt();
    let mut p = Mat::from_fn(order, sources.len(), |i, r| v[(i, sources[r])].times(root(sources[r])));
    if !solved(l, Side::L, &mut p)? {
        return Ok(false);
    }
    let p = real_matrix(p.as_ref());
    let Some(q) = direction(p.split_at_col(T::PARTS * plus)) else { return Ok(false) };
    let part = |i: usize, part: usize| T::Part::from_f64(q[T::PARTS * i + part]);
    let mut t = Mat::from_fn(order, 1, |i, _| T::of_parts([part(i, 0), part(i, T::PARTS - 1)]));
    Ok(solved(l, Side::Transpose, &mut t)? && is_proof(l, given, &t)?)
}

/// The matrix that maps the real and imaginary parts of x, each behind the other, to those of P x.
fn real_matrix<T: Number>(p: MatRef<'_, T>) -> Mat<f64> {
    Mat::from_fn(T::PARTS * p.nrows(), T::PARTS * p.ncols(), |i, r| {
        let (part, of_x) = (i % T::PARTS, r % T::PARTS);
        let parts = T::parts(core::slice::from_ref(&p[(i / T::PARTS, r / T::PARTS)]));
        // An imaginary part of x multiplies by i: real parts from the negative imaginary ones, and imaginary parts from real ones.
        let entry = parts[part ^ of_x].to_f64();
        if of_x > part { -entry } else { entry }
    })
}

/// Solves with L. Returns false if the solution is not finite.
fn solved<T: Dense>(l: &impl Triangle<T>, side: Side, rhs: &mut Mat<T>) -> Result<bool, Error> {
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

/// Whether tᴴ A' t < 0 by more than the bound of its rounding errors. (n × 1)
fn is_proof<T: Dense>(l: &impl Triangle<T>, given: &Given<T>, t: &Mat<T>) -> Result<bool, Error> {
    let Given { v, weights, .. } = given;
    let terms = T::PARTS * t.nrows();
    // A sum of n terms has an error of at most n roundings (Higham, *Accuracy and Stability*, section 3.1), and of less than λ
    // √n roundings with a probability of 1 − 2 n exp(−λ² / 2) (Higham and Mary, *A new approach to probabilistic rounding error
    // analysis*, 2019). Here λ = 8, so the bound is probabilistic for more than 64 terms.
    let roundings = (terms as f64).min(8.0 * (terms as f64).sqrt()) + 4.0;
    let length: f64 = t.col(0).iter().map(|t| magnitude(*t)).sum();
    let mut product = t.clone();
    l.multiply_transposed(product.as_mut())?;
    let norm = product.col(0).iter().map(|a| a.square_to_f64()).sum::<f64>().sqrt();
    // ‖|Lᴴ| |t|‖ ≤ Σ |t_i| ‖l_i‖, for each part of a product.
    let off = roundings * T::Part::UNIT.to_f64() * l.row_norm() * length * (T::PARTS as f64).sqrt();
    let (mut above, mut below) = ((norm + off) * (norm + off), 0.0);
    for (r, weight) in weights.iter().map(|weight| weight.to_f64()).enumerate() {
        for part in 0..T::PARTS {
            let (sum, all) = product_of(v.col(r), t.col(0), part);
            let off = roundings * (f64::EPSILON / 2.0) * all;
            if weight > 0.0 {
                above += weight * (sum.abs() + off) * (sum.abs() + off);
            } else {
                let least = (sum.abs() - off).max(0.0);
                below -= weight * least * least;
            }
        }
    }
    let rounded = 1.0 + 8.0 * (terms + weights.len()) as f64 * f64::EPSILON;
    Ok(above * rounded < below && below.is_finite())
}

/// The real part (0) or the imaginary part (1) of vᴴ t, and the sum of the magnitudes of its terms. (n, n)
fn product_of<T: Number>(v: ColRef<'_, T>, t: ColRef<'_, T>, part: usize) -> (f64, f64) {
    v.iter().zip(t.iter()).fold((0.0_f64, 0.0), |sums, (v, t)| {
        let [v, t] = [v, t].map(|x| T::parts(core::slice::from_ref(x)));
        (0..T::PARTS).fold(sums, |(sum, all), at| {
            let x = v[at].to_f64() * t[at ^ part].to_f64();
            (if at < part || part == 0 { sum + x } else { sum - x }, all + x.abs())
        })
    })
}

/// |x|, in double precision.
fn magnitude<T: Number>(x: T) -> f64 {
    T::parts(&[x]).iter().fold(0.0, |size: f64, part| size.hypot(part.to_f64()))
}
