//! Arithmetic in twice the precision of f64: an unevaluated sum of two of them.
//!
//! Source: T. J. Dekker, *A floating-point technique for extending the available precision*, Numer. Math. 18 (1971); Y. Hida,
//! X. S. Li, D. H. Bailey, *Algorithms for quad-double precision floating point arithmetic*, ARITH-15 (2001).

use core::ops::{Add, Div, Mul, Neg, Sub};

/// hi + lo, where hi is the rounded sum. Operations have relative errors of about 2⁻¹⁰², as long as nothing overflows or
/// underflows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Double {
    pub hi: f64,
    pub lo: f64,
}

/// a + b, exactly.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> Double {
    let hi = a + b;
    let of_b = hi - a;
    Double { hi, lo: (a - (hi - of_b)) + (b - of_b) }
}

/// a + b, exactly, if |a| ≥ |b|.
#[inline(always)]
fn quick_two_sum(a: f64, b: f64) -> Double {
    let hi = a + b;
    Double { hi, lo: b - (hi - a) }
}

impl Double {
    pub const ZERO: Self = Self { hi: 0.0, lo: 0.0 };

    #[inline(always)]
    pub fn new(x: f64) -> Self {
        Self { hi: x, lo: 0.0 }
    }

    /// The square root of a number that is not negative.
    #[inline(always)]
    pub fn sqrt(self) -> Self {
        if self.hi == 0.0 {
            return Self::ZERO;
        }
        let root = self.hi.sqrt();
        let rest = self - Self::new(root) * Self::new(root);
        quick_two_sum(root, rest.hi / (2.0 * root))
    }
}

impl Neg for Double {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self { hi: -self.hi, lo: -self.lo }
    }
}

impl Add for Double {
    type Output = Self;

    /// Accurate also if the two nearly cancel.
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let (high, low) = (two_sum(self.hi, other.hi), two_sum(self.lo, other.lo));
        let sum = quick_two_sum(high.hi, high.lo + low.hi);
        quick_two_sum(sum.hi, sum.lo + low.lo)
    }
}

impl Sub for Double {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Double {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let product = self.hi * other.hi;
        let lost = self.hi.mul_add(other.hi, -product);
        quick_two_sum(product, lost + (self.hi * other.lo + self.lo * other.hi))
    }
}

impl Div for Double {
    type Output = Self;

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let first = self.hi / other.hi;
        let rest = self - other * Self::new(first);
        let second = rest.hi / other.hi;
        let rest = rest - other * Self::new(second);
        quick_two_sum(first, second) + Self::new(rest.hi / other.hi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x in units of 2⁻¹²⁴, exactly, for numbers from 2⁻²⁰ to 1 whose last digits fit.
    fn fixed(x: Double) -> i128 {
        let unit = 2.0_f64.powi(62);
        let whole = |x: f64| {
            let high = (x * unit).trunc();
            let low = (x * unit - high) * unit;
            ((high as i128) << 62) + low as i128
        };
        whole(x.hi) + whole(x.lo)
    }

    /// Numbers between 1/4 and 1 with all their digits.
    fn numbers() -> impl Iterator<Item = Double> {
        let mut state = 88_172_645_463_325_252_u64;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / 2.0_f64.powi(53)
        };
        (0..2000).map(move |_| two_sum(0.25 + 0.75 * next(), (next() - 0.5) * 2.0_f64.powi(-53)))
    }

    const CLOSE: i128 = 1 << 23; // 2⁻¹⁰¹

    #[test]
    fn sums_and_differences_have_twice_the_digits() {
        for (a, b) in numbers().zip(numbers().skip(7)) {
            assert!((fixed(a) + fixed(b) - fixed(a + b)).abs() <= CLOSE, "{a:?} + {b:?}");
            assert!((fixed(a) - fixed(b) - fixed(a - b)).abs() <= CLOSE, "{a:?} - {b:?}");
            // The difference is exact if the high parts cancel.
            let near = Double { hi: a.hi, lo: b.lo / 4.0 };
            assert_eq!(fixed(a - near), fixed(a) - fixed(near));
        }
    }

    #[test]
    fn products_have_twice_the_digits() {
        for (a, b) in numbers().zip(numbers().skip(7)) {
            // (A + B)(C + D) by halves of 62 bits; the product of the low halves is dropped.
            let half = |x: i128| (x >> 62, x & ((1 << 62) - 1));
            let ((ah, al), (bh, bl)) = (half(fixed(a)), half(fixed(b)));
            let exact = ah * bh + ((ah * bl) >> 62) + ((al * bh) >> 62);
            assert!((exact - fixed(a * b)).abs() <= CLOSE, "{a:?} · {b:?}");
        }
    }

    #[test]
    fn quotients_and_roots_lead_back() {
        for (a, b) in numbers().zip(numbers().skip(7)) {
            let small = Double { hi: a.hi / 8.0, lo: a.lo / 8.0 };
            assert!((fixed(small / b * b) - fixed(small)).abs() <= CLOSE, "{a:?} / {b:?}");
            assert!((fixed(a.sqrt() * a.sqrt()) - fixed(a)).abs() <= CLOSE, "√{a:?}");
        }
        assert_eq!(Double::ZERO.sqrt(), Double::ZERO);
        assert_eq!(Double::new(0.5625).sqrt(), Double::new(0.75));
    }
}
