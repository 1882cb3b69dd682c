//! The coefficients of a block of columns, and the ratios of its pivots.

use super::super::{Made, Small};
use super::memory::Block;
use crate::number::Float;
use crate::sweep::diagonal::SMALL_CHANGE;
use crate::sweep::low_rank::{BLOCK, within_limits};
use crate::sweep::shape::MAX_LANES;
use pulp::Simd;

/// A scalar for each column of a block, with space for whole registers.
pub type Each<T> = [T; MAX_LANES];

/// The numbers that transform rows below a block.
pub struct Coefficients<T> {
    p: Each<T>,
    x: Each<T>,
    g: Each<T>,
}

impl<T: Float> Coefficients<T> {
    /// Applies those of column `j` to entries of the column and of V. Returns both.
    #[inline(always)]
    pub fn apply<S: Simd>(
        &self,
        simd: S,
        j: usize,
        l: T::Vector<S>,
        v: T::Vector<S>,
    ) -> (T::Vector<S>, T::Vector<S>) {
        let [p, x, g] = [T::splat(simd, self.p[j]), T::splat(simd, self.x[j]), T::splat(simd, self.g[j])];
        let d = T::mul_add(simd, g, v, T::vmul(simd, x, l));
        let both = T::mul_add(simd, T::splat(simd, T::TWO), l, d);
        (T::vadd(simd, l, d), T::neg_mul_add(simd, p, both, v))
    }
}

/// Ratios of new and old pivots so far, in as many lanes as [`Health`](crate::health::Health) has, with the same results.
pub struct Ratios<T> {
    least: [T; BLOCK],
    products: [f64; BLOCK],
}

impl<T: Float> Default for Ratios<T> {
    #[inline(always)]
    fn default() -> Self {
        Self { least: [T::INFINITY; BLOCK], products: [1.0; BLOCK] }
    }
}

impl<T: Float> Ratios<T> {
    #[inline(always)]
    pub fn record(&mut self, old: &Each<T>, new: &Each<T>, width: usize) {
        let mut ratios = [T::ONE; BLOCK];
        for j in 0..BLOCK {
            ratios[j] = new[j] / old[j];
            self.products[j] *= ratios[j].to_f64();
        }
        for j in width..BLOCK {
            ratios[j] = T::INFINITY;
        }
        for j in 0..BLOCK {
            self.least[j] = if ratios[j] < self.least[j] { ratios[j] } else { self.least[j] };
        }
    }

    #[inline(always)]
    pub fn made(&self, square: T) -> Made {
        let (mut least, mut product) = (self.least[0], self.products[0]);
        for j in 1..BLOCK {
            least = if self.least[j] < least { self.least[j] } else { least };
            product *= self.products[j];
        }
        Made { least: least.to_f64(), product, square: square.to_f64() }
    }
}

impl<T: Float> Small<T> {
    /// Computes the coefficients of a block and its new pivots, if method C1 is accurate.
    ///
    /// # Safety
    /// As `block`.
    #[inline(always)]
    pub unsafe fn coefficients<S: Simd>(
        &self,
        simd: S,
        block: Block<T>,
        pivots: &Each<T>,
        v: *const T,
    ) -> Option<(Coefficients<T>, Each<T>)> {
        let (ones, zeros) = ([T::ONE; MAX_LANES], [T::ZERO; MAX_LANES]);
        let (mut p, mut before, mut after) = (zeros, ones, ones);
        let (mut t, mut chain) = (T::ONE, [T::ZERO; BLOCK]);
        for i in 0..BLOCK {
            // SAFETY: rows and columns of the block.
            let mut x = unsafe { *v.add(block.first + i) };
            for j in 0..i {
                // SAFETY: as above.
                x = T::fused::<S>(-chain[j], unsafe { *block.column(j).add(i) }, x);
            }
            let inverse = T::ONE / pivots[i];
            chain[i] = x * inverse;
            // The quotient to its last digit. The chain does not wait for it.
            p[i] = T::fused::<S>(T::fused::<S>(-chain[i], pivots[i], x), inverse, chain[i]);
            before[i] = t;
            t = T::fused::<S>(self.sign * p[i], p[i], t);
            after[i] = t;
        }
        if !within_limits(t) {
            return None;
        }
        let change = T::from_f64(SMALL_CHANGE);
        // If t changes by less in all, every pivot does.
        let all_small = t < T::ONE + change && t > T::ONE - change;
        let (zero, sign, change) =
            (T::splat(simd, T::ZERO), T::splat(simd, self.sign), T::splat(simd, change));
        let (mut out, mut new) = (Coefficients { p: zeros, x: zeros, g: zeros }, ones);
        let (lanes, mut j) = (T::lanes::<S>(), 0);
        while j < BLOCK {
            // SAFETY: the arrays have space for whole registers.
            unsafe {
                let before = T::vsqrt(simd, T::load::<S>(before.as_ptr().add(j)));
                let after = T::vsqrt(simd, T::load::<S>(after.as_ptr().add(j)));
                let p = T::load::<S>(p.as_ptr().add(j));
                let signed = T::vmul(simd, sign, p);
                let g = T::vdiv(simd, signed, after);
                let new_p = T::vdiv(simd, p, T::vadd(simd, before, after));
                T::store::<S>(out.p.as_mut_ptr().add(j), new_p);
                T::store::<S>(out.g.as_mut_ptr().add(j), g);
                T::store::<S>(out.x.as_mut_ptr().add(j), T::neg_mul_add(simd, g, new_p, zero));
                let growth = T::vmul(simd, T::vdiv(simd, signed, before), new_p);
                let l = T::load::<S>(pivots.as_ptr().add(j));
                let step = T::vmul(simd, growth, l);
                let mut changed = T::vadd(simd, l, step);
                if !all_small {
                    // If the change is small, it is more accurate than the new pivot; if it is large, less.
                    let limit = T::vmul(simd, change, l);
                    let large = T::vmul(simd, T::vdiv(simd, after, before), l);
                    changed = T::where_less(simd, (step, limit), changed, large);
                    changed = T::where_less(simd, (T::vsub(simd, zero, limit), step), changed, large);
                }
                T::store::<S>(new.as_mut_ptr().add(j), changed);
            }
            j += lanes;
        }
        Some((out, new))
    }
}
