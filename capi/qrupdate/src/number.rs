//! What the algorithms are written for: real and complex numbers. Conjugation of a real number is no operation.

use crate::complex::Complex;
use crate::real::Real;
use core::ops::{Add, Div, Mul, Neg, Sub};

/// A real or complex number. In memory it is one or two real numbers.
pub trait Number:
    Copy
    + PartialEq
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    type Real: Real;

    const COMPLEX: bool;
    const ZERO: Self;
    const ONE: Self;

    fn from_real(x: Self::Real) -> Self;
    fn re(self) -> Self::Real;
    fn im(self) -> Self::Real;
    fn conj(self) -> Self;
    /// c · self.
    fn scale(self, c: Self::Real) -> Self;
    /// self / c.
    fn over(self, c: Self::Real) -> Self;
    /// |self|².
    fn square(self) -> Self::Real;
    /// The largest absolute value of a part.
    fn largest(self) -> Self::Real;
    fn abs(self) -> Self::Real;
    /// |self|, and self / |self|. The number is not zero.
    fn polar(self) -> (Self::Real, Self);
    /// The sum of products x̄ y, from those of the parts of x and y: as they lie in memory, and with exchanged parts of y.
    fn from_sums<const LANES: usize>(sums: [Self::Real; LANES], exchanged: [Self::Real; LANES]) -> Self;

    /// Four numbers in registers.
    #[cfg(target_arch = "x86_64")]
    type Avx2: crate::lanes::Lanes<Self, 4>;
}

impl<R: Real> Number for Complex<R> {
    type Real = R;
    #[cfg(target_arch = "x86_64")]
    type Avx2 = R::ComplexAvx2;

    const COMPLEX: bool = true;
    const ZERO: Self = Self { re: R::ZERO, im: R::ZERO };
    const ONE: Self = Self { re: R::ONE, im: R::ZERO };

    #[inline(always)]
    fn from_real(x: R) -> Self {
        Self { re: x, im: R::ZERO }
    }

    #[inline(always)]
    fn re(self) -> R {
        self.re
    }

    #[inline(always)]
    fn im(self) -> R {
        self.im
    }

    #[inline(always)]
    fn conj(self) -> Self {
        Self { re: self.re, im: -self.im }
    }

    #[inline(always)]
    fn scale(self, c: R) -> Self {
        Self { re: c * self.re, im: c * self.im }
    }

    #[inline(always)]
    fn over(self, c: R) -> Self {
        Self { re: self.re / c, im: self.im / c }
    }

    #[inline(always)]
    fn square(self) -> R {
        self.re * self.re + self.im * self.im
    }

    #[inline(always)]
    fn largest(self) -> R {
        larger(self.re.abs(), self.im.abs())
    }

    #[inline(always)]
    fn abs(self) -> R {
        length(self.re, self.im)
    }

    #[inline(always)]
    fn polar(self) -> (R, Self) {
        // The diagonal of most factors is real, and stays so.
        if self.im == R::ZERO {
            let (abs, sign) = self.re.polar();
            return (abs, Self::from_real(sign));
        }
        let large = self.largest();
        // NaN takes this branch as well, and is returned.
        if !(large < R::SMALL || large > R::LARGE) {
            let abs = self.square().sqrt();
            return (abs, self.over(abs));
        }
        let scaled = self.over(large);
        let length = scaled.square().sqrt();
        (large * length, scaled.over(length))
    }

    #[inline(always)]
    fn from_sums<const LANES: usize>(sums: [R; LANES], exchanged: [R; LANES]) -> Self {
        let re = sums.iter().fold(R::ZERO, |sum, &x| sum + x);
        let im = exchanged.chunks_exact(2).fold(R::ZERO, |sum, x| sum + (x[0] - x[1]));
        Self { re, im }
    }
}

#[inline(always)]
fn larger<R: Real>(a: R, b: R) -> R {
    if a > b { a } else { b }
}

/// √(|f|² + |g|²) and its inverse. Both are on the critical path, so the division runs concurrently with the square root.
#[inline(always)]
pub fn length_and_inverse<T: Number>(f: T, g: T) -> (T::Real, T::Real) {
    let large = larger(f.largest(), g.largest());
    // NaN takes this branch as well, and is returned.
    if !(large < T::Real::SMALL || large > T::Real::LARGE) {
        let square = f.square() + g.square();
        let length = square.sqrt();
        return (length, length * (T::Real::ONE / square));
    }
    let length = length(f.abs(), g.abs());
    (length, T::Real::ONE / length)
}

/// √(f² + g²).
#[inline(always)]
pub fn length<R: Real>(f: R, g: R) -> R {
    let (a, b) = (f.abs(), g.abs());
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    // NaN takes this branch as well, and is returned.
    if !(large < R::SMALL || large > R::LARGE) {
        return (f * f + g * g).sqrt();
    }
    scaled_length(large, small)
}

#[cold]
fn scaled_length<R: Real>(large: R, small: R) -> R {
    if large == R::ZERO {
        return R::ZERO;
    }
    let ratio = small / large;
    large * (R::ONE + ratio * ratio).sqrt()
}
