//! A border that has been computed on the device.

use super::rearrange::Columns;
use crate::cuda::dense::Dense;
use crate::cuda::memory::DeviceBuffer;
use crate::real::Real;

/// S above rows of zeros above X, and C.
pub(super) struct DeviceBorder<T> {
    /// ((at + skipped + m) × r)
    pub rhs: DeviceBuffer<T>,
    pub rows: usize,
    pub at: usize,
    pub skipped: usize,
    /// (r × r)
    pub corner: Dense<T>,
    pub diagonal: Vec<T>,
}

impl<T: Real> DeviceBorder<T> {
    /// r.
    pub fn rank(&self) -> usize {
        self.corner.order()
    }

    /// S. (at × r)
    pub fn left(&self) -> Columns<'_, T> {
        (self.rhs.slice(0..self.rhs.len()), self.rows)
    }

    /// X, and its number of rows. (m × r)
    pub fn below(&self) -> (Columns<'_, T>, usize) {
        let first = (self.at + self.skipped).min(self.rhs.len());
        ((self.rhs.slice(first..self.rhs.len()), self.rows), self.rows - self.at - self.skipped)
    }

    pub fn corner(&self) -> Columns<'_, T> {
        (self.corner.slice(), self.corner.stride())
    }
}
