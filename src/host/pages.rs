//! Huge pages for large memory.

/// Requests huge pages for memory that has not been written. Linux often provides them on request only. With small pages a
/// sweep spends much of its time on address translation: it reads many columns of L at once, each on pages of its own.
#[cfg(target_os = "linux")]
pub(super) fn prefer_huge_pages<T>(at: *mut T, len: usize) {
    /// Bytes from which on huge pages are requested. Smaller memory may not contain a whole huge page.
    const WORTHWHILE: usize = 4 << 20;
    /// The smallest page size. If pages are larger, the system refuses the request.
    const PAGE: usize = 4 << 10;
    let bytes = len * size_of::<T>();
    if bytes < WORTHWHILE {
        return;
    }
    let before = at.addr().next_multiple_of(PAGE) - at.addr();
    // SAFETY: the pages lie inside the caller's memory. The advice does not change their contents, and may be refused.
    unsafe {
        libc::madvise(at.byte_add(before).cast(), (bytes - before) / PAGE * PAGE, libc::MADV_HUGEPAGE);
    }
}

/// Other systems have no such request.
#[cfg(not(target_os = "linux"))]
pub(super) fn prefer_huge_pages<T>(_: *mut T, _: usize) {}
