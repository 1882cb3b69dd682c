//! What a modification has on the device beside L, and its panels in order.
//!
//! Two streams. The chain makes the diagonal block of a panel and takes its reflectors to the rows that meet the
//! next two blocks; the bulk takes them to the rows below. So the chain is at panel p + 1 while the bulk is at
//! panel p. The host asks for all of it at once and waits for the end.
//!
//! ```text
//! chain   diagonal(p)  [bulk(p − 1)]  rows of blocks p + 1 and p + 2
//! bulk    [diagonal(p)]  the rows below
//! ```

use super::steps::{Diagonal, DiagonalStep};
use crate::change::Change;
use crate::cuda::dense::Dense;
use crate::cuda::device::Device;
use crate::cuda::kernels::{Kernels, Trailing};
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::passes::Passes;
use crate::cuda::stream::{Event, Stream};
use crate::cuda::tuning::Tuning;
use crate::error::Error;
use crate::plan::{Panel, Plan};
use crate::scalar::Scalar;
use core::ops::Range;

/// Columns in a panel: the rows that one block of threads of `diagonal.cu` holds.
pub(super) const PANEL_COLS: usize = 64;

/// Streams and memory for modifications up to a certain size.
pub(super) struct Queue<T> {
    kernels: Kernels<T>,
    diagonal: DiagonalStep<T>,
    tuning: Tuning,
    chain: Stream,
    bulk: Stream,
    /// The diagonal step of a panel is done.
    made: Event,
    /// The bulk of a panel is done.
    done: Event,
    /// V, columns `v_stride` apart, on both sides of the link.
    v: DeviceBuffer<T>,
    v_host: Pinned<T>,
    v_stride: usize,
    /// Of a panel and of the one after it.
    reflectors: [DeviceBuffer<T>; 2],
    pivots: (DeviceBuffer<T>, Pinned<T>),
    status: (DeviceBuffer<i32>, Pinned<i32>),
    order: usize,
}

impl<T: Scalar> Queue<T> {
    /// # Errors
    /// [`Error::Device`] where the device or the host has not that much memory.
    pub fn new(device: &Device, order: usize, passes: &Passes) -> Result<Self, Error> {
        let v_stride = order.next_multiple_of(128 / size_of::<T>());
        let len = v_stride * passes.columns();
        let reflectors = || DeviceBuffer::new(device, passes.reflector_scalars::<T>(PANEL_COLS));
        Ok(Self {
            kernels: Kernels::load(device)?,
            diagonal: DiagonalStep::load(device)?,
            tuning: Tuning { panel_cols: PANEL_COLS, ..Tuning::for_device(device) },
            chain: Stream::first(device)?,
            bulk: Stream::new(device)?,
            made: Event::new(device)?,
            done: Event::new(device)?,
            v: DeviceBuffer::new(device, len)?,
            v_host: Pinned::new(device, len)?,
            v_stride,
            reflectors: [reflectors()?, reflectors()?],
            pivots: (DeviceBuffer::new(device, order)?, Pinned::new(device, order)?),
            status: (DeviceBuffer::new(device, 1)?, Pinned::new(device, 1)?),
            order,
        })
    }

    /// Whether there is room for a modification of these passes.
    pub fn fits(&self, order: usize, passes: &Passes) -> bool {
        let reflectors = passes.reflector_scalars::<T>(PANEL_COLS);
        self.order == order
            && self.v_stride * passes.columns() <= self.v.len()
            && reflectors <= self.reflectors[0].len()
    }

    /// The diagonal of the factor that [`run`](Self::run) has made.
    pub fn pivots(&self) -> &[T] {
        self.pivots.1.as_slice()
    }

