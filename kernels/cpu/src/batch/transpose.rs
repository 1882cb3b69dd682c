//! The transposition of as many registers as they have lanes.
//!
//! A register consists of parts of 128 bits. Entries are exchanged within the parts first, and then whole parts.

#[cfg(target_arch = "x86_64")]
pub use x86::{exists, transpose};

#[cfg(not(target_arch = "x86_64"))]
pub use elsewhere::{exists, transpose};

#[cfg(not(target_arch = "x86_64"))]
mod elsewhere {
    use crate::batch::packed::MAX_LANES;
    use crate::number::Number;
    use pulp::Simd;

    /// Whether [`transpose`] exists.
    #[inline(always)]
    pub fn exists<S: Simd>(_: S) -> bool {
        false
    }

    /// Does not [exist](exists).
    #[cfg_attr(not(unoptimized), inline(always))]
    pub fn transpose<T: Number, S: Simd>(_: S, registers: &mut [T::Vector<S>; MAX_LANES]) {
        unreachable!("{} registers that cannot be transposed", registers.len());
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::batch::packed::MAX_LANES;
    use crate::number::{Number, RealVector};
    use core::any::TypeId;
    #[allow(clippy::wildcard_imports, reason = "instructions")]
    use core::arch::x86_64::*;
    use pulp::Simd;

    #[inline(always)]
    fn is_avx512<S: Simd>(_: S) -> bool {
        TypeId::of::<S>() == TypeId::of::<pulp::x86::V4>()
    }

    #[inline(always)]
    fn is_avx2<S: Simd>(_: S) -> bool {
        TypeId::of::<S>() == TypeId::of::<pulp::x86::V3>()
    }

    /// Whether [`transpose`] exists for the registers of `S`: for AVX2 and AVX-512.
    #[inline(always)]
    pub fn exists<S: Simd>(simd: S) -> bool {
        is_avx512(simd) || is_avx2(simd)
    }

    /// Lane i of register j becomes lane j of register i, for the first registers, as many as they have lanes.
    ///
    /// # Panics
    /// If it does not [exist](exists).
    #[cfg_attr(not(unoptimized), inline(always))]
    pub fn transpose<T: Number, S: Simd>(simd: S, registers: &mut [T::Vector<S>; MAX_LANES]) {
        let at: *mut RealVector<T, S> = registers.as_mut_ptr().cast();
        if T::PARTS == 1 {
            // SAFETY: a register of real numbers is just that.
            unsafe { transpose_reals::<T, S>(simd, at) };
            return;
        }
        for part in 0..T::PARTS {
            // SAFETY: a register of complex numbers is one of their real and one of their imaginary parts.
            unsafe {
                let mut reals = [*at; MAX_LANES];
                for i in 0..T::lanes::<S>() {
                    reals[i] = *at.add(i * T::PARTS + part);
                }
                transpose_reals::<T, S>(simd, reals.as_mut_ptr());
                for i in 0..T::lanes::<S>() {
                    *at.add(i * T::PARTS + part) = reals[i];
                }
            }
        }
    }

    /// As [`transpose`], for registers of the real numbers of a T.
    ///
    /// # Safety
    /// There are as many of them as they have lanes.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn transpose_reals<T: Number, S: Simd>(simd: S, at: *mut RealVector<T, S>) {
        let wide = size_of::<T::Part>() == 8;
        // SAFETY: the caller guarantees the registers. A value of `S` exists only where its instructions do. A vector is plain data of
        // the size of its register, of any alignment.
        unsafe {
            match (is_avx512(simd), is_avx2(simd)) {
                (true, _) if wide => avx512_f64(at.cast()),
                (true, _) => avx512_f32(at.cast()),
                (_, true) if wide => avx2_f64(at.cast()),
                (_, true) => avx2_f32(at.cast()),
                _ => unreachable!("registers that cannot be transposed"),
            }
        }
    }

    // Each of the following functions requires its instruction set, and as many registers as they have lanes.

    /// Parts 0 and 2 of both operands.
    const EVEN: i32 = 0x88;
    /// Parts 1 and 3 of both operands.
    const ODD: i32 = 0xdd;

