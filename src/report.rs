//! What a modification reports, at no extra cost.

use crate::number::Float;
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

/// Ratios recorded at a time.
const LANES: usize = 8;

/// Running totals of a sweep, in independent lanes, so that no operation waits for that of another lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Health<T> {
    /// Least new pivot / old pivot.
    least: [T; LANES],
    /// Products of these ratios since the last logarithm.
    products: [f64; LANES],
    log: f64,
    /// Some column had a pivot that was not zero.
    any: bool,
}

impl<T: Float> Default for Health<T> {
    #[inline]
    fn default() -> Self {
        Self { least: [T::INFINITY; LANES], products: [1.0; LANES], log: 0.0, any: false }
    }
}

/// The number of words of a [`Health`].
#[cfg(feature = "distributed")]
pub(crate) const HEALTH_WORDS: usize = 2 * LANES + 2;

/// The totals as a message to another process, which continues the sweep.
#[cfg(feature = "distributed")]
impl<T: Float> Health<T> {
    /// The bits of the totals.
    pub fn words(&self) -> [u64; HEALTH_WORDS] {
        let mut words = [u64::from(self.any); HEALTH_WORDS];
        for lane in 0..LANES {
            words[lane] = self.least[lane].to_f64().to_bits();
            words[LANES + lane] = self.products[lane].to_bits();
        }
        words[2 * LANES] = self.log.to_bits();
        words
    }

    /// The totals of these words.
    pub fn of_words(words: &[u64]) -> Self {
        let number = |at: usize| f64::from_bits(words[at]);
        Self {
            least: core::array::from_fn(|lane| T::from_f64(number(lane))),
            products: core::array::from_fn(|lane| number(LANES + lane)),
            log: number(2 * LANES),
            any: words[2 * LANES + 1] != 0,
        }
    }
}

impl<T: Float> Health<T> {
    /// Records columns whose pivots changed from `old` to `new`.
    #[inline(always)]
    pub fn record(&mut self, old: &[T], new: &[T]) {
        debug_assert_eq!(old.len(), new.len());
        self.any = self.any || old.iter().any(|&old| old != T::ZERO);
        for (old, new) in old.chunks(LANES).zip(new.chunks(LANES)) {
            // In copies of its own: a masked store into `self` takes long on some machines.
            let (mut least, mut products) = (self.least, self.products);
            let mut within = true;
            for (at, (&old, &new)) in old.iter().zip(new).enumerate() {
                let ratio = new / old;
                least[at] = if ratio < least[at] { ratio } else { least[at] };
                products[at] *= ratio.to_f64();
                // One logarithm serves many columns, as long as the product of all products is within range.
                within &= products[at] > 1e-37 && products[at] < 1e37;
            }
            self.least = least;
            if within {
                self.products = products;
            } else {
                self.take_logarithms(old, new);
            }
        }
    }

    #[cold]
    fn take_logarithms(&mut self, old: &[T], new: &[T]) {
        // A pivot that was zero has no logarithm.
        let regular = old.iter().zip(new).filter(|(old, _)| **old != T::ZERO);
        let logs = regular.map(|(old, new)| new.to_f64().ln() - old.to_f64().ln());
        self.log += self.products.iter().map(|product| product.ln()).sum::<f64>() + logs.sum::<f64>();
        self.products = [1.0; LANES];
    }

    /// The report of a sweep over the columns from `start` on. Earlier columns keep their pivots, and count with ratio 1.
    #[inline]
    pub fn report(&self, start: usize) -> Modification {
        let least = self
            .least
            .into_iter()
            .fold(T::INFINITY, |least, ratio| if ratio < least { ratio } else { least });
        let least = if !self.any || (start > 0 && least > T::ONE) { 1.0 } else { least.to_f64() };
        let product = self.products.iter().product();
        Modification { min_pivot_ratio: (least * least).min(f64::MAX), product, log: self.log }
    }
}
