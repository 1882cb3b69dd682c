//! Where the entries of L are.

/// Old and new L, column-major; the new one may be the same memory, or null where nothing is written.
#[derive(Clone, Copy)]
pub(crate) struct Entries<T> {
    pub src: *const T,
    pub src_stride: isize,
    pub dst: *mut T,
    pub dst_stride: isize,
}

// SAFETY: a description of memory, which unsafe calls alone use; who may do so when is their contract.
unsafe impl<T: Sync> Sync for Entries<T> {}
