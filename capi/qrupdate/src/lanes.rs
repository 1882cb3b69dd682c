//! Registers of several numbers, one from each of as many columns.

use crate::real::Real;

/// W numbers. Methods that access memory, or that need instructions that not every processor has, are unsafe.
pub trait Lanes<T, const W: usize>: Copy {
    /// # Safety
    /// The processor has the instructions, and W entries are readable.
    unsafe fn load(from: *const T) -> Self;
    /// # Safety
    /// The processor has the instructions, and W entries are writable.
    unsafe fn store(self, to: *mut T);
    /// # Safety
    /// The processor has the instructions.
    unsafe fn splat(x: T) -> Self;
    /// c a + s b.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn sum(c: Self, a: Self, s: Self, b: Self) -> Self;
    /// c a − s b.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn difference(c: Self, a: Self, s: Self, b: Self) -> Self;
    /// Transposes a tile: W columns of W entries become W rows.
    ///
    /// # Safety
    /// The processor has the instructions.
    unsafe fn transposed(tile: [Self; W]) -> [Self; W];
}

impl<T: Real, const W: usize> Lanes<T, W> for [T; W] {
    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: the caller guarantees the entries.
        unsafe { from.cast::<[T; W]>().read() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: the caller guarantees the entries.
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
                    // SAFETY: the caller guarantees the instructions and the entries.
                    unsafe { $load(from) }
                }

                #[inline(always)]
                unsafe fn store(self, to: *mut $type) {
                    // SAFETY: the caller guarantees the instructions and the entries.
                    unsafe { $store(to, self) }
                }

                #[inline(always)]
                unsafe fn splat(x: $type) -> Self {
                    // SAFETY: the caller guarantees the instructions.
                    unsafe { $splat(x) }
                }

                #[inline(always)]
                unsafe fn sum(c: Self, a: Self, s: Self, b: Self) -> Self {
                    // SAFETY: the caller guarantees the instructions.
                    unsafe { $fmadd(c, a, $mul(s, b)) }
                }

                #[inline(always)]
                unsafe fn difference(c: Self, a: Self, s: Self, b: Self) -> Self {
                    // SAFETY: the caller guarantees the instructions.
                    unsafe { $fnmadd(s, b, $mul(c, a)) }
                }

                #[inline(always)]
                unsafe fn transposed($tile: [Self; $width]) -> [Self; $width] {
                    // SAFETY: the caller guarantees the instructions.
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
