//! Huge pages behind large memory.

/// Asks for huge pages behind memory that has yet to be written. Where the system hands them out on request alone, as Linux often does,
/// a sweep over small pages spends much of its time on translating addresses: it goes down many columns of L at once, and each is on
/// pages of its own.
#[cfg(target_os = "linux")]
pub(super) fn prefer_huge_pages<T>(at: *mut T, len: usize) {
    /// From here on, bytes. Smaller memory may hold no whole huge page.
    const WORTHWHILE: usize = 4 << 20;
    /// No page is smaller, and where all are larger the system refuses.
    const PAGE: usize = 4 << 10;
    let bytes = len * size_of::<T>();
    if bytes < WORTHWHILE {
        return;
    }
    let before = at.addr().next_multiple_of(PAGE) - at.addr();
    // SAFETY: the pages lie inside the caller's memory. Advice leaves what is in them as it is, and may be refused.
    unsafe {
        libc::madvise(at.byte_add(before).cast(), (bytes - before) / PAGE * PAGE, libc::MADV_HUGEPAGE);
    }
}

/// Elsewhere there is nobody to ask.
#[cfg(not(target_os = "linux"))]
pub(super) fn prefer_huge_pages<T>(_: *mut T, _: usize) {}
