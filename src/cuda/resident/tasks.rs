//! The tasks of launches on the device.

use super::schedule::Schedule;
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::stream::Stream;
use crate::error::Error;

/// The number of schedules that are kept: loops repeat modifications of a few shapes.
const KEPT: usize = 8;

/// The words of several schedules, each copied to the device once.
pub(in crate::cuda) struct Tasks {
    /// In the order of their last use.
    kept: Vec<Kept>,
    /// Words of the longest schedule.
    len: usize,
}

struct Kept {
    schedule: Schedule,
    host: Pinned<i32>,
    device: DeviceBuffer<i32>,
}

impl Tasks {
    /// For schedules of at most this number of words.
    pub fn new(len: usize) -> Self {
        Self { kept: Vec::new(), len }
    }

    /// Copies the words of a schedule to the device, unless they are there. One modification has at most [`KEPT`] schedules.
    ///
    /// # Errors
    /// [`Error::Device`] if the device or the host does not have that much memory, or the driver fails.
    ///
    /// # Safety
    /// Only this stream uses the memory; of earlier modifications at most the last one is in flight.
    pub unsafe fn send(&mut self, device: &Device, stream: &Stream, schedule: Schedule) -> Result<(), Error> {
        if let Some(at) = self.kept.iter().position(|kept| kept.schedule == schedule) {
            self.kept[at..].rotate_left(1);
            return Ok(());
        }
        let (mut host, device) = if self.kept.len() < KEPT {
            (Pinned::new(device, self.len)?, DeviceBuffer::new(device, self.len)?)
        } else {
            let oldest = self.kept.remove(0);
            (oldest.host, oldest.device)
        };
        host.as_mut_slice()?.iter_mut().zip(schedule.words()).for_each(|(to, word)| *to = word);
        let len = schedule.len();
        // SAFETY: the caller guarantees the memory; the words have been written, and do not change from now on.
        unsafe { stream.upload(&host, 0..len, device.slice(0..len))? };
        self.kept.push(Kept { schedule, host, device });
        Ok(())
    }

    /// The words of a schedule that has been sent; otherwise an empty slice.
    pub fn slice(&self, schedule: Schedule) -> DeviceSlice<'_, i32> {
        match self.kept.iter().find(|kept| kept.schedule == schedule) {
            Some(kept) => kept.device.slice(0..schedule.len()),
            None => DeviceSlice::empty(),
        }
    }
}
