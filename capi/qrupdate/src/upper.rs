//! R in the caller's memory.

/// A column-major matrix whose upper triangle is used. Entries below the diagonal are not read, and are written only where a
/// function says so.
#[derive(Clone, Copy)]
pub struct Upper<T> {
    start: *mut T,
    stride: usize,
    pub order: usize,
}

impl<T: Copy> Upper<T> {
    /// # Safety
    /// `order` columns of as many entries are at a distance of `stride`, and no other code uses them while this exists.
    pub unsafe fn new(start: *mut T, stride: usize, order: usize) -> Self {
        Self { start, stride, order }
    }

    pub fn stride(&self) -> usize {
        self.stride
    }

    /// A pointer to entry (row, column).
    ///
    /// # Safety
    /// `row` and `column` are less than the order; or only `row` is, and no entry is accessed.
    #[inline(always)]
    pub unsafe fn at(&self, row: usize, column: usize) -> *mut T {
        // SAFETY: within the columns, whose extent the caller of `new` guarantees.
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
        // SAFETY: two different columns, each of at least this many entries.
        unsafe { core::ptr::copy_nonoverlapping(self.at(0, from), self.at(0, to), rows) };
    }

    /// # Safety
    /// `column` and all of `rows` are less than the order.
    pub unsafe fn fill(&self, rows: core::ops::Range<usize>, column: usize, value: T) {
        for row in rows {
            // SAFETY: the caller guarantees the entries.
            unsafe { self.set(row, column, value) };
        }
    }
}

/// A number of rows or columns; 0 if it is negative.
pub fn size(n: i64) -> usize {
    usize::try_from(n).unwrap_or(0)
}
