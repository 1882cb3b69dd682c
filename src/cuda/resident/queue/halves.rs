//! Records and flags, twice for launches of one sweep that leave inverses: while such a launch uses a half, its tasks fill the other,
//! which the launch before has used, so that nothing is on the stream between two sweeps. All other launches begin where the first
//! half does, and are followed by the filling of what they have used.

use crate::cuda::device::Device;
use crate::cuda::memory::DeviceBuffer;
use crate::cuda::resident::schedule::Schedule;
use crate::cuda::resident::sweep_launch::Filled;
use crate::cuda::stream::Stream;
use crate::error::Error;

/// A launch that has not left its half filled.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Used {
    half: usize,
    schedule: Schedule,
    /// Doubles of its records.
    records: usize,
}

/// The memory of both, which is also that of launches of several sweeps.
pub(super) struct Halves {
    records: DeviceBuffer<f64>,
    flags: DeviceBuffer<i32>,
    /// Where the second half begins.
    second: (usize, usize),
    /// The last launch, if it was one of one sweep, and the one before if the last one fills its half.
    used: Option<Used>,
    filling: Option<Used>,
}

impl Halves {
    /// With memory for the largest launch, and for two of one sweep that leave inverses.
    ///
    /// # Errors
    /// [`Error::Device`] if the device does not have that much memory.
    pub fn new(
        device: &Device,
        (records, flags): (usize, usize),
        (records_of_one, flags_of_one): (usize, usize),
    ) -> Result<Self, Error> {
        Ok(Self {
            records: DeviceBuffer::new(device, records.max(2 * records_of_one))?,
            flags: DeviceBuffer::new(device, flags.max(2 * flags_of_one))?,
            second: (records_of_one, flags_of_one),
            used: None,
            filling: None,
        })
    }

    /// All of it.
    pub fn whole(&self) -> Filled<'_> {
        self.part(self.records.len())
    }

    /// What the last launch has left, which is filled by the caller: of several sweeps, it has used this many doubles of records.
    pub fn take_used(&mut self, records: usize) -> Filled<'_> {
        match self.used.take() {
            Some(used) => self.half(used),
            None => self.part(records),
        }
    }

    /// The memory of a launch of several sweeps with this many doubles of records.
    pub fn part(&self, records: usize) -> Filled<'_> {
        Filled { records: self.records.slice(0..records), flags: self.flags.slice(0..self.flags.len()) }
    }

    /// The half that a launch uses, or has used.
    fn half(&self, Used { half, records, .. }: Used) -> Filled<'_> {
        let (first_record, first_flag) = (half * self.second.0, half * self.second.1);
        Filled {
            records: self.records.slice(first_record..first_record + records),
            flags: self.flags.slice(first_flag..first_flag + self.second.1),
        }
    }

    /// Enqueues the filling of what the last launch has left, for one of several sweeps.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Only the stream uses the memory.
    pub unsafe fn fill(&mut self, stream: &Stream) -> Result<(), Error> {
        match self.used.take() {
            // SAFETY: the caller guarantees the memory.
            Some(used) => unsafe { self.half(used).reset(stream) },
            None => Ok(()),
        }
    }

    /// Turns to the half for a launch of one sweep with this schedule and this many doubles of records. If the last one has left a half
    /// that the launch does not fill itself, it is filled before, on the stream.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// As [`fill`](Self::fill).
    pub unsafe fn turn(&mut self, stream: &Stream, schedule: Schedule, records: usize) -> Result<(), Error> {
        let last = self.used.filter(|_| schedule.leaves_inverses());
        let new = Used { half: last.map_or(0, |last| 1 - last.half), schedule, records };
        self.filling = last.filter(|last| Used { half: new.half, ..*last } == new);
        if self.filling.is_none() {
            // SAFETY: the caller guarantees the memory.
            unsafe { self.fill(stream)? };
        }
        self.used = Some(new);
        Ok(())
    }

    /// The memory of that launch, and that which it fills.
    pub fn of_one(&self) -> (Filled<'_>, Option<Filled<'_>>) {
        (
            self.used.map_or(Filled::nothing(), |used| self.half(used)),
            self.filling.map(|used| self.half(used)),
        )
    }
}
