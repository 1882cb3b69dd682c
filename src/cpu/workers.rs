//! The CPU backend of the sweep on several threads.
//!
//! The driver makes the diagonal blocks and transforms the rows that meet the next one; a team of threads,
//! which the driver joins whenever it would have to wait, transforms the rows below. Those rows are cut
//! into chunks.
//!
//! Protocol. Whoever takes a chunk has it alone until it has applied all panels whose reflectors are
//! published, in order, and then lets go of it; a chunk that somebody has is passed by and not waited for.
//! So nobody waits for work that nobody does, however few threads turn up, and panels are not separated by
//! barriers. A member looks after its own chunks first, so that their rows of V stay in its cache, and
//! after the others' when it has nothing to do. Rows never mix, so the result does not depend on who took
//! what.

use super::kernels::job::{Chain, Job};
use crate::host::guard::OnPanic;
use crate::scalar::Scalar;
use crate::sweep::plan::{Panel, Plan};
use crate::sweep::{Backend, Breakdown, sweep};
use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

/// Polite attempts before a waiting thread gives its core away.
const SPINS: u32 = 1 << 10;

/// Some consecutive rows, on cache lines of their own.
#[repr(align(128))]
#[derive(Default)]
pub(crate) struct Chunk {
    /// A thread is working on it.
    taken: AtomicBool,
    /// Panels that have been applied to it.
    progress: AtomicU32,
    /// Panels to apply: those whose tail reaches into it.
    panels: u32,
}

/// What the threads of one sweep share.
pub(crate) struct Team<'a, T> {
    job: &'a Job<T>,
    plan: &'a Plan,
    chunk_rows: usize,
    chunks: &'a [Chunk],
    /// Panels whose block reflector is made.
    published: AtomicU32,
    /// Chunks that are not finished.
    open: AtomicUsize,
    /// Threads that have turned up.
    members: AtomicUsize,
    /// The sweep broke down, or a thread has panicked: drop everything. Once set it stays.
    broken: AtomicBool,
}

impl<'a, T: Scalar> Team<'a, T> {
    /// Chunks that `plan` has.
    pub fn chunks(plan: &Plan, chunk_rows: usize) -> usize {
        (plan.rows - plan.start).div_ceil(chunk_rows)
    }

    /// A team for one sweep. `chunk_rows` is a multiple of the panel width, so that a diagonal block meets
    /// one chunk alone.
    ///
    /// # Safety
    /// All memory that `job` describes is the team's alone while it lives, and `job` has a set of reflectors
    /// for every panel.
    pub unsafe fn new(job: &'a Job<T>, plan: &'a Plan, chunk_rows: usize, chunks: &'a mut [Chunk]) -> Self {
        debug_assert!(chunk_rows.is_multiple_of(plan.panel_cols));
        debug_assert_eq!(chunks.len(), Self::chunks(plan, chunk_rows));
        let mut panels = 0;
        for (c, chunk) in chunks.iter_mut().enumerate() {
            let end = plan.rows.min(plan.start + (c + 1) * chunk_rows);
            while panels < plan.panels() && tail(plan, panels) < end {
                panels += 1;
            }
            *chunk = Chunk { panels: panels as u32, ..Chunk::default() };
        }
        let open = chunks.iter().filter(|chunk| chunk.panels > 0).count();
        Self {
            job,
            plan,
            chunk_rows,
            chunks,
            published: AtomicU32::new(0),
            open: AtomicUsize::new(open),
            members: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
        }
    }

    /// The sweep, by the calling thread and up to `threads` − 1 others of the current rayon pool.
    pub fn run(&self, threads: usize) -> Result<Chain<T>, Breakdown> {
        let drive = || {
            let guard = self.let_go_on_panic();
            let mut driver = Driver { team: self, member: self.join(threads), chain: Chain::default() };
            let outcome = sweep(&mut driver, self.plan).map(|()| driver.chain);
            guard.defuse();
            outcome
        };
        rayon::join(drive, || self.others(threads - 1, threads)).0
    }

    /// `count` members of a team of `threads`, woken up two at a time.
    fn others(&self, count: usize, threads: usize) {
        match count {
            0 => {}
            1 => self.join(threads).help_until(self, || false),
            _ => {
                rayon::join(|| self.others(count / 2, threads), || self.others(count - count / 2, threads));
            }
        }
    }

    fn join(&self, threads: usize) -> Member {
        Member { first: self.members.fetch_add(1, Ordering::Relaxed) % threads, threads }
    }

    fn chunk_of(&self, row: usize) -> usize {
        (row - self.plan.start) / self.chunk_rows
    }

    /// Brings chunk `c` up to the last published panel; false if there is nothing to do or somebody else
    /// has it.
    fn advance(&self, c: usize) -> bool {
        let chunk = &self.chunks[c];
        let due = || self.published.load(Ordering::Acquire).min(chunk.panels);
        if chunk.progress.load(Ordering::Relaxed) >= due() || chunk.taken.swap(true, Ordering::Acquire) {
            return false;
        }
        let guard = self.let_go_on_panic();
        let first = self.plan.start + c * self.chunk_rows;
        let end = self.plan.rows.min(first + self.chunk_rows);
        let before = chunk.progress.load(Ordering::Relaxed);
        let mut panel = before;
        while panel < due() && !self.broken.load(Ordering::Relaxed) {
            if let Some(place) = self.plan.panel(panel as usize) {
                // SAFETY: the reflectors are published, earlier panels have been applied to the chunk, this
                // thread alone has it, and the driver keeps above these rows until it sees the progress.
                unsafe { self.job.trailing(place, first.max(tail(self.plan, panel as usize))..end) };
            }
            panel += 1;
            chunk.progress.store(panel, Ordering::Release);
        }
        chunk.taken.store(false, Ordering::Release);
        if panel == chunk.panels && panel > before {
            self.open.fetch_sub(1, Ordering::Release);
        }
        guard.defuse();
        panel > before
    }

