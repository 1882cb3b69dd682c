//! Enqueues the work of the device for one panel of a sweep, with the events that order it.

use super::blocking::Blocking;
use super::host_part::HostPart;
use super::kernels::{Place, Trailing};
use super::panels::{Panels, trailing_rows};
use super::pipe::{Pipe, Slot};
use super::tuning::Tuning;
use super::waits::{Wait, waits};
use crate::cuda::stream::Stream;
use crate::error::Error;
use crate::host::layout::whole_lines;
use crate::real::Real;
use crate::sweep::plan::{Panel, Plan};
use core::ops::Range;

/// The parts of a sweep that enqueueing needs. Threads may enqueue the parts of one panel at the same time: `fetch` is for the
/// next panel, on a stream and with events of its own; `await_rows` reads the event of the previous panel; all other work is in
/// `trailing`.
pub(super) struct Enqueue<'a, T> {
    pub pipe: &'a Pipe<T>,
    pub l: &'a Panels<T>,
    /// The destination of the panels, if there is one.
    pub home: Option<&'a Panels<T>>,
    pub blocking: Blocking,
    pub tuning: &'a Tuning,
    pub plan: &'a Plan,
}

impl<T: Real> Enqueue<'_, T> {
    fn slot(&self, panel: Panel) -> &Slot<T> {
        &self.pipe.slots[panel.index % self.pipe.slots.len()]
    }

    /// Copies the trailing rows of `panel` to its slot.
    pub fn fetch(&self, panel: Panel) -> Result<(), Error> {
        let rows = trailing_rows(panel, self.plan.rows);
        if rows.is_empty() {
            return Ok(());
        }
        let slot = self.slot(panel);
        let (padded, cols) = (whole_lines::<T>(rows.len()), panel.cols);
        if waits(Wait::SlotLeft) {
            self.pipe.up.wait(&slot.left)?;
        }
        // SAFETY: the panel's trailing rows are written only by their download, which waits for the work on them, which waits
        // for this copy; after `left` the slot is free.
        unsafe {
            let to = (slot.panel.slice(0..padded * cols), padded);
            self.pipe.up.upload_columns(self.l.trailing(panel), (padded, cols), to)?;
        }
        slot.arrived.record(&self.pipe.up)
    }

    /// Waits for the rows of V that the diagonal block after `panel` needs. The device has copied them to the host, except
    /// those of the first panels.
    pub fn await_rows(&self, panel: Panel) -> Result<(), Error> {
        match panel.index.checked_sub(1) {
            Some(before) if waits(Wait::Exported) => self.pipe.exported[before % 2].synchronize(),
            _ => Ok(()),
        }
    }

    /// Applies the reflectors of `panel` to its trailing rows, first to those that the CPU needs next, then to the others. Then
    /// copies the rows back. The host part has computed the reflectors.
    pub fn trailing(&self, panel: Panel, rows: &Range<usize>, host_part: &HostPart<T>) -> Result<(), Error> {
        let Self { pipe, blocking, .. } = self;
        let slot = self.slot(panel);
        let set = &pipe.reflectors[panel.index % 2];
        let len = blocking.reflector_scalars::<T>(self.plan.panel_cols);
        let from = Place { address: set.host.address(0), stride: len };
        let to = Place { address: set.device.slice(0..len).address(), stride: len };
        // SAFETY: the host does not write the set again before it has waited for a later export. The device's copy was last
        // read for the panel before the previous one, and the host has since waited for that panel's rows.
        unsafe { pipe.kernels.copy(&pipe.work, (from, to), (len, 1))? };
        if waits(Wait::Arrived) {
            pipe.work.wait(&slot.arrived)?;
        }
        pipe.ready.record(&pipe.work)?;

        let next = rows.start..rows.end.min(rows.start + self.plan.panel_cols);
        if waits(Wait::Ready) {
            pipe.ahead.wait(&pipe.ready)?;
        }
        self.apply(&pipe.ahead, panel, next.clone(), host_part)?;
        let (device, host) = pipe.rows_of_v(next.start);
        // SAFETY: the host has read the previous rows, and reads these after `exported`.
        unsafe { pipe.kernels.copy(&pipe.ahead, (device, host), (next.len(), blocking.blocks.columns()))? };
        pipe.exported[panel.index % 2].record(&pipe.ahead)?;

        self.apply(&pipe.work, panel, next.end..rows.end, host_part)?;
        slot.worked.record(&pipe.work)?;
        self.retire(panel, slot)
    }

    /// Applies the reflectors of `panel` to a range of its trailing rows, in its slot.
    fn apply(
        &self,
        stream: &Stream,
        panel: Panel,
        rows: Range<usize>,
        host_part: &HostPart<T>,
    ) -> Result<(), Error> {
        let Self { pipe, blocking, .. } = self;
        let set = &pipe.reflectors[panel.index % 2];
        let trailing = trailing_rows(panel, self.plan.rows);
        let panel_stride = whole_lines::<T>(trailing.len());
        let step = |(rank_blocks, interchanged)| Trailing {
            panel: self.slot(panel).panel.slice(0..panel_stride * panel.cols),
            panel_stride,
            v: pipe.v.slice(trailing.start..blocking.blocks.columns() * pipe.v_stride),
            v_stride: pipe.v_stride,
            reflectors: set.device.slice(0..set.device.len()),
            cols: panel.cols,
            blocking: *blocking,
            rank_blocks,
            interchanged,
            rows: rows.start - trailing.start..rows.end - trailing.start,
        };
        // SAFETY: the slices have these shapes. Earlier work on these rows is enqueued before `ready`; later work is on `work`,
        // or waits for `worked` and `exported`.
        host_part.runs().try_for_each(|run| unsafe { pipe.kernels.trailing(stream, &step(run), self.tuning) })
    }

    /// Copies the trailing rows of `panel` from its slot to their destination, if there is one.
    fn retire(&self, panel: Panel, slot: &Slot<T>) -> Result<(), Error> {
        let pipe = self.pipe;
        let padded = whole_lines::<T>(trailing_rows(panel, self.plan.rows).len());
        if waits(Wait::Worked) {
            pipe.down.wait(&slot.worked)?;
        }
        if waits(Wait::WorkedAhead) {
            pipe.down.wait(&pipe.exported[panel.index % 2])?;
        }
        if let Some(home) = self.home {
            // SAFETY: no code reads the panel before the sweep's end; its upload is done, since the work on it is.
            unsafe {
                let from = (slot.panel.slice(0..padded * panel.cols), padded);
                pipe.down.download_columns(from, (padded, panel.cols), home.trailing(panel))?;
            }
        }
        slot.left.record(&pipe.down)
    }
}
