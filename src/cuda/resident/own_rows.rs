//! The row blocks of one of several devices, as kernels find them.

use super::share::{Share, row_blocks};
use super::sizes::ROW_BLOCK;
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::plain::Plain;
use crate::cuda::stream::Stream;
use crate::error::Error;
use core::ops::Range;

/// Tables of the row blocks of a device.
pub(in crate::cuda) struct OwnRows {
    pub share: Share,
    /// The panels of the device, ascending.
    panels: Vec<i32>,
    panels_there: DeviceBuffer<i32>,
    /// For each row block of L, the distance from its place in a column-major matrix of stride [`ROW_BLOCK`] to its place in
    /// the memory of the device; 0 for row blocks of other devices.
    row_blocks: DeviceBuffer<i64>,
}

impl OwnRows {
    /// For factors of up to this order.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn new(device: &Device, share: Share, capacity: usize) -> Result<Self, Error> {
        let count = row_blocks(capacity);
        let panels: Vec<i32> = share.panels(count).map(|panel| panel as i32).collect();
        let mut places = vec![0; count];
        for (row_block, at) in share.places(count) {
            places[row_block] = at as i64 - (row_block * ROW_BLOCK) as i64;
        }
        let (panels_there, row_blocks) = (sent(device, &panels)?, sent(device, &places)?);
        Ok(Self { share, panels, panels_there, row_blocks })
    }

    /// The table of row blocks, from this one on.
    pub fn row_blocks(&self, first: usize) -> DeviceSlice<'_, i64> {
        self.row_blocks.slice(first..self.row_blocks.len())
    }

    /// The panels of the device in this range.
    pub fn panels(&self, range: Range<usize>) -> DeviceSlice<'_, i32> {
        let before = |end: usize| self.panels.partition_point(|&panel| (panel as usize) < end);
        self.panels_there.slice(before(range.start)..before(range.end).max(before(range.start)))
    }
}

/// A copy on the device.
///
/// # Errors
/// [`Error::Device`].
pub(in crate::cuda) fn sent<N: Plain>(device: &Device, numbers: &[N]) -> Result<DeviceBuffer<N>, Error> {
    let (mut host, there) = (Pinned::new(device, numbers.len())?, DeviceBuffer::new(device, numbers.len())?);
    host.as_mut_slice()?.copy_from_slice(numbers);
    let stream = Stream::new(device)?;
    // SAFETY: both memories exist, and no other code uses them until the stream has been waited for.
    let enqueued = unsafe { stream.upload(&host, 0..numbers.len(), there.slice(0..numbers.len())) };
    stream.synchronize().and(enqueued)?;
    Ok(there)
}
