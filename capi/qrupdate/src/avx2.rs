//! Registers of processors with AVX2 and FMA. Complex numbers lie in them as in memory: real and imaginary parts alternate.

use crate::complex::Complex;
use crate::lanes::Lanes;
use core::arch::x86_64::*;

macro_rules! real_lanes {
    (
        $type:ty, $register:ty, $load:ident $store:ident $splat:ident $mul:ident $fmadd:ident $fnmadd:ident,
        $tile:ident => $transposed:block
    ) => {
        impl Lanes<$type, 4> for $register {
            type Rotation = (Self, Self);

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
            unsafe fn rotation(c: $type, s: $type) -> Self::Rotation {
                // SAFETY: the caller guarantees the instructions.
                unsafe { ($splat(c), $splat(s)) }
            }

            #[inline(always)]
            unsafe fn sum((c, s): Self::Rotation, a: Self, b: Self) -> Self {
                // SAFETY: the caller guarantees the instructions.
                unsafe { $fmadd(c, a, $mul(s, b)) }
            }

            #[inline(always)]
            unsafe fn difference((c, s): Self::Rotation, a: Self, b: Self) -> Self {
                // SAFETY: the caller guarantees the instructions.
                unsafe { $fnmadd(s, b, $mul(c, a)) }
            }

            #[inline(always)]
            unsafe fn transposed($tile: [Self; 4]) -> [Self; 4] {
                // SAFETY: the caller guarantees the instructions.
                unsafe { $transposed }
            }
        }
    };
}

real_lanes!(f32, __m128, _mm_loadu_ps _mm_storeu_ps _mm_set1_ps _mm_mul_ps _mm_fmadd_ps _mm_fnmadd_ps, t => {
    let (a, b) = (_mm_unpacklo_ps(t[0], t[1]), _mm_unpackhi_ps(t[0], t[1]));
    let (c, d) = (_mm_unpacklo_ps(t[2], t[3]), _mm_unpackhi_ps(t[2], t[3]));
    [_mm_movelh_ps(a, c), _mm_movehl_ps(c, a), _mm_movelh_ps(b, d), _mm_movehl_ps(d, b)]
});

