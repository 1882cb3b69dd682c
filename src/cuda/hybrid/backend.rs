//! The hybrid backend of the sweep: who waits for whom.
//!
//! The CPU makes the diagonal block of a panel and transforms its head, the rows that meet the next diagonal
//! block; neither crosses the link. The rows below go through a slot of the device. Of V, the device sends
//! home only the rows that the CPU needs for the head of the panel after next, and it works on those first.
//! So while the CPU is at panel p + 1 the device is at the tail of panel p, the tail of panel p + 1 is on its
//! way up, and that of panel p − 1 on its way down.

use super::panels::{Panels, tail_rows, tail_stride};
use super::passes::Passes;
use super::pipe::Pipe;
use super::tops::Tops;
use crate::cpu::{Buffer, Columns, Leader};
use crate::cuda::kernels::{Place, Trailing};
use crate::cuda::tuning::Tuning;
use crate::error::Error;
use crate::plan::{Panel, Plan};
use crate::report::Health;
use crate::scalar::Scalar;
use crate::sweep::{Backend, Breakdown};
use core::ops::Range;

impl From<Breakdown> for Error {
    fn from(Breakdown { column }: Breakdown) -> Self {
        Self::NotPositiveDefinite { column }
    }
}

/// Where the new columns of L go.
pub(super) enum Sink<'a, T> {
    InPlace,
    Other(&'a mut Panels<T>),
    /// Nowhere; the top of the panel at work is written here.
    Nowhere(&'a mut Buffer<T>),
}

/// A wait of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// A slot is not filled before its last panel has left it.
    SlotLeft,
    /// A panel is not worked on before it has arrived.
    Arrived,
    /// A panel does not leave before it has been worked on.
    Worked,
    /// The CPU does not read rows of V before they have come.
    Exported,
    /// A sweep does not end before everything asked for is done.
    Finished,
}

/// One sweep of one factor.
pub(super) struct Streaming<'a, T: Scalar> {
    pub pipe: &'a mut Pipe<T>,
    pub tops: &'a mut Tops<T>,
    pub l: &'a mut Panels<T>,
    pub sink: Sink<'a, T>,
    pub crew: Leader<'a>,
    pub passes: Passes,
    pub tuning: &'a Tuning,
    pub plan: &'a Plan,
    pub health: Health<T>,
    /// Something of the new L may be in its place.
    pub written: bool,
}

impl<T: Scalar> Streaming<'_, T> {
    /// Sends V up and takes its first rows, from `v_host`.
    pub fn start(&mut self) -> Result<(), Error> {
        let Self { pipe, tops, plan, .. } = self;
        let len = pipe.v_stride * self.passes.columns();
        let first = Panel { index: 0, first: plan.start, cols: plan.panel_cols };
        if !tail_rows(first, plan.rows).is_empty() {
            // SAFETY: nothing is under way yet; `v_host` is not written before the first rows come back,
            // which is after this on the same stream.
            unsafe { pipe.work.upload(&pipe.v_host, 0..len, pipe.v.slice(0..len))? };
        }
        for (index, panel) in [plan.panel(0), plan.panel(1)].into_iter().flatten().enumerate() {
            // SAFETY: as above.
            unsafe { tops.load(&pipe.v_host, pipe.v_stride, panel.block(), index) };
        }
        Ok(())
    }

    /// The top of `panel` for the steps of the CPU.
    fn top(&mut self, panel: Panel) -> Columns<T> {
        let to = match &mut self.sink {
            Sink::InPlace => self.l.top(panel),
            Sink::Other(other) => other.top(panel),
            Sink::Nowhere(scratch) => {
                let (_, stride) = self.l.top(panel);
                let first = panel.first as isize;
                (scratch.as_mut_ptr().wrapping_offset(-first * stride - first), stride)
            }
        };
        let (src, src_stride) = self.l.top(panel);
        Columns { src: src.cast_const(), src_stride, dst: to.0, dst_stride: to.1 }
    }

    fn tail(&self, panel: Panel) -> Range<usize> {
        tail_rows(panel, self.plan.rows)
    }

    fn slot(&self, panel: Panel) -> usize {
        panel.index % self.pipe.slots.len()
    }

    /// The head of `panel`: rows of V that the device has sent, but for the first panel's.
    fn head(&mut self, panel: Panel, rows: Range<usize>) -> Result<(), Error> {
        if panel.index > 0 {
            if waits(Wait::Exported) {
                self.pipe.exported.synchronize()?;
            }
            // SAFETY: the export is done, and the next one is asked for after this on this thread.
            unsafe {
                self.tops.load(&self.pipe.v_host, self.pipe.v_stride, rows.clone(), panel.index + 1);
            }
        }
        let top = self.top(panel);
        // SAFETY: the top is borrowed exclusively; `diagonal` has been done on this thread.
        unsafe { self.tops.head(self.crew, panel, rows, top) };
        Ok(())
    }

    /// The tail of `panel`: the rows that the CPU needs next, and the others.
    fn below(&mut self, panel: Panel, rows: Range<usize>) -> Result<(), Error> {
        let Self { pipe, passes, .. } = &*self;
        let slot = &pipe.slots[self.slot(panel)];
        let set = &pipe.reflectors[panel.index % 2];
        let len = passes.reflector_scalars::<T>(self.plan.panel_cols);
        let from = Place { address: set.host.address(0), stride: len };
        let to = Place { address: set.device.slice(0..len).address(), stride: len };
        // SAFETY: the host does not write the set again before it has waited for a later export.
        unsafe { pipe.kernels.copy(&pipe.work, (from, to), (len, 1))? };
        if waits(Wait::Arrived) {
            pipe.work.wait(&slot.arrived)?;
        }
        let next = rows.start..rows.end.min(rows.start + self.plan.panel_cols);
        self.apply(panel, next.clone())?;
        let (device, host) = pipe.rows_of_v(next.start);
        // SAFETY: the host has read the rows that came before, and reads these behind `exported`.
        unsafe { pipe.kernels.copy(&pipe.work, (device, host), (next.len(), passes.columns()))? };
        pipe.exported.record(&pipe.work)?;
        self.apply(panel, next.end..rows.end)?;
        slot.worked.record(&pipe.work)
    }

    /// The reflectors of `panel` over `rows` of its tail, in its slot.
    fn apply(&self, panel: Panel, rows: Range<usize>) -> Result<(), Error> {
        let Self { pipe, passes, .. } = self;
        let slot = &pipe.slots[self.slot(panel)];
        let set = &pipe.reflectors[panel.index % 2];
        let tail = self.tail(panel);
        let panel_stride = tail_stride::<T>(tail.len());
        let step = Trailing {
            panel: slot.panel.slice(0..panel_stride * panel.cols),
            panel_stride,
            v: pipe.v.slice(tail.start..passes.columns() * pipe.v_stride),
            v_stride: pipe.v_stride,
            reflectors: set.device.slice(0..set.device.len()),
            cols: panel.cols,
            passes: passes.count(),
            form: passes.form,
            elements: passes.elements,
            plus: passes.all_plus(),
            rows: rows.start - tail.start..rows.end - tail.start,
        };
        // SAFETY: the slices are of these shapes; everything that touches them is asked for on this stream,
        // or behind the events that `fetch` and `retire` wait for.
        unsafe { pipe.kernels.trailing(&pipe.work, &step, self.tuning) }
    }
}

