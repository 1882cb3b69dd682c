//! The memory of a modification on one of several devices, and the work that it enqueues there, on one stream.

use super::part::Part;
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice};
use crate::cuda::plain::Plain;
use crate::cuda::resident::inverses::Inverses;
use crate::cuda::resident::schedule::{Partitions, Schedule};
use crate::cuda::resident::sizes::{PANEL_COLS, ROW_BLOCK};
use crate::cuda::resident::sweep_kernels::SweepKernels;
use crate::cuda::resident::sweep_launch::{
    Filled, MAX_PEERS, Peers, ResidentSweeps, SWEEPS_OF_LAUNCH, SweepKernel,
};
use crate::cuda::resident::tasks::Tasks;
use crate::cuda::resident::v::StagedV;
use crate::cuda::stream::{Event, Stream};
use crate::error::Error;
use crate::real::Real;
use crate::storage::Target;
use crate::sweep::plan::Plan;
use crate::sweep::rank_blocks::RankBlocks;
use core::ffi::{c_int, c_longlong};
use std::sync::Arc;

/// What all devices have in common for a launch.
pub(super) struct Common<'a, T> {
    pub plan: &'a Plan,
    pub partitions: Partitions,
    /// The first of its sweeps.
    pub first: usize,
    pub pivots: DeviceSlice<'a, T>,
    /// The word of this device.
    pub status: DeviceSlice<'a, i32>,
    pub stop: u64,
}

impl<T> Common<'_, T> {
    /// The schedule for this number of sweeps, or as many as a launch can have, on the device with these rows.
    fn schedule<S>(&self, sweeps: usize, part: &Part<S>) -> Schedule {
        let Plan { rows, start, .. } = *self.plan;
        let sweeps = sweeps.min(SWEEPS_OF_LAUNCH);
        let whole = Schedule::new((rows - start).div_ceil(PANEL_COLS), sweeps, self.partitions.of(sweeps));
        whole.on(part.rows.share, start / ROW_BLOCK)
    }
}

/// A stream and memory for modifications up to a certain size.
pub(super) struct DeviceQueue<T> {
    kernels: SweepKernels<T>,
    pub stream: Stream,
    /// After the sweeps.
    pub done: Arc<Event>,
    /// After records and flags have been initialized for the next launch. Before that no device may write them.
    clean: Event,
    records: DeviceBuffer<f64>,
    saved_v: DeviceBuffer<f64>,
    flags: DeviceBuffer<i32>,
    tasks: Tasks,
    pub v: StagedV<T>,
    device: Device,
    /// Scalars of the records of the last launch.
    used: usize,
}

impl<T: Real> DeviceQueue<T> {
    /// # Errors
    /// [`Error::Device`] if the device or the host does not have that much memory.
    pub fn new(
        device: &Device,
        capacity: usize,
        partitions: Partitions,
        blocks: RankBlocks,
    ) -> Result<Self, Error> {
        let kernels = SweepKernels::load(device, blocks, true)?;
        let sizes = kernels.sizes(capacity.div_ceil(PANEL_COLS), partitions, blocks);
        let queue = Self {
            stream: Stream::new(device)?,
            done: Arc::new(Event::new(device)?),
            clean: Event::new(device)?,
            records: DeviceBuffer::new(device, sizes.records)?,
            saved_v: DeviceBuffer::new(device, sizes.saved_v)?,
            flags: DeviceBuffer::new(device, sizes.flags)?,
            tasks: Tasks::new(sizes.tasks),
            v: StagedV::new(device, capacity, blocks)?,
            kernels,
            device: device.clone(),
            used: 0,
        };
        // SAFETY: no other device knows this memory yet.
        unsafe { queue.initialize(queue.records.len())? };
        Ok(queue)
    }

    /// Whether there is room for these rank blocks.
    pub fn fits(&self, blocks: RankBlocks) -> bool {
        self.kernels.has_kernel_for(blocks) && self.v.fits(blocks)
    }

    /// Enqueues what comes before the first sweep, except V: tasks, inverses, and the columns that the sweeps do not write.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// Earlier work has been waited for. Until this work has been, L and the inverses exist and nothing else writes them, and
    /// nothing else uses the target.
    pub unsafe fn prepare(
        &mut self,
        common: &Common<'_, T>,
        (part, inverses): (&Part<T>, &mut Inverses),
        target: Target,
    ) -> Result<(), Error> {
        let (start, count) = (common.plan.start, self.v.blocks.count());
        let (l, to) = (part.slice(), part.target(target)?);
        // SAFETY: the caller guarantees L, the target and the inverses; only this stream uses all other memory until it has
        // been waited for.
        unsafe {
            for first in (0..count).step_by(SWEEPS_OF_LAUNCH) {
                self.tasks.send(&self.device, &self.stream, common.schedule(count - first, part))?;
            }
            inverses.complete(&self.stream, (l, ROW_BLOCK), start)?;
            if target == Target::InPlace {
                return Ok(());
            }
            let (whole, cut): (Vec<_>, Vec<_>) =
                part.places.iter().partition(|&&(row_block, _)| row_block < start / ROW_BLOCK);
            let untouched = 0..cut.first().map_or(l.len(), |&(_, at)| at);
            if !whole.is_empty() {
                self.stream.copy(l.part(untouched.clone()), to.part(untouched))?;
            }
            for (row_block, at) in cut {
                if row_block * ROW_BLOCK < common.plan.rows {
                    let before = at..at + start * ROW_BLOCK;
                    self.stream.copy(l.part(before.clone()), to.part(before))?;
                }
            }
        }
        Ok(())
    }

