//! What a sweep records of its pivots, at no extra cost.

use crate::number::Float;

/// Ratios recorded at a time.
const LANES: usize = 8;

/// Running totals of a sweep, in independent lanes, so that no operation waits for that of another lane.
#[derive(Clone, Copy, Debug)]
pub struct Health<T> {
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
pub const HEALTH_WORDS: usize = 2 * LANES + 2;

/// The totals as a message to another process, which continues the sweep.
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
        let ((full, rest), (new_full, new_rest)) = (old.as_chunks::<LANES>(), new.as_chunks::<LANES>());
        full.iter().zip(new_full).for_each(|(old, new)| self.record_some(old, new));
        if !rest.is_empty() {
            self.record_some(rest, new_rest);
        }
    }

    /// Records at most [`LANES`] columns. The compiler makes vector instructions of it where it sees that there are as many.
    #[inline(always)]
    fn record_some(&mut self, old: &[T], new: &[T]) {
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

    #[cold]
    fn take_logarithms(&mut self, old: &[T], new: &[T]) {
        // A pivot that was zero has no logarithm.
        let regular = old.iter().zip(new).filter(|(old, _)| **old != T::ZERO);
        let logs = regular.map(|(old, new)| new.to_f64().ln() - old.to_f64().ln());
        self.log += self.products.iter().map(|product| product.ln()).sum::<f64>() + logs.sum::<f64>();
        self.products = [1.0; LANES];
    }

    /// The least squared ratio of pivots of a sweep over the columns from `start` on, the product of the ratios, and the sum of the
    /// logarithms of those that are not in it. Earlier columns keep their pivots, and count with ratio 1.
    #[inline]
    pub fn totals(&self, start: usize) -> (f64, f64, f64) {
        let least = self
            .least
            .into_iter()
            .fold(T::INFINITY, |least, ratio| if ratio < least { ratio } else { least });
        let least = if !self.any || (start > 0 && least > T::ONE) { 1.0 } else { least.to_f64() };
        ((least * least).min(f64::MAX), self.products.iter().product(), self.log)
    }
}
