//! What a modification has on the device beside L, and its panels in order.
//!
//! V is taken sixteen columns of one sign at a time, each in a sweep, those with a plus sign first: what is
//! positive definite in the end is so all the way. Three streams, which the host asks for all of a sweep at
//! once: the chain goes from panel to panel with a copy of V, as fast as the rows of V that the next one needs
//! allow; reflectors are made of several panels at once; and the bulk takes the rows of L and V through those.
//!
//! ```text
//! chain     chain(0) … chain(7)  chain(8) … chain(15)   …
//! mirror             [chain(7)]  reflect(0 … 7)         [chain(15)]  reflect(8 … 15)
//! bulk                                                  [reflect]    all rows from panel 0 on, panels 0 … 7
//! ```

use super::cut::Sweeps;
use super::steps::{Block, Kept, PANEL_COLS, Rows, Steps, V_COLS};
use crate::change::Change;
use crate::cuda::dense::Dense;
use crate::cuda::device::Device;
use crate::cuda::kernels::{Form, GROUP, Kernels, Trailing};
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::passes::pack;
use crate::cuda::stream::{Event, Stream};
use crate::cuda::tuning::Tuning;
use crate::error::Error;
use crate::plan::Plan;
use crate::scalar::Scalar;

/// Panels whose reflectors are made at once.
const TOGETHER: usize = 8;

/// Columns of V that a thread of the bulk keeps.
const ELEMENTS: usize = 4;

/// How the bulk goes about a row: four threads to each.
fn form<T: Scalar>() -> Form {
    if T::TYPE_NAME == "f64" { Form::Tensor } else { Form::Columns { lanes: 4 } }
}

/// What a status of no breakdown is: no column's number is as large.
const WHOLE: i32 = i32::MAX;

/// Streams and memory for modifications up to a certain size.
pub(super) struct Queue<T> {
    kernels: Kernels<T>,
    steps: Steps<T>,
    tuning: Tuning,
    chain: Stream,
    mirror: Stream,
    bulk: Stream,
    /// The chain of some panels is done.
    chained: Event,
    /// Reflectors are made.
    made: Event,
    /// The bulk of a sweep is done.
    done: Event,
    /// V, columns `v_stride` apart: in host memory, the bulk's, and the chain's.
    v_host: Pinned<T>,
    v: DeviceBuffer<T>,
    v_ahead: DeviceBuffer<T>,
    v_stride: usize,
    /// For each panel.
    inverse: DeviceBuffer<f64>,
    p: DeviceBuffer<f64>,
    turn: DeviceBuffer<f64>,
    small: DeviceBuffer<i32>,
    reflectors: DeviceBuffer<T>,
    reflector_scalars: usize,
    /// Q behind the panels of an even group and of an odd one.
    carry: DeviceBuffer<f64>,
    pivots: (DeviceBuffer<T>, Pinned<T>),
    status: (DeviceBuffer<i32>, Pinned<i32>),
    order: usize,
}

/// A sweep under way: where it reads L and where it writes it, entry (0, 0) of both.
struct Sweep<'a, T> {
    plan: &'a Plan,
    from: DeviceSlice<'a, T>,
    to: DeviceSlice<'a, T>,
    /// Its first column of V.
    column: usize,
    sign: f64,
}

