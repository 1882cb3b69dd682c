//! The instruction set of the kernels, detected at run time, and instructions that pulp does not provide.
//!
//! The environment variable `CHOLUPDATE_ISA` limits it to `portable`, `avx2` or `avx512`, on Arm to `portable` or `neon`, if the
//! machine has more: for measurements and tests of the others. It is read once; any other value has no effect.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use core::arch::asm;
#[cfg(target_arch = "aarch64")]
use pulp::aarch64::Neon;
#[cfg(target_arch = "x86_64")]
use pulp::x86::{V3, V4};
use pulp::{Simd, WithSimd};
use std::sync::OnceLock;

/// The same. A register of the kernels is a pair of these, as it is of NEON registers.
#[cfg(target_arch = "aarch64")]
pub use pulp::Scalar128b as Portable;
/// What stands for the instructions of a machine without any that are known here.
#[cfg(not(target_arch = "aarch64"))]
pub use pulp::Scalar256b as Portable;

/// An instruction set that this process may use.
#[derive(Clone, Copy, Debug)]
pub enum Isa {
    /// 128-bit registers, or what the compiler chooses.
    Portable,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    V3(V3),
    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    V4(V4),
    /// NEON.
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
}

impl Isa {
    /// The best one of this machine that the environment permits.
    #[inline]
    pub fn detect() -> Self {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| Self::best(std::env::var("CHOLUPDATE_ISA").as_deref().unwrap_or_default()))
    }

    /// The best one of this machine up to the one of this name.
    pub fn best(limit: &str) -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if !matches!(limit, "portable" | "avx2")
                && let Some(simd) = V4::try_new()
            {
                return Self::V4(simd);
            }
            if limit != "portable"
                && let Some(simd) = V3::try_new()
            {
                return Self::V3(simd);
            }
        }
        #[cfg(target_arch = "aarch64")]
        if limit != "portable"
            && let Some(simd) = Neon::try_new()
        {
            return Self::Neon(simd);
        }
        let _ = limit;
        Self::Portable
    }

    /// A number for each.
    pub fn number(self) -> u64 {
        match self {
            Self::Portable => 0,
            #[cfg(target_arch = "x86_64")]
            Self::V3(_) => 1,
            #[cfg(target_arch = "x86_64")]
            Self::V4(_) => 2,
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => 3,
        }
    }

    /// The same with registers of at most 256 bits, in which a root or a division of some lanes takes less time on some processors.
    #[inline]
    pub fn narrow(self) -> Self {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::V4(simd) => Self::V3(*simd),
            isa => isa,
        }
    }

    /// Whether [`stream`] writes past the caches.
    #[inline]
    pub fn streams(self) -> bool {
        match self {
            Self::Portable => false,
            #[cfg(target_arch = "x86_64")]
            Self::V3(_) | Self::V4(_) => true,
            // NEON has such stores for pairs of registers. Whether and when they pay has not been measured.
            #[cfg(target_arch = "aarch64")]
            Self::Neon(_) => false,
        }
    }

    /// All those of this machine, the portable one first.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(V3::try_new().map(Self::V3));
            all.extend(V4::try_new().map(Self::V4));
        }
        #[cfg(target_arch = "aarch64")]
        all.extend(Neon::try_new().map(Self::Neon));
        all
    }

    #[inline]
    pub fn run<Op: WithSimd>(self, op: Op) -> Op::Output {
        match self {
            Self::Portable => Simd::vectorize(Portable, op),
            #[cfg(target_arch = "x86_64")]
            Self::V3(simd) => Simd::vectorize(simd, op),
            #[cfg(target_arch = "x86_64")]
            Self::V4(simd) => Simd::vectorize(simd, op),
            #[cfg(target_arch = "aarch64")]
            Self::Neon(simd) => Simd::vectorize(simd, op),
        }
    }
}

/// Prefetches the `len` scalars at `ptr`, which need not be readable, into the cache of level `LEVEL`, 1 or 2.
#[inline(always)]
pub fn prefetch<const LEVEL: i32, T>(ptr: *const T, len: usize) {
    for_each_line(ptr, len, |at| {
        #[cfg(target_arch = "x86_64")]
        {
            use core::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
            // SAFETY: a prefetch never faults, with any address.
            unsafe {
                match LEVEL {
                    1 => _mm_prefetch::<_MM_HINT_T0>(at),
                    _ => _mm_prefetch::<_MM_HINT_T1>(at),
                }
            }
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: a prefetch never faults, with any address, and changes neither memory nor flags.
        unsafe {
            match LEVEL {
                1 => {
                    asm!("prfm pldl1keep, [{}]", in(reg) at.addr(), options(nomem, nostack, preserves_flags))
                }
                _ => {
                    asm!("prfm pldl2keep, [{}]", in(reg) at.addr(), options(nomem, nostack, preserves_flags))
                }
            }
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let _ = at;
    });
}

/// Prefetches memory that is about to be written, for this processor core alone. It need not be writable.
#[inline(always)]
pub fn prefetch_to_write<T>(ptr: *const T, len: usize) {
    for_each_line(ptr, len, |at| {
        // SAFETY: a prefetch never faults, with any address, and changes neither memory nor flags. The intrinsic compiles to a
        // prefetch for reading. Processors without the instruction ignore it.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            asm!("prefetchw [{}]", in(reg) at.addr(), options(nomem, nostack, preserves_flags));
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: as above.
        unsafe {
            asm!("prfm pstl1keep, [{}]", in(reg) at.addr(), options(nomem, nostack, preserves_flags));
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let _ = at;
    });
}

/// Calls `work` for each cache line of `len` scalars.
#[inline(always)]
fn for_each_line<T>(ptr: *const T, len: usize, work: impl Fn(*const i8)) {
    let line = 64 / size_of::<T>();
    for i in 0..len.div_ceil(line) {
        work(ptr.wrapping_add(i * line).cast());
    }
}

/// Writes a register to memory past the caches, if the machine can. `fence` makes such writes visible to other threads.
///
/// # Safety
/// A whole register at `ptr` must be writable, and `ptr` a multiple of its size. A register of 32 bytes must be an AVX
/// register, and one of 64 bytes an AVX-512 register, not a portable stand-in of that size.
#[inline(always)]
pub unsafe fn stream<V: Copy, T>(ptr: *mut T, x: V) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_mm256_stream_ps, _mm512_stream_ps};
        // SAFETY: registers are plain data; the caller guarantees that the machine has the instructions, that the memory is
        // writable, and that it is aligned.
        unsafe {
            match size_of::<V>() {
                32 => return _mm256_stream_ps(ptr.cast(), core::mem::transmute_copy(&x)),
                64 => return _mm512_stream_ps(ptr.cast(), core::mem::transmute_copy(&x)),
                _ => {}
            }
        }
    }
    // SAFETY: the caller guarantees that the memory is writable.
    unsafe { ptr.cast::<V>().write_unaligned(x) }
}

/// Orders the writes of [`stream`] before later ones.
#[inline(always)]
pub fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 machine has SSE.
    unsafe {
        core::arch::x86_64::_mm_sfence();
    }
}
