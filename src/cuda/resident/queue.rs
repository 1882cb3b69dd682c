//! What a modification has on the device beside L, and its panels in order.
//!
//! V is taken sixteen columns of one sign at a time, each in a sweep, those with a plus sign first: what is
//! positive definite in the end is so all the way. A sweep goes on two streams, and the host asks for all of it at
//! once: the chain goes from group to group of panels, looking back to where the bulk has left V; and the bulk takes
//! the rows of L and V through two groups at a time. The next sweep follows, on another line, where the bulk has been.
//!
//! ```text
//! chain     groups 0, 1     groups 2, 3     groups 4, 5 [bulk 0]   …
//! bulk                      [groups 0, 1]   [groups 2, 3]          …
//! chain     of the next sweep               [bulk 0]   groups 0, 1 …
//! ```

use super::cut::Sweeps;
use super::steps::{PANEL_COLS, RECORD, SOLVED, STATE, Steps, Sweep, V_COLS};
use crate::change::Change;
use crate::cuda::dense::Dense;
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::passes::pack;
use crate::cuda::stream::{Event, Stream};
use crate::error::Error;
use crate::plan::Plan;
use crate::scalar::Scalar;

/// Panels that the bulk takes at once: two groups of the chain's.
const TOGETHER: usize = 2 * SOLVED;

/// Sweeps under way at once, at most.
const LINES: usize = 8;

/// What a status of no breakdown is: no column's number is as large.
const WHOLE: i32 = i32::MAX;

/// Streams and memory of a sweep.
struct Line {
    chain: Stream,
    bulk: Stream,
    /// Products are made.
    chained: Event,
    /// For each launch of the bulk: it is done.
    done: Vec<Event>,
    inverse: DeviceBuffer<f64>,
    refine: DeviceBuffer<i32>,
    records: DeviceBuffer<f64>,
    state: DeviceBuffer<f64>,
    arrived: DeviceBuffer<i32>,
}

impl Line {
    fn new(device: &Device, panels: usize) -> Result<Self, Error> {
        let line = Self {
            chain: Stream::first(device)?,
            bulk: Stream::new(device)?,
            chained: Event::new(device)?,
            done: (0..panels.div_ceil(TOGETHER)).map(|_| Event::new(device)).collect::<Result<_, _>>()?,
            inverse: DeviceBuffer::new(device, panels * PANEL_COLS.pow(2))?,
            refine: DeviceBuffer::new(device, panels)?,
            records: DeviceBuffer::new(device, panels * RECORD)?,
            state: DeviceBuffer::new(device, STATE)?,
            arrived: DeviceBuffer::new(device, 1)?,
        };
        // SAFETY: nothing else uses this memory before the stream has gone on.
        unsafe { line.chain.clear(line.arrived.slice(0..1))? };
        Ok(line)
    }
}

/// Streams and memory for modifications up to a certain size.
pub(super) struct Queue<T> {
    steps: Steps<T>,
    lines: Vec<Line>,
    /// V, columns `v_stride` apart: in host memory, and on the device twice.
    v_host: Pinned<T>,
    v: [DeviceBuffer<T>; 2],
    v_stride: usize,
    pivots: (DeviceBuffer<T>, Pinned<T>),
    status: (DeviceBuffer<i32>, Pinned<i32>),
    order: usize,
}

/// When sweeps begin, of so many steps each: two steps behind the one before, since its bulk is asked for a step
/// later than its chain, and once the line is free.
fn begins(sweeps: usize, steps: usize) -> Vec<usize> {
    let mut begins: Vec<usize> = Vec::with_capacity(sweeps);
    for index in 0..sweeps {
        let behind = begins.last().map_or(0, |before| before + 2);
        let free = index.checked_sub(LINES).map_or(0, |same| begins[same] + steps);
        begins.push(behind.max(free));
    }
    begins
}

