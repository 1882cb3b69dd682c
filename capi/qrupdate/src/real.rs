//! The two types of real numbers.

use crate::number::Number;

/// `f32` or `f64`.
pub trait Real: Number<Real = Self> + PartialOrd {
    /// Squares of numbers between these two, and the sum of two squares, neither overflow nor lose digits.
    const SMALL: Self;
    const LARGE: Self;

    fn sqrt(self) -> Self;
    /// self · a + b, rounded once. Slow if the processor has no instruction for it.
    fn mul_add(self, a: Self, b: Self) -> Self;

    /// Four complex numbers in registers.
    #[cfg(target_arch = "x86_64")]
    type ComplexAvx2: crate::lanes::Lanes<crate::complex::Complex<Self>, 4>;
}

macro_rules! real {
    ($type:ty, $small:literal, $large:literal, $avx2:ty, $complex_avx2:ty) => {
        impl Real for $type {
            #[cfg(target_arch = "x86_64")]
            type ComplexAvx2 = $complex_avx2;

            const SMALL: Self = $small;
            const LARGE: Self = $large;

            #[inline(always)]
            fn sqrt(self) -> Self {
                <$type>::sqrt(self)
            }

            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                <$type>::mul_add(self, a, b)
            }
        }

        impl Number for $type {
            type Real = Self;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = $avx2;

            const COMPLEX: bool = false;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            #[inline(always)]
            fn from_real(x: Self) -> Self {
                x
            }

            #[inline(always)]
            fn re(self) -> Self {
                self
            }

            #[inline(always)]
            fn im(self) -> Self {
                0.0
            }

            #[inline(always)]
            fn conj(self) -> Self {
                self
            }

            #[inline(always)]
            fn scale(self, c: Self) -> Self {
                c * self
            }

            #[inline(always)]
            fn over(self, c: Self) -> Self {
                self / c
            }

            #[inline(always)]
            fn square(self) -> Self {
                self * self
            }

            #[inline(always)]
            fn largest(self) -> Self {
                <$type>::abs(self)
            }

            #[inline(always)]
            fn abs(self) -> Self {
                <$type>::abs(self)
            }

            #[inline(always)]
            fn polar(self) -> (Self, Self) {
                (<$type>::abs(self), <$type>::copysign(1.0, self))
            }

            #[inline(always)]
            fn from_sums<const LANES: usize>(sums: [Self; LANES], _exchanged: [Self; LANES]) -> Self {
                sums.iter().fold(0.0, |sum, x| sum + x)
            }
        }
    };
}

real!(f32, 1e-15, 1e18, core::arch::x86_64::__m128, core::arch::x86_64::__m256);
real!(f64, 1e-140, 1e150, core::arch::x86_64::__m256d, crate::avx2::Pair);
