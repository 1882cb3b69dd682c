//! The device memory of a modification, and the work that it enqueues, on one stream.
//!
//! V is divided into rank blocks of 16 or 32 columns, each of which is a sweep. Those with a plus sign come first, so that the
//! factor exists after every sweep if it exists after the last. A launch has all sweeps, or sixteen of them, and its thread
//! blocks wait for each other: `kernels/resident/sweep.cu`.

mod ahead;

use ahead::Ahead;
pub(super) use ahead::{Matrices, When};

use super::inverses::Inverses;
use super::pivots::NewPivots;
use super::schedule::{Partitions, Schedule};
use super::sizes::PANEL_COLS;
use super::sweep_kernels::SweepKernels;
use super::sweep_launch::{Filled, ResidentSweeps, SWEEPS_OF_LAUNCH, SweepKernel, WHOLE};
use super::tasks::Tasks;
use super::v::StagedV;
use crate::cuda::dense::Dense;
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
    /// All bits one, except during a modification.
    records: DeviceBuffer<f64>,
    saved_v: DeviceBuffer<f64>,
    /// Zeros, except during a modification.
    flags: DeviceBuffer<i32>,
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
            records: DeviceBuffer::new(device, sizes.records)?,
            saved_v: DeviceBuffer::new(device, sizes.saved_v)?,
            flags: DeviceBuffer::new(device, sizes.flags)?,
            tasks: Tasks::new(sizes.tasks),
            kernels,
            partitions,
            v: StagedV::new(device, capacity, blocks)?,
            pivots: NewPivots::new(device, capacity)?,
            status: Pinned::new(device, 1)?,
            device: device.clone(),
            capacity,
        };
        // SAFETY: all work that uses this memory is on this stream, which is waited for before the memory is dropped.
        unsafe { queue.filled(queue.records.len()).reset(&queue.stream)? };
        Ok(queue)
    }

    /// Whether the queue is for factors of this capacity and has room for these rank blocks.
    pub fn fits(&self, capacity: usize, blocks: RankBlocks) -> bool {
        self.capacity == capacity && self.kernels.has_kernel_for(blocks) && self.v.fits(blocks)
    }

    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The status of the modification in flight.
    pub fn status(&self) -> &Pinned<i32> {
        &self.status
    }

    /// Starts A ± V Vᵀ with the staged V, unless its sweep is already in flight. The result is written to `to`, which has the shape
    /// of L or is L itself.
    ///
    /// # Errors
    /// [`Error::Device`], and whether a sweep had been enqueued by then. After an error nothing is in flight.
    ///
    /// # Safety
    /// Earlier work has been waited for. If V was staged with [`Matrices`], L, the inverses and `to` are these, unless `to` is L.
    /// Until this work has been waited for, both matrices exist, nothing writes L, and nothing else uses `to` or the inverses.
    /// After that, until the next call or the end of this queue, the matrix that becomes L exists, and nothing writes it; it is
    /// the L of the next call if nothing broke down.
    pub unsafe fn begin(
        &mut self,
        plan: &Plan,
        (l, inverses): (&Dense<T>, &mut Inverses),
        (target, to): (Target, DeviceSlice<'_, T>),
    ) -> Result<(), (Error, bool)> {
        let mut written = false;
        // SAFETY: the caller guarantees the matrices and the inverses.
        let enqueued = unsafe { self.enqueue(plan, (l, inverses), (target, to), &mut written) };
        enqueued.map_err(|error| {
            inverses.forget();
            // Waits for work enqueued before the error; the first error is returned.
            let _ = self.stream.synchronize();
            (error, written)
        })
    }

    /// Waits for the modification in flight, and calls `read` with runs of rows in their order and the new pivots of each, for all
    /// of `rows`. Returns the first column that breaks down, if one does; then the pivots are not those of a factor.
    ///
    /// # Errors
    /// [`Error::Device`]. The modification is not in flight when this returns, also after an error.
    pub fn wait(
        &mut self,
        rows: Range<usize>,
        mut read: impl FnMut(Range<usize>, &[T]),
    ) -> Result<Option<usize>, Error> {
        let mut rest = rows;
        if self.v.blocks.count() == 1 {
            rest = self.pivots.arriving(rest, &self.done, &mut read);
        }
        self.done.synchronize()?;
        if !rest.is_empty() {
            read(rest.clone(), &self.pivots.as_slice()[rest]);
        }
        let status = self.status.as_slice()[0];
        Ok((status != WHOLE).then(|| status as usize - 1))
    }

    /// # Safety
    /// As [`begin`](Self::begin).
    unsafe fn enqueue(
        &mut self,
        plan: &Plan,
        (l, inverses): (&Dense<T>, &mut Inverses),
        (target, to): (Target, DeviceSlice<'_, T>),
        written: &mut bool,
    ) -> Result<(), Error> {
        if target == Target::InPlace || plan.start > 0 {
            self.cancel()?;
        }
        // SAFETY: the caller guarantees L, `to` and the inverses; work after `done` uses neither V, tasks, pivots nor status.
        unsafe {
            let elsewhere = target != Target::InPlace;
            let used = match self.take_ahead(plan, l, to) {
                Some(used) => used,
                None => self.enqueue_sweeps(plan, (l, inverses), (elsewhere, to), Place::Staged, written)?,
            };
            // Later work is for the next modification, and runs while the host reads the outcome of this one. A solve waits for the
            // inverses, and with them for the filling.
            if target != Target::Discard {
                inverses.remake(&self.stream, (to, l.stride()), plan.start, self.filled(used))?;
                let to_clear = self.pivots_to_clear(plan);
                return self.pivots.clear_next(to_clear);
            }
            if self.v.blocks.count() > 1 {
                // All sweeps but the first leave inverses of their own.
                inverses.forget();
            }
            self.filled(used).reset(&self.stream)
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
        (l, inverses): (&Dense<T>, &mut Inverses),
        (elsewhere, to): (bool, DeviceSlice<'_, T>),
        place: Place<'_, T>,
        written: &mut bool,
    ) -> Result<usize, Error> {
        let (source, stride, start) = (l.slice(), l.stride(), plan.start);
        let blocks = self.v.blocks;
        self.status.as_mut_slice()?[0] = WHOLE;
        self.pivots.turn(self.pivots_to_clear(plan))?;
        // SAFETY: the caller guarantees L, `to`, the inverses and a lent V; only this stream uses all other memory until it has been
        // waited for. A V in host memory has been packed, and one that is being copied is waited for.
        unsafe {
            // First the work that does not depend on V.
            for first in (0..blocks.count()).step_by(SWEEPS_OF_LAUNCH) {
                let schedule = self.schedule(plan, blocks.count() - first);
                self.tasks.send(&self.device, &self.stream, schedule)?;
            }
            inverses.complete(&self.stream, (source, stride), start)?;
            if elsewhere {
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
                    inverses.remake(&self.stream, (from, stride), start, self.filled(used))?;
                }
                let sweeps = self.sweeps(plan, (first, v), inverses, (from, to, stride));
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

    /// The memory to fill after sweeps with this many doubles of records.
    fn filled(&self, used: usize) -> Filled<'_> {
        Filled { records: self.records.slice(0..used), flags: all(&self.flags) }
    }

    /// The kernel for the V that was staged last.
    fn kernel(&self) -> &SweepKernel<T> {
        self.kernels.of(self.v.blocks)
    }

    /// The schedule of a launch of this number of sweeps, or of as many as a launch can have.
    fn schedule(&self, plan: &Plan, sweeps: usize) -> Schedule {
        let panels = (plan.rows - plan.start).div_ceil(PANEL_COLS);
        let sweeps = sweeps.min(SWEEPS_OF_LAUNCH);
        Schedule::new(panels, sweeps, self.partitions.of(sweeps))
    }

    /// The sweeps of a launch, from `first` on, with all rank blocks of V.
    fn sweeps<'a>(
        &'a self,
        plan: &Plan,
        (first, (v, v_stride)): (usize, (DeviceSlice<'a, T>, usize)),
        inverses: &'a Inverses,
        (from, to, l_stride): (DeviceSlice<'a, T>, DeviceSlice<'a, T>, usize),
    ) -> ResidentSweeps<'a, T> {
        let (start, blocks) = (plan.start, self.v.blocks);
        let schedule = self.schedule(plan, blocks.count() - first);
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
            records: self.records.slice(0..self.kernel().records(schedule)),
            pivots: self.pivots.mapped(),
            status: self.status.mapped(),
            saved_v: all(&self.saved_v),
            flags: all(&self.flags),
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