    #[cfg_attr(not(unoptimized), inline(always))]
    pub unsafe fn avx512_f64(at: *mut [__m512d; 8]) {
        // SAFETY: the caller guarantees the registers and the instruction set.
        unsafe {
            let r = at.read_unaligned();
            // Entry 2 q or 2 q + 1 of two rows, for each part q.
            let low = [
                _mm512_unpacklo_pd(r[0], r[1]),
                _mm512_unpacklo_pd(r[2], r[3]),
                _mm512_unpacklo_pd(r[4], r[5]),
                _mm512_unpacklo_pd(r[6], r[7]),
            ];
            let high = [
                _mm512_unpackhi_pd(r[0], r[1]),
                _mm512_unpackhi_pd(r[2], r[3]),
                _mm512_unpackhi_pd(r[4], r[5]),
                _mm512_unpackhi_pd(r[6], r[7]),
            ];
            let [a, b] = [parts_f64(low), parts_f64(high)];
            at.write_unaligned([a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3]]);
        }
    }

    /// Part i of register j becomes part j of register i.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn parts_f64(r: [__m512d; 4]) -> [__m512d; 4] {
        // SAFETY: the caller guarantees the instruction set.
        unsafe {
            let even = [_mm512_shuffle_f64x2::<EVEN>(r[0], r[1]), _mm512_shuffle_f64x2::<EVEN>(r[2], r[3])];
            let odd = [_mm512_shuffle_f64x2::<ODD>(r[0], r[1]), _mm512_shuffle_f64x2::<ODD>(r[2], r[3])];
            [
                _mm512_shuffle_f64x2::<EVEN>(even[0], even[1]),
                _mm512_shuffle_f64x2::<EVEN>(odd[0], odd[1]),
                _mm512_shuffle_f64x2::<ODD>(even[0], even[1]),
                _mm512_shuffle_f64x2::<ODD>(odd[0], odd[1]),
            ]
        }
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    pub unsafe fn avx512_f32(at: *mut [__m512; 16]) {
        // SAFETY: the caller guarantees the registers and the instruction set.
        unsafe {
            let r = at.read_unaligned();
            let q = [
                columns_512([r[0], r[1], r[2], r[3]]),
                columns_512([r[4], r[5], r[6], r[7]]),
                columns_512([r[8], r[9], r[10], r[11]]),
                columns_512([r[12], r[13], r[14], r[15]]),
            ];
            let [a, b, c, d] = [
                parts_f64([q[0][0], q[1][0], q[2][0], q[3][0]]),
                parts_f64([q[0][1], q[1][1], q[2][1], q[3][1]]),
                parts_f64([q[0][2], q[1][2], q[2][2], q[3][2]]),
                parts_f64([q[0][3], q[1][3], q[2][3], q[3][3]]),
            ];
            at.cast::<[__m512d; 16]>().write_unaligned([
                a[0], b[0], c[0], d[0], a[1], b[1], c[1], d[1], a[2], b[2], c[2], d[2], a[3], b[3], c[3],
                d[3],
            ]);
        }
    }

    /// Entry 4 q + c of four rows, in register c, for each part q.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn columns_512(r: [__m512; 4]) -> [__m512d; 4] {
        // SAFETY: the caller guarantees the instruction set.
        unsafe {
            let one = (_mm512_unpacklo_ps(r[0], r[1]), _mm512_unpackhi_ps(r[0], r[1]));
            let two = (_mm512_unpacklo_ps(r[2], r[3]), _mm512_unpackhi_ps(r[2], r[3]));
            let one = (_mm512_castps_pd(one.0), _mm512_castps_pd(one.1));
            let two = (_mm512_castps_pd(two.0), _mm512_castps_pd(two.1));
            [
                _mm512_unpacklo_pd(one.0, two.0),
                _mm512_unpackhi_pd(one.0, two.0),
                _mm512_unpacklo_pd(one.1, two.1),
                _mm512_unpackhi_pd(one.1, two.1),
            ]
        }
    }

    /// The first or the second part of both operands.
    const FIRST: i32 = 0x20;
    const SECOND: i32 = 0x31;

    #[cfg_attr(not(unoptimized), inline(always))]
    pub unsafe fn avx2_f64(at: *mut [__m256d; 4]) {
        // SAFETY: the caller guarantees the registers and the instruction set.
        unsafe {
            let r = at.read_unaligned();
            let low = [_mm256_unpacklo_pd(r[0], r[1]), _mm256_unpacklo_pd(r[2], r[3])];
            let high = [_mm256_unpackhi_pd(r[0], r[1]), _mm256_unpackhi_pd(r[2], r[3])];
            at.write_unaligned([
                _mm256_permute2f128_pd::<FIRST>(low[0], low[1]),
                _mm256_permute2f128_pd::<FIRST>(high[0], high[1]),
                _mm256_permute2f128_pd::<SECOND>(low[0], low[1]),
                _mm256_permute2f128_pd::<SECOND>(high[0], high[1]),
            ]);
        }
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    pub unsafe fn avx2_f32(at: *mut [__m256; 8]) {
        // SAFETY: the caller guarantees the registers and the instruction set.
        unsafe {
            let r = at.read_unaligned();
            let [a, b] = [columns_256([r[0], r[1], r[2], r[3]]), columns_256([r[4], r[5], r[6], r[7]])];
            at.cast::<[__m256d; 8]>().write_unaligned([
                _mm256_permute2f128_pd::<FIRST>(a[0], b[0]),
                _mm256_permute2f128_pd::<FIRST>(a[1], b[1]),
                _mm256_permute2f128_pd::<FIRST>(a[2], b[2]),
                _mm256_permute2f128_pd::<FIRST>(a[3], b[3]),
                _mm256_permute2f128_pd::<SECOND>(a[0], b[0]),
                _mm256_permute2f128_pd::<SECOND>(a[1], b[1]),
                _mm256_permute2f128_pd::<SECOND>(a[2], b[2]),
                _mm256_permute2f128_pd::<SECOND>(a[3], b[3]),
            ]);
        }
    }

    /// Entry 4 q + c of four rows, in register c, for each part q.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn columns_256(r: [__m256; 4]) -> [__m256d; 4] {
        // SAFETY: the caller guarantees the instruction set.
        unsafe {
            let one = (_mm256_unpacklo_ps(r[0], r[1]), _mm256_unpackhi_ps(r[0], r[1]));
            let two = (_mm256_unpacklo_ps(r[2], r[3]), _mm256_unpackhi_ps(r[2], r[3]));
            let one = (_mm256_castps_pd(one.0), _mm256_castps_pd(one.1));
            let two = (_mm256_castps_pd(two.0), _mm256_castps_pd(two.1));
            [
                _mm256_unpacklo_pd(one.0, two.0),
                _mm256_unpackhi_pd(one.0, two.0),
                _mm256_unpacklo_pd(one.1, two.1),
                _mm256_unpackhi_pd(one.1, two.1),
            ]
        }
    }
}
