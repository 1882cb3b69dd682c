//! The work of a modification on all devices.
//!
//! All launches are in flight at the same time, and each device writes to the memory of the others. So that nothing is lost, the
//! records of all devices are initialized before the first launch, which events ensure, and after the last one has ended, for
//! which the host waits. The host asks all devices in turn whether they are done: if one has failed, it ends the launches of the
//! others, which wait for it.

use super::device_queue::{Common, DeviceQueue};
use super::part::Part;
use super::stop::{Launches, Stop, all_done};
use super::turns::in_turn;
use crate::cuda::device::Device;
use crate::cuda::memory::Pinned;
use crate::cuda::resident::inverses::Inverses;
use crate::cuda::resident::schedule::Partitions;
use crate::cuda::resident::sizes::{PANEL_COLS, ROW_BLOCK};
use crate::cuda::resident::sweep_launch::{Filled, SWEEPS_OF_LAUNCH, WHOLE};
use crate::error::Error;
use crate::real::Real;
use crate::storage::Target;
use crate::sweep::plan::Plan;
use crate::sweep::rank_blocks::RankBlocks;
use std::sync::Arc;

/// Words from the status of one device to that of the next: they write to separate lines.
const STATUS_STRIDE: usize = 32;

/// Streams and memory for modifications up to a certain size.
pub(super) struct Queue<T> {
    pub queues: Vec<DeviceQueue<T>>,
    partitions: Partitions,
    /// In host memory, written by the devices: the diagonal of the new L, and for each device 1 + the first of its columns that
    /// breaks down.
    pivots: Pinned<T>,
    status: Pinned<i32>,
    stop: Stop,
    /// The queue that has the V staged last.
    pub home: usize,
    /// The largest order for which there is room.
    capacity: usize,
}

impl<T: Real> Queue<T> {
    /// # Errors
    /// [`Error::Device`] if a device or the host does not have that much memory.
    pub fn new(devices: &[Device], capacity: usize, blocks: RankBlocks) -> Result<Self, Error> {
        let (panels, first) = (capacity.div_ceil(PANEL_COLS), &devices[0]);
        let multiprocessors = devices.iter().map(Device::multiprocessors).sum();
        let partitions = Partitions::new(panels, multiprocessors);
        let queue = |device| DeviceQueue::new(device, capacity, partitions, blocks);
        Ok(Self {
            queues: devices.iter().map(queue).collect::<Result<_, _>>()?,
            partitions,
            pivots: Pinned::new(first, capacity)?,
            status: Pinned::new(first, devices.len() * STATUS_STRIDE)?,
            stop: Stop::new(first)?,
            home: 0,
            capacity,
        })
    }

    /// Whether the queue is for factors of this capacity and has room for these rank blocks.
    pub fn fits(&self, capacity: usize, blocks: RankBlocks) -> bool {
        self.capacity == capacity && self.queues.iter().all(|queue| queue.fits(blocks))
    }

    /// The diagonal of the factor that [`begin`](Self::begin) has computed.
    pub fn pivots(&self) -> &[T] {
        self.pivots.as_slice()
    }

    /// Starts A ± V Vᵀ with the staged V. The last launch is in flight when this returns.
    ///
    /// # Errors
    /// [`Error::Device`], and whether a sweep had been enqueued by then. After an error nothing is in flight.
    ///
    /// # Safety
    /// Earlier work has been waited for. Until this work has been, nothing else writes L or the inverses, or uses the target.
    pub unsafe fn begin(
        &mut self,
        plan: &Plan,
        (parts, inverses): (&[Part<T>], &mut [Inverses]),
        target: Target,
    ) -> Result<(), (Error, bool)> {
        let mut written = false;
        self.stop.clear();
        // SAFETY: the caller guarantees L, the inverses and the target.
        let begun = unsafe { self.enqueue(plan, (parts, inverses), target, &mut written) };
        begun.map_err(|error| {
            inverses.iter_mut().for_each(Inverses::forget);
            self.end();
            (error, written)
        })
    }

    /// Waits for the modification in flight. Returns the first column that breaks down, if one does.
    ///
    /// # Errors
    /// [`Error::Device`]. Nothing is in flight when this returns, also after an error.
    pub fn wait(
        &mut self,
        start: usize,
        (parts, inverses): (&[Part<T>], &mut [Inverses]),
        target: Target,
    ) -> Result<Option<usize>, Error> {
        let needed = target != Target::Discard;
        // SAFETY: all launches have been waited for before memory is initialized and the target is read.
        let finished =
            self.all_done().and_then(|()| unsafe { self.finish(start, (parts, inverses), (target, needed)) });
        finished.inspect_err(|_| self.end())?;
        let status = self.status.as_slice().iter().step_by(STATUS_STRIDE).copied().min();
        Ok(status.filter(|&status| status != WHOLE).map(|status| status as usize - 1))
    }