impl<T: Scalar> Queue<T> {
    /// # Errors
    /// [`Error::Device`] where the device or the host has not that much memory.
    pub fn new(device: &Device, order: usize, sweeps: Sweeps) -> Result<Self, Error> {
        let v_stride = order.next_multiple_of(128 / size_of::<T>());
        let len = v_stride * sweeps.columns();
        let line = |_| Line::new(device, order.div_ceil(PANEL_COLS));
        Ok(Self {
            steps: Steps::load(device)?,
            lines: (0..sweeps.count().min(LINES)).map(line).collect::<Result<_, _>>()?,
            v_host: Pinned::new(device, len)?,
            v: [DeviceBuffer::new(device, len)?, DeviceBuffer::new(device, len)?],
            v_stride,
            pivots: (DeviceBuffer::new(device, order)?, Pinned::new(device, order)?),
            status: (DeviceBuffer::new(device, 1)?, Pinned::new(device, 1)?),
            order,
        })
    }

    /// Whether there is room for these sweeps.
    pub fn fits(&self, order: usize, sweeps: Sweeps) -> bool {
        self.order == order && self.v_stride * sweeps.columns() <= self.v_host.len()
    }

    /// The diagonal of the factor that [`run`](Self::run) has made.
    pub fn pivots(&self) -> &[T] {
        self.pivots.1.as_slice()
    }

    /// A ± V Vᵀ in L in place, or in `other`, of the same shape; the first column that breaks down, if one does.
    ///
    /// # Errors
    /// [`Error::Device`]. Nothing is under way when this returns, whatever it returns.
    pub fn run(
        &mut self,
        plan: &Plan,
        sweeps: Sweeps,
        change: &Change<'_, T>,
        l: &Dense<T>,
        other: Option<DeviceSlice<'_, T>>,
    ) -> Result<Option<usize>, Error> {
        let v = &mut self.v_host.as_mut_slice()[..self.v_stride * change.rank()];
        pack(v, self.v_stride, change, plan.start..plan.rows);
        self.status.1.as_mut_slice()[0] = WHOLE;
        let asked = self.ask(plan, sweeps, l, other);
        let streams = self.lines.iter().flat_map(|line| [&line.chain, &line.bulk]);
        let mut outcomes: Vec<_> = streams.map(Stream::synchronize).collect();
        outcomes.push(asked);
        outcomes.into_iter().collect::<Result<(), _>>()?;
        let status = self.status.1.as_slice()[0];
        Ok((status != WHOLE).then(|| status as usize - 1))
    }

    fn ask(
        &self,
        plan: &Plan,
        sweeps: Sweeps,
        l: &Dense<T>,
        other: Option<DeviceSlice<'_, T>>,
    ) -> Result<(), Error> {
        let order = self.order;
        let to = other.unwrap_or(l.slice());
        if other.is_some() {
            let untouched = 0..plan.start * order;
            // SAFETY: what is read of L is borrowed, and these columns of the other are nobody's but this stream's.
            unsafe { self.lines[0].chain.copy(l.slice().part(untouched.clone()), to.part(untouched))? };
        }
        self.upload(sweeps)?;
        let under_way: Vec<_> = (0..sweeps.count())
            .map(|index| self.sweep(plan, sweeps, index, if index == 0 { l.slice() } else { to }, to))
            .collect();
        let steps = plan.panels().div_ceil(TOGETHER) + 1;
        let begins = begins(sweeps.count(), steps);
        for now in 0..begins.last().map_or(0, |last| last + steps) {
            for (index, sweep) in under_way.iter().enumerate() {
                if let Some(step) = now.checked_sub(begins[index]).filter(|&step| step < steps) {
                    self.step(sweep, index, step)?;
                }
            }
        }
        let last = &self.lines[(sweeps.count() - 1) % LINES].bulk;
        // SAFETY: the last sweep's bulk is behind everything that writes these.
        unsafe {
            last.download(self.status.0.slice(0..1), &self.status.1, 0..1)?;
            last.download(self.pivots.0.slice(plan.start..order), &self.pivots.1, plan.start..order)
        }
    }

    /// V and the status to the device, on the first line; the others wait for the bulk of the sweep before theirs.
    fn upload(&self, sweeps: Sweeps) -> Result<(), Error> {
        let (stride, first) = (self.v_stride, &self.lines[0].chain);
        let v = self.v[0].slice(0..stride * sweeps.columns());
        // SAFETY: what uses this memory is behind, on this stream or one that waits for it, until `run` has waited for
        // all.
        unsafe {
            first.upload(&self.status.1, 0..1, self.status.0.slice(0..1))?;
            for (from, to, count) in sweeps.columns_of_v() {
                let host = from * stride..(from + count) * stride;
                first.upload(&self.v_host, host, v.part(to * stride..(to + count) * stride))?;
            }
            for zeros in sweeps.columns_of_zeros() {
                first.clear(v.part(zeros.start * stride..zeros.end * stride))?;
            }
        }
        Ok(())
    }

