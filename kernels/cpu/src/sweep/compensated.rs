//! Sums of products as if in twice the precision: the compensated dot product of Ogita, Rump and Oishi (*Accurate sum and dot
//! product*, SIAM J. Sci. Comput. 26, 2005), for scalars and for registers.

use crate::number::{Float, Number, plus};
use pulp::Simd;

/// A sum of scalars: its value in working precision, and the accumulated rounding errors.
#[derive(Clone, Copy)]
pub struct Sum<T> {
    whole: T,
    rest: T,
}

impl<T: Float> Sum<T> {
    pub const ZERO: Self = Self { whole: T::ZERO, rest: T::ZERO };

    /// Adds x.
    pub fn plus(self, x: T) -> Self {
        let whole = self.whole + x;
        let part = whole - self.whole;
        Self { whole, rest: self.rest + ((self.whole - (whole - part)) + (x - part)) }
    }

    /// Adds a b.
    pub fn plus_product(self, a: T, b: T) -> Self {
        let product = a * b;
        let Self { whole, rest } = self.plus(product);
        Self { whole, rest: rest + T::exact_fused(a, b, -product) }
    }

    pub fn rounded(self) -> T {
        self.whole + self.rest
    }

    /// The square root, with about one rounding; NaN if the sum is negative.
    pub fn root(self) -> T {
        let root = self.rounded().sqrt();
        let lost = T::exact_fused(-root, root, self.whole) + self.rest;
        if root > T::ZERO { root + lost / (root + root) } else { root }
    }
}

/// Such a sum for each lane of a register.
#[derive(Clone, Copy)]
pub struct Sums<T: Number, S: Simd> {
    whole: T::Vector<S>,
    rest: T::Vector<S>,
}

impl<T: Number, S: Simd> Sums<T, S> {
    #[inline(always)]
    pub fn zero(simd: S) -> Self {
        let zero = T::splat(simd, T::ZERO);
        Self { whole: zero, rest: zero }
    }

    /// Adds x.
    #[inline(always)]
    pub fn plus(self, simd: S, x: T::Vector<S>) -> Self {
        let (whole, rest) = plus::<T, S>(simd, (self.whole, self.rest), x);
        Self { whole, rest }
    }

    /// Adds another sum.
    #[inline(always)]
    pub fn plus_sum(self, simd: S, other: Self) -> Self {
        let Self { whole, rest } = self.plus(simd, other.whole);
        Self { whole, rest: T::vadd(simd, rest, other.rest) }
    }

    #[inline(always)]
    pub fn negated(self, simd: S) -> Self {
        let zero = T::splat(simd, T::ZERO);
        Self { whole: T::vsub(simd, zero, self.whole), rest: T::vsub(simd, zero, self.rest) }
    }

    /// Adds a b.
    #[inline(always)]
    pub fn plus_product(self, simd: S, a: T::Vector<S>, b: T::Vector<S>) -> Self {
        let (whole, rest) = T::plus_exact_product(simd, (self.whole, self.rest), a, b);
        Self { whole, rest }
    }

    /// Adds a times another sum.
    #[inline(always)]
    pub fn plus_times(self, simd: S, a: T::Vector<S>, other: Self) -> Self {
        let Self { whole, rest } = self.plus_product(simd, a, other.whole);
        Self { whole, rest: T::mul_add(simd, a, other.rest, rest) }
    }

    #[inline(always)]
    pub fn rounded(self, simd: S) -> T::Vector<S> {
        T::vadd(simd, self.whole, self.rest)
    }
}
