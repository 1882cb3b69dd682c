//! What a modification learned on its way, at no extra cost.

use crate::scalar::Scalar;

/// What a successful modification says about itself.
///
/// A loop can use it to decide when to refactorize: digits are lost where pivots shrink.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Modification<T> {
    /// min over columns of (new pivot / old pivot)², where a pivot is a diagonal entry of L; 1 if no column changed.
    ///
    /// Never below 1 for an update. For a downdate it is between 0 and 1, and about −log₁₀ of it decimal digits are
    /// lost in the worst column, whatever the method (Stewart, *The effects of rounding error on an algorithm for
    /// downdating a Cholesky factorization*, 1979).
    pub min_pivot_ratio: T,
    /// log det A' − log det A.
    pub log_det_change: T,
}

impl<T: Scalar> Modification<T> {
    /// The report of a modification that changed nothing.
    pub(crate) fn identity() -> Self {
        Self { min_pivot_ratio: T::ONE, log_det_change: T::ZERO }
    }
}

/// Running totals of a sweep, one entry a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Health<T> {
    min_ratio: T,
    /// Product of new pivot / old pivot since the last logarithm.
    product: f64,
    log: f64,
}

impl<T: Scalar> Default for Health<T> {
    fn default() -> Self {
        Self { min_ratio: T::INFINITY, product: 1.0, log: 0.0 }
    }
}

impl<T: Scalar> Health<T> {
    /// Takes note of a column by new pivot / old pivot.
    #[inline(always)]
    pub fn record(&mut self, ratio: T) {
        self.record_all(&[ratio]);
    }

    /// Takes note of a few columns by new pivot / old pivot.
    #[inline(always)]
    pub fn record_all(&mut self, ratios: &[T]) {
        for &ratio in ratios {
            self.min_ratio = if ratio < self.min_ratio { ratio } else { self.min_ratio };
            self.product *= ratio.to_f64();
            // One logarithm for many columns; the range leaves room for any ratio that matters.
            if !(self.product > 1e-50 && self.product < 1e50) {
                self.log += self.product.ln();
                self.product = 1.0;
            }
        }
    }

    pub fn report(&self) -> Modification<T> {
        let changed = self.min_ratio < T::INFINITY;
        Modification {
            min_pivot_ratio: if changed { self.min_ratio * self.min_ratio } else { T::ONE },
            log_det_change: T::from_f64(2.0 * (self.log + self.product.ln())),
        }
    }
}