    /// Waits for all work that is in flight.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn quiet(&self) -> Result<(), Error> {
        self.all_done().inspect_err(|_| self.end())?;
        self.queues.iter().try_for_each(|queue| queue.stream.synchronize())
    }

    fn all_done(&self) -> Result<(), Error> {
        all_done(self.queues.iter().map(|queue| queue.done.as_ref()))
    }

    /// # Safety
    /// As [`begin`](Self::begin).
    unsafe fn enqueue(
        &mut self,
        plan: &Plan,
        (parts, inverses): (&[Part<T>], &mut [Inverses]),
        target: Target,
        written: &mut bool,
    ) -> Result<(), Error> {
        self.status.as_mut_slice()?.fill(WHOLE);
        let blocks = self.queues[self.home].v.blocks;
        // SAFETY: the caller guarantees L, the inverses and the target.
        unsafe {
            self.send_v()?;
            for (own, (part, inverses)) in parts.iter().zip(inverses.iter_mut()).enumerate() {
                let common = common(plan, 0, own, (self.partitions, &self.pivots, &self.status, &self.stop));
                self.queues[own].prepare(&common, (part, inverses), target)?;
            }
            for first in (0..blocks.count()).step_by(SWEEPS_OF_LAUNCH) {
                if first > 0 {
                    self.all_done()?;
                    self.finish(plan.start, (parts, inverses), (target, true))?;
                }
                let common =
                    |own| common(plan, first, own, (self.partitions, &self.pivots, &self.status, &self.stop));
                for (own, (queue, part)) in self.queues.iter_mut().zip(parts).enumerate() {
                    queue.note(&common(own), part);
                }
                *written = true;
                let events = self.queues.iter().map(|queue| Arc::downgrade(&queue.done)).collect();
                in_turn(events, || {
                    let parts = parts.iter().zip(inverses.iter());
                    parts.enumerate().try_for_each(|(own, (part, inverses))| {
                        self.queues[own].launch((&self.queues, own), &common(own), (part, inverses), target)
                    })
                })?;
            }
        }
        Ok(())
    }

    /// Enqueues the copies of V to all devices.
    ///
    /// # Safety
    /// As [`begin`](Self::begin).
    unsafe fn send_v(&mut self) -> Result<(), Error> {
        let (before, rest) = self.queues.split_at_mut(self.home);
        let Some((home, behind)) = rest.split_first_mut() else { return Ok(()) };
        for other in before.iter_mut().chain(behind) {
            // SAFETY: earlier work has been waited for, and staging V on a device waits for that.
            unsafe { other.v.send_of(&other.stream, &home.v)? };
        }
        // SAFETY: as above.
        unsafe { home.v.send(&home.stream) }
    }

    /// Enqueues the work after a launch: inverses of what it has written, if they are needed, and the initialization for the
    /// next launch.
    ///
    /// # Safety
    /// The launch has been waited for on all devices.
    unsafe fn finish(
        &self,
        start: usize,
        (parts, inverses): (&[Part<T>], &mut [Inverses]),
        (target, needed): (Target, bool),
    ) -> Result<(), Error> {
        for ((queue, part), inverses) in self.queues.iter().zip(parts).zip(inverses) {
            if needed {
                let l = (part.target(target)?, ROW_BLOCK);
                // SAFETY: the caller guarantees that nothing else uses this memory.
                unsafe { inverses.remake(&queue.stream, l, start, Filled::nothing())? };
            } else if queue.v.blocks.count() > 1 {
                // All sweeps but the first leave inverses of their own.
                inverses.forget();
            }
            // SAFETY: as above.
            unsafe { queue.reset()? };
        }
        Ok(())
    }
}

impl<T: Real> Launches for Queue<T> {
    fn end(&self) {
        self.stop.set();
        for queue in &self.queues {
            let _ = queue.stream.synchronize();
        }
    }
}

/// What a launch on one of the devices has in common with the others.
fn common<'a, T: Real>(
    plan: &'a Plan,
    first: usize,
    own: usize,
    (partitions, pivots, status, stop): (Partitions, &'a Pinned<T>, &'a Pinned<i32>, &Stop),
) -> Common<'a, T> {
    let (pivots, word) = (pivots.mapped(), own * STATUS_STRIDE);
    let status = status.mapped().part(word..word + 1);
    Common { plan, partitions, first, pivots, status, stop: stop.address() }
}
