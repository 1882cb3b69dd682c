//! The schedule of the hybrid sweep: the order of the work on a panel, and its waits.
//!
//! The CPU transforms the diagonal block of a panel and the next diagonal rows; neither crosses the link. The trailing rows
//! pass through a slot of the device. Of V, the device copies to the host only the rows that the CPU needs for the panel after
//! the next, and it processes those rows first. So while the CPU processes panel p + 1, the device processes the trailing rows
//! of panel p, those of panel p + 1 are being copied up, and those of panel p − 1 down.
//!
//! ```text
//! CPU    diagonal, next rows of p   ..  of p + 1        ..  of p + 2         each a parallel region
//! up     trailing rows of p         ..  of p + 1        ..  of p + 2
//! GPU    trailing rows of p − 1     ..  of p            ..  of p + 1         those that are needed next first
//! down   trailing rows of p − 2     ..  of p − 1        ..  of p
//! ```
//!
//! The work of the CPU on one panel is one parallel region: threads on standby process the diagonal block, the next diagonal
//! rows and the driver calls at the same time.

use super::api::{Api, LockedMemory};
use super::blocking::Blocking;
use super::enqueue::Enqueue;
use super::host_part::{HostPart, Out};
use super::panels::{Panels, trailing_rows};
use super::pipe::Pipe;
use super::tuning::Tuning;
use super::waits::{Wait, waits};
use crate::error::Error;
use crate::host::pool::wait_until;
use crate::host::region::Caller;
use crate::real::Real;
use crate::storage::Target;
use crate::sweep::plan::Plan;
use crate::sweep::stop::Stop;
use cholupdate_kernels::buffer::Buffer;
use cholupdate_kernels::health::Health;
use cholupdate_kernels::panel::Panel;
use cholupdate_kernels::sweep::entries::Entries;
use std::sync::{Mutex, OnceLock, PoisonError};

/// One sweep of one factor.
pub(super) struct HybridSweep<'a, T: Real, A: Api> {
    pub pipe: &'a mut Pipe<T, A>,
    pub host_part: &'a mut HostPart<T>,
    pub l: &'a mut Panels<T, A>,
    pub shadow: Option<&'a mut Panels<T, A>>,
    /// The destination of the current panel's host part in a dry run.
    pub scratch: &'a mut Buffer<T>,
    pub target: Target,
    pub caller: Caller<'a>,
    pub blocking: Blocking,
    pub tuning: &'a Tuning,
    pub plan: &'a Plan,
    pub health: Health<T>,
    /// Entries of the new L may have been written.
    pub written: bool,
}

