//! R where the caller has it.

/// A column-major matrix of which the upper triangle counts. What lies below the diagonal is not read, and written only where
/// a function says so.
#[derive(Clone, Copy)]
pub struct Upper<T> {
    start: *mut T,
    stride: usize,
    pub order: usize,
}

impl<T: Copy> Upper<T> {
    /// # Safety
    /// `order` columns of as many entries are `stride` apart, and nobody else uses them for as long as this is used.
    pub unsafe fn new(start: *mut T, stride: usize, order: usize) -> Self {
        Self { start, stride, order }
    }

    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Where entry (row, column) is.
    ///
    /// # Safety
    /// `row` and `column` are less than the order, or the row is and no entry is used.
    #[inline(always)]
    pub unsafe fn at(&self, row: usize, column: usize) -> *mut T {
        // SAFETY: within the columns, whose extent the caller of `new` has promised.
        unsafe { self.start.add(row + column * self.stride) }
    }

    /// # Safety
    /// `row` and `column` are less than the order.
    #[inline(always)]
    pub unsafe fn get(&self, row: usize, column: usize) -> T {
        // SAFETY: as for `at`.
        unsafe { *self.at(row, column) }
    }

    /// # Safety
    /// `row` and `column` are less than the order.
    #[inline(always)]
    pub unsafe fn set(&self, row: usize, column: usize, value: T) {
        // SAFETY: as for `at`.
        unsafe { *self.at(row, column) = value }
    }

    /// Copies the first `rows` rows of a column to another.
    ///
    /// # Safety
    /// All of these are less than the order, and the columns differ.
    pub unsafe fn copy_rows(&self, rows: usize, from: usize, to: usize) {
        // SAFETY: two columns, each of as many entries at least.
        unsafe { core::ptr::copy_nonoverlapping(self.at(0, from), self.at(0, to), rows) };
    }

    /// # Safety
    /// `column` and all of `rows` are less than the order.
    pub unsafe fn fill(&self, rows: core::ops::Range<usize>, column: usize, value: T) {
        for row in rows {
            // SAFETY: forwarded to the caller.
            unsafe { self.set(row, column, value) };
        }
    }
}