real_lanes!(f64, __m256d,
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

/// c a + s b and c a − s̄ b in one register, with the parts of s.
macro_rules! complex_rotations {
    (
        $sum:ident $difference:ident: $register:ty, $mul:ident $fmadd:ident $fmsub:ident $fmaddsub:ident $fmsubadd:ident,
        $b:ident => $swapped:expr
    ) => {
        /// # Safety
        /// The processor has the instructions.
        #[inline(always)]
        unsafe fn $sum([c, re, im]: [$register; 3], a: $register, $b: $register) -> $register {
            // SAFETY: the caller guarantees the instructions.
            unsafe { $fmadd(c, a, $fmaddsub(re, $b, $mul(im, $swapped))) }
        }

        /// # Safety
        /// The processor has the instructions.
        #[inline(always)]
        unsafe fn $difference([c, re, im]: [$register; 3], a: $register, $b: $register) -> $register {
            // SAFETY: the caller guarantees the instructions.
            unsafe { $fmsub(c, a, $fmsubadd(re, $b, $mul(im, $swapped))) }
        }
    };
}

complex_rotations!(sum_f32 difference_f32: __m256,
    _mm256_mul_ps _mm256_fmadd_ps _mm256_fmsub_ps _mm256_fmaddsub_ps _mm256_fmsubadd_ps,
    b => _mm256_permute_ps::<0b10_11_00_01>(b));
complex_rotations!(sum_f64 difference_f64: __m256d,
    _mm256_mul_pd _mm256_fmadd_pd _mm256_fmsub_pd _mm256_fmaddsub_pd _mm256_fmsubadd_pd,
    b => _mm256_permute_pd::<0b0101>(b));

impl Lanes<Complex<f32>, 4> for __m256 {
    type Rotation = [Self; 3];

    #[inline(always)]
    unsafe fn load(from: *const Complex<f32>) -> Self {
        // SAFETY: the caller guarantees the instructions and the entries.
        unsafe { _mm256_loadu_ps(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut Complex<f32>) {
        // SAFETY: the caller guarantees the instructions and the entries.
        unsafe { _mm256_storeu_ps(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn rotation(c: f32, s: Complex<f32>) -> Self::Rotation {
        // SAFETY: the caller guarantees the instructions.
        unsafe { [_mm256_set1_ps(c), _mm256_set1_ps(s.re), _mm256_set1_ps(s.im)] }
    }

    #[inline(always)]
    unsafe fn sum(q: Self::Rotation, a: Self, b: Self) -> Self {
        // SAFETY: the caller guarantees the instructions.
        unsafe { sum_f32(q, a, b) }
    }

    #[inline(always)]
    unsafe fn difference(q: Self::Rotation, a: Self, b: Self) -> Self {
        // SAFETY: the caller guarantees the instructions.
        unsafe { difference_f32(q, a, b) }
    }

    /// A complex number is as wide as a real number in double precision.
    #[inline(always)]
    unsafe fn transposed(tile: [Self; 4]) -> [Self; 4] {
        // SAFETY: the caller guarantees the instructions.
        unsafe {
            let [a, b, c, d] = tile;
            let tile = [_mm256_castps_pd(a), _mm256_castps_pd(b), _mm256_castps_pd(c), _mm256_castps_pd(d)];
            let [a, b, c, d] = <__m256d as Lanes<f64, 4>>::transposed(tile);
            [_mm256_castpd_ps(a), _mm256_castpd_ps(b), _mm256_castpd_ps(c), _mm256_castpd_ps(d)]
        }
    }
}

/// Four complex numbers in double precision: the first two, and the others.
#[derive(Clone, Copy)]
pub struct Pair(__m256d, __m256d);

impl Lanes<Complex<f64>, 4> for Pair {
    type Rotation = [__m256d; 3];

    #[inline(always)]
    unsafe fn load(from: *const Complex<f64>) -> Self {
        let from = from.cast::<f64>();
        // SAFETY: the caller guarantees the instructions and the entries.
        unsafe { Self(_mm256_loadu_pd(from), _mm256_loadu_pd(from.add(4))) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut Complex<f64>) {
        let to = to.cast::<f64>();
        // SAFETY: the caller guarantees the instructions and the entries.
        unsafe {
            _mm256_storeu_pd(to, self.0);
            _mm256_storeu_pd(to.add(4), self.1);
        }
    }

    #[inline(always)]
    unsafe fn rotation(c: f64, s: Complex<f64>) -> Self::Rotation {
        // SAFETY: the caller guarantees the instructions.
        unsafe { [_mm256_set1_pd(c), _mm256_set1_pd(s.re), _mm256_set1_pd(s.im)] }
    }

    #[inline(always)]
    unsafe fn sum(q: Self::Rotation, a: Self, b: Self) -> Self {
        // SAFETY: the caller guarantees the instructions.
        unsafe { Self(sum_f64(q, a.0, b.0), sum_f64(q, a.1, b.1)) }
    }

    #[inline(always)]
    unsafe fn difference(q: Self::Rotation, a: Self, b: Self) -> Self {
        // SAFETY: the caller guarantees the instructions.
        unsafe { Self(difference_f64(q, a.0, b.0), difference_f64(q, a.1, b.1)) }
    }

    #[inline(always)]
    unsafe fn transposed([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        // SAFETY: the caller guarantees the instructions.
        unsafe {
            [
                Self(_mm256_permute2f128_pd::<0x20>(a.0, b.0), _mm256_permute2f128_pd::<0x20>(c.0, d.0)),
                Self(_mm256_permute2f128_pd::<0x31>(a.0, b.0), _mm256_permute2f128_pd::<0x31>(c.0, d.0)),
                Self(_mm256_permute2f128_pd::<0x20>(a.1, b.1), _mm256_permute2f128_pd::<0x20>(c.1, d.1)),
                Self(_mm256_permute2f128_pd::<0x31>(a.1, b.1), _mm256_permute2f128_pd::<0x31>(c.1, d.1)),
            ]
        }
    }
}