impl<T: Real, A: Api> HybridSweep<'_, T, A> {
    /// [L V] → [L' V'], with V in `v_host`.
    pub fn run(mut self) -> Result<Health<T>, Stop> {
        let swept = self.panels();
        let drained = if waits(Wait::Finished) { self.pipe.drain() } else { Ok(()) };
        // The results of a lost device may look like a breakdown.
        drained.map_err(|error| Stop::Device { error, written: self.written })?;
        swept.map(|()| self.health)
    }

    fn panels(&mut self) -> Result<(), Stop> {
        self.send_v().map_err(|error| self.failed(error))?;
        if let Some(first) = self.plan.panel(0) {
            self.enqueue().fetch(first).map_err(|error| self.failed(error))?;
        }
        (0..).map_while(|index| self.plan.panel(index)).try_for_each(|panel| self.panel(panel))
    }

    /// Processes one panel: a parallel region, whose items wait only for earlier items.
    fn panel(&mut self, panel: Panel) -> Result<(), Stop> {
        self.written = true;
        let (next, trailing) = (self.plan.next_rows(panel), self.plan.trailing_rows(panel));
        let host = self.host_entries(panel);
        // The device has its copy of the previous content, the reflectors of two panels ago: it was enqueued before the rows of
        // V for which the last panel waited.
        let set = &self.pipe.reflectors[panel.index % 2].host;
        let out = Out(if trailing.is_empty() { core::ptr::null_mut() } else { set.as_ptr() });
        // SAFETY: the host part is borrowed exclusively.
        unsafe { self.host_part.begin(panel, &next, host) };
        let outcomes = Outcomes::default();
        let arrived = OnceLock::new();
        let (enqueue, host_part) = (self.enqueue(), &*self.host_part);
        let (blocks, chunks) = (self.blocking.blocks.count(), host_part.chunks(&next));
        self.caller.region(Item::count(blocks, chunks), &|item| match Item::new(item, blocks) {
            Item::Fetch => {
                let coming = self.plan.panel(panel.index + 1);
                outcomes.note(coming.map_or(Ok(()), |coming| enqueue.fetch(coming)));
            }
            // SAFETY: each rank block is done once, and they start in order; the host part is borrowed exclusively, and all
            // earlier panels have been applied to it. The reflectors may be overwritten, as explained above.
            Item::Diagonal(block) => unsafe { host_part.diagonal(block, panel, host, out) },
            Item::Trailing => {
                if !trailing.is_empty() && host_part.made(panel) {
                    outcomes.note(enqueue.trailing(panel, &trailing, host_part));
                }
            }
            Item::AwaitRows => {
                let _ = arrived.set(outcomes.note(enqueue.await_rows(panel)));
            }
            Item::NextRows(chunk) => {
                wait_until(|| arrived.get().is_some());
                if arrived.get() == Some(&true) {
                    let v = (&enqueue.pipe.v_host, enqueue.pipe.v_stride);
                    // SAFETY: as above; these rows of V have been copied, and later copies write other rows.
                    unsafe { host_part.next_rows(chunk, panel, &next, host, v) };
                }
            }
        });
        outcomes.first().map_err(|error| self.failed(error))?;
        // SAFETY: as above, and all items are done.
        unsafe { self.host_part.outcome(panel, host, &mut self.health) }.map_err(Stop::from)
    }

    fn failed(&self, error: Error) -> Stop {
        Stop::Device { error, written: self.written }
    }

    fn enqueue(&self) -> Enqueue<'_, T, A> {
        let Self { pipe, l, shadow, target, blocking, tuning, plan, .. } = self;
        let home = match target {
            Target::InPlace => Some(&**l),
            Target::Shadow => shadow.as_deref(),
            Target::Discard => None,
        };
        Enqueue { pipe, l, home, blocking: *blocking, tuning, plan }
    }

    /// Copies V from `v_host` to the device, and its first rows to the host part.
    fn send_v(&mut self) -> Result<(), Error> {
        let Self { pipe, host_part, plan, .. } = self;
        let stride = pipe.v_stride;
        let shape = (stride, self.blocking.blocks.columns());
        let first = Panel { index: 0, first: plan.start, cols: plan.panel_cols };
        if !trailing_rows(first, plan.rows).is_empty() {
            // SAFETY: nothing is in flight yet; `v_host` is not written before the first rows are copied back, which is after
            // `ready` and so after this copy.
            unsafe { A::upload(&pipe.work, (&pipe.v_host, stride), shape, (&pipe.v, stride))? };
        }
        if let Some(first) = plan.panel(0) {
            // SAFETY: as above.
            unsafe { host_part.load(&pipe.v_host, stride, first.block()) };
        }
        Ok(())
    }

    /// The host part of `panel`, for the steps of the CPU.
    fn host_entries(&mut self, panel: Panel) -> Entries<T> {
        let (src, src_stride) = self.l.host_part(panel);
        let (dst, dst_stride) = match (self.target, &mut self.shadow) {
            (Target::InPlace, _) => (src, src_stride),
            (Target::Shadow, Some(shadow)) => shadow.host_part(panel),
            _ => {
                let first = panel.first as isize;
                (self.scratch.as_mut_ptr().wrapping_offset(-first * src_stride - first), src_stride)
            }
        };
        Entries { src: src.cast_const(), src_stride, dst, dst_stride }
    }
}

impl<T: Real, A: Api> Drop for HybridSweep<'_, T, A> {
    /// When a sweep ends, in any way, no copy is in flight that uses the caller's memory.
    fn drop(&mut self) {
        if waits(Wait::Finished) {
            let _ = self.pipe.drain();
        }
    }
}

/// The work of one thread on a panel, in an order in which an item waits only for earlier items.
enum Item {
    /// Enqueues the upload of the next panel.
    Fetch,
    /// A rank block of the diagonal step.
    Diagonal(usize),
    /// Enqueues the trailing rows, after all rank blocks.
    Trailing,
    /// Waits for the rows of V that the next diagonal rows need.
    AwaitRows,
    /// Some of the next diagonal rows, after `AwaitRows`, and in each rank block after its diagonal step.
    NextRows(usize),
}

impl Item {
    fn count(blocks: usize, chunks: usize) -> usize {
        blocks + chunks + 3
    }

    fn new(item: usize, blocks: usize) -> Self {
        match item {
            0 => Self::Fetch,
            _ if item <= blocks => Self::Diagonal(item - 1),
            _ => match item - blocks - 1 {
                0 => Self::Trailing,
                1 => Self::AwaitRows,
                later => Self::NextRows(later - 2),
            },
        }
    }
}

/// The outcomes of the driver calls of a region's threads.
#[derive(Default)]
struct Outcomes(Mutex<Option<Error>>);

impl Outcomes {
    /// Keeps the first error. Returns whether this outcome is a success.
    fn note(&self, outcome: Result<(), Error>) -> bool {
        outcome
            .map_err(|error| {
                self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            })
            .is_ok()
    }

    fn first(self) -> Result<(), Error> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}
