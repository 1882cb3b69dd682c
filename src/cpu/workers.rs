//! The schedule on several threads, of a sweep or a triangular solve: the panels in order, each over all rows below.
//!
//! The caller transforms the diagonal blocks and the next diagonal rows. Workers transform the rows below, which are divided
//! into chunks. When the caller would have to wait, it works on chunks as well.
//!
//! Protocol. A thread that takes a chunk has exclusive use of it until it has applied, in order, all panels whose reflectors
//! are published, and then releases it. A chunk that another thread has is skipped, and not waited for. So no thread waits for
//! work that is assigned to no thread, even if fewer threads arrive than expected, and there are no barriers between panels. A
//! worker first processes its own chunks, so that their rows of V stay in its cache, and then those of others. Rows are
//! independent, so the result does not depend on which thread processes them.
//!
//! Orderings. `published` and `progress` are stored with release by the thread that has written the data they announce, and
//! loaded with acquire by the thread that uses the data. `taken` passes a chunk's rows from one worker to the next; `open` is
//! released with the last of them. Relaxed accesses carry no data: `broken` ends useless work early, and a `progress` that is read before `taken` is a guess that is read again after it.

use crate::host::pool::{Backoff, OnPanic};
use crate::host::share::on_threads;
use crate::sweep::plan::Panels;
use cholupdate_kernels::panel::Panel;
use cholupdate_kernels::steps::{Breakdown, Steps};
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A range of consecutive rows, in cache lines of its own.
#[repr(align(128))]
#[derive(Default)]
pub(crate) struct Chunk {
    /// A thread is working on it.
    taken: AtomicBool,
    /// Panels that have been applied to it.
    progress: AtomicU32,
    /// Panels to apply: those whose trailing rows include rows of the chunk.
    panels: u32,
}

/// What the threads of one sweep share.
pub(crate) struct Workers<'a, S, P> {
    steps: &'a S,
    plan: &'a P,
    chunk_rows: usize,
    chunks: &'a [Chunk],
    /// Panels whose diagonal step is done.
    published: AtomicU32,
    /// Chunks that are not finished.
    open: AtomicUsize,
    /// The sweep broke down, or a thread has panicked: all threads stop. Once set it stays set.
    broken: AtomicBool,
}

/// Makes the chunks of `plan`.
pub(crate) fn cut(plan: &impl Panels, chunk_rows: usize, chunks: &mut Vec<Chunk>) {
    chunks.resize_with(plan.all_rows().len().div_ceil(chunk_rows), Chunk::default);
}

/// All panels in order.
fn panels(plan: &impl Panels) -> impl Iterator<Item = Panel> {
    (0..).map_while(|index| plan.panel(index))
}

/// The work of all workers on the calling thread alone: the same steps on the same rows.
///
/// # Errors
/// The first column whose pivot² is not greater than zero.
///
/// # Safety
/// As [`Workers::new`].
pub(crate) unsafe fn alone<S: Steps>(
    steps: &S,
    plan: &impl Panels,
    chunk_rows: usize,
) -> Result<S::Report, Breakdown> {
    let mut report = S::Report::default();
    let start = plan.all_rows().start;
    for panel in panels(plan) {
        // SAFETY: all earlier panels have been applied to all rows, and there is no other thread.
        unsafe { steps.diagonal(panel, &mut report)? };
        let next = plan.next_rows(panel);
        if !next.is_empty() {
            // SAFETY: as above, and the diagonal step is done.
            unsafe { steps.trailing(panel, next) };
        }
        let mut rows = plan.trailing_rows(panel);
        while !rows.is_empty() {
            let chunk = (rows.start - start) / chunk_rows + 1;
            let end = rows.end.min(start + chunk * chunk_rows);
            // SAFETY: as above.
            unsafe { steps.trailing(panel, rows.start..end) };
            rows.start = end;
        }
    }
    Ok(report)
}

impl<'a, S: Steps, P: Panels> Workers<'a, S, P> {
    /// For one sweep, with the chunks that [`cut`] has made. `chunk_rows` is a multiple of the plan's unit, so that a diagonal
    /// block is inside one chunk.
    ///
    /// # Safety
    /// No other code uses the memory that the steps write while the workers exist. The result of the diagonal step is in
    /// separate memory for every panel.
    pub unsafe fn new(steps: &'a S, plan: &'a P, chunk_rows: usize, chunks: &'a mut [Chunk]) -> Self {
        let rows = plan.all_rows();
        debug_assert!(chunk_rows.is_multiple_of(plan.unit()));
        debug_assert_eq!(chunks.len(), rows.len().div_ceil(chunk_rows));
        let mut below = panels(plan).map(|panel| plan.trailing_rows(panel).start).peekable();
        let mut count = 0;
        for (c, chunk) in chunks.iter_mut().enumerate() {
            let end = rows.end.min(rows.start + (c + 1) * chunk_rows);
            while below.next_if(|&first| first < end).is_some() {
                count += 1;
            }
            *chunk = Chunk { panels: count, ..Chunk::default() };
        }
        let open = chunks.iter().filter(|chunk| chunk.panels > 0).count();
        Self {
            steps,
            plan,
            chunk_rows,
            chunks,
            published: AtomicU32::new(0),
            open: AtomicUsize::new(open),
            broken: AtomicBool::new(false),
        }
    }

