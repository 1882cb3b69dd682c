//! What a modification reports, at no extra cost.

use cholupdate_kernels::health::Health;
use cholupdate_kernels::number::Float;
use core::fmt;

/// The report of a successful modification, in double precision for either scalar type.
///
/// A loop can decide by it when to refactorize: digits are lost where pivots shrink.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Modification {
    /// min over all columns of L of (new pivot / old pivot)², where a pivot is a diagonal entry of L; 1 if L has no columns.
    ///
    /// Never below 1 for an update, and exactly 1 if some column is unchanged, for example where V begins with zero rows. For a
    /// downdate it is between 0 and 1, and about −log₁₀ of it decimal digits are lost in the worst column, with any method
    /// (Stewart, *The effects of rounding error on an algorithm for downdating a Cholesky factorization*, 1979). A new row
    /// counts with its pivot² over its diagonal entry of A. A ratio of pivots that overflows the type is reported as `f64::MAX`.
    pub min_pivot_ratio: f64,
    /// The product of the ratios of pivots that `log` does not contain: a logarithm would take a large part of a small
    /// modification.
    product: f64,
    /// The sum of logarithms of ratios of pivots.
    log: f64,
}

impl Modification {
    /// log det A' − log det A. If A is singular: the sum over the columns of L whose old pivot was not zero. The other columns
    /// do not count in [`min_pivot_ratio`](Self::min_pivot_ratio) either.
    ///
    /// # Cost
    /// One logarithm.
    #[must_use]
    pub fn log_det_change(&self) -> f64 {
        2.0 * (self.log + self.product.ln())
    }

    /// For engines in crates of their own.
    #[cfg(feature = "unstable")]
    #[must_use]
    pub fn new(min_pivot_ratio: f64, log_det_change: f64) -> Self {
        Self { min_pivot_ratio, product: 1.0, log: 0.5 * log_det_change }
    }

    /// The report of a modification that changed nothing.
    pub(crate) fn identity() -> Self {
        Self::of_product(1.0, 1.0)
    }

    /// The report of this least squared ratio and this product of ratios of pivots.
    #[inline]
    pub(crate) fn of_product(min_pivot_ratio: f64, product: f64) -> Self {
        Self { min_pivot_ratio, product, log: 0.0 }
    }

    /// The report of a sweep over the columns from `start` on.
    #[inline]
    pub(crate) fn of_sweep<T: Float>(health: &Health<T>, start: usize) -> Self {
        let (min_pivot_ratio, product, log) = health.totals(start);
        Self { min_pivot_ratio, product, log }
    }

    /// Combines this report with that of a later modification.
    pub(crate) fn then(self, next: Self) -> Self {
        self.and(next.min_pivot_ratio, next.log_det_change())
    }

    /// Combines this report with the least ratio of new rows, and the change of log det A by rows inserted or removed.
    pub(crate) fn and(self, ratio: f64, log_det: f64) -> Self {
        let least = if ratio < self.min_pivot_ratio { ratio } else { self.min_pivot_ratio };
        Self { min_pivot_ratio: least, log: self.log + 0.5 * log_det, ..self }
    }

    /// The report of the same modification of a matrix of this order that was then multiplied by `decay`.
    pub(crate) fn scaled(self, decay: f64, order: usize) -> Self {
        let (ratio, log) = (decay * self.min_pivot_ratio, 0.5 * order as f64 * decay.ln());
        Self { min_pivot_ratio: ratio, log: self.log + log, ..self }
    }
}

/// The report as a message to another process.
#[cfg(feature = "distributed")]
impl Modification {
    pub(crate) fn words(&self) -> [u64; 3] {
        [self.min_pivot_ratio, self.product, self.log].map(f64::to_bits)
    }

    pub(crate) fn of_words(words: [u64; 3]) -> Self {
        let [min_pivot_ratio, product, log] = words.map(f64::from_bits);
        Self { min_pivot_ratio, product, log }
    }
}

impl PartialEq for Modification {
    /// Reports are equal if both of their numbers are.
    fn eq(&self, other: &Self) -> bool {
        (self.min_pivot_ratio, self.log_det_change()) == (other.min_pivot_ratio, other.log_det_change())
    }
}

impl fmt::Debug for Modification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Modification")
            .field("min_pivot_ratio", &self.min_pivot_ratio)
            .field("log_det_change", &self.log_det_change())
            .finish()
    }
}
