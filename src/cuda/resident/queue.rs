//! What a modification has on the device beside L, and what it asks for, on one stream.
//!
//! V is taken sixteen columns of one sign at a time, each in a sweep, those with a plus sign first: what is
//! positive definite in the end is so all the way. A launch has all sweeps, or sixteen of them, and its blocks of threads
//! wait for each other: `kernels/sweep.cu`.

use super::cut::Cut;
use super::modify::V;
use super::schedule::{Cutting, Schedule};
use super::steps::{PANEL_COLS, RECORD, STATE, Steps, Sweeps, V_COLS, kept, marks};
use super::tasks::Tasks;
use crate::cuda::dense::Dense;
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned, Plain};
use crate::cuda::passes::pack;
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::plan::Plan;
use crate::scalar::Scalar;

/// Sweeps of a launch, at most.
const TOGETHER: usize = 16;

/// What a status of no breakdown is: no column's number is as large.
const WHOLE: i32 = i32::MAX;

/// A stream and memory for modifications up to a certain size.
pub(super) struct Queue<T> {
    steps: Steps<T>,
    stream: Stream,
    inverse: DeviceBuffer<f64>,
    refine: DeviceBuffer<i32>,
    records: DeviceBuffer<f64>,
    state: DeviceBuffer<f64>,
    kept: DeviceBuffer<f64>,
    marks: DeviceBuffer<i32>,
    /// Of a launch of all sweeps that go together, and of one with fewer.
    tasks: [Tasks; 2],
    /// For one sweep, and for several.
    cuttings: [Cutting; 2],
    /// V, columns `v_stride` apart: in host memory, and on the device.
    v: (Pinned<T>, DeviceBuffer<T>),
    v_stride: usize,
    pivots: (DeviceBuffer<T>, Pinned<T>),
    status: (DeviceBuffer<i32>, Pinned<i32>),
    order: usize,
}

impl<T: Scalar> Queue<T> {
    /// # Errors
    /// [`Error::Device`] where the device or the host has not that much memory.
    pub fn new(device: &Device, order: usize, cut: Cut) -> Result<Self, Error> {
        let v_stride = order.next_multiple_of(128 / size_of::<T>());
        let len = v_stride * cut.columns();
        let panels = order.div_ceil(PANEL_COLS);
        let together = cut.count().clamp(1, TOGETHER);
        let cuttings = [false, true].map(|many| Cutting::new(panels, many, device.multiprocessors()));
        let schedule = |sweeps: usize| Schedule::new(panels, sweeps, cuttings[usize::from(sweeps > 1)]);
        // Also of fewer sweeps, and of fewer panels.
        let most = |of: fn(Schedule) -> usize, sweeps| of(schedule(1)).max(of(schedule(sweeps)));
        Ok(Self {
            steps: Steps::load(device)?,
            stream: Stream::new(device)?,
            inverse: DeviceBuffer::new(device, panels * PANEL_COLS.pow(2))?,
            refine: DeviceBuffer::new(device, panels)?,
            records: DeviceBuffer::new(device, together * panels * RECORD)?,
            state: DeviceBuffer::new(device, together * STATE)?,
            kept: DeviceBuffer::new(device, most(kept, together))?,
            marks: DeviceBuffer::new(device, most(marks, together))?,
            tasks: [
                Tasks::new(device, if together == TOGETHER { schedule(TOGETHER).len() } else { 0 })?,
                Tasks::new(device, most(Schedule::len, together.min(TOGETHER - 1)))?,
            ],
            cuttings,
            v: (Pinned::new(device, len)?, DeviceBuffer::new(device, len)?),
            v_stride,
            pivots: (DeviceBuffer::new(device, order)?, Pinned::new(device, order)?),
            status: (DeviceBuffer::new(device, 1)?, Pinned::new(device, 1)?),
            order,
        })
    }

    /// Whether there is room for these sweeps.
    pub fn fits(&self, order: usize, cut: Cut) -> bool {
        self.order == order && self.v_stride * cut.columns() <= self.v.0.len()
    }

    /// The diagonal of the factor that [`begin`](Self::begin) has made.
    pub fn pivots(&self) -> &[T] {
        self.pivots.1.as_slice()
    }

    /// Asks for A ± V Vᵀ in L in place, or in `other`, of the same shape.
    ///
    /// # Errors
    /// [`Error::Device`]. Nothing is under way then.
    ///
    /// # Safety
    /// What had begun before has been waited for. Until this has been, both matrices live, nobody writes L, and nobody else
    /// uses `other`, or L where there is none.
    pub unsafe fn begin(
        &mut self,
        plan: &Plan,
        cut: Cut,
        v: V<'_, '_, T>,
        l: &Dense<T>,
        other: Option<DeviceSlice<'_, T>>,
    ) -> Result<(), Error> {
        let asked = self.ask(plan, cut, v, l, other);
        if asked.is_err() {
            // What had been asked for before.
            self.stream.synchronize()?;
        }
        asked
    }

    /// Waits for what has begun; the first column that breaks down, if one does.
    ///
    /// # Errors
    /// [`Error::Device`]. Nothing is under way when this returns, whatever it returns.
    pub fn wait(&mut self) -> Result<Option<usize>, Error> {
        self.stream.synchronize()?;
        let status = self.status.1.as_slice()[0];
        Ok((status != WHOLE).then(|| status as usize - 1))
    }

