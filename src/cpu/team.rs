//! The CPU backend of the sweep on several threads.
//!
//! The driver makes the diagonal blocks and transforms the rows that meet the next one; a team of threads, which the driver joins
//! whenever it would have to wait, transforms the rows below. Those rows are cut into chunks, and an *item* is one panel
//! applied to one chunk.
//!
//! Protocol. Items are claimed from one cursor, in the order of panels and within a panel from the top. An item
//! waits for the same chunk's item of the panel before, which was claimed earlier and so is being worked on by a
//! running thread: however few threads turn up, nobody waits for work that nobody does. Panels are not separated
//! by barriers; the team may be in several at once. Rows never mix, so the result does not depend on who took what.

use super::worker::{Chain, Job};
use crate::plan::{Panel, Plan};
use crate::scalar::Scalar;
use crate::sweep::{Backend, Breakdown, sweep};
use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Polite attempts before a waiting thread gives its core away.
const SPINS: u32 = 1 << 10;

/// What the threads of one sweep share.
pub(crate) struct Team<'a, T> {
    job: &'a Job<T>,
    plan: &'a Plan,
    panels: u32,
    chunk_rows: usize,
    /// Panels whose block reflector is made: their items may be claimed.
    published: AtomicU32,
    /// The next item: its panel in the upper half, its chunk in the lower.
    cursor: AtomicU64,
    /// For each chunk, how many panels have been applied to it.
    progress: &'a [AtomicU32],
    /// The sweep broke down: drop everything.
    broken: AtomicBool,
}

impl<'a, T: Scalar> Team<'a, T> {
    /// Chunks that `plan` has.
    pub fn chunks(plan: &Plan, chunk_rows: usize) -> usize {
        (plan.rows - plan.start).div_ceil(chunk_rows)
    }

    /// A team for one sweep. `chunk_rows` is a multiple of the panel width, so that a diagonal block meets one chunk alone.
    ///
    /// # Safety
    /// All memory that `job` describes is the team's alone while it lives, and `job` has a slot for every panel.
    pub unsafe fn new(
        job: &'a Job<T>,
        plan: &'a Plan,
        chunk_rows: usize,
        progress: &'a mut [AtomicU32],
    ) -> Self {
        debug_assert!(chunk_rows.is_multiple_of(plan.panel_cols));
        debug_assert_eq!(progress.len(), Self::chunks(plan, chunk_rows));
        progress.iter_mut().for_each(|p| *p.get_mut() = 0);
        let team = Self {
            job,
            plan,
            panels: plan.panels() as u32,
            chunk_rows,
            published: AtomicU32::new(0),
            cursor: AtomicU64::new(0),
            progress,
            broken: AtomicBool::new(false),
        };
        team.cursor.store(team.first_item(0), Ordering::Relaxed);
        team
    }

    /// The sweep, by the calling thread and up to `threads` − 1 others of the current rayon pool.
    pub fn run(&self, threads: usize) -> Result<Chain<T>, Breakdown> {
        let drive = || {
            let mut driver = Driver { team: self, chain: Chain::default() };
            sweep(&mut driver, self.plan).map(|()| driver.chain)
        };
        rayon::join(drive, || self.members(threads - 1)).0
    }

    /// `count` members, woken up two at a time.
    fn members(&self, count: usize) {
        match count {
            0 => {}
            1 => self.help_until(|| false),
            _ => {
                rayon::join(|| self.members(count / 2), || self.members(count - count / 2));
            }
        }
    }

    /// The first row of the chunks' part of `panel`: what lies above is the driver's.
    fn tail(&self, panel: usize) -> usize {
        match self.plan.panel(panel + 1) {
            Some(next) => next.end(),
            None => self.plan.cols,
        }
    }

    fn chunk_of(&self, row: usize) -> usize {
        (row - self.plan.start) / self.chunk_rows
    }

    fn first_item(&self, panel: u32) -> u64 {
        let chunk = self.chunk_of(self.tail(panel as usize));
        u64::from(panel) << 32 | chunk as u64
    }

    /// Works on items until `enough`, or until there are no more.
    fn help_until(&self, enough: impl Fn() -> bool) {
        let mut spins = 0;
        while !enough() && !self.broken.load(Ordering::Relaxed) {
            let item = self.cursor.load(Ordering::Relaxed);
            let (panel, chunk) = ((item >> 32) as u32, (item & 0xffff_ffff) as usize);
            if panel == self.panels {
                return;
            }
            if self.published.load(Ordering::Acquire) <= panel {
                wait(&mut spins);
                continue;
            }
            let past_the_last = chunk >= self.progress.len();
            let next = if past_the_last { self.first_item(panel + 1) } else { item + 1 };
            let claimed =
                self.cursor.compare_exchange_weak(item, next, Ordering::Relaxed, Ordering::Relaxed).is_ok();
            if claimed && !past_the_last {
                self.item(panel, chunk);
                spins = 0;
            }
        }
    }

    /// Waits until `panels` have been applied to `chunk`; false if the sweep broke down meanwhile.
    fn wait_for(&self, chunk: usize, panels: u32) -> bool {
        let mut spins = 0;
        while self.progress[chunk].load(Ordering::Acquire) < panels {
            if self.broken.load(Ordering::Relaxed) {
                return false;
            }
            wait(&mut spins);
        }
        true
    }

    fn item(&self, panel: u32, chunk: usize) {
        let Some(place) = self.plan.panel(panel as usize) else { return };
        let first = self.plan.start + chunk * self.chunk_rows;
        let rows = first.max(self.tail(panel as usize))..(first + self.chunk_rows).min(self.plan.rows);
        if self.wait_for(chunk, panel) {
            // SAFETY: the reflectors are published, earlier panels have been applied to the chunk, the item is claimed by this
            // thread alone, and the driver keeps above these rows until it sees the progress.
            unsafe { self.job.trailing(place, rows) };
            self.progress[chunk].store(panel + 1, Ordering::Release);
        }
    }
}

/// The thread that runs the schedule.
struct Driver<'a, T> {
    team: &'a Team<'a, T>,
    chain: Chain<T>,
}

impl<T: Scalar> Backend for Driver<'_, T> {
    fn fetch(&mut self, _: Panel) {}

    fn diagonal(&mut self, panel: Panel) -> Result<(), Breakdown> {
        // SAFETY: `trailing` has brought these rows up to the panel before, on this thread.
        let outcome = unsafe { self.team.job.diagonal(panel, &mut self.chain) };
        self.team.broken.store(outcome.is_err(), Ordering::Relaxed);
        outcome.map_err(|column| Breakdown { column })?;
        self.team.published.store(panel.index as u32 + 1, Ordering::Release);
        Ok(())
    }

    /// The rows that meet the next diagonal block; the others became the team's when the reflector was published.
    fn trailing(&mut self, panel: Panel, rows: Range<usize>) {
        if rows.is_empty() || rows.start >= self.team.tail(panel.index) {
            return;
        }
        let chunk = &self.team.progress[self.team.chunk_of(rows.start)];
        self.team.help_until(|| chunk.load(Ordering::Acquire) >= panel.index as u32);
        // SAFETY: the reflectors were made on this thread, all earlier panels have been applied to the chunk of these rows, and
        // the team keeps below them.
        unsafe { self.team.job.trailing(panel, rows) }
    }

    fn retire(&mut self, _: Panel) {}

    /// Helps with what is left; the join in `run` waits for the members' last items.
    fn finish(&mut self) {
        self.team.help_until(|| false);
    }
}

fn wait(spins: &mut u32) {
    if *spins < SPINS {
        *spins += 1;
        core::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}