    /// One sweep over L in place, or over a copy of it; the first column that breaks down, if one does.
    ///
    /// # Errors
    /// [`Error::Device`]. Nothing is under way when this returns, whatever it returns.
    pub fn run(
        &mut self,
        plan: &Plan,
        passes: &Passes,
        change: &Change<'_, T>,
        l: &Dense<T>,
        copy: Option<DeviceSlice<'_, T>>,
    ) -> Result<Option<usize>, Error> {
        passes.fill(self.v_host.as_mut_slice(), self.v_stride, change, plan.start..plan.rows);
        let asked = self.ask(plan, passes, l, copy);
        let outcomes = [&self.bulk, &self.chain].map(Stream::synchronize);
        outcomes.into_iter().collect::<Result<(), _>>().and(asked)?;
        Ok((self.status.1.as_slice()[0] as usize).checked_sub(1))
    }

    fn ask(
        &self,
        plan: &Plan,
        passes: &Passes,
        l: &Dense<T>,
        copy: Option<DeviceSlice<'_, T>>,
    ) -> Result<(), Error> {
        let (status, pivots) = (self.status.0.slice(0..1), self.pivots.0.slice(0..self.order));
        let v = plan.start..self.v_stride * passes.columns();
        // SAFETY: the streams alone use this memory, in the order that the events give, until `run` has waited
        // for both; what is read of L is borrowed, and the copy is the caller's to write.
        unsafe {
            if let Some(copy) = copy {
                self.chain.copy(l.slice(), copy)?;
            }
            self.chain.clear(status)?;
            self.chain.upload(&self.v_host, v.clone(), self.v.slice(v))?;
        }
        let target = copy.unwrap_or(l.slice());
        for panel in (0..plan.panels()).map_while(|index| plan.panel(index)) {
            self.panel(panel, plan, passes, target)?;
        }
        self.chain.wait(&self.done)?;
        // SAFETY: as above.
        unsafe {
            self.chain.download(status, &self.status.1, 0..1)?;
            self.chain.download(pivots, &self.pivots.1, 0..self.order)
        }
    }

    fn panel(&self, panel: Panel, plan: &Plan, passes: &Passes, l: DeviceSlice<'_, T>) -> Result<(), Error> {
        let Self { chain, bulk, order, v_stride, .. } = self;
        let set = &self.reflectors[panel.index % 2];
        let step = Diagonal {
            l: l.part(panel.first * (order + 1)..l.len()),
            l_stride: *order,
            below: plan.rows - panel.end(),
            v: self.v.slice(panel.first..self.v.len()),
            v_stride: *v_stride,
            reflectors: set.slice(0..set.len()),
            pivots: self.pivots.0.slice(panel.block()),
            status: self.status.0.slice(0..1),
        };
        // SAFETY: the slices are of these shapes. Of the reflectors' set the bulk of two panels ago has been
        // waited for, with the rows of the panel before; of the block's rows all earlier panels are asked for on
        // this stream.
        unsafe { self.diagonal.launch(chain, &step, panel, PANEL_COLS, passes)? };
        let head = panel.end()..plan.rows.min(panel.end() + 2 * PANEL_COLS);
        let rest = head.end..plan.rows;
        if head.is_empty() {
            return Ok(());
        }
        self.made.record(chain)?;
        chain.wait(&self.done)?;
        self.apply(chain, panel, passes, l, head)?;
        bulk.wait(&self.made)?;
        self.apply(bulk, panel, passes, l, rest)?;
        self.done.record(bulk)
    }

    /// The reflectors of `panel` over `rows`.
    fn apply(
        &self,
        stream: &Stream,
        panel: Panel,
        passes: &Passes,
        l: DeviceSlice<'_, T>,
        rows: Range<usize>,
    ) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let set = &self.reflectors[panel.index % 2];
        let step = Trailing {
            panel: l.part(panel.first * self.order + rows.start..l.len()),
            panel_stride: self.order,
            v: self.v.slice(rows.start..self.v.len()),
            v_stride: self.v_stride,
            reflectors: set.slice(0..set.len()),
            cols: panel.cols,
            passes: passes.count(),
            form: passes.form,
            elements: passes.elements,
            plus: passes.all_plus(),
            rows: 0..rows.len(),
        };
        // SAFETY: the slices are of these shapes. The chain touches the rows of the next two blocks, the bulk
        // those below: what the bulk has done to the rows of block p + 2 is behind `done`.
        unsafe { self.kernels.trailing(stream, &step, &self.tuning) }
    }
}
