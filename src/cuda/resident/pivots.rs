//! The diagonal of the new L in host memory, which the device writes panel by panel, and the host reads while the sweep runs.

use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceSlice, Pinned};
use crate::cuda::stream::Event;
use crate::error::Error;
use crate::real::Real;
use core::array;
use core::hint;
use core::mem;
use core::ops::Range;

/// Pivots that are read together, those of a panel.
const RUN: usize = 64;
/// Readings of a run before the event is asked for.
const READINGS: usize = 256;

/// Page-locked memory for the pivots of two sweeps.
pub(super) struct NewPivots<T> {
    /// Of the last sweep, which may be in flight.
    last: Pinned<T>,
    /// Of the next one. The first `cleared` are NaN.
    next: Pinned<T>,
    cleared: usize,
}

impl<T: Real> NewPivots<T> {
    /// # Errors
    /// [`Error::Device`] if the host does not have that much memory that can be locked.
    pub fn new(device: &Device, capacity: usize) -> Result<Self, Error> {
        Ok(Self { last: Pinned::new(device, capacity)?, next: Pinned::new(device, capacity)?, cleared: 0 })
    }

    /// Begins with those of the next sweep, which has not been launched, and of which this number are read as they arrive. The last
    /// one has written all of its own, or is done.
    ///
    /// # Errors
    /// As [`clear_next`](Self::clear_next).
    pub fn turn(&mut self, rows: usize) -> Result<(), Error> {
        self.clear_next(rows)?;
        self.cleared = 0;
        mem::swap(&mut self.last, &mut self.next);
        Ok(())
    }

    /// Clears this number of those of the next sweep, unless that has been done. The last one may be in flight.
    ///
    /// # Errors
    /// [`Error::Device`] if a wait has failed and the device is not known to have been idle since.
    pub fn clear_next(&mut self, rows: usize) -> Result<(), Error> {
        if self.cleared < rows {
            self.next.as_mut_slice()?[self.cleared..rows].fill(T::from_f64(f64::NAN));
            self.cleared = rows;
        }
        Ok(())
    }

    /// The memory as the kernels of the last sweep access it.
    pub fn mapped(&self) -> DeviceSlice<'_, T> {
        self.last.mapped()
    }

    /// Calls `read` for runs of these pivots in their order, as the device writes them, until all have been read or `done` is
    /// reached. The launch has one sweep, so that it writes each pivot once. Returns the rows that have not been read.
    pub fn arriving(
        &self,
        rows: Range<usize>,
        done: &Event,
        mut read: impl FnMut(Range<usize>, &[T]),
    ) -> Range<usize> {
        let mut at = rows.start;
        let mut readings = 0;
        while at < rows.end {
            let run = at..rows.end.min(at + RUN);
            let pivots: [T; RUN] = array::from_fn(|i| {
                let row = (at + i).min(run.end - 1);
                // SAFETY: within the memory, as `run` is. The device may write it at the same time, so it is read as it is now;
                // an aligned scalar is written as a whole.
                unsafe { self.last.as_ptr().add(row).read_volatile() }
            });
            if !pivots.iter().any(|pivot| pivot.to_f64().is_nan()) {
                read(run.clone(), &pivots[..run.len()]);
                (at, readings) = (run.end, 0);
                continue;
            }
            readings += 1;
            // An error is that of the wait that follows.
            if readings % READINGS == 0 && !matches!(done.is_done(), Ok(false)) {
                break;
            }
            hint::spin_loop();
        }
        at..rows.end
    }

    /// Those of the last sweep, which is done.
    pub fn as_slice(&self) -> &[T] {
        self.last.as_slice()
    }
}