    fn sweep<'a>(
        &'a self,
        plan: &Plan,
        sweeps: Sweeps,
        index: usize,
        from: DeviceSlice<'a, T>,
        to: DeviceSlice<'a, T>,
    ) -> Sweep<'a, T> {
        let line = &self.lines[index % LINES];
        let start = plan.start;
        let corner = start * (self.order + 1);
        let v =
            |buffer: &'a DeviceBuffer<T>| buffer.slice(index * V_COLS * self.v_stride + start..buffer.len());
        Sweep {
            from: from.part(corner..from.len()),
            to: to.part(corner..to.len()),
            l_stride: self.order,
            v: [v(&self.v[0]), v(&self.v[1])],
            v_stride: self.v_stride,
            inverse: line.inverse.slice(0..line.inverse.len()),
            refine: line.refine.slice(0..line.refine.len()),
            records: line.records.slice(0..line.records.len()),
            state: line.state.slice(0..line.state.len()),
            pivots: self.pivots.0.slice(start..self.order),
            status: self.status.0.slice(0..1),
            arrived: line.arrived.slice(0..1),
            n: self.order - start,
            number: start,
            sign: sweeps.sign(index),
        }
    }

    /// A step of a sweep: the bulk of the panels of the step before, once their products are made, and the chain
    /// through the next.
    fn step(&self, sweep: &Sweep<'_, T>, index: usize, step: usize) -> Result<(), Error> {
        let Line { chain, bulk, chained, done, .. } = &self.lines[index % LINES];
        let panels = sweep.panels();
        let here = step * TOGETHER..panels.min((step + 1) * TOGETHER);
        // SAFETY, for all launches: a sweep's memory is its line's, and of its two streams' each writes what the
        // other reads behind `chained` or `done` only. The sweep before has been over the L that is read here, and
        // the sweep that had this line before over what it kept of the same panels.
        unsafe {
            if index == 0 && step == 0 {
                self.steps.invert(chain, sweep, 0..panels)?;
            } else if index > 0 && !here.is_empty() {
                chain.wait(&self.lines[(index - 1) % LINES].done[step])?;
                self.steps.invert(chain, sweep, here.clone())?;
            }
            self.chain(sweep, index, here.start)?;
            if step > 0 {
                chained.record(chain)?;
                bulk.wait(chained)?;
                let before = (step - 1) * TOGETHER..panels.min(step * TOGETHER);
                self.steps.bulk(bulk, sweep, before, (step - 1) % 2)?;
                done[step - 1].record(bulk)?;
            }
            self.chain(sweep, index, here.start + SOLVED)
        }
    }

    /// The chain's launch that solves the panels from `next` on, if there is something to do.
    ///
    /// # Safety
    /// As [`step`](Self::step) says.
    unsafe fn chain(&self, sweep: &Sweep<'_, T>, index: usize, next: usize) -> Result<(), Error> {
        let Line { chain, done, .. } = &self.lines[index % LINES];
        if next >= sweep.panels() + SOLVED {
            return Ok(());
        }
        // The bulk two launches back will be done, and one is under way beside the chain; not where it overwrites
        // the L that the chain looks back to.
        let in_place = sweep.from.address() == sweep.to.address();
        let behind = (next.saturating_sub(SOLVED) / TOGETHER).saturating_sub(usize::from(!in_place));
        if behind > 0 {
            chain.wait(&done[behind - 1])?;
        }
        // SAFETY: forwarded to the caller.
        unsafe { self.steps.chain(chain, sweep, next, behind * TOGETHER) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_one_sweep_at_a_time_and_sweeps_follow_each_other() {
        for steps in [2, 3, 9, 40] {
            let begins = begins(11, steps);
            assert!(begins.windows(2).all(|pair| pair[1] >= pair[0] + 2));
            assert!(begins.iter().zip(&begins[LINES..]).all(|(first, next)| *next >= first + steps));
        }
    }
}
