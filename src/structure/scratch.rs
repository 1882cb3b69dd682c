//! Working memory of calls that change rows and columns, kept between them.

use super::{Rearrangement, Run};
use crate::host::blocked::Memory;
use cholupdate_kernels::dense::Dense;
use faer::{Mat, MatMut};

/// Working memory of such a call. It grows to the largest size needed so far, and never shrinks.
pub struct Scratch<T> {
    pub new: Rearrangement,
    /// Rows that keep their positions.
    pub kept: Vec<Run>,
    /// Rows in ascending order.
    pub rows: Vec<usize>,
    /// Columns of A, assembled.
    pub columns: Mat<T>,
    pub border: BorderMemory<T>,
}

/// Working memory of a border.
pub struct BorderMemory<T> {
    pub rhs: Mat<T>,
    pub corner: Mat<T>,
    pub cholesky: Memory,
}

impl<T: Dense> Default for Scratch<T> {
    fn default() -> Self {
        let border = BorderMemory { rhs: Mat::new(), corner: Mat::new(), cholesky: Memory::default() };
        Self {
            new: Rearrangement::default(),
            kept: Vec::new(),
            rows: Vec::new(),
            columns: Mat::new(),
            border,
        }
    }
}

impl<T> core::fmt::Debug for Scratch<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Scratch").finish_non_exhaustive()
    }
}

/// Reserves room for a matrix in memory that is kept; its contents are unspecified. If the memory must grow, it grows to `most`
/// rows. (rows × columns)
pub fn room<T: Dense>(memory: &mut Mat<T>, (rows, most): (usize, usize), columns: usize) -> MatMut<'_, T> {
    if memory.nrows() < rows || memory.ncols() < columns {
        let (rows, columns) = (most.max(rows).max(memory.nrows()), columns.max(memory.ncols()));
        memory.resize_with(rows, columns, |_, _| T::ZERO);
    }
    memory.as_mut().submatrix_mut(0, 0, rows, columns)
}
