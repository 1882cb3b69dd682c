//! The location of the entries of L.

/// Old and new L, column-major. The new one may be the same memory, or null if nothing is written.
#[derive(Clone, Copy)]
pub struct Entries<T> {
    pub src: *const T,
    pub src_stride: isize,
    pub dst: *mut T,
    pub dst_stride: isize,
}

// SAFETY: this describes memory that only unsafe calls access; their contracts say which thread may access what when.
unsafe impl<T: Sync> Sync for Entries<T> {}
