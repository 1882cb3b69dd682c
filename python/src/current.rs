//! The CUDA context that is current on a thread of Python, by which other libraries know on which device to work. No call changes it,
//! nor does the end of an object.

use cholupdate::cuda::keeping_current_context;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};

/// A value whose end does not change it.
pub struct KeepsCurrent<T>(ManuallyDrop<T>);

impl<T> KeepsCurrent<T> {
    pub fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }
}

impl<T> Deref for KeepsCurrent<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for KeepsCurrent<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> Drop for KeepsCurrent<T> {
    fn drop(&mut self) {
        // SAFETY: the value is dropped here alone, and nothing uses it afterwards.
        keeping_current_context(|| unsafe { ManuallyDrop::drop(&mut self.0) });
    }
}
