//! The tasks of launches on the device.

use super::schedule::Schedule;
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::stream::Stream;
use crate::error::Error;

/// Schedules that are kept at a time: loops have modifications of a few shapes, one after the other.
const KEPT: usize = 8;

/// The words of some schedules, each sent once.
pub(super) struct Tasks {
    /// Those used last come last.
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
    /// For schedules of so many words at most.
    pub fn new(len: usize) -> Self {
        Self { kept: Vec::new(), len }
    }

    /// Has those of a schedule sent, if they are not there. Of the schedules of one modification no more than [`KEPT`].
    ///
    /// # Errors
    /// [`Error::Device`] where the device or the host has not that much memory, or the driver fails.
    ///
    /// # Safety
    /// Nothing but this stream uses the memory; launches of earlier modifications are done.
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
        // SAFETY: forwarded to the caller; the words have been written, and are left alone from now on.
        unsafe { stream.upload(&host, 0..len, device.slice(0..len))? };
        self.kept.push(Kept { schedule, host, device });
        Ok(())
    }

    /// Those of a schedule that has been sent, or none.
    pub fn slice(&self, schedule: Schedule) -> DeviceSlice<'_, i32> {
        match self.kept.iter().find(|kept| kept.schedule == schedule) {
            Some(kept) => kept.device.slice(0..schedule.len()),
            None => DeviceSlice::empty(),
        }
    }
}
