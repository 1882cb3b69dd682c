//! The device memory of a modification, and the work that it enqueues, on one stream.
//!
//! V is divided into rank blocks of 16 or 32 columns, each of which is a sweep. Those with a plus sign come first, so that the
//! factor exists after every sweep if it exists after the last. A launch has all sweeps, or sixteen of them, and its thread
//! blocks wait for each other: `kernels/resident/sweep.cu`.

mod ahead;
mod halves;

use ahead::Ahead;
pub(super) use ahead::{Matrices, When};
use halves::Halves;

use super::inverses::Inverses;
use super::pivots::NewPivots;
use super::rearrange::Columns;
use super::schedule::{Partitions, Schedule};
use super::sizes::PANEL_COLS;
use super::sweep_kernels::SweepKernels;
use super::sweep_launch::{ResidentSweeps, SWEEPS_OF_LAUNCH, SweepKernel, WHOLE};
use super::tasks::Tasks;
use super::v::StagedV;
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::plain::Plain;
use crate::cuda::stream::{Event, Stream};
use crate::error::Error;
use crate::real::Real;
use crate::storage::Target;
use crate::sweep::plan::Plan;
use crate::sweep::rank_blocks::RankBlocks;
use core::ops::Range;

/// Where a sweep reads V.
#[derive(Clone, Copy)]
enum Place<'a, T> {
    /// Where it has been staged.
    Staged,
    /// There, once the copy on `before` is done.
    Copied,
    /// In memory of the caller, with this column stride. Its columns are those of the only rank block.
    Lent(DeviceSlice<'a, T>, usize),
}

/// A stream and memory for modifications up to a certain size.
pub(super) struct Queue<T> {
    kernels: SweepKernels<T>,
    stream: Stream,
    /// For a V on the device: it is copied while the work behind the last modification runs.
    before: Stream,
    /// After the work for which a modification waits.
    done: Event,
    /// After the copy on `before`.
    copied: Event,
    /// The sweep that has been enqueued before its V was known to be valid, if there is one.
    ahead: Option<Ahead>,
    /// How many V in device memory, up to the last one, have been valid and have begun in the first row block.
    early: usize,
    halves: Halves,
    saved_v: DeviceBuffer<f64>,
    tasks: Tasks,
    partitions: Partitions,
    pub v: StagedV<T>,
    /// The diagonal of the new L.
    pivots: NewPivots<T>,
    /// In host memory, written by the device: 1 + the first column that breaks down.
    status: Pinned<i32>,
    device: Device,
    /// The largest order for which there is room.
    capacity: usize,
}

impl<T: Real> Queue<T> {
    /// # Errors
    /// [`Error::Device`] if the device or the host does not have that much memory.
    pub fn new(device: &Device, capacity: usize, blocks: RankBlocks) -> Result<Self, Error> {
        let panels = capacity.div_ceil(PANEL_COLS);
        let partitions = Partitions::new(panels, device.multiprocessors());
        let kernels = SweepKernels::load(device, blocks, false)?;
        let sizes = kernels.sizes(panels, partitions, blocks);
        let queue = Self {
            stream: Stream::new(device)?,
            before: Stream::first(device)?,
            done: Event::new(device)?,
            copied: Event::new(device)?,
            ahead: None,
            early: 0,
            halves: Halves::new(
                device,
                (sizes.records, sizes.flags),
                (sizes.records_of_one, sizes.flags_of_one),
            )?,
            saved_v: DeviceBuffer::new(device, sizes.saved_v)?,
            tasks: Tasks::new(sizes.tasks),
            kernels,
            partitions,
            v: StagedV::new(device, capacity, blocks)?,
            pivots: NewPivots::new(device, capacity)?,
            status: Pinned::new(device, 1)?,
            device: device.clone(),
            capacity,
        };
        // SAFETY: all work that uses this memory is on this stream, which is waited for before the memory is dropped, or, if it
        // writes V, on `before`, which is waited for in the same call.
        unsafe { queue.halves.whole().reset(&queue.stream)? };
        Ok(queue)
    }

    /// Whether the queue is for factors of this capacity and has room for these rank blocks.
    pub fn fits(&self, capacity: usize, blocks: RankBlocks) -> bool {
        self.capacity == capacity && self.kernels.has_kernel_for(blocks) && self.v.fits(blocks)
    }

    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Orders later work on another stream after the last sweep.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn order_before(&self, stream: &Stream) -> Result<(), Error> {
        stream.wait(&self.done)
    }

    /// The status of the modification in flight.
    pub fn status(&self) -> &Pinned<i32> {
        &self.status
    }

