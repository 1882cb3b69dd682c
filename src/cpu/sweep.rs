//! A sweep on the CPU with a staged V: the schedule for one thread or for several.

use super::serial;
use super::staged::{SweepMemory, plan};
use super::tuning;
use super::workers::{Chunk, Workers, alone, cut};
use crate::element::Element;
use crate::host::interrupt::Asks;
use crate::host::threads::Threads;
use crate::sweep::outline::Outline;
use crate::sweep::plan::Panels;
use crate::sweep::stop::Stop;
use cholupdate_kernels::health::Health;
use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::panel::Panel;
use cholupdate_kernels::steps::{Breakdown, Steps};
use cholupdate_kernels::sweep::entries::Entries;
use cholupdate_kernels::sweep::job::{CarriedRows, Job};
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

/// Sweeps over a range of columns of L (lower trapezoid) and this number of rows, the last of which may be elsewhere, with the
/// staged V.
///
/// # Errors
/// The first column whose pivot² is not greater than zero. Columns of `l.dst` may have been written by then.
///
/// # Safety
/// `l` and `carried` must describe memory for these columns and their rows, readable at `src` and writable at `dst`, that no
/// other thread uses.
pub(super) unsafe fn sweep<T: Element>(
    l: Entries<T>,
    (rows, carried): (usize, Option<CarriedRows<T>>),
    columns: Range<usize>,
    outline: &Outline,
    memory: &mut SweepMemory<T>,
    threads: Threads,
) -> Result<(), Stop> {
    let plan = plan(rows, columns, outline);
    let threads = tuning::threads(threads, &plan, outline.rank());
    let reflector_sets = if threads > 1 { plan.panels() } else { 1 };
    let mut job = memory.job(Isa::detect(), l, &plan, outline, reflector_sets);
    job.carried = carried;
    let in_place = l.src == l.dst.cast_const();
    let asks = if in_place { None } else { Asks::claim() };
    let health = match asks {
        // SAFETY: the caller guarantees L; V and the reflectors are borrowed from `memory`. There is a set of reflectors for
        // each panel, or, on one thread, one for the current panel.
        Some(asks) => unsafe { run_asking(job, asks, &plan, (threads, &mut memory.chunks))? },
        // SAFETY: as above.
        None if threads > 1 => unsafe { run(&job, &plan, (threads, &mut memory.chunks))? },
        // SAFETY: as above.
        None => unsafe { serial::sweep(&job, &plan)? },
    };
    memory.end(&plan, &health);
    Ok(())
}

/// The same for an L that is complete only when `steps` has reached it, and that is not the caller's factor until the sweep
/// succeeds.
///
/// # Errors
/// As [`sweep`].
///
/// # Safety
/// As [`sweep`], for the L that the steps pass to those of their job.
pub(super) unsafe fn sweep_by<T: Element, S: Steps<Report = Health<T::Part>>>(
    l: Entries<T>,
    rows: usize,
    columns: Range<usize>,
    outline: &Outline,
    (memory, threads): (&mut SweepMemory<T>, Threads),
    steps: impl FnOnce(Job<T>) -> S,
) -> Result<(), Stop> {
    let plan = plan(rows, columns, outline);
    let threads = tuning::threads(threads, &plan, outline.rank());
    let reflector_sets = if threads > 1 { plan.panels() } else { 1 };
    let steps = steps(memory.job(Isa::detect(), l, &plan, outline, reflector_sets));
    let shared = (threads, &mut memory.chunks);
    let health = match Asks::claim() {
        // SAFETY: as in `sweep`.
        Some(asks) => unsafe { run_asking(steps, asks, &plan, shared)? },
        // SAFETY: as in `sweep`.
        None => unsafe { run(&steps, &plan, shared)? },
    };
    memory.end(&plan, &health);
    Ok(())
}

/// Runs the panels of a sweep on this number of threads.
///
/// # Safety
/// As [`Workers::new`].
pub(super) unsafe fn run<S: Steps>(
    steps: &S,
    plan: &impl Panels,
    (threads, chunks): (usize, &mut Vec<Chunk>),
) -> Result<S::Report, Breakdown> {
    let chunk_rows = tuning::chunk_rows(plan, threads);
    if threads == 1 {
        // SAFETY: the caller guarantees the contract of `Workers::new`.
        return unsafe { alone(steps, plan, chunk_rows) };
    }
    cut(plan, chunk_rows, chunks);
    // SAFETY: the caller guarantees the contract of `Workers::new`.
    unsafe { Workers::new(steps, plan, chunk_rows, chunks) }.run(threads)
}

/// The same, and asks before every panel whether to stop.
///
/// # Safety
/// As [`run`].
pub(super) unsafe fn run_asking<S: Steps>(
    steps: S,
    asks: Asks,
    plan: &impl Panels,
    shared: (usize, &mut Vec<Chunk>),
) -> Result<S::Report, Stop> {
    let asking = Asking { steps, asks, stopped: AtomicBool::new(false) };
    // SAFETY: the caller guarantees the contract of `Workers::new`.
    let outcome = unsafe { run(&asking, plan, shared) };
    if asking.stopped.into_inner() { Err(Stop::Interrupted) } else { Ok(outcome?) }
}

/// Steps that can be stopped.
struct Asking<S> {
    steps: S,
    asks: Asks,
    stopped: AtomicBool,
}

impl<S: Steps> Steps for Asking<S> {
    type Report = S::Report;

    unsafe fn diagonal(&self, panel: Panel, report: &mut S::Report) -> Result<(), Breakdown> {
        if self.asks.stop() {
            self.stopped.store(true, Ordering::Relaxed);
            return Err(Breakdown { column: panel.first });
        }
        // SAFETY: the caller guarantees the contract of the steps.
        unsafe { self.steps.diagonal(panel, report) }
    }

    unsafe fn trailing(&self, panel: Panel, rows: Range<usize>) {
        // SAFETY: the caller guarantees the contract of the steps.
        unsafe { self.steps.trailing(panel, rows) }
    }

    fn prefetch(&self, panel: Panel, next: Range<usize>) {
        self.steps.prefetch(panel, next);
    }
}

/// The same on one thread, for an L that moves within its memory: `src` may be `dst` further down and to the right.
///
/// # Errors
/// As [`sweep`].
///
/// # Safety
/// As [`sweep`].
pub(super) unsafe fn sweep_on_its_way<T: Element>(
    l: Entries<T>,
    rows: usize,
    columns: Range<usize>,
    outline: &Outline,
    memory: &mut SweepMemory<T>,
) -> Result<(), Stop> {
    let plan = plan(rows, columns, outline);
    let mut job = memory.job(Isa::detect(), l, &plan, outline, 1);
    job.stream = false;
    // SAFETY: as in `sweep`. An entry is written only where no other entry is still to be read: panels, rows of a panel and
    // columns of rows are processed in ascending order.
    let health = unsafe { serial::sweep(&job, &plan)? };
    memory.end(&plan, &health);
    Ok(())
}
