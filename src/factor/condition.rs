//! The condition number of A.

use super::Factor;
use crate::error::Error;
use crate::operand::OperandMut;
use crate::real::Real;
use crate::storage::{Op, Side, Storage};
use faer::{Mat, MatMut};

impl<T: Real, F: Storage<T>> Factor<T, F> {
    /// Estimates κ₁(A).
    pub(super) fn condition(&self) -> Result<T, Error> {
        let factor = self.guarded.regular()?;
        if self.order() == 0 {
            return Ok(T::ONE);
        }
        let norm = one_norm(self.order(), |mut x| {
            factor.apply(Op::Multiply(Side::Transpose), OperandMut::Host(x.as_mut()))?;
            factor.apply(Op::Multiply(Side::L), OperandMut::Host(x))
        })?;
        let of_inverse = one_norm(self.order(), |x| {
            factor.apply(Op::Solve(&[Side::L, Side::Transpose]), OperandMut::Host(x))
        })?;
        Ok(T::from_f64(norm * of_inverse))
    }
}

/// Estimates the 1-norm of a symmetric matrix; `apply` multiplies by the matrix.
pub(crate) fn one_norm<T: Real>(
    order: usize,
    mut apply: impl FnMut(MatMut<'_, T>) -> Result<(), Error>,
) -> Result<f64, Error> {
    /// The most steps, of two products each, after the first product.
    const STEPS: usize = 4;
    let mut product = |entry: &dyn Fn(usize) -> f64| -> Result<Vec<f64>, Error> {
        let mut x = Mat::from_fn(order, 1, |i, _| T::from_f64(entry(i)));
        apply(x.as_mut())?;
        Ok(x.col(0).iter().map(|x| x.to_f64()).collect())
    };
    let norm = |x: &[f64]| x.iter().map(|x| x.abs()).sum::<f64>();
    let signs = |x: &[f64]| x.iter().map(|x| if *x < 0.0 { -1.0 } else { 1.0 }).collect::<Vec<f64>>();
    let n = order as f64;
    let mut x = product(&|_| 1.0 / n)?;
    let mut estimate = norm(&x);
    if order == 1 {
        return Ok(estimate);
    }
    let mut sign = signs(&x);
    let mut last = None;
    for _ in 0..STEPS {
        let gradient = product(&|i| sign[i])?;
        let largest =
            (0..order).max_by(|&i, &j| gradient[i].abs().total_cmp(&gradient[j].abs())).unwrap_or(0);
        if last.is_some_and(|last: usize| gradient[last].abs() >= gradient[largest].abs()) {
            break;
        }
        last = Some(largest);
        x = product(&|i| if i == largest { 1.0 } else { 0.0 })?;
        let (new, new_signs) = (norm(&x), signs(&x));
        let repeats = new <= estimate || new_signs == sign;
        estimate = estimate.max(new);
        sign = new_signs;
        if repeats {
            break;
        }
    }
    // Covers cancellation that the steps may not have seen.
    let alternating = product(&|i| {
        let size = 1.0 + i as f64 / (n - 1.0);
        if i % 2 == 0 { size } else { -size }
    })?;
    Ok(estimate.max(2.0 * norm(&alternating) / (3.0 * n)))
}