    /// Lets the other threads go if this one panics, so that the panic gets out instead of hanging.
    fn let_go_on_panic(&self) -> OnPanic<impl FnMut()> {
        OnPanic(|| self.broken.store(true, Ordering::Relaxed))
    }
}

/// The first row below what the driver does of panel `panel`: its block and the rows that meet the next.
fn tail(plan: &Plan, panel: usize) -> usize {
    match plan.panel(panel + 1) {
        Some(next) => next.end(),
        None => plan.cols,
    }
}

/// A thread's place in the team: chunks `first`, `first` + `threads`, … are its own.
#[derive(Clone, Copy)]
struct Member {
    first: usize,
    threads: usize,
}

impl Member {
    /// Works on chunks until `enough`, or until all are finished.
    fn help_until<T: Scalar>(self, team: &Team<'_, T>, enough: impl Fn() -> bool) {
        let chunks = team.chunks.len();
        let mut spins = 0;
        while !enough() && !team.broken.load(Ordering::Relaxed) && team.open.load(Ordering::Acquire) > 0 {
            let own = (self.first..chunks).step_by(self.threads);
            let others = (0..chunks).filter(|c| c % self.threads != self.first);
            // One chunk at a time, so that `enough` is looked at in between.
            if own.chain(others).any(|c| team.advance(c)) {
                spins = 0;
            } else if spins < SPINS {
                spins += 1;
                core::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
    }
}

/// The thread that runs the schedule.
struct Driver<'a, T> {
    team: &'a Team<'a, T>,
    member: Member,
    chain: Chain<T>,
}

impl<T: Scalar> Backend for Driver<'_, T> {
    type Stop = Breakdown;

    fn fetch(&mut self, _: Panel) -> Result<(), Breakdown> {
        Ok(())
    }

    /// The diagonal block, and the rows that meet the next one; the others become the team's when the
    /// reflector is published.
    fn work(&mut self, panel: Panel, head: Range<usize>, _: Range<usize>) -> Result<(), Breakdown> {
        // SAFETY: the panel before has brought these rows up to the panel before, on this thread.
        if let Err(column) = unsafe { self.team.job.diagonal(panel, &mut self.chain) } {
            self.team.broken.store(true, Ordering::Relaxed);
            return Err(Breakdown { column });
        }
        self.team.published.store(panel.index as u32 + 1, Ordering::Release);
        if head.is_empty() {
            return Ok(());
        }
        let c = self.team.chunk_of(head.start);
        let chunk = &self.team.chunks[c];
        let behind = || chunk.progress.load(Ordering::Acquire) < panel.index as u32;
        while behind() && !self.team.broken.load(Ordering::Relaxed) {
            if !self.team.advance(c) {
                self.member.help_until(self.team, || !behind());
            }
        }
        // SAFETY: the reflectors were made on this thread, all earlier panels have been applied to the
        // chunk of these rows, and the team keeps below them.
        unsafe { self.team.job.trailing(panel, head) };
        Ok(())
    }

    /// Helps with what is left; the join in `run` waits for the members' last chunks.
    fn finish(&mut self) -> Result<(), Breakdown> {
        self.member.help_until(self.team, || false);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{Columns, Isa, Memory, plan, prepare};
    use crate::host::layout::lower;
    use crate::sweep::signed::{Change, Weights};
    use faer::{Mat, Par};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    /// A member has panicked and left its chunk taken: whatever the driver still makes of panels that are good, nobody
    /// waits for that chunk.
    #[test]
    fn the_others_let_go_of_a_member_that_has_panicked() {
        let (done, when_done) = channel();
        std::thread::spawn(move || {
            let n = 400;
            let mut l = lower(Mat::<f64>::identity(n, n).as_ref());
            let v = Mat::<f64>::ones(n, 5);
            let change = Change::new(v.as_ref(), Weights::Plus, n, Par::Seq).unwrap();
            let plan = plan(n, &change);
            let mut memory = Memory::default();
            let (dst, stride) = (l.as_ptr_mut(), l.col_stride());
            let columns = Columns { src: dst.cast_const(), src_stride: stride, dst, dst_stride: stride };
            let job = prepare(Isa::detect(), columns, &plan, &change, &mut memory, plan.panels());
            let chunk_rows = 4 * plan.panel_cols;
            let mut chunks = Vec::new();
            chunks.resize_with(Team::<f64>::chunks(&plan, chunk_rows), Chunk::default);
            // SAFETY: L, V and a reflector for each panel are borrowed by this closure alone.
            let team = unsafe { Team::new(&job, &plan, chunk_rows, &mut chunks) };
            team.chunks[2].taken.store(true, Ordering::Relaxed);
            drop(team.let_go_on_panic());
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            let _ = pool.install(|| team.run(3)).map(|_| ());
            assert!(team.broken.load(Ordering::Relaxed), "the flag goes up, and never down");
            done.send(()).unwrap();
        });
        when_done
            .recv_timeout(Duration::from_secs(60))
            .expect("everybody waits for the chunk of a dead member");
    }
}