    fn ask(
        &mut self,
        plan: &Plan,
        cut: Cut,
        v: V<'_, '_, T>,
        l: &Dense<T>,
        other: Option<DeviceSlice<'_, T>>,
    ) -> Result<(), Error> {
        self.status.1.as_mut_slice()[0] = WHOLE;
        let (order, to) = (self.order, other.unwrap_or(l.slice()));
        // SAFETY: the caller of `begin` vouches for L and `other`; all other memory is this stream's until `wait` has waited
        // for it. V is written before its copy is asked for.
        unsafe {
            // What needs no V, first.
            self.stream.upload(&self.status.1, 0..1, self.status.0.slice(0..1))?;
            self.send_tasks(plan, cut)?;
            self.steps.begin(&self.stream, &self.sweeps(plan, cut, 0, (l.slice(), to, l.stride())))?;
            if other.is_some() {
                let untouched = 0..plan.start * l.stride();
                self.stream.copy(l.slice().part(untouched.clone()), to.part(untouched))?;
            }
            if let V::OfHost(change) = v {
                let v = &mut self.v.0.as_mut_slice()[..self.v_stride * change.rank()];
                pack(v, self.v_stride, change, plan.start..plan.rows);
                self.upload(cut)?;
            }
            for first in (0..cut.count()).step_by(TOGETHER) {
                let from = if first == 0 { l.slice() } else { to };
                let sweeps = self.sweeps(plan, cut, first, (from, to, l.stride()));
                if first > 0 {
                    self.steps.begin(&self.stream, &sweeps)?;
                }
                self.steps.sweep(&self.stream, &sweeps)?;
            }
            self.stream.download(self.status.0.slice(0..1), &self.status.1, 0..1)?;
            self.stream.download(self.pivots.0.slice(plan.start..order), &self.pivots.1, plan.start..order)
        }
    }

    fn schedule(&self, panels: usize, sweeps: usize) -> Schedule {
        Schedule::new(panels, sweeps, self.cuttings[usize::from(sweeps > 1)])
    }

    /// The tasks of all launches to the device.
    fn send_tasks(&mut self, plan: &Plan, cut: Cut) -> Result<(), Error> {
        let panels = (self.order - plan.start).div_ceil(PANEL_COLS);
        for first in (0..cut.count()).step_by(TOGETHER) {
            let count = (cut.count() - first).min(TOGETHER);
            let schedule = self.schedule(panels, count);
            // SAFETY: the stream alone uses this memory; what was asked for before is done, and launches of as many
            // sweeps have one schedule.
            unsafe { self.tasks[usize::from(count < TOGETHER)].send(&self.stream, schedule)? };
        }
        Ok(())
    }

    /// The stream, and V on the device with the distance of its columns: [`Cut`] has their places.
    pub fn v(&self) -> (&Stream, DeviceSlice<'_, T>, usize) {
        (&self.stream, self.v.1.slice(0..self.v.1.len()), self.v_stride)
    }

    /// Has the columns of V that fill up a sweep cleared.
    pub fn clear_zeros(&self, cut: Cut) -> Result<(), Error> {
        let stride = self.v_stride;
        for zeros in cut.columns_of_zeros() {
            // SAFETY: what uses this memory is on this stream.
            unsafe { self.stream.clear(self.v.1.slice(zeros.start * stride..zeros.end * stride))? };
        }
        Ok(())
    }

    /// V to the device.
    fn upload(&self, cut: Cut) -> Result<(), Error> {
        let (stride, stream) = (self.v_stride, &self.stream);
        let v = self.v.1.slice(0..stride * cut.columns());
        // SAFETY: what uses this memory is behind, on this stream, until it has been waited for.
        unsafe {
            for (from, to, count) in cut.columns_of_v() {
                let host = from * stride..(from + count) * stride;
                stream.upload(&self.v.0, host, v.part(to * stride..(to + count) * stride))?;
            }
        }
        self.clear_zeros(cut)
    }

    /// Those of a launch, from the first one on.
    fn sweeps<'a>(
        &'a self,
        plan: &Plan,
        cut: Cut,
        first: usize,
        (from, to, l_stride): (DeviceSlice<'a, T>, DeviceSlice<'a, T>, usize),
    ) -> Sweeps<'a, T> {
        fn all<U: Plain>(buffer: &DeviceBuffer<U>) -> DeviceSlice<'_, U> {
            buffer.slice(0..buffer.len())
        }
        let start = plan.start;
        let count = (cut.count() - first).min(TOGETHER);
        let corner = start * (l_stride + 1);
        Sweeps {
            from: from.part(corner..from.len()),
            to: to.part(corner..to.len()),
            l_stride,
            v: self.v.1.slice(first * V_COLS * self.v_stride + start..self.v.1.len()),
            v_stride: self.v_stride,
            inverse: all(&self.inverse),
            refine: all(&self.refine),
            records: all(&self.records),
            state: all(&self.state),
            pivots: self.pivots.0.slice(start..self.order),
            status: all(&self.status.0),
            kept: all(&self.kept),
            marks: all(&self.marks),
            schedule: self.schedule((self.order - start).div_ceil(PANEL_COLS), count),
            tasks: self.tasks[usize::from(count < TOGETHER)].slice(),
            n: self.order - start,
            number: start,
            count,
            plus: cut.of_plus().saturating_sub(first),
        }
    }
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        // Somebody may have forgotten what is under way; the memory is freed next.
        let _ = self.stream.synchronize();
    }
}