impl<T: Scalar> Queue<T> {
    /// # Errors
    /// [`Error::Device`] where the device or the host has not that much memory.
    pub fn new(device: &Device, order: usize, sweeps: Sweeps) -> Result<Self, Error> {
        let v_stride = order.next_multiple_of(128 / size_of::<T>());
        let len = v_stride * sweeps.columns();
        let panels = order.div_ceil(PANEL_COLS);
        let reflector_scalars = PANEL_COLS / GROUP * form::<T>().group_scalars::<T>(ELEMENTS);
        Ok(Self {
            kernels: Kernels::load(device)?,
            steps: Steps::load(device)?,
            tuning: Tuning::for_device(device),
            chain: Stream::first(device)?,
            mirror: Stream::new(device)?,
            bulk: Stream::new(device)?,
            chained: Event::new(device)?,
            made: Event::new(device)?,
            done: Event::new(device)?,
            v_host: Pinned::new(device, len)?,
            v: DeviceBuffer::new(device, len)?,
            v_ahead: DeviceBuffer::new(device, len)?,
            v_stride,
            inverse: DeviceBuffer::new(device, panels * PANEL_COLS * PANEL_COLS)?,
            p: DeviceBuffer::new(device, panels * PANEL_COLS * V_COLS)?,
            turn: DeviceBuffer::new(device, panels * V_COLS * V_COLS)?,
            small: DeviceBuffer::new(device, panels)?,
            reflectors: DeviceBuffer::new(device, panels * reflector_scalars)?,
            reflector_scalars,
            carry: DeviceBuffer::new(device, 2 * V_COLS * V_COLS)?,
            pivots: (DeviceBuffer::new(device, order)?, Pinned::new(device, order)?),
            status: (DeviceBuffer::new(device, 1)?, Pinned::new(device, 1)?),
            order,
        })
    }

    /// Whether there is room for these sweeps.
    pub fn fits(&self, order: usize, sweeps: Sweeps) -> bool {
        self.order == order && self.v_stride * sweeps.columns() <= self.v.len()
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
        let outcomes = [&self.bulk, &self.mirror, &self.chain].map(Stream::synchronize);
        outcomes.into_iter().collect::<Result<(), _>>().and(asked)?;
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
        let Self { chain, order, .. } = self;
        let (status, pivots) = (self.status.0.slice(0..1), self.pivots.0.slice(plan.start..*order));
        let stride = self.v_stride;
        let v = self.v.slice(0..stride * sweeps.columns());
        let to = other.unwrap_or(l.slice());
        // SAFETY: the streams alone use this memory, in the order that the events give, until `run` has waited
        // for all; what is read of L is borrowed, and what is written is the caller's to write.
        unsafe {
            if other.is_some() {
                let untouched = 0..plan.start * order;
                chain.copy(l.slice().part(untouched.clone()), to.part(untouched))?;
            }
            chain.upload(&self.status.1, 0..1, status)?;
            for (from, to, count) in sweeps.columns_of_v() {
                let host = from * stride..(from + count) * stride;
                chain.upload(&self.v_host, host, v.part(to * stride..(to + count) * stride))?;
            }
            for zeros in sweeps.columns_of_zeros() {
                chain.clear(v.part(zeros.start * stride..zeros.end * stride))?;
            }
            chain.copy(v, self.v_ahead.slice(0..v.len()))?;
        }
        for index in 0..sweeps.count() {
            let from = if index == 0 { l.slice() } else { to };
            self.sweep(&Sweep { plan, from, to, column: index * V_COLS, sign: sweeps.sign(index) })?;
        }
        // SAFETY: as above.
        unsafe {
            chain.download(status, &self.status.1, 0..1)?;
            chain.download(pivots, &self.pivots.1, plan.start..*order)
        }
    }

