//! What a modification has on the device beside L, and what it asks for, on one stream.
//!
//! V is taken sixteen columns of one sign at a time, each in a sweep, those with a plus sign first: what is
//! positive definite in the end is so all the way. Those with a minus sign begin with the last, so that a downdate takes
//! back what an update has added in the order in which it is on top, and a loop that does both comes back to where it was
//! but for few roundings. A launch has all sweeps, or sixteen of them, and its blocks of threads
//! wait for each other: `kernels/resident/sweep.cu`.

use super::columns::Columns;
use super::cut::Cut;
use super::modify::{To, V};
use super::schedule::{Cutting, Schedule};
use super::steps::{PANEL_COLS, Steps, Sweeps, V_COLS, kept, marks};
use super::tasks::Tasks;
use crate::change::{Change, Weights};
use crate::cuda::dense::Dense;
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned, Plain};
use crate::cuda::stream::{Event, Stream};
use crate::error::Error;
use crate::plan::Plan;
use crate::scalar::Scalar;
use faer::MatRef;

/// Sweeps of a launch, at most.
const TOGETHER: usize = 16;

/// What a status of no breakdown is: no column's number is as large.
const WHOLE: i32 = i32::MAX;

/// A stream and memory for modifications up to a certain size.
pub(super) struct Queue<T> {
    steps: Steps<T>,
    stream: Stream,
    /// Behind what a modification waits for.
    done: Event,
    inverse: DeviceBuffer<f64>,
    refine: DeviceBuffer<i32>,
    /// The panel of L from which on the inverses of its diagonal blocks are there.
    inverted: usize,
    /// All bits ones, but for what is under way.
    records: DeviceBuffer<f64>,
    kept: DeviceBuffer<f64>,
    /// Zeros, but for what is under way.
    marks: DeviceBuffer<i32>,
    /// Of a launch of all sweeps that go together, and of one with fewer.
    tasks: [Tasks; 2],
    /// For one sweep, and for several.
    cuttings: [Cutting; 2],
    v: Columns<T>,
    /// In host memory, where the device writes them: the diagonal of the new L, and 1 + the first column that breaks down.
    pivots: Pinned<T>,
    status: Pinned<i32>,
    device: Device,
    order: usize,
}

impl<T: Scalar> Queue<T> {
    /// # Errors
    /// [`Error::Device`] where the device or the host has not that much memory.
    pub fn new(device: &Device, order: usize, cut: Cut) -> Result<Self, Error> {
        let panels = order.div_ceil(PANEL_COLS);
        let together = cut.count().clamp(1, TOGETHER);
        let cuttings = [false, true].map(|many| Cutting::new(panels, many, device.multiprocessors()));
        let schedule = |sweeps: usize| Schedule::new(panels, sweeps, cuttings[usize::from(sweeps > 1)]);
        // Also of fewer sweeps, and of fewer panels.
        let most = |of: fn(Schedule) -> usize, sweeps| of(schedule(1)).max(of(schedule(sweeps)));
        let steps = Steps::load(device)?;
        let queue = Self {
            stream: Stream::new(device)?,
            done: Event::new(device)?,
            inverse: DeviceBuffer::new(device, panels * PANEL_COLS.pow(2))?,
            refine: DeviceBuffer::new(device, panels)?,
            inverted: panels,
            records: DeviceBuffer::new(device, together * panels * steps.record())?,
            kept: DeviceBuffer::new(device, most(kept, together))?,
            marks: DeviceBuffer::new(device, most(marks, together))?,
            tasks: [
                Tasks::new(device, if together == TOGETHER { schedule(TOGETHER).len() } else { 0 })?,
                Tasks::new(device, most(Schedule::len, together.min(TOGETHER - 1)))?,
            ],
            cuttings,
            v: Columns::new(device, order, cut)?,
            pivots: Pinned::new(device, order)?,
            status: Pinned::new(device, 1)?,
            device: device.clone(),
            order,
            steps,
        };
        // SAFETY: what uses this memory is on this stream, which is waited for before the memory is dropped.
        unsafe { queue.steps.reset(&queue.stream, all(&queue.records), all(&queue.marks))? };
        Ok(queue)
    }

