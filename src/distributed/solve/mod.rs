//! Triangular solves with distributed rows, in the panels and pieces of the `Cpu` engine's.
//!
//! L Y = B has the schedule of a sweep: the process that has the diagonal block sends the unknowns of a panel to all others.
//!
//! For Lᵀ X = Y a row of L belongs to one process, but an unknown needs all rows below. So parts of the right-hand sides go from
//! each block of rows to the one above, from process to process: each subtracts what its block contributes, while the blocks above
//! do the same with the parts before, a pipeline of all processes. The sums have the same order for any number of processes.

mod lower;
mod upper;

pub(in crate::distributed) use self::lower::solve_lower;
pub(in crate::distributed) use self::upper::solve_upper;

use crate::real::Real;
use core::marker::PhantomData;
use core::ops::Range;
use faer::MatMut;

/// B, which threads share by rows.
struct Shared<'a, T> {
    at: *mut T,
    strides: (isize, isize),
    cols: usize,
    borrowed: PhantomData<&'a mut T>,
}

// SAFETY: the contract of `rows` says which thread may use which rows when.
unsafe impl<T: Sync + Send> Sync for Shared<'_, T> {}

impl<'a, T: Real> Shared<'a, T> {
    fn new(b: MatMut<'a, T>) -> Self {
        let strides = (b.row_stride(), b.col_stride());
        Self { at: b.as_ptr_mut(), strides, cols: b.ncols(), borrowed: PhantomData }
    }

    /// # Safety
    /// They are rows of B. While the result exists, no other thread writes to them, or reads them if they are written.
    unsafe fn rows(&self, rows: &Range<usize>) -> MatMut<'a, T> {
        let first = self.at.wrapping_offset(rows.start as isize * self.strides.0);
        // SAFETY: rows of B, with its strides; the caller guarantees the rest.
        unsafe { MatMut::from_raw_parts_mut(first, rows.len(), self.cols, self.strides.0, self.strides.1) }
    }
}
