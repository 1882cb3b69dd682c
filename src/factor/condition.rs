//! The condition number of A.

use super::Factor;
use crate::element::Element;
use crate::error::Error;
use crate::operand::OperandMut;
use crate::storage::{Op, Side, Storage};
use cholupdate_kernels::dense::Dense;
use cholupdate_kernels::number::{Float, Number};
use faer::{Mat, MatMut};

impl<T: Element, F: Storage<T>> Factor<T, F> {
    /// Estimates κ₁(A).
    pub(super) fn condition(&self) -> Result<T::Part, Error> {
        let factor = self.guarded.regular()?;
        if self.order() == 0 {
            return Ok(T::Part::ONE);
        }
        let norm = one_norm(self.order(), |mut x| {
            factor.apply(Op::Multiply(Side::Transpose), OperandMut::Host(x.as_mut()))?;
            factor.apply(Op::Multiply(Side::L), OperandMut::Host(x))
        })?;
        let of_inverse = one_norm(self.order(), |x| {
            factor.apply(Op::Solve(&[Side::L, Side::Transpose]), OperandMut::Host(x))
        })?;
        Ok(T::Part::from_f64(norm * of_inverse))
    }
}

/// Estimates the 1-norm of a matrix that is equal to its conjugate transpose; `apply` multiplies by the matrix.
pub(crate) fn one_norm<T: Dense>(
    order: usize,
    mut apply: impl FnMut(MatMut<'_, T>) -> Result<(), Error>,
) -> Result<f64, Error> {
    /// The most steps, of two products each, after the first product.
    const STEPS: usize = 4;
    let mut product = |entry: &dyn Fn(usize) -> T| -> Result<Vec<T>, Error> {
        let mut x = Mat::from_fn(order, 1, |i, _| entry(i));
        apply(x.as_mut())?;
        Ok(x.col(0).iter().copied().collect())
    };
    let real = |x: f64| T::of_real(T::Part::from_f64(x));
    let size = |x: T| x.abs().to_f64();
    let norm = |x: &[T]| x.iter().map(|&x| size(x)).sum::<f64>();
    let sign = |&x: &T| if x.abs() > T::Part::ZERO && x.is_finite() { x.over(x.abs()) } else { T::ONE };
    let signs = |x: &[T]| x.iter().map(sign).collect::<Vec<T>>();
    let n = order as f64;
    let mut x = product(&|_| real(1.0 / n))?;
    let mut estimate = norm(&x);
    if order == 1 {
        return Ok(estimate);
    }
    let mut now = signs(&x);
    let mut last = None;
    for _ in 0..STEPS {
        let gradient = product(&|i| now[i])?;
        let largest =
            (0..order).max_by(|&i, &j| size(gradient[i]).total_cmp(&size(gradient[j]))).unwrap_or(0);
        if last.is_some_and(|last: usize| size(gradient[last]) >= size(gradient[largest])) {
            break;
        }
        last = Some(largest);
        x = product(&|i| if i == largest { T::ONE } else { T::ZERO })?;
        let (new, new_signs) = (norm(&x), signs(&x));
        let repeats = new <= estimate || new_signs == now;
        estimate = estimate.max(new);
        now = new_signs;
        if repeats {
            break;
        }
    }
    // Covers cancellation that the steps may not have seen.
    let alternating = product(&|i| {
        let size = 1.0 + i as f64 / (n - 1.0);
        real(if i % 2 == 0 { size } else { -size })
    })?;
    Ok(estimate.max(2.0 * norm(&alternating) / (3.0 * n)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::{Accum, Conj, Par, c64};

    #[test]
    fn the_norm_of_a_complex_matrix_is_estimated() {
        for n in [1, 2, 5, 30] {
            // The magnitudes do not depend on the phases, so real and imaginary parts count alike.
            let phase = |i: usize| c64::new((i as f64).cos(), (i as f64).sin());
            let size = |i: usize, j: usize| if i == j { 3.0 + i as f64 } else { 1.0 / (1 + i + j) as f64 };
            let a = Mat::from_fn(n, n, |i, j| phase(i) * phase(j).conj().times(size(i, j)));
            let norm = (0..n).map(|j| (0..n).map(|i| size(i, j)).sum::<f64>()).fold(0.0, f64::max);
            let estimate = one_norm::<c64>(n, |mut x| {
                let from = x.to_owned();
                let a = (a.as_ref(), Conj::No);
                c64::matmul(x.as_mut(), Accum::Replace, a, from.as_ref(), c64::ONE, Par::Seq);
                Ok(())
            });
            let share = estimate.unwrap() / norm;
            assert!((0.9..1.0 + 1e-12).contains(&share), "n {n}: {share}");
        }
    }
}