    /// Whether there is room for these sweeps.
    pub fn fits(&self, order: usize, cut: Cut) -> bool {
        self.order == order && self.v.fits(cut)
    }

    /// As [`Columns::look`].
    ///
    /// # Errors
    /// As [`Columns::look`].
    pub fn look<'a>(&mut self, v: MatRef<'a, T>, weights: Weights<'a, T>) -> Result<Change<'a, T>, Error> {
        self.v.look(&self.device, v, weights)
    }

    /// The diagonal of the factor that [`begin`](Self::begin) has made.
    pub fn pivots(&self) -> &[T] {
        self.pivots.as_slice()
    }

    /// Asks for A ± V Vᵀ in `target`, of the shape of L, or L itself.
    ///
    /// # Errors
    /// [`Error::Device`]. Nothing is under way then.
    ///
    /// # Safety
    /// What had begun before has been waited for. Until this has been, both matrices live, nobody writes L, and nobody else
    /// uses the target. From then on, until the next call or the end of this queue, the matrix that is to be L lives, and
    /// nobody writes it; it is the L of the next call if nothing broke down.
    pub unsafe fn begin(
        &mut self,
        plan: &Plan,
        cut: Cut,
        v: V<'_, '_, T>,
        l: &Dense<T>,
        (to, target): (To, DeviceSlice<'_, T>),
    ) -> Result<(), Error> {
        // SAFETY: forwarded to the caller.
        let asked = unsafe { self.ask(plan, cut, v, l, (to, target)) };
        if asked.is_err() {
            // What had been asked for before.
            self.stream.synchronize()?;
        }
        asked
    }

    /// Waits for what has begun; the first column that breaks down, if one does.
    ///
    /// # Errors
    /// [`Error::Device`]. What was begun is not under way when this returns, whatever it returns.
    pub fn wait(&mut self) -> Result<Option<usize>, Error> {
        self.done.synchronize()?;
        let status = self.status.as_slice()[0];
        if status == WHOLE {
            return Ok(None);
        }
        // What is not to be L.
        self.inverted = self.panels();
        Ok(Some(status as usize - 1))
    }

    /// # Safety
    /// As [`begin`](Self::begin).
    unsafe fn ask(
        &mut self,
        plan: &Plan,
        cut: Cut,
        v: V<'_, '_, T>,
        l: &Dense<T>,
        (to, target): (To, DeviceSlice<'_, T>),
    ) -> Result<(), Error> {
        let (source, stride, start) = (l.slice(), l.stride(), plan.start);
        let inverted = self.inverted.min(start / PANEL_COLS);
        let known = inverted == self.inverted;
        // As long as something may go wrong.
        self.inverted = self.panels();
        self.status.as_mut_slice()[0] = WHOLE;
        // SAFETY: the caller vouches for L and the target; all other memory is this stream's until it has been waited for, and
        // what goes on behind `done` uses neither V, tasks, pivots nor status. V is written before its copy is asked for.
        unsafe {
            // What needs no V, first.
            self.send_tasks(plan, cut)?;
            if !known {
                self.invert((source, stride), start)?;
            }
            if to != To::Itself {
                let untouched = 0..start * stride;
                self.stream.copy(source.part(untouched.clone()), target.part(untouched))?;
            }
            if let V::OfHost(change) = v {
                self.v.send(&self.device, &self.stream, (cut, change), start..plan.rows)?;
            }
            for first in (0..cut.count()).step_by(TOGETHER) {
                let from = if first == 0 { source } else { target };
                if first > 0 {
                    self.invert((from, stride), start)?;
                }
                let sweeps = self.sweeps(plan, cut, first, (from, target, stride));
                self.steps.sweep(&self.stream, &sweeps)?;
                if first + TOGETHER >= cut.count() {
                    // What follows, the next modification needs, while the host looks at what has come of this one.
                    self.done.record(&self.stream)?;
                }
                self.steps.reset(&self.stream, sweeps.records, sweeps.marks)?;
            }
            if to != To::Nowhere {
                self.invert((target, stride), start)?;
            }
        }
        // Sweeps but for the first leave their own inverses.
        if to != To::Nowhere || cut.count() == 1 {
            self.inverted = inverted;
        }
        Ok(())
    }

    fn panels(&self) -> usize {
        self.order.div_ceil(PANEL_COLS)
    }

    /// Asks for the inverses of the diagonal blocks of L from column `start` on.
    ///
    /// # Safety
    /// Until it is done, or the end of this queue, L lives, and nobody else writes it.
    unsafe fn invert(&self, (l, stride): (DeviceSlice<'_, T>, usize), start: usize) -> Result<(), Error> {
        let (l, rows) = (l.part(start * (stride + 1)..l.len()), self.order - start);
        // SAFETY: the caller vouches for L; the other memory is this stream's.
        unsafe { self.steps.invert(&self.stream, (l, stride), self.inverses(start), rows) }
    }

    /// From column `start` on.
    fn inverses(&self, start: usize) -> (DeviceSlice<'_, f64>, DeviceSlice<'_, i32>) {
        let inverse = self.inverse.slice(start * PANEL_COLS..self.inverse.len());
        (inverse, self.refine.slice(start / PANEL_COLS..self.refine.len()))
    }

    fn schedule(&self, panels: usize, sweeps: usize) -> Schedule {
        Schedule::new(panels, sweeps, self.cuttings[usize::from(sweeps > 1)])
    }

    /// The tasks of all launches to the device.
    ///
    /// # Safety
    /// What had begun before has been waited for.
    unsafe fn send_tasks(&mut self, plan: &Plan, cut: Cut) -> Result<(), Error> {
        let panels = (self.order - plan.start).div_ceil(PANEL_COLS);
        for first in (0..cut.count()).step_by(TOGETHER) {
            let count = (cut.count() - first).min(TOGETHER);
            let schedule = self.schedule(panels, count);
            // SAFETY: the stream alone uses this memory; what read it before is done, as the caller vouches, and launches of
            // as many sweeps have one schedule.
            unsafe { self.tasks[usize::from(count < TOGETHER)].send(&self.stream, schedule)? };
        }
        Ok(())
    }

    /// The stream, and V on the device with the distance of its columns, the columns of zeros cleared.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn v(&mut self, cut: Cut) -> Result<(&Stream, DeviceSlice<'_, T>, usize), Error> {
        self.v.clear_zeros(&self.stream, cut)?;
        let (v, stride) = self.v.slice();
        Ok((&self.stream, v, stride))
    }

    /// Those of a launch, from the first one on.
    fn sweeps<'a>(
        &'a self,
        plan: &Plan,
        cut: Cut,
        first: usize,
        (from, to, l_stride): (DeviceSlice<'a, T>, DeviceSlice<'a, T>, usize),
    ) -> Sweeps<'a, T> {
        let start = plan.start;
        let count = (cut.count() - first).min(TOGETHER);
        let panels = (self.order - start).div_ceil(PANEL_COLS);
        let corner = start * (l_stride + 1);
        let (v, v_stride) = self.v.slice();
        let (inverse, refine) = self.inverses(start);
        Sweeps {
            from: from.part(corner..from.len()),
            to: to.part(corner..to.len()),
            l_stride,
            v: v.part(first * V_COLS * v_stride + start..v.len()),
            v_stride,
            inverse,
            refine,
            records: self.records.slice(0..count * panels * self.steps.record()),
            pivots: &self.pivots,
            status: &self.status,
            kept: all(&self.kept),
            marks: all(&self.marks),
            schedule: self.schedule(panels, count),
            tasks: self.tasks[usize::from(count < TOGETHER)].slice(),
            n: self.order - start,
            number: start,
            count,
            plus: cut.of_plus().saturating_sub(first),
            last: (cut.of_plus() + cut.count() - 1) as isize - 2 * first as isize,
        }
    }
}

fn all<T: Plain>(buffer: &DeviceBuffer<T>) -> DeviceSlice<'_, T> {
    buffer.slice(0..buffer.len())
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        // Somebody may have forgotten what is under way; the memory is freed next.
        let _ = self.stream.synchronize();
    }
}
