//! Complex numbers, in memory as Fortran and C have them.

use crate::real::Real;
use core::ops::{Add, Div, Mul, Neg, Sub};

#[derive(Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Complex<R> {
    pub re: R,
    pub im: R,
}

impl<R: Real> Neg for Complex<R> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self { re: -self.re, im: -self.im }
    }
}

impl<R: Real> Add for Complex<R> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl<R: Real> Sub for Complex<R> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { re: self.re - other.re, im: self.im - other.im }
    }
}

impl<R: Real> Mul for Complex<R> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

impl<R: Real> Div for Complex<R> {
    type Output = Self;

    /// By Smith's method: the square of the divisor may overflow.
    #[inline(always)]
    fn div(self, by: Self) -> Self {
        // The diagonal of most factors is real.
        if by.im == R::ZERO {
            return Self { re: self.re / by.re, im: self.im / by.re };
        }
        if by.re.abs() >= by.im.abs() {
            let ratio = by.im / by.re;
            let whole = by.re + by.im * ratio;
            Self { re: (self.re + self.im * ratio) / whole, im: (self.im - self.re * ratio) / whole }
        } else {
            let ratio = by.re / by.im;
            let whole = by.re * ratio + by.im;
            Self { re: (self.re * ratio + self.im) / whole, im: (self.im * ratio - self.re) / whole }
        }
    }
}
