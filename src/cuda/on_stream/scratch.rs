//! The division of working memory of the caller's.

use crate::cuda::memory::DeviceSlice;
use crate::cuda::plain::Plain;
use core::marker::PhantomData;

/// Each part begins at a multiple of this number of bytes, if the memory does.
const ALIGNMENT: usize = 256;

/// Scalars at a place in the memory.
pub(super) struct Part<T> {
    first: usize,
    len: usize,
    scalar: PhantomData<T>,
}

/// Divides memory, from its beginning on.
#[derive(Default)]
pub(super) struct Division {
    bytes: usize,
}

impl Division {
    /// The next part, for this number of scalars.
    pub fn part<T: Plain>(&mut self, len: usize) -> Part<T> {
        let first = self.bytes;
        self.bytes = (first + len * size_of::<T>()).next_multiple_of(ALIGNMENT);
        Part { first, len, scalar: PhantomData }
    }

    /// The bytes of all parts.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl<T> Part<T> {
    /// The part of the memory at this address.
    ///
    /// # Safety
    /// That memory exists for the lifetime, and has all parts.
    pub unsafe fn at<'a>(&self, memory: u64) -> DeviceSlice<'a, T> {
        // SAFETY: as the caller guarantees.
        unsafe { DeviceSlice::at(memory + self.first as u64, self.len) }
    }

    pub fn len(&self) -> usize {
        self.len
    }
}
