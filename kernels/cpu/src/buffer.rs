//! Cache-line aligned, zero-initialized working memory that never shrinks.

use crate::number::Number;
use core::marker::PhantomData;

/// One cache line, which is also the alignment of the widest register.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line {
    _bytes: [u8; 64],
}

/// Memory for scalars, kept between calls.
#[derive(Clone)]
pub struct Buffer<T> {
    lines: Vec<Line>,
    scalar: PhantomData<T>,
}

impl<T> Default for Buffer<T> {
    fn default() -> Self {
        Self { lines: Vec::new(), scalar: PhantomData }
    }
}

impl<T> Buffer<T> {
    /// Reserves room for `len` scalars; allocates only if the buffer is shorter.
    pub fn reserve(&mut self, len: usize) {
        let lines = (len * size_of::<T>()).div_ceil(size_of::<Line>());
        if lines > self.lines.len() {
            self.lines.resize(lines, Line { _bytes: [0; 64] });
        }
    }

    pub fn as_ptr(&self) -> *const T {
        self.lines.as_ptr().cast()
    }

    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.lines.as_mut_ptr().cast()
    }
}

impl<T: Number> Buffer<T> {
    /// All scalars for which there is room.
    pub fn as_slice(&self) -> &[T] {
        let len = size_of_val(&*self.lines) / size_of::<T>();
        // SAFETY: the lines are initialized, and any bits are a scalar.
        unsafe { core::slice::from_raw_parts(self.lines.as_ptr().cast(), len) }
    }

    pub fn as_mut_slice(&mut self) -> &mut [T] {
        let len = size_of_val(&*self.lines) / size_of::<T>();
        // SAFETY: as above, and they are borrowed exclusively.
        unsafe { core::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), len) }
    }
}
