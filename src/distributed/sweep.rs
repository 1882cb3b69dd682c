//! A sweep over distributed rows: the steps of the `Cpu` engine, with a message from each diagonal step to the other processes. It
//! holds the outcome of the step, the new pivots and the block reflector.

use super::broadcasts::{Broadcasts, words_of};
use super::network::Network;
use super::rows::entries;
use crate::real::Real;
use crate::sweep::plan::Panels;
use cholupdate_kernels::health::{HEALTH_WORDS, Health};
use cholupdate_kernels::panel::Panel;
use cholupdate_kernels::steps::{Breakdown, Steps};
use cholupdate_kernels::sweep::job::Job;
use core::cell::RefCell;
use core::ops::Range;

/// Words of the outcome: the position of a breakdown in the panel plus one, and the report.
const OUTCOME: usize = 1 + HEALTH_WORDS;

/// The parts of a message.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    /// Words before the pivots, and before the reflector.
    pivots: usize,
    reflector: usize,
    /// All of them.
    pub words: usize,
}

impl Layout {
    /// Of messages with this number of pivots and of scalars of a reflector.
    pub fn new<T>(pivots: usize, reflector: usize) -> Self {
        let outcome = OUTCOME.next_multiple_of(8);
        let before = outcome + words_of::<T>(pivots);
        Self { pivots: outcome, reflector: before, words: before + words_of::<T>(reflector) }
    }
}

/// For each block of columns, where its first entry would be, and the distance between columns ([`origins`]).
///
/// [`origins`]: super::rows::LocalRows::origins
pub(super) type Origins<T> = Vec<(*mut T, isize)>;

/// The steps of a sweep on the rows of a process.
pub(super) struct Distributed<'a, T, N: Network> {
    pub broadcasts: Broadcasts<'a, N>,
    layout: Layout,
    /// The job of every step, but for L and the reflectors.
    job: Job<T>,
    /// The old and the new L.
    src: Origins<T>,
    dst: Option<Origins<T>>,
    /// The new pivots of the panels so far.
    pivots: RefCell<Vec<T>>,
}

// SAFETY: the rows and reflectors are shared by the contract of `Steps`. Of the rest, `trailing` reads only numbers and pointers that
// nothing writes; cells and the network are used by the thread that runs the sweep alone.
unsafe impl<T: Sync, N: Network> Sync for Distributed<'_, T, N> {}

impl<'a, T: Real, N: Network> Distributed<'a, T, N> {
    /// # Safety
    /// `src` and `dst` are origins of rows of this process, which no other code uses while this exists. The messages have this layout,
    /// with room for the pivots of a panel and the reflector of the job.
    pub unsafe fn new(
        broadcasts: Broadcasts<'a, N>,
        layout: Layout,
        job: Job<T>,
        (src, dst): (Origins<T>, Option<Origins<T>>),
    ) -> Self {
        let columns = broadcasts.plan.end - broadcasts.plan.start;
        Self { broadcasts, layout, job, src, dst, pivots: RefCell::new(Vec::with_capacity(columns)) }
    }

    /// Ends the sweep, which has succeeded. Returns the new pivots.
    pub fn end(self) -> Vec<T> {
        let plan = self.broadcasts.plan;
        if let Some(last) = plan.panel(plan.panels() - 1) {
            self.broadcasts.end_at(last);
        }
        self.pivots.take()
    }

    fn pivots_of(&self, panel: Panel) -> *mut T {
        self.broadcasts.message(panel.index).wrapping_add(self.layout.pivots).cast()
    }

    /// The job of a panel, for rows by their places and columns `shift` further to the right.
    fn job_of(&self, panel: Panel, shift: usize) -> Job<T> {
        let block = panel.first / self.broadcasts.plan.cyclic.block;
        let moved =
            |&(origin, stride): &(*mut T, isize)| (origin.wrapping_offset(shift as isize * stride), stride);
        let l = entries(moved(&self.src[block]), self.dst.as_ref().map(|dst| moved(&dst[block])));
        let reflectors = self.broadcasts.message(panel.index).wrapping_add(self.layout.reflector).cast();
        Job { l, reflectors, reflector_sets: 1, ..self.job }
    }

    /// The diagonal step, by the process that has the block. The error is a position in the panel.
    ///
    /// # Safety
    /// As [`Steps::diagonal`].
    unsafe fn make(&self, panel: Panel, health: &mut Health<T>) -> Result<(), usize> {
        let place = self.broadcasts.plan.cyclic.before(panel.first);
        // With the columns moved, a diagonal entry has the same number as row and column, as the steps require.
        let (job, here) = (self.job_of(panel, panel.first - place), Panel { first: place, ..panel });
        // SAFETY: the caller guarantees the rows of the block; the message is used by this thread alone.
        unsafe { job.diagonal(here, health) }.map_err(|breakdown| breakdown.column - place)?;
        if self.dst.is_some() {
            for j in 0..panel.cols {
                let column = job.l.dst.wrapping_offset((place + j) as isize * job.l.dst_stride);
                // SAFETY: an entry of the block, which has been written, and the place of a pivot in the message.
                unsafe { *self.pivots_of(panel).add(j) = *column.wrapping_add(place + j) };
            }
        }
        Ok(())
    }
}

impl<T: Real, N: Network> Steps for Distributed<'_, T, N> {
    type Report = Health<T>;

    unsafe fn diagonal(&self, panel: Panel, health: &mut Health<T>) -> Result<(), Breakdown> {
        let at = self.broadcasts.message(panel.index);
        if self.broadcasts.is_mine(panel) {
            // SAFETY: the caller guarantees the contract of the step.
            let made = unsafe { self.make(panel, health) };
            // SAFETY: the words of the outcome, which no other thread uses; the message is not in flight.
            let outcome = unsafe { core::slice::from_raw_parts_mut(at, OUTCOME) };
            outcome[0] = made.map_or_else(|column| column as u64 + 1, |()| 0);
            outcome[1..].copy_from_slice(&health.words());
            self.broadcasts.send(panel);
        } else {
            self.broadcasts.receive(panel);
        }
        // SAFETY: the message is complete, or only read by those who send it.
        let outcome = unsafe { core::slice::from_raw_parts(at, OUTCOME) };
        if let Some(column) = outcome[0].checked_sub(1) {
            self.broadcasts.end_at(panel);
            return Err(Breakdown { column: panel.first + column as usize });
        }
        *health = Health::of_words(&outcome[1..]);
        // SAFETY: as above; the message holds so many pivots.
        let pivots = unsafe { core::slice::from_raw_parts(self.pivots_of(panel), panel.cols) };
        self.pivots.borrow_mut().extend_from_slice(pivots);
        Ok(())
    }

    unsafe fn trailing(&self, panel: Panel, rows: Range<usize>) {
        // SAFETY: the caller guarantees the rows, which are places, and that the message is complete.
        unsafe { self.job_of(panel, 0).trailing(panel, rows) }
    }

    fn is_ready(&self, panel: Panel) -> bool {
        self.broadcasts.is_ready(panel)
    }

    fn progress(&self) {
        self.broadcasts.progress();
    }
}
