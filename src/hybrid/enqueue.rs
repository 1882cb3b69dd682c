//! Enqueues the work of the device for one panel of a sweep, with the events that order it.

use super::api::{Api, Place, Trailing};
use super::blocking::Blocking;
use super::host_part::HostPart;
use super::panels::{Panels, trailing_rows};
use super::pipe::{Pipe, Slot};
use super::tuning::Tuning;
use super::waits::{Wait, waits};
use crate::error::Error;
use crate::host::layout::whole_lines;
use crate::real::Real;
use crate::sweep::plan::Plan;
use cholupdate_kernels::panel::Panel;
use core::ops::Range;

/// The parts of a sweep that enqueueing needs. Threads may enqueue the parts of one panel at the same time: `fetch` is for the
/// next panel, on a queue and with events of its own; `await_rows` reads the event of the previous panel; all other work is in
/// `trailing`.
pub(super) struct Enqueue<'a, T: Real, A: Api> {
    pub pipe: &'a Pipe<T, A>,
    pub l: &'a Panels<T, A>,
    /// The destination of the panels, if there is one.
    pub home: Option<&'a Panels<T, A>>,
    pub blocking: Blocking,
    pub tuning: &'a Tuning,
    pub plan: &'a Plan,
}

impl<T: Real, A: Api> Enqueue<'_, T, A> {
    fn slot(&self, panel: Panel) -> &Slot<T, A> {
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
            A::wait(&self.pipe.up, &slot.left)?;
        }
        // SAFETY: the panel's trailing rows are written only by their download, which waits for the work on them, which waits
        // for this copy; after `left` the slot is free.
        unsafe {
            A::upload(&self.pipe.up, self.l.trailing(panel), (padded, cols), (&slot.panel, padded))?;
        }
        A::record(&slot.arrived, &self.pipe.up)
    }

    /// Waits for the rows of V that the diagonal block after `panel` needs. The device has copied them to the host, except
    /// those of the first panels.
    pub fn await_rows(&self, panel: Panel) -> Result<(), Error> {
        match panel.index.checked_sub(1) {
            Some(before) if waits(Wait::Exported) => A::synchronize(&self.pipe.exported[before % 2]),
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
        let from = Place { memory: &set.host, offset: 0, stride: len };
        let to = Place { memory: &set.device, offset: 0, stride: len };
        // SAFETY: the host does not write the set again before it has waited for a later export. The device's copy was last
        // read for the panel before the previous one, and the host has since waited for that panel's rows.
        unsafe { A::upload_at_once(&pipe.work, &pipe.kernels, from, (len, 1), to)? };
        if waits(Wait::Arrived) {
            A::wait(&pipe.work, &slot.arrived)?;
        }
        A::record(&pipe.ready, &pipe.work)?;

        let next = rows.start..rows.end.min(rows.start + self.plan.panel_cols);
        if waits(Wait::Ready) {
            A::wait(&pipe.ahead, &pipe.ready)?;
        }
        self.apply(&pipe.ahead, panel, next.clone(), host_part)?;
        let (offset, stride) = (next.start, pipe.v_stride);
        let from = Place { memory: &pipe.v, offset, stride };
        let to = Place { memory: &pipe.v_host, offset, stride };
        let shape = (next.len(), blocking.blocks.columns());
        // SAFETY: the host has read the previous rows, and reads these after `exported`.
        unsafe { A::download_at_once(&pipe.ahead, &pipe.kernels, from, shape, to)? };
        A::record(&pipe.exported[panel.index % 2], &pipe.ahead)?;

        self.apply(&pipe.work, panel, next.end..rows.end, host_part)?;
        A::record(&slot.worked, &pipe.work)?;
        self.retire(panel, slot)
    }

    /// Applies the reflectors of `panel` to a range of its trailing rows, in its slot.
    fn apply(
        &self,
        queue: &A::Queue,
        panel: Panel,
        rows: Range<usize>,
        host_part: &HostPart<T>,
    ) -> Result<(), Error> {
        let Self { pipe, blocking, .. } = self;
        let set = &pipe.reflectors[panel.index % 2];
        let trailing = trailing_rows(panel, self.plan.rows);
        let panel_stride = whole_lines::<T>(trailing.len());
        let step = |(rank_blocks, interchanged)| Trailing {
            panel: &self.slot(panel).panel,
            panel_stride,
            v: &pipe.v,
            v_first: trailing.start,
            v_stride: pipe.v_stride,
            reflectors: &set.device,
            cols: panel.cols,
            blocking: *blocking,
            rank_blocks,
            interchanged,
            rows: rows.start - trailing.start..rows.end - trailing.start,
        };
        // SAFETY: the memory has these shapes. Earlier work on these rows is enqueued before `ready`; later work is on `work`,
        // or waits for `worked` and `exported`.
        host_part
            .runs()
            .try_for_each(|run| unsafe { A::trailing(queue, &pipe.kernels, &step(run), self.tuning) })
    }

    /// Copies the trailing rows of `panel` from its slot to their destination, if there is one.
    fn retire(&self, panel: Panel, slot: &Slot<T, A>) -> Result<(), Error> {
        let pipe = self.pipe;
        let padded = whole_lines::<T>(trailing_rows(panel, self.plan.rows).len());
        if waits(Wait::Worked) {
            A::wait(&pipe.down, &slot.worked)?;
        }
        if waits(Wait::WorkedAhead) {
            A::wait(&pipe.down, &pipe.exported[panel.index % 2])?;
        }
        if let Some(home) = self.home {
            // SAFETY: no code reads the panel before the sweep's end; its upload is done, since the work on it is.
            unsafe {
                let shape = (padded, panel.cols);
                A::download(&pipe.down, (&slot.panel, padded), shape, home.trailing(panel))?;
            }
        }
        A::record(&slot.left, &pipe.down)
    }
}
