//! Which instruction set the kernels run under, asked of the machine at run time, and what pulp has no name for.

#[cfg(target_arch = "x86_64")]
use pulp::x86::{V3, V4};
use pulp::{Scalar256b, Simd, WithSimd};

/// An instruction set this process may use.
#[derive(Clone, Copy, Debug)]
pub enum Isa {
    /// 128-bit or emulated registers, as the compiler sees fit.
    Portable,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    V3(V3),
    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    V4(V4),
}

impl Isa {
    /// The best one of this machine. The detection itself is cached by `pulp`.
    #[inline]
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(simd) = V4::try_new() {
                return Self::V4(simd);
            }
            if let Some(simd) = V3::try_new() {
                return Self::V3(simd);
            }
        }
        Self::Portable
    }

    /// Every one of this machine, the portable one first.
    #[cfg(test)]
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(V3::try_new().map(Self::V3));
            all.extend(V4::try_new().map(Self::V4));
        }
        all
    }

    #[inline]
    pub fn run<Op: WithSimd>(self, op: Op) -> Op::Output {
        match self {
            Self::Portable => Simd::vectorize(Scalar256b, op),
            #[cfg(target_arch = "x86_64")]
            Self::V3(simd) => Simd::vectorize(simd, op),
            #[cfg(target_arch = "x86_64")]
            Self::V4(simd) => Simd::vectorize(simd, op),
        }
    }
}

/// Asks for the `len` scalars at `ptr`, which need not be readable, in the cache of level `LEVEL`, 1 or 2.
#[inline(always)]
pub(crate) fn prefetch<const LEVEL: i32, T>(ptr: *const T, len: usize) {
    for_each_line(ptr, len, |at| {
        #[cfg(target_arch = "x86_64")]
        {
            use core::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
            // SAFETY: a prefetch never faults, whatever the address.
            unsafe {
                match LEVEL {
                    1 => _mm_prefetch::<_MM_HINT_T0>(at),
                    _ => _mm_prefetch::<_MM_HINT_T1>(at),
                }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = at;
    });
}

/// The same in the first-level cache for memory that is about to be written, and need not be writable.
#[inline(always)]
pub(crate) fn prefetch_to_write<T>(ptr: *mut T, len: usize) {
    for_each_line(ptr, len, |at| {
        #[cfg(target_arch = "x86_64")]
        {
            use core::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
            // SAFETY: a prefetch never faults, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(at) }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = at;
    });
}

/// Cache lines of `len` scalars.
#[inline(always)]
fn for_each_line<T>(ptr: *const T, len: usize, work: impl Fn(*const i8)) {
    let line = 64 / size_of::<T>();
    for i in 0..len.div_ceil(line) {
        work(ptr.wrapping_add(i * line).cast());
    }
}

/// Writes a register to memory past the caches, where the machine can; `fence` makes such writes visible to
/// other threads.
///
/// # Safety
/// A whole register at `ptr` must be writable, and `ptr` a multiple of its size. A register of 32 bytes
/// must be one of AVX, one of 64 one of AVX-512: not a portable stand-in of that size.
#[inline(always)]
pub(crate) unsafe fn stream<V: Copy, T>(ptr: *mut T, x: V) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_mm256_stream_ps, _mm512_stream_ps};
        // SAFETY: registers are plain data; that the machine has the instructions, the memory and its
        // alignment are the caller's promise.
        unsafe {
            match size_of::<V>() {
                32 => return _mm256_stream_ps(ptr.cast(), core::mem::transmute_copy(&x)),
                64 => return _mm512_stream_ps(ptr.cast(), core::mem::transmute_copy(&x)),
                _ => {}
            }
        }
    }
    // SAFETY: as the caller promises.
    unsafe { ptr.cast::<V>().write_unaligned(x) }
}

/// Orders the writes of [`stream`] before later ones.
#[inline(always)]
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 machine has SSE.
    unsafe {
        core::arch::x86_64::_mm_sfence();
    }
}
