//! Matrices in the memory of others.

use cholupdate::faer::{MatMut, MatRef};

/// Matrices in memory that another library describes: entry (i, j) of matrix b is at `b · each + i · row + j · column`.
#[derive(Debug)]
pub struct Stack<T> {
    pub at: *mut T,
    /// 0 if all matrices are the same.
    pub each: isize,
    pub row: isize,
    pub column: isize,
}

impl<T> Clone for Stack<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Stack<T> {}

// SAFETY: it is an address. What reads or writes there says on which thread.
unsafe impl<T: Send> Send for Stack<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Stack<T> {}

impl<T> Stack<T> {
    /// Row-major matrices one after the other, or a single one that stands for all.
    pub fn by_rows(at: *mut T, [count, rows, columns]: [usize; 3]) -> Self {
        let each = if count == 1 { 0 } else { (rows * columns) as isize };
        Self { at, each, row: columns as isize, column: 1 }
    }

    /// The transposed matrices.
    pub fn transposed_if(self, transposed: bool) -> Self {
        if transposed { Self { row: self.column, column: self.row, ..self } } else { self }
    }

    /// The address of a matrix. One without entries may have none in the memory of others.
    pub fn of(&self, matrix: usize) -> *mut T {
        match self.at.is_null() {
            true => core::ptr::dangling_mut(),
            false => self.at.wrapping_offset(matrix as isize * self.each),
        }
    }

    /// A matrix, to be read.
    ///
    /// # Safety
    /// The memory is described correctly, and nothing writes to it during `'a`.
    pub unsafe fn view<'a>(&self, matrix: usize, (rows, columns): (usize, usize)) -> MatRef<'a, T> {
        // SAFETY: as the caller guarantees.
        unsafe { MatRef::from_raw_parts(self.of(matrix), rows, columns, self.row, self.column) }
    }

    /// A matrix, to be written.
    ///
    /// # Safety
    /// The memory is described correctly, and nothing else uses it during `'a`.
    pub unsafe fn view_mut<'a>(&self, matrix: usize, (rows, columns): (usize, usize)) -> MatMut<'a, T> {
        // SAFETY: as the caller guarantees.
        unsafe { MatMut::from_raw_parts_mut(self.of(matrix), rows, columns, self.row, self.column) }
    }
}

/// Vectors in memory that another library describes, each contiguous: entry i of vector b is at `b · each + i`.
#[derive(Debug)]
pub struct Vectors<T> {
    pub at: *mut T,
    /// 0 if all vectors are the same.
    pub each: usize,
}

impl<T> Clone for Vectors<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Vectors<T> {}

// SAFETY: as for `Stack`.
unsafe impl<T: Send> Send for Vectors<T> {}
// SAFETY: as for `Stack`.
unsafe impl<T: Send> Sync for Vectors<T> {}

impl<T> Vectors<T> {
    /// Vectors one after the other, or a single one that stands for all.
    pub fn new(at: *mut T, [count, entries]: [usize; 2]) -> Self {
        Self { at, each: if count == 1 { 0 } else { entries } }
    }

    /// The address of a vector. One without entries may have none in the memory of others.
    fn of(&self, vector: usize) -> *mut T {
        match self.at.is_null() {
            true => core::ptr::dangling_mut(),
            false => self.at.wrapping_add(vector * self.each),
        }
    }

    /// A vector, to be read.
    ///
    /// # Safety
    /// As [`Stack::view`].
    pub unsafe fn view<'a>(&self, vector: usize, entries: usize) -> &'a [T] {
        // SAFETY: as the caller guarantees.
        unsafe { core::slice::from_raw_parts(self.of(vector), entries) }
    }

    /// A vector, to be written.
    ///
    /// # Safety
    /// As [`Stack::view_mut`].
    pub unsafe fn view_mut<'a>(&self, vector: usize, entries: usize) -> &'a mut [T] {
        // SAFETY: as the caller guarantees.
        unsafe { core::slice::from_raw_parts_mut(self.of(vector), entries) }
    }
}