    /// Enqueues the sweeps of a launch. `queues` are those of all devices, and this is number `own`.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// As [`prepare`](Self::prepare), for all devices. Every device of `queues` gets this launch, or `stop` is set.
    pub unsafe fn launch(
        &self,
        (queues, own): (&[Self], usize),
        common: &Common<'_, T>,
        (part, inverses): (&Part<T>, &Inverses),
        target: Target,
    ) -> Result<(), Error> {
        let others = || queues.iter().enumerate().filter(|&(at, _)| at != own).map(|(_, other)| other);
        for other in others() {
            self.stream.wait(&other.clean)?;
        }
        let mut peers = Peers {
            count: (queues.len() - 1) as c_int,
            taken: all(&self.flags).address(),
            stop: common.stop,
            row_blocks: part.rows.row_blocks(common.plan.start / ROW_BLOCK).address(),
            records: [0; MAX_PEERS],
            flags: [0; MAX_PEERS],
        };
        for (at, other) in others().enumerate() {
            peers.records[at] = distance(all(&self.records), all(&other.records));
            peers.flags[at] = distance(all(&self.flags), all(&other.flags));
        }
        let sweeps = self.sweeps(common, (part, inverses), target, peers)?;
        if sweeps.tasks.len() > 0 {
            // SAFETY: the caller guarantees the memory of all devices.
            unsafe { self.kernel().sweep(&self.stream, &sweeps)? };
        }
        self.done.record(&self.stream)
    }

    /// Enqueues the initialization of records and flags for the next launch.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// The last launch has been waited for on all devices.
    pub unsafe fn reset(&self) -> Result<(), Error> {
        // SAFETY: the caller guarantees the memory.
        unsafe { self.initialize(self.used) }
    }

    /// Records how much of the records the launch uses.
    pub fn note(&mut self, common: &Common<'_, T>, part: &Part<T>) {
        let schedule = common.schedule(self.v.blocks.count() - common.first, part);
        self.used = self.kernel().records(schedule);
    }

    /// # Safety
    /// As [`reset`](Self::reset).
    unsafe fn initialize(&self, used: usize) -> Result<(), Error> {
        let filled = Filled { records: self.records.slice(0..used), flags: all(&self.flags) };
        // SAFETY: the caller guarantees the memory.
        unsafe { filled.reset(&self.stream)? };
        self.clean.record(&self.stream)
    }

    /// The kernel for the V that was staged last.
    fn kernel(&self) -> &SweepKernel<T> {
        self.kernels.of(self.v.blocks)
    }

    fn sweeps<'a>(
        &'a self,
        common: &Common<'a, T>,
        (part, inverses): (&'a Part<T>, &'a Inverses),
        target: Target,
        peers: Peers,
    ) -> Result<ResidentSweeps<'a, T>, Error> {
        let (&Plan { start, rows, .. }, first, blocks) = (common.plan, common.first, self.v.blocks);
        let schedule = common.schedule(blocks.count() - first, part);
        let to = part.target(target)?;
        let from = if first == 0 { part.slice() } else { to };
        // Where the corner would lie in a column-major matrix: the table of row blocks leads from there.
        let corner = start * (ROW_BLOCK + 1);
        let (v, v_stride) = self.v.slice();
        let (inverse, refine) = inverses.slice(start);
        Ok(ResidentSweeps {
            from: from.moved(corner),
            to: to.moved(corner),
            l_stride: ROW_BLOCK,
            v: v.part(first * blocks.width * v_stride + start..v.len()),
            v_stride,
            inverse,
            refine,
            records: self.records.slice(0..self.kernel().records(schedule)),
            pivots: common.pivots,
            status: common.status,
            saved_v: all(&self.saved_v),
            flags: all(&self.flags),
            schedule,
            tasks: self.tasks.slice(schedule),
            n: rows - start,
            number: start,
            count: schedule.sweeps(),
            blocks,
            first,
            next: None,
            peers: Some(peers),
        })
    }
}

/// The distance in bytes from one memory to another.
fn distance<N>(from: DeviceSlice<'_, N>, to: DeviceSlice<'_, N>) -> c_longlong {
    to.address().wrapping_sub(from.address()).cast_signed()
}

fn all<N: Plain>(buffer: &DeviceBuffer<N>) -> DeviceSlice<'_, N> {
    buffer.slice(0..buffer.len())
}
