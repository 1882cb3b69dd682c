//! Registers of a few numbers, one from each of as many columns.

use crate::real::Real;

/// W numbers. What reads and writes memory, and what needs instructions that not every processor has, is unsafe.
pub trait Lanes<T, const W: usize>: Copy {
    /// # Safety
    /// The instructions are there, and W entries.
    unsafe fn load(from: *const T) -> Self;
    /// # Safety
    /// The instructions are there, and room for W entries.
    unsafe fn store(self, to: *mut T);
    /// # Safety
    /// The instructions are there.
    unsafe fn splat(x: T) -> Self;
    /// c a + s b.
    ///
    /// # Safety
    /// The instructions are there.
    unsafe fn sum(c: Self, a: Self, s: Self, b: Self) -> Self;
    /// c a − s b.
    ///
    /// # Safety
    /// The instructions are there.
    unsafe fn difference(c: Self, a: Self, s: Self, b: Self) -> Self;
    /// W columns of W entries as W rows.
    ///
    /// # Safety
    /// The instructions are there.
    unsafe fn transposed(tile: [Self; W]) -> [Self; W];
}

impl<T: Real, const W: usize> Lanes<T, W> for [T; W] {
    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: forwarded to the caller.
        unsafe { from.cast::<[T; W]>().read() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: forwarded to the caller.
        unsafe { to.cast::<[T; W]>().write(self) }
    }

    #[inline(always)]
    unsafe fn splat(x: T) -> Self {
        [x; W]
    }

    #[inline(always)]
    unsafe fn sum(c: Self, a: Self, s: Self, b: Self) -> Self {
        core::array::from_fn(|lane| c[lane] * a[lane] + s[lane] * b[lane])
    }

    #[inline(always)]
    unsafe fn difference(c: Self, a: Self, s: Self, b: Self) -> Self {
        core::array::from_fn(|lane| c[lane] * a[lane] - s[lane] * b[lane])
    }

    #[inline(always)]
    unsafe fn transposed(tile: [Self; W]) -> [Self; W] {
        core::array::from_fn(|row| core::array::from_fn(|column| tile[column][row]))
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Lanes;
    use core::arch::x86_64::*;

    macro_rules! lanes {
        ($type:ty, $width:literal, $register:ty, $load:ident $store:ident $splat:ident $mul:ident $fmadd:ident $fnmadd:ident, $tile:ident => $transposed:block) => {
            impl Lanes<$type, $width> for $register {
                #[inline(always)]
                unsafe fn load(from: *const $type) -> Self {
                    // SAFETY: forwarded to the caller.
                    unsafe { $load(from) }
                }

                #[inline(always)]
                unsafe fn store(self, to: *mut $type) {
                    // SAFETY: forwarded to the caller.
                    unsafe { $store(to, self) }
                }

                #[inline(always)]
                unsafe fn splat(x: $type) -> Self {
                    // SAFETY: forwarded to the caller.
                    unsafe { $splat(x) }
                }

                #[inline(always)]
                unsafe fn sum(c: Self, a: Self, s: Self, b: Self) -> Self {
                    // SAFETY: forwarded to the caller.
                    unsafe { $fmadd(c, a, $mul(s, b)) }
                }

                #[inline(always)]
                unsafe fn difference(c: Self, a: Self, s: Self, b: Self) -> Self {
                    // SAFETY: forwarded to the caller.
                    unsafe { $fnmadd(s, b, $mul(c, a)) }
                }

                #[inline(always)]
                unsafe fn transposed($tile: [Self; $width]) -> [Self; $width] {
                    // SAFETY: forwarded to the caller.
                    unsafe { $transposed }
                }
            }
        };
    }

    lanes!(f32, 4, __m128,
        _mm_loadu_ps _mm_storeu_ps _mm_set1_ps _mm_mul_ps _mm_fmadd_ps _mm_fnmadd_ps, t => {
        let (a, b) = (_mm_unpacklo_ps(t[0], t[1]), _mm_unpackhi_ps(t[0], t[1]));
        let (c, d) = (_mm_unpacklo_ps(t[2], t[3]), _mm_unpackhi_ps(t[2], t[3]));
        [_mm_movelh_ps(a, c), _mm_movehl_ps(c, a), _mm_movelh_ps(b, d), _mm_movehl_ps(d, b)]
    });

    lanes!(f64, 4, __m256d,
        _mm256_loadu_pd _mm256_storeu_pd _mm256_set1_pd _mm256_mul_pd _mm256_fmadd_pd _mm256_fnmadd_pd, t => {
        let (a, b) = (_mm256_unpacklo_pd(t[0], t[1]), _mm256_unpackhi_pd(t[0], t[1]));
        let (c, d) = (_mm256_unpacklo_pd(t[2], t[3]), _mm256_unpackhi_pd(t[2], t[3]));
        [
            _mm256_permute2f128_pd::<0x20>(a, c),
            _mm256_permute2f128_pd::<0x20>(b, d),
            _mm256_permute2f128_pd::<0x31>(a, c),
            _mm256_permute2f128_pd::<0x31>(b, d),
        ]
    });
}