    /// Runs the sweep on the calling thread, which starts at once, and up to `threads` − 1 others.
    ///
    /// # Errors
    /// The first column whose pivot² is not greater than zero.
    pub fn run(&self, threads: usize) -> Result<S::Report, Breakdown> {
        let outcome = Mutex::new(None);
        on_threads(threads, &|number| {
            let (worker, guard) = (Worker { number, threads }, self.let_go_on_panic());
            if number == 0 {
                *outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.schedule(worker));
            } else {
                worker.help_until(self, || false);
            }
            guard.defuse();
        });
        let outcome = outcome.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcome.expect("the caller has done its part")
    }

    /// The caller's part: diagonal blocks, the next diagonal rows, and a share of the other rows.
    fn schedule(&self, caller: Worker) -> Result<S::Report, Breakdown> {
        let mut report = S::Report::default();
        for panel in panels(self.plan) {
            if !self.steps.is_ready(panel) {
                self.help_until_ready(panel, caller);
            }
            // SAFETY: on this thread, all earlier panels have been applied to these rows.
            unsafe { self.steps.diagonal(panel, &mut report) }
                .inspect_err(|_| self.broken.store(true, Ordering::Relaxed))?;
            self.published.store(panel.index as u32 + 1, Ordering::Release);
            // The chain limits many sweeps. The result of a diagonal step is in memory that the other threads have read in the last
            // sweep, which takes long to get.
            if let Some(following) = self.plan.panel(panel.index + 1) {
                self.steps.prefetch(following, self.plan.next_rows(following));
            }
            let next = self.plan.next_rows(panel);
            if !next.is_empty() {
                self.bring_up(panel, next.start, caller);
                // SAFETY: the diagonal step was done on this thread, all earlier panels have been applied to the chunk of these
                // rows, and workers use only rows below them.
                unsafe { self.steps.trailing(panel, next) };
            }
        }
        // `run` waits for the last chunks of the other threads.
        caller.help_until(self, || false);
        Ok(report)
    }

    /// Works on chunks until the diagonal step of `panel` need not wait for another process. The chunk with the next diagonal block of
    /// this process comes first, because the others will wait for it.
    fn help_until_ready(&self, panel: Panel, caller: Worker) {
        let (rows, next) = (self.plan.all_rows(), self.plan.next_rows(panel));
        let below = if next.is_empty() { self.plan.trailing_rows(panel) } else { next };
        let first = (!below.is_empty()).then(|| (below.start - rows.start) / self.chunk_rows);
        let mut backoff = Backoff::default();
        let ready = || self.steps.is_ready(panel);
        while !ready() && !self.broken.load(Ordering::Relaxed) {
            if first.is_some_and(|c| self.advance(c, ready)) || caller.help(self, ready) {
                backoff.reset();
            } else {
                backoff.wait();
            }
        }
    }

    /// Ensures that all panels before `panel` have been applied to the chunk that contains `row`.
    fn bring_up(&self, panel: Panel, row: usize, caller: Worker) {
        let c = (row - self.plan.all_rows().start) / self.chunk_rows;
        let behind = || self.chunks[c].progress.load(Ordering::Acquire) < panel.index as u32;
        while behind() && !self.broken.load(Ordering::Relaxed) {
            if !self.advance(c, || false) {
                caller.help_until(self, || !behind());
            }
        }
    }

    /// Applies panels to chunk `c` up to the last published one, or until `enough` returns true after one of them. Returns false if
    /// there is nothing to do or another thread has the chunk.
    fn advance(&self, c: usize, enough: impl Fn() -> bool) -> bool {
        let chunk = &self.chunks[c];
        let due = || self.published.load(Ordering::Acquire).min(chunk.panels);
        if chunk.progress.load(Ordering::Relaxed) >= due() || chunk.taken.swap(true, Ordering::Acquire) {
            return false;
        }
        let rows = self.plan.all_rows();
        let first = rows.start + c * self.chunk_rows;
        let end = rows.end.min(first + self.chunk_rows);
        let before = chunk.progress.load(Ordering::Relaxed);
        let mut applied = before;
        while applied < due() && !self.broken.load(Ordering::Relaxed) {
            if let Some(panel) = self.plan.panel(applied as usize) {
                let rows = first.max(self.plan.trailing_rows(panel).start)..end;
                // SAFETY: the panel is published, earlier panels have been applied to the chunk, this thread has exclusive use
                // of it, and the caller uses only rows above these until it reads the progress.
                unsafe { self.steps.trailing(panel, rows) };
            }
            applied += 1;
            chunk.progress.store(applied, Ordering::Release);
            if enough() {
                break;
            }
        }
        chunk.taken.store(false, Ordering::Release);
        if applied == chunk.panels && applied > before {
            self.open.fetch_sub(1, Ordering::Release);
        }
        applied > before
    }

    /// Stops the other threads if this one panics, so that the panic propagates and does not hang.
    fn let_go_on_panic(&self) -> OnPanic<impl FnMut()> {
        OnPanic(|| self.broken.store(true, Ordering::Relaxed))
    }
}

