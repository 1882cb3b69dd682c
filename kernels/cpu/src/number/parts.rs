//! Registers of complex numbers as they are in memory, and their real and imaginary parts.

use super::Float;
#[cfg(target_arch = "x86_64")]
use super::is_portable;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::{
    __m256, __m256d, __m512, __m512d, _mm256_permute2f128_pd, _mm256_permute2f128_ps, _mm256_shuffle_ps,
    _mm256_unpackhi_pd, _mm256_unpackhi_ps, _mm256_unpacklo_pd, _mm256_unpacklo_ps, _mm512_permutex2var_pd,
    _mm512_permutex2var_ps, _mm512_set_epi32, _mm512_set_epi64,
};
use pulp::Simd;

/// Scalars in two of the widest registers.
const MOST: usize = 32;

/// The lower and the upper halves of two registers of four.
#[cfg(target_arch = "x86_64")]
const LOWER: i32 = 0x20;
#[cfg(target_arch = "x86_64")]
const UPPER: i32 = 0x31;

/// The same registers as another type.
///
/// # Safety
/// Both types must be registers of the same size.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn same<A: Copy, B: Copy>(x: [A; 2]) -> [B; 2] {
    // SAFETY: registers are plain data, and the caller guarantees the size.
    x.map(|x| unsafe { core::mem::transmute_copy(&x) })
}

/// From (r₀ i₀ r₁ i₁ …) to (r₀ r₁ …) and (i₀ i₁ …).
#[inline(always)]
pub fn apart<T: Float, S: Simd>(x: [T::Vector<S>; 2]) -> [T::Vector<S>; 2] {
    #[cfg(target_arch = "x86_64")]
    if !is_portable::<S>() {
        // SAFETY: a register of 32 bytes is one of AVX, and one of 64 bytes one of AVX-512; the machine has what `S` stands for.
        unsafe {
            match (size_of::<T::Vector<S>>(), size_of::<T>()) {
                (64, 8) => {
                    let [a, b] = same::<_, __m512d>(x);
                    let re = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
                    let im = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
                    return same([_mm512_permutex2var_pd(a, re, b), _mm512_permutex2var_pd(a, im, b)]);
                }
                (64, 4) => {
                    let [a, b] = same::<_, __m512>(x);
                    let re = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
                    let im = _mm512_set_epi32(31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
                    return same([_mm512_permutex2var_ps(a, re, b), _mm512_permutex2var_ps(a, im, b)]);
                }
                (32, 8) => {
                    let [a, b] = same::<_, __m256d>(x);
                    let (lower, upper) =
                        (_mm256_permute2f128_pd::<LOWER>(a, b), _mm256_permute2f128_pd::<UPPER>(a, b));
                    return same([_mm256_unpacklo_pd(lower, upper), _mm256_unpackhi_pd(lower, upper)]);
                }
                (32, 4) => {
                    let [a, b] = same::<_, __m256>(x);
                    let (lower, upper) =
                        (_mm256_permute2f128_ps::<LOWER>(a, b), _mm256_permute2f128_ps::<UPPER>(a, b));
                    let re = _mm256_shuffle_ps::<0b10_00_10_00>(lower, upper);
                    return same([re, _mm256_shuffle_ps::<0b11_01_11_01>(lower, upper)]);
                }
                _ => {}
            }
        }
    }
    let lanes = T::lanes::<S>();
    let (memory, mut parts) = (scalars::<T, S>(x), [T::ZERO; MOST]);
    for i in 0..lanes {
        (parts[i], parts[lanes + i]) = (memory[2 * i], memory[2 * i + 1]);
    }
    registers::<T, S>(&parts)
}

/// The inverse of [`apart`].
#[inline(always)]
pub fn together<T: Float, S: Simd>(x: [T::Vector<S>; 2]) -> [T::Vector<S>; 2] {
    #[cfg(target_arch = "x86_64")]
    if !is_portable::<S>() {
        // SAFETY: as in `apart`.
        unsafe {
            match (size_of::<T::Vector<S>>(), size_of::<T>()) {
                (64, 8) => {
                    let [re, im] = same::<_, __m512d>(x);
                    let lower = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
                    let upper = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
                    return same([
                        _mm512_permutex2var_pd(re, lower, im),
                        _mm512_permutex2var_pd(re, upper, im),
                    ]);
                }
                (64, 4) => {
                    let [re, im] = same::<_, __m512>(x);
                    let lower = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
                    let upper =
                        _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8);
                    return same([
                        _mm512_permutex2var_ps(re, lower, im),
                        _mm512_permutex2var_ps(re, upper, im),
                    ]);
                }
                (32, 8) => {
                    let [re, im] = same::<_, __m256d>(x);
                    let (lower, upper) = (_mm256_unpacklo_pd(re, im), _mm256_unpackhi_pd(re, im));
                    return same([
                        _mm256_permute2f128_pd::<LOWER>(lower, upper),
                        _mm256_permute2f128_pd::<UPPER>(lower, upper),
                    ]);
                }
                (32, 4) => {
                    let [re, im] = same::<_, __m256>(x);
                    let (lower, upper) = (_mm256_unpacklo_ps(re, im), _mm256_unpackhi_ps(re, im));
                    return same([
                        _mm256_permute2f128_ps::<LOWER>(lower, upper),
                        _mm256_permute2f128_ps::<UPPER>(lower, upper),
                    ]);
                }
                _ => {}
            }
        }
    }
    let lanes = T::lanes::<S>();
    let (parts, mut memory) = (scalars::<T, S>(x), [T::ZERO; MOST]);
    for i in 0..lanes {
        (memory[2 * i], memory[2 * i + 1]) = (parts[i], parts[lanes + i]);
    }
    registers::<T, S>(&memory)
}

/// The scalars of two registers.
#[inline(always)]
fn scalars<T: Float, S: Simd>(x: [T::Vector<S>; 2]) -> [T; MOST] {
    let mut scalars = [T::ZERO; MOST];
    // SAFETY: there is space for two registers.
    unsafe {
        T::store::<S>(scalars.as_mut_ptr(), x[0]);
        T::store::<S>(scalars.as_mut_ptr().add(T::lanes::<S>()), x[1]);
    }
    scalars
}

/// Two registers of these scalars.
#[inline(always)]
fn registers<T: Float, S: Simd>(scalars: &[T; MOST]) -> [T::Vector<S>; 2] {
    // SAFETY: there are the scalars of two registers.
    unsafe { [T::load::<S>(scalars.as_ptr()), T::load::<S>(scalars.as_ptr().add(T::lanes::<S>()))] }
}