    /// L from the diagonal entry of `first` on.
    fn block<'a>(&self, l: DeviceSlice<'a, T>, first: usize, rows: usize) -> Block<'a, T> {
        Block { l: l.part(first * (self.order + 1)..l.len()), stride: self.order, rows: rows - first }
    }

    /// What is kept of the panels from this one on.
    fn kept(&self, panel: usize) -> Kept<'_, T> {
        let Self { inverse, p, turn, small, reflectors, .. } = self;
        Kept {
            inverse: inverse.slice(panel * PANEL_COLS * PANEL_COLS..inverse.len()),
            p: p.slice(panel * PANEL_COLS * V_COLS..p.len()),
            turn: turn.slice(panel * V_COLS * V_COLS..turn.len()),
            small: small.slice(panel..small.len()),
            reflectors: reflectors.slice(panel * self.reflector_scalars..reflectors.len()),
        }
    }

    /// One sweep; the chain's stream waits for its end.
    fn sweep(&self, sweep: &Sweep<'_, T>) -> Result<(), Error> {
        let Self { chain, steps, .. } = self;
        let &Sweep { plan, from, .. } = sweep;
        let panels = plan.panels();
        let start = plan.start;
        // SAFETY: the inverses are used by this stream alone; L is not written before this sweep's bulk, which
        // waits for the chain.
        unsafe {
            if panels > 1 {
                steps.invert(chain, &self.block(from, start, plan.rows), &self.kept(0), panels - 1)?;
            }
        }
        for first in (0..panels).step_by(TOGETHER) {
            let end = panels.min(first + TOGETHER);
            for panel in first..end.min(panels - 1) {
                let row = start + panel * PANEL_COLS;
                let rows = self.rows(&self.v_ahead, sweep, row);
                // SAFETY: the chain alone uses this V and what is kept of later panels; the bulk writes columns
                // of L of earlier ones.
                unsafe { steps.chain(chain, &self.block(from, row, plan.rows), &rows, &self.kept(panel))? };
            }
            self.chained.record(chain)?;
            self.panels(sweep, first, end)?;
        }
        // SAFETY: the reflectors of all panels are behind `made`, which the bulk has waited for.
        unsafe {
            let pivots = self.pivots.0.slice(start..plan.rows);
            steps.settle(&self.bulk, &self.block(sweep.to, start, plan.rows), pivots)?;
        }
        self.done.record(&self.bulk)?;
        chain.wait(&self.done)
    }

    /// The sweep's columns of V from this row on.
    fn rows<'a>(&self, v: &'a DeviceBuffer<T>, sweep: &Sweep<'_, T>, row: usize) -> Rows<'a, T> {
        let v = v.slice(sweep.column * self.v_stride + row..v.len());
        Rows { v, stride: self.v_stride, sign: sweep.sign }
    }

    /// The reflectors of these panels, and the rows of L and V through them.
    fn panels(&self, sweep: &Sweep<'_, T>, first: usize, end: usize) -> Result<(), Error> {
        let Self { mirror, bulk, order, .. } = self;
        let &Sweep { plan, from, to, sign, .. } = sweep;
        let row = plan.start + first * PANEL_COLS;
        let status = self.status.0.slice(0..1);
        let from_here = self.block(from, row, plan.rows);
        let to_here = self.block(to, row, plan.rows);
        let kept = self.kept(first);
        mirror.wait(&self.chained)?;
        // SAFETY: what the chain has left of these panels is behind `chained`, and nobody writes it again in this
        // sweep; the next begins behind `done`.
        unsafe {
            let rows = self.rows(&self.v_ahead, sweep, row);
            let pivots = self.pivots.0.slice(row..*order);
            self.steps.reflect(
                mirror,
                (&from_here, to_here.l),
                &rows,
                &kept,
                (pivots, status),
                (row, end - first),
            )?;
            let carry = |group: usize| {
                let first = group % 2 * V_COLS * V_COLS;
                self.carry.slice(first..first + V_COLS * V_COLS)
            };
            let group = first / TOGETHER;
            let carried = group.checked_sub(1).map(carry);
            self.steps.turn(mirror, &kept, (carried, carry(group)), end - first)?;
        }
        self.made.record(mirror)?;
        bulk.wait(&self.made)?;
        // The last panel of all has no rows below it, and has been stored.
        let cols = (end.min(plan.panels() - 1) - first) * PANEL_COLS;
        if cols == 0 {
            return Ok(());
        }
        let Rows { v, stride, .. } = self.rows(&self.v, sweep, row);
        let step = Trailing {
            from: from_here.l,
            panel: to_here.l,
            panel_stride: *order,
            v,
            v_stride: stride,
            reflectors: kept.reflectors,
            cols,
            passes: 1,
            form: form::<T>(),
            elements: ELEMENTS,
            plus: if sign > 0.0 { V_COLS } else { 0 },
            rows: 0..plan.rows - row,
        };
        // SAFETY: the slices are of these shapes. The chain has read these columns of L behind `chained`, the
        // reflectors are behind `made`, and V is the bulk's alone. What is written above the diagonal is nobody's.
        unsafe { self.kernels.trailing(bulk, &step, &self.tuning) }
    }
}