/// A thread: chunks `number`, `number` + `threads`, … are its own. The caller is number 0.
#[derive(Clone, Copy)]
struct Worker {
    number: usize,
    threads: usize,
}

impl Worker {
    /// Works on chunks until `enough` returns true, or until all are finished.
    fn help_until<S: Steps, P: Panels>(self, all: &Workers<'_, S, P>, enough: impl Fn() -> bool) {
        let mut backoff = Backoff::default();
        // The messages of the thread that runs the sweep go on between two panels.
        let panel_is_done = || {
            if self.number == 0 {
                all.steps.progress();
            }
            false
        };
        while !enough() && !all.broken.load(Ordering::Relaxed) && all.open.load(Ordering::Acquire) > 0 {
            if self.help(all, panel_is_done) {
                backoff.reset();
            } else {
                panel_is_done();
                backoff.wait();
            }
        }
    }

    /// Works on one chunk, so that its caller can look up in between, or until `enough` returns true after a panel. Returns false if
    /// there is nothing to do.
    fn help<S: Steps, P: Panels>(self, all: &Workers<'_, S, P>, enough: impl Fn() -> bool + Copy) -> bool {
        let chunks = all.chunks.len();
        let own = (self.number..chunks).step_by(self.threads);
        let others = (0..chunks).filter(|c| c % self.threads != self.number);
        own.chain(others).any(|c| all.advance(c, enough))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::staged::plan;
    use crate::cpu::tests::{in_place, staged};
    use crate::host::layout::lower;
    use crate::sweep::plan::Plan;
    use crate::sweep::weights::Weights;
    use cholupdate_kernels::isa::Isa;
    use core::ops::Range;
    use faer::Mat;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    /// Runs `test` on another thread, and waits for a minute.
    fn returns(test: impl FnOnce() + Send + 'static) {
        let (done, when_done) = channel();
        std::thread::spawn(move || {
            test();
            done.send(()).unwrap();
        });
        when_done.recv_timeout(Duration::from_secs(60)).expect("it panics, or waits forever");
    }

    /// A worker has panicked without releasing its chunk: no thread waits for that chunk, however many panels the caller has
    /// still to publish.
    #[test]
    fn the_others_let_go_of_a_worker_that_has_panicked() {
        returns(|| {
            let n = 400;
            let mut l = lower(Mat::<f64>::identity(n, n).as_ref());
            let v = Mat::<f64>::ones(n, 5);
            let (mut memory, outline) = staged(Isa::detect(), &v, Weights::Plus);
            let plan = plan(n, 0..n, &outline);
            let job = memory.job(Isa::detect(), in_place(&mut l), &plan, &outline, plan.panels());
            let chunk_rows = 4 * plan.panel_cols;
            let mut chunks = Vec::new();
            cut(&plan, chunk_rows, &mut chunks);
            // SAFETY: L, V and a reflector for each panel are borrowed by this closure alone.
            let workers = unsafe { Workers::new(&job, &plan, chunk_rows, &mut chunks) };
            workers.chunks[2].taken.store(true, Ordering::Relaxed);
            drop(workers.let_go_on_panic());
            let _ = workers.run(3).map(|_| ());
            assert!(workers.broken.load(Ordering::Relaxed), "the flag goes up, and never down");
        });
    }

    /// Steps on no memory, of which one panics.
    struct Panicking {
        /// The panel, and whether it is its diagonal step.
        at: (usize, bool),
    }

    impl Steps for Panicking {
        type Report = ();

        unsafe fn diagonal(&self, panel: Panel, (): &mut ()) -> Result<(), Breakdown> {
            assert!(self.at != (panel.index, true), "of the test");
            Ok(())
        }

        unsafe fn trailing(&self, panel: Panel, rows: Range<usize>) {
            assert!(self.at != (panel.index, false) || rows.end < 300, "of the test");
        }
    }

    #[test]
    fn a_panic_in_a_step_reaches_the_caller() {
        for at in [(0, true), (0, false), (7, true), (7, false), (18, false), (19, true)] {
            for in_a_pool in [false, true] {
                returns(move || {
                    let plan = Plan { rows: 320, cols: 320, start: 0, panel_cols: 16 };
                    let (steps, mut chunks) = (Panicking { at }, Vec::new());
                    cut(&plan, 32, &mut chunks);
                    // SAFETY: the steps use no memory.
                    let workers = unsafe { Workers::new(&steps, &plan, 32, &mut chunks) };
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
                    let outcome = catch_unwind(AssertUnwindSafe(|| match in_a_pool {
                        true => pool.install(|| workers.run(4)),
                        false => workers.run(4),
                    }));
                    assert!(outcome.is_err(), "{at:?}");
                });
            }
        }
    }
}
