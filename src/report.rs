//! What a modification learned on its way, at no extra cost.

use crate::scalar::Scalar;

/// What a successful modification says about itself.
///
/// A loop can use it to decide when to refactorize: digits are lost where pivots shrink.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Modification<T> {
    /// min over all columns of L of (new pivot / old pivot)², where a pivot is a diagonal entry of L; 1 where L has none.
    ///
    /// Never below 1 for an update, and 1 as soon as V leaves a column alone: its first rows that are zero do. For a downdate it
    /// is between 0 and 1, and about −log₁₀ of it decimal digits are lost in the worst column, whatever the method (Stewart,
    /// *The effects of rounding error on an algorithm for downdating a Cholesky factorization*, 1979). A row that is new counts
    /// with its pivot² over its diagonal entry of A.
    pub min_pivot_ratio: T,
    /// log det A' − log det A.
    pub log_det_change: T,
}

impl<T: Scalar> Modification<T> {
    /// The report of a modification that changed nothing.
    pub(crate) fn identity() -> Self {
        Self { min_pivot_ratio: T::ONE, log_det_change: T::ZERO }
    }

    /// The report of this and of another behind it.
    pub(crate) fn then(self, next: Self) -> Self {
        self.and(next.min_pivot_ratio, next.log_det_change.to_f64())
    }

    /// The report of this and of rows that came or went: the least ratio of the new ones, and their part of log det A.
    pub(crate) fn and(self, ratio: T, log_det: f64) -> Self {
        let least = if ratio < self.min_pivot_ratio { ratio } else { self.min_pivot_ratio };
        let log_det_change = T::from_f64(self.log_det_change.to_f64() + log_det);
        Self { min_pivot_ratio: least, log_det_change }
    }
}

/// Running totals of a sweep, one entry a column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Health<T> {
    /// Least new pivot / old pivot.
    min_ratio: Option<T>,
    /// Product of these ratios since the last logarithm.
    product: f64,
    log: f64,
}

impl<T: Scalar> Default for Health<T> {
    fn default() -> Self {
        Self { min_ratio: None, product: 1.0, log: 0.0 }
    }
}

impl<T: Scalar> Health<T> {
    /// Takes note of a column whose pivot went from `old` to `new`.
    #[inline(always)]
    pub fn record(&mut self, old: T, new: T) {
        let ratio = new / old;
        self.min_ratio = match self.min_ratio {
            Some(least) if least < ratio => Some(least),
            _ => Some(ratio),
        };
        let product = self.product * ratio.to_f64();
        // One logarithm for many columns, while the product is far from the ends of the range.
        if product > 1e-100 && product < 1e100 {
            self.product = product;
        } else {
            self.log += self.product.ln() + new.to_f64().ln() - old.to_f64().ln();
            self.product = 1.0;
        }
    }

    /// Of a sweep over the columns from `start` on. Those before it keep their pivots, and count like all others.
    pub fn report(&self, start: usize) -> Modification<T> {
        let kept = if start > 0 || self.min_ratio.is_none() { T::ONE } else { T::INFINITY };
        let least = self.min_ratio.filter(|&ratio| ratio < kept).unwrap_or(kept);
        Modification {
            min_pivot_ratio: least * least,
            log_det_change: T::from_f64(2.0 * (self.log + self.product.ln())),
        }
    }
}
