//! The tasks of a launch on the device.

use super::schedule::Schedule;
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::stream::Stream;
use crate::error::Error;

/// The words of a schedule, sent when it is another one.
pub(super) struct Tasks {
    host: Pinned<i32>,
    device: DeviceBuffer<i32>,
    sent: Option<Schedule>,
}

impl Tasks {
    /// With room for so many.
    ///
    /// # Errors
    /// [`Error::Device`] where the device or the host has not that much memory.
    pub fn new(device: &Device, len: usize) -> Result<Self, Error> {
        Ok(Self { host: Pinned::new(device, len)?, device: DeviceBuffer::new(device, len)?, sent: None })
    }

    /// Has them sent, if they are not there.
    ///
    /// # Safety
    /// Nothing but this stream uses the memory; copies of another schedule that were asked for are done.
    pub unsafe fn send(&mut self, stream: &Stream, schedule: Schedule) -> Result<(), Error> {
        if self.sent == Some(schedule) {
            return Ok(());
        }
        self.sent = None;
        self.host.as_mut_slice().iter_mut().zip(schedule.words()).for_each(|(to, word)| *to = word);
        let len = schedule.len();
        // SAFETY: forwarded to the caller; the words have been written.
        unsafe { stream.upload(&self.host, 0..len, self.device.slice(0..len))? };
        self.sent = Some(schedule);
        Ok(())
    }

    /// Those that were sent last.
    pub fn slice(&self) -> DeviceSlice<'_, i32> {
        self.device.slice(0..self.sent.map_or(0, Schedule::len))
    }
}
