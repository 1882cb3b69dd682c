//! The two types of numbers.

use crate::lanes::Lanes;
use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

/// `f32` or `f64`.
pub trait Real:
    Copy
    + PartialOrd
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
{
    const ZERO: Self;
    const ONE: Self;
    /// Squares of numbers between these two, and the sum of two squares, neither overflow nor lose digits.
    const SMALL: Self;
    const LARGE: Self;

    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    fn copysign(self, sign: Self) -> Self;
    /// self · a + b, rounded once. Slow if the processor has no instruction for it.
    fn mul_add(self, a: Self, b: Self) -> Self;

    /// Four numbers in a register.
    #[cfg(target_arch = "x86_64")]
    type Avx2: Lanes<Self, 4>;
}

macro_rules! real {
    ($type:ty, $small:literal, $large:literal, $avx2:ident) => {
        impl Real for $type {
            #[cfg(target_arch = "x86_64")]
            type Avx2 = core::arch::x86_64::$avx2;

            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const SMALL: Self = $small;
            const LARGE: Self = $large;

            #[inline(always)]
            fn abs(self) -> Self {
                <$type>::abs(self)
            }

            #[inline(always)]
            fn sqrt(self) -> Self {
                <$type>::sqrt(self)
            }

            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                <$type>::copysign(self, sign)
            }

            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                <$type>::mul_add(self, a, b)
            }
        }
    };
}

real!(f32, 1e-15, 1e18, __m128);
real!(f64, 1e-140, 1e150, __m256d);
