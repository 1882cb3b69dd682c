//! Matrices of equal shape in the caller's memory.

use core::marker::PhantomData;

/// Matrices to be read. (count × rows × columns)
#[derive(Debug)]
pub struct BatchView<'a, T> {
    at: *const T,
    shape: [usize; 3],
    strides: [usize; 3],
    data: PhantomData<&'a [T]>,
}

impl<T> Clone for BatchView<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for BatchView<'_, T> {}

// SAFETY: it is a shared reference to scalars.
unsafe impl<T: Sync> Send for BatchView<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for BatchView<'_, T> {}

impl<T> BatchView<'_, T> {
    /// Entry (i, j) of matrix b at `at.add(b · strides[0] + i · strides[1] + j · strides[2])`.
    ///
    /// # Safety
    /// These entries are aligned and initialized, and nothing writes to them during `'a`. Their offsets in bytes are less than 2⁶³.
    #[inline]
    pub unsafe fn new(at: *const T, shape: [usize; 3], strides: [usize; 3]) -> Self {
        Self { at, shape, strides, data: PhantomData }
    }

    /// The number of matrices, their rows and their columns.
    #[inline(always)]
    pub fn shape(&self) -> [usize; 3] {
        self.shape
    }

    /// Entry (i, j) of matrix `b`.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn get(&self, b: usize, i: usize, j: usize) -> T
    where
        T: Copy,
    {
        assert!([b, i, j].iter().zip(self.shape).all(|(&at, extent)| at < extent), "no such entry");
        // SAFETY: the entry exists.
        unsafe { *self.entry(b, i, j) }
    }

    /// The address of an entry, if it exists.
    #[inline(always)]
    pub fn entry(&self, b: usize, i: usize, j: usize) -> *const T {
        let [batch, row, column] = self.strides;
        self.at.wrapping_add(b * batch + i * row + j * column)
    }

    /// From one matrix, row and column to the next.
    #[inline(always)]
    pub fn strides(&self) -> [usize; 3] {
        self.strides
    }
}

/// Matrices to be written. (count × rows × columns)
#[derive(Debug)]
pub struct BatchViewMut<'a, T> {
    at: *mut T,
    shape: [usize; 3],
    strides: [usize; 3],
    data: PhantomData<&'a mut [T]>,
}

// SAFETY: it is an exclusive reference to scalars.
unsafe impl<T: Send> Send for BatchViewMut<'_, T> {}
// SAFETY: threads that share a reference write to different matrices (`given::put`, and `copies::copy` of cholupdate, whose callers
// guarantee that), and entries of different matrices share no memory.
unsafe impl<T: Send + Sync> Sync for BatchViewMut<'_, T> {}

impl<T> BatchViewMut<'_, T> {
    /// Entry (i, j) of matrix b at `at.add(b · strides[0] + i · strides[1] + j · strides[2])`.
    ///
    /// # Safety
    /// These entries are aligned and initialized, in different places, and nothing else uses them during `'a`. Their offsets in bytes
    /// are less than 2⁶³.
    #[inline]
    pub unsafe fn new(at: *mut T, shape: [usize; 3], strides: [usize; 3]) -> Self {
        Self { at, shape, strides, data: PhantomData }
    }

    /// The number of matrices, their rows and their columns.
    #[inline(always)]
    pub fn shape(&self) -> [usize; 3] {
        self.shape
    }

    /// The same for reading.
    #[inline]
    pub fn as_ref(&self) -> BatchView<'_, T> {
        BatchView { at: self.at, shape: self.shape, strides: self.strides, data: PhantomData }
    }

    /// The address of an entry, if it exists.
    #[inline(always)]
    pub fn entry(&self, b: usize, i: usize, j: usize) -> *mut T {
        let [batch, row, column] = self.strides;
        self.at.wrapping_add(b * batch + i * row + j * column)
    }
}