    /// Starts A ± V Vᵀ with the staged V, unless its sweep is already in flight. The result is written to `to`, which has the shape
    /// of L or is L itself. Columns before the first one of the plan, which do not change, are copied there if `whole`.
    ///
    /// # Errors
    /// [`Error::Device`], and whether a sweep had been enqueued by then. After an error nothing is in flight.
    ///
    /// # Safety
    /// Earlier work is on this stream, or has been waited for. If V was staged with [`Matrices`], L, the inverses and `to` are these, unless `to` is L.
    /// Until this work has been waited for, both matrices exist, nothing writes L, and nothing else uses `to` or the inverses.
    /// After that, until the next call or the end of this queue, both exist, nothing writes the matrix that becomes L, and other uses
    /// of either come after this work; it is the L of the next call if nothing broke down.
    pub unsafe fn begin(
        &mut self,
        plan: &Plan,
        (l, inverses): (Columns<'_, T>, &mut Inverses),
        (target, to, whole): (Target, DeviceSlice<'_, T>, bool),
    ) -> Result<(), (Error, bool)> {
        let mut written = false;
        // SAFETY: the caller guarantees the matrices and the inverses.
        let enqueued = unsafe { self.enqueue(plan, (l, inverses), (target, to, whole), &mut written) };
        enqueued.map_err(|error| {
            inverses.forget();
            // Waits for work enqueued before the error; the first error is returned.
            let _ = self.stream.synchronize();
            (error, written)
        })
    }

    /// Waits for the outcome of the modification in flight, and calls `read` with runs of rows in their order and the new pivots of
    /// each, for all of `rows`. Returns the first column that breaks down, if one does; then the pivots are not those of a factor.
    /// Otherwise the sweep may still be writing the new L when this returns, but does not read V.
    ///
    /// # Errors
    /// [`Error::Device`]. After an error, or a breakdown, nothing is in flight.
    pub fn wait(
        &mut self,
        rows: Range<usize>,
        mut read: impl FnMut(Range<usize>, &[T]),
    ) -> Result<Option<usize>, Error> {
        let mut rest = rows;
        if self.v.blocks.count() == 1 {
            rest = self.pivots.arriving(rest, &self.done, &mut read);
            if rest.is_empty() {
                return Ok(None);
            }
        }
        self.done.synchronize()?;
        read(rest.clone(), &self.pivots.as_slice()[rest]);
        let status = self.status.as_slice()[0];
        Ok((status != WHOLE).then(|| status as usize - 1))
    }

    /// # Safety
    /// As [`begin`](Self::begin).
    unsafe fn enqueue(
        &mut self,
        plan: &Plan,
        (l, inverses): (Columns<'_, T>, &mut Inverses),
        (target, to, whole): (Target, DeviceSlice<'_, T>, bool),
        written: &mut bool,
    ) -> Result<(), Error> {
        if target == Target::InPlace || plan.start > 0 {
            self.cancel(inverses)?;
        }
        let lasting = target != Target::Discard;
        // SAFETY: the caller guarantees L, `to` and the inverses; work after `done` uses neither V, tasks, pivots nor status.
        unsafe {
            let ahead = self.take_ahead(plan, l.0, to);
            let used = match ahead {
                Some(used) => used,
                None => {
                    self.enqueue_sweeps(plan, (l, inverses), (to, whole, lasting), Place::Staged, written)?
                }
            };
            // Later work is for the next modification, and runs while the host reads the outcome of this one. A solve waits for the
            // inverses.
            match (lasting, self.last_schedule(plan, lasting).leaves_inverses()) {
                (true, true) => inverses.left_by_sweeps(&self.stream, plan.start)?,
                (true, false) => {
                    let to_fill = self.halves.take_used(used);
                    inverses.remake(&self.stream, (to, l.1), plan.start, to_fill)?;
                }
                (false, _) => {
                    if ahead.is_some() || self.v.blocks.count() > 1 {
                        // A sweep that has begun ahead leaves inverses, and so do all sweeps but the last.
                        inverses.left_by_sweeps(&self.stream, plan.start)?;
                        inverses.forget();
                    }
                    self.halves.take_used(used).reset(&self.stream)?;
                }
            }
            let to_clear = self.pivots_to_clear(plan);
            self.pivots.clear_next(to_clear)
        }
    }

    /// Enqueues the sweeps. Returns the number of doubles of records that they use.
    ///
    /// # Errors
    /// [`Error::Device`].
    ///
    /// # Safety
    /// As [`begin`](Self::begin). A lent V exists and is not written until the sweeps are done.
    unsafe fn enqueue_sweeps(
        &mut self,
        plan: &Plan,
        ((source, stride), inverses): (Columns<'_, T>, &mut Inverses),
        (to, whole, lasting): (DeviceSlice<'_, T>, bool, bool),
        place: Place<'_, T>,
        written: &mut bool,
    ) -> Result<usize, Error> {
        let start = plan.start;
        let blocks = self.v.blocks;
        self.status.as_mut_slice()?[0] = WHOLE;
        self.pivots.turn(self.pivots_to_clear(plan))?;
        // SAFETY: the caller guarantees L, `to`, the inverses and a lent V; only this stream uses all other memory on the device until it
        // has been waited for. The last sweep has written all of its pivots, so that it writes neither these nor the status any more,
        // and does not read V. A V in host memory has been packed, and one that is being copied is waited for.
        unsafe {
            // First the work that does not depend on V.
            for first in (0..blocks.count()).step_by(SWEEPS_OF_LAUNCH) {
                let schedule = self.schedule(plan, first, lasting);
                self.tasks.send(&self.device, &self.stream, schedule)?;
            }
            let last = self.last_schedule(plan, lasting);
            match blocks.count() {
                1 => {
                    let records = self.kernels.of(blocks).records(last);
                    self.halves.turn(&self.stream, last, records)?
                }
                _ => self.halves.fill(&self.stream)?,
            }
            inverses.complete(&self.stream, (source, stride), start)?;
            if whole {
                let untouched = 0..start * stride;
                self.stream.copy(source.part(untouched.clone()), to.part(untouched))?;
            }
            let v = match place {
                Place::Lent(v, stride) => (v, stride),
                Place::Staged => self.v.place(),
                Place::Copied => {
                    self.stream.wait(&self.copied)?;
                    self.v.slice()
                }
            };
            let kernel = self.kernel();
            let mut used = 0;
            for first in (0..blocks.count()).step_by(SWEEPS_OF_LAUNCH) {
                let from = if first == 0 { source } else { to };
                if first > 0 {
                    inverses.remake(&self.stream, (from, stride), start, self.halves.part(used))?;
                }
                let sweeps = self.sweeps(plan, (first, lasting, v), inverses, (from, to, stride));
                *written = true;
                kernel.sweep(&self.stream, &sweeps)?;
                used = sweeps.records.len();
            }
            self.done.record(&self.stream)?;
            Ok(used)
        }
    }

    /// The pivots that are read as they arrive: several sweeps write each pivot several times.
    fn pivots_to_clear(&self, plan: &Plan) -> usize {
        if self.v.blocks.count() == 1 { plan.rows } else { 0 }
    }

    /// The kernel for the V that was staged last.
    fn kernel(&self) -> &SweepKernel<T> {
        self.kernels.of(self.v.blocks)
    }

    /// The schedule of the launch whose first sweep is this one. A lasting modification of one sweep leaves the inverses of the new L,
    /// if its kernel fills memory as well: then nothing is on the stream between two such sweeps.
    fn schedule(&self, plan: &Plan, first: usize, lasting: bool) -> Schedule {
        let panels = (plan.rows - plan.start).div_ceil(PANEL_COLS);
        let count = self.v.blocks.count();
        let sweeps = (count - first).min(SWEEPS_OF_LAUNCH);
        let schedule = Schedule::new(panels, sweeps, self.partitions.of(sweeps));
        if lasting && count == 1 && self.kernel().fills_next() {
            schedule.leaving_inverses()
        } else {
            schedule
        }
    }

    fn last_schedule(&self, plan: &Plan, lasting: bool) -> Schedule {
        self.schedule(plan, (self.v.blocks.count() - 1) / SWEEPS_OF_LAUNCH * SWEEPS_OF_LAUNCH, lasting)
    }

    /// The sweeps of a launch, from `first` on, with all rank blocks of V.
    fn sweeps<'a>(
        &'a self,
        plan: &Plan,
        (first, lasting, (v, v_stride)): (usize, bool, (DeviceSlice<'a, T>, usize)),
        inverses: &'a Inverses,
        (from, to, l_stride): (DeviceSlice<'a, T>, DeviceSlice<'a, T>, usize),
    ) -> ResidentSweeps<'a, T> {
        let (start, blocks) = (plan.start, self.v.blocks);
        let schedule = self.schedule(plan, first, lasting);
        let (memory, next) = match blocks.count() {
            1 => self.halves.of_one(),
            _ => (self.halves.part(self.kernel().records(schedule)), None),
        };
        let corner = start * (l_stride + 1);
        let (inverse, refine) = inverses.slice(start);
        ResidentSweeps {
            from: from.part(corner..from.len()),
            to: to.part(corner..to.len()),
            l_stride,
            v: v.part(first * blocks.width * v_stride + start..v.len()),
            v_stride,
            inverse,
            refine,
            records: memory.records,
            pivots: self.pivots.mapped(),
            status: self.status.mapped(),
            saved_v: all(&self.saved_v),
            flags: memory.flags,
            next,
            schedule,
            tasks: self.tasks.slice(schedule),
            n: plan.rows - start,
            number: start,
            count: schedule.sweeps(),
            blocks,
            first,
            peers: None,
        }
    }
}

fn all<T: Plain>(buffer: &DeviceBuffer<T>) -> DeviceSlice<'_, T> {
    buffer.slice(0..buffer.len())
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        // A caller may have forgotten work in flight; the memory is freed next.
        let _ = self.stream.synchronize();
    }
}
