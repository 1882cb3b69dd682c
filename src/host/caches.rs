//! The size of the caches.

use std::sync::OnceLock;

/// Bytes of the last-level cache as the processor reports them; 32 MiB if it does not.
#[inline]
pub(crate) fn last_level() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| asked().unwrap_or(32 << 20))
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn asked() -> Option<usize> {
    let caches = raw_cpuid::CpuId::new().get_cache_parameters()?;
    let bytes = |c: &raw_cpuid::CacheParameter| {
        c.associativity() * c.physical_line_partitions() * c.coherency_line_size() * c.sets()
    };
    caches.filter(|cache| cache.level() >= 2).map(|cache| bytes(&cache)).max().filter(|&bytes| bytes > 0)
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
fn asked() -> Option<usize> {
    None
}