impl<T: Scalar> Backend for Streaming<'_, T> {
    type Stop = Error;

    fn fetch(&mut self, panel: Panel) -> Result<(), Error> {
        let tail = self.tail(panel);
        if tail.is_empty() {
            return Ok(());
        }
        let slot = &self.pipe.slots[self.slot(panel)];
        let len = tail_stride::<T>(tail.len()) * panel.cols;
        if waits(Wait::SlotLeft) {
            self.pipe.up.wait(&slot.left)?;
        }
        // SAFETY: the panel's tail is written by its download alone, which waits for the work, which waits
        // for this; the slot is free behind `left`.
        unsafe { self.pipe.up.upload(self.l.tail(panel), 0..len, slot.panel.slice(0..len))? };
        slot.arrived.record(&self.pipe.up)
    }

    fn diagonal(&mut self, panel: Panel) -> Result<(), Error> {
        self.written = true;
        let top = self.top(panel);
        let out = match self.tail(panel).is_empty() {
            true => core::ptr::null_mut(),
            // The device has its copy of what was there, the reflectors of two panels ago: it was asked for
            // before the rows of V that the last head waited for.
            false => self.pipe.reflectors[panel.index % 2].host.as_ptr(),
        };
        // SAFETY: the top is borrowed exclusively, and all earlier panels have been applied to these rows.
        unsafe { self.tops.diagonal(self.crew, panel, top, out, &mut self.health) }
            .map_err(|column| Error::from(Breakdown { column }))
    }

    fn trailing(&mut self, panel: Panel, rows: Range<usize>) -> Result<(), Error> {
        match rows {
            rows if rows.is_empty() => Ok(()),
            rows if rows == self.tail(panel) => self.below(panel, rows),
            rows => self.head(panel, rows),
        }
    }

    fn retire(&mut self, panel: Panel) -> Result<(), Error> {
        let tail = self.tail(panel);
        if tail.is_empty() {
            return Ok(());
        }
        let Self { pipe, l, .. } = &*self;
        let slot = &pipe.slots[self.slot(panel)];
        let len = tail_stride::<T>(tail.len()) * panel.cols;
        let home = match &self.sink {
            Sink::InPlace => l.tail(panel),
            Sink::Other(other) => other.tail(panel),
            Sink::Nowhere(_) => return slot.left.record(&pipe.work),
        };
        if waits(Wait::Worked) {
            pipe.down.wait(&slot.worked)?;
        }
        // SAFETY: nobody looks at the panel before `finish`; its upload is done, since the work is.
        unsafe { pipe.down.download(slot.panel.slice(0..len), home, 0..len)? };
        slot.left.record(&pipe.down)
    }

    fn finish(&mut self) -> Result<(), Error> {
        if waits(Wait::Finished) { self.pipe.drain() } else { Ok(()) }
    }
}

impl<T: Scalar> Drop for Streaming<'_, T> {
    /// However a sweep ends, no copy goes on when the memory it is between is the caller's again.
    fn drop(&mut self) {
        if waits(Wait::Finished) {
            let _ = self.pipe.drain();
        }
    }
}

/// Whether to wait: always, but for the tests that show what each wait is for.
#[cfg(not(test))]
fn waits(_: Wait) -> bool {
    true
}

#[cfg(test)]
use super::tests::waits;
