//! Copies of a matrix between two process grids, by panels of columns.
//!
//! ScaLAPACK has buffers for all that a process sends and receives, and counts their bytes and the entries of arrays by an `int`. A
//! panel is therefore given as a matrix of its own, which begins at its first column.

use super::ScalapackError;
use super::descriptor::{Descriptor, count, place};
use super::library::Scalapack;
use crate::network::Processes;
use cholupdate::RealScalar;
use cholupdate::distributed::Network;
use core::ffi::c_int;
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a process's part of a panel at most, if that is a column or more. A variable for tests, whose matrices are small.
#[doc(hidden)]
pub static PANEL_BYTES: AtomicUsize = AtomicUsize::new(1 << 30);

/// A local array with its descriptor.
pub(super) type Array<'d, T> = (*mut T, &'d Descriptor);

/// Which way a matrix is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    ToOwn,
    FromOwn,
}

/// The panels, the same on all processes.
#[derive(Debug)]
pub(super) struct Panels {
    order: usize,
    /// Columns of a panel at most.
    most: usize,
    /// Columns of a block of the other matrix.
    block: usize,
    /// Columns of processes in the grid of the other matrix, and which of them this process is in.
    cols: usize,
    col: Option<usize>,
}

impl Panels {
    /// The panels of a matrix with descriptor `other`, which has been checked. In the own one `lld` entries of a column follow each
    /// other. All processes make the call.
    ///
    /// # Errors
    /// `Descriptor`, on all processes.
    pub fn agreed<T: RealScalar>(
        net: &Processes,
        scalapack: &Scalapack,
        other: &Descriptor,
        lld: usize,
    ) -> Result<Self, ScalapackError> {
        let inside = place(scalapack, other[1]);
        let longest = if inside.is_some() { lld.max(other[8] as usize) } else { lld };
        let most = PANEL_BYTES.load(Ordering::Relaxed) / (longest * size_of::<T>());
        // The least of the others is that of the processes in the grid, if there are any.
        let shape = |of: usize| [of as u64, !(of as u64)];
        let [rows, cols] = inside.map_or([[u64::MAX; 2]; 2], |at| [shape(at.rows), shape(at.cols)]);
        let mut words = [most.max(1) as u64, rows[0], rows[1], cols[0], cols[1]];
        net.least(&mut words);
        let [most, rows, not_rows, cols, not_cols] = words;
        if cols == u64::MAX {
            return Err(ScalapackError::Descriptor("has a grid without processes of the communicator"));
        }
        if rows != !not_rows || cols != !not_cols {
            let differs = "has a grid whose shape differs between the processes";
            return Err(ScalapackError::Descriptor(differs));
        }
        let (order, block, col) = (other[3] as usize, other[5] as usize, inside.map(|at| at.col));
        Ok(Self { order, most: most as usize, block, cols: cols as usize, col })
    }

    /// The columns of each panel: whole blocks of the other matrix, or a part of one.
    fn iter(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut start = 0;
        core::iter::from_fn(move || {
            let end = if self.most >= self.block {
                start + self.most / self.block * self.block
            } else {
                (start + self.most).min((start / self.block + 1) * self.block)
            };
            let panel = start..end.min(self.order);
            start = panel.end;
            (!panel.is_empty()).then_some(panel)
        })
    }

    /// A panel of the own matrix, of which each process has all columns.
    fn of_own<T>(&self, (start, desc): Array<'_, T>, panel: &Range<usize>) -> (*mut T, Descriptor) {
        let mut of_panel = *desc;
        of_panel[3] = panel.len() as c_int;
        (start.wrapping_add(panel.start * desc[8] as usize), of_panel)
    }

    /// A panel of the other matrix. Its first column is at the process that has it in the matrix.
    fn of_other<T>(&self, (start, desc): Array<'_, T>, panel: &Range<usize>) -> (*mut T, Descriptor) {
        let (mut of_panel, first) = (*desc, desc[7] as usize);
        of_panel[3] = panel.len() as c_int;
        of_panel[7] = ((first + panel.start / self.block) % self.cols) as c_int;
        let before = self.col.map_or(0, |col| count(panel.start, self.block, (col, first, self.cols)));
        // Where this process has no column from here on, it is behind the array, and not read.
        (start.wrapping_add(before * desc[8].max(0) as usize), of_panel)
    }

    /// Copies a matrix. (n × n)
    ///
    /// # Safety
    /// The arrays have the entries that the descriptors describe, and those that are written are borrowed exclusively. The own matrix
    /// is on the grid of `context`, of all processes of the communicator in one column; all of them make the call.
    pub unsafe fn copy<T: RealScalar>(
        &self,
        scalapack: &Scalapack,
        (own, other): (Array<'_, T>, Array<'_, T>),
        way: Way,
        context: c_int,
    ) {
        let call = scalapack.redistribute[usize::from(size_of::<T>() == 8)];
        for panel in self.iter() {
            let (own, other) = (self.of_own(own, &panel), self.of_other(other, &panel));
            let (from, to) = if way == Way::ToOwn { (other, own) } else { (own, other) };
            let (n, columns, one) = (self.order as c_int, panel.len() as c_int, 1);
            // SAFETY: the caller guarantees the arrays, and the entries of a panel are entries of its matrix.
            unsafe {
                call(
                    &n,
                    &columns,
                    from.0.cast_const().cast(),
                    &one,
                    &one,
                    from.1.as_ptr(),
                    to.0.cast(),
                    &one,
                    &one,
                    to.1.as_ptr(),
                    &context,
                );
            }
        }
    }
}
