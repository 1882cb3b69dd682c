//! L Y = B.

use super::Shared;
use crate::cpu::solve::{CHUNK_ROWS, PANEL_COLS};
use crate::cpu::tuning;
use crate::cpu::workers::{Workers, cut};
use crate::distributed::broadcasts::{Broadcasts, Messages, words_of};
use crate::distributed::network::Network;
use crate::distributed::plan::LocalPlan;
use crate::distributed::rows::LocalRows;
use crate::host::threads::Threads;
use crate::real::Real;
use crate::sweep::plan::Panels;
use cholupdate_kernels::panel::Panel;
use cholupdate_kernels::steps::{Breakdown, Steps};
use core::ops::Range;
use faer::{Accum, Conj, MatMut, MatRef, Par};

/// B ← L⁻¹ B, each process with its rows. (local rows × m)
pub(in crate::distributed) fn solve_lower<T: Real, N: Network>(
    net: &N,
    l: &LocalRows<T>,
    rhs: MatMut<'_, T>,
    threads: Threads,
) {
    let (cyclic, m) = (l.cyclic, rhs.ncols());
    let plan = LocalPlan { cyclic, start: 0, end: cyclic.order, panel_cols: PANEL_COLS };
    let Some(last) = plan.panels().checked_sub(1).and_then(|last| plan.panel(last)).filter(|_| m > 0) else {
        return;
    };
    let mut messages = Messages::default();
    messages.make_room(plan.panels(), words_of::<T>(PANEL_COLS * m));
    // SAFETY: the messages are borrowed exclusively. There is one for each panel.
    let broadcasts = unsafe { Broadcasts::new(net, &plan, &mut messages) };
    let steps = Lower { l, broadcasts, rhs: Shared::new(rhs) };
    let threads = tuning::solve_threads(threads, cyclic.order, cyclic.rows(), m);
    let each = cyclic.rows() / (4 * threads);
    let (chunk_rows, mut chunks) = (each.max(1).next_multiple_of(cyclic.block), Vec::new());
    cut(&plan, chunk_rows, &mut chunks);
    // SAFETY: B is borrowed exclusively. A diagonal step computes its own rows of B, which no later step writes.
    let done = unsafe { Workers::new(&steps, &plan, chunk_rows, &mut chunks) }.run(threads);
    debug_assert!(done.is_ok(), "a solve does not break down");
    steps.broadcasts.end_at(last);
}

/// The steps of L Y = B. A message holds the unknowns of a panel.
struct Lower<'a, T, N: Network> {
    l: &'a LocalRows<T>,
    broadcasts: Broadcasts<'a, N>,
    rhs: Shared<'a, T>,
}

// SAFETY: rows of B and messages are shared by the contract of `Steps`. Of the rest, `trailing` reads only numbers and pointers that
// nothing writes; cells and the network are used by the thread that runs the solve alone.
unsafe impl<T: Sync + Send, N: Network> Sync for Lower<'_, T, N> {}

impl<T: Real, N: Network> Lower<'_, T, N> {
    /// The unknowns of a panel in its message. (w × m)
    fn unknowns(&self, panel: Panel) -> *mut T {
        self.broadcasts.message(panel.index).cast()
    }

    /// L at these places and in the columns of a panel.
    fn part(&self, panel: Panel, rows: &Range<usize>) -> MatRef<'_, T> {
        let block = panel.first / self.l.cyclic.block;
        let (first, column) = self.l.column(block);
        let left = panel.first - block * self.l.cyclic.block;
        column.submatrix(rows.start - first, left, rows.len(), panel.cols)
    }
}

impl<T: Real, N: Network> Steps for Lower<'_, T, N> {
    type Report = ();

    unsafe fn diagonal(&self, panel: Panel, (): &mut ()) -> Result<(), Breakdown> {
        if !self.broadcasts.is_mine(panel) {
            self.broadcasts.receive(panel);
            return Ok(());
        }
        let place = self.l.cyclic.before(panel.first);
        let rows = place..place + panel.cols;
        // SAFETY: no other thread uses the rows of the block, nor the message.
        let (mut own, mut message) = unsafe {
            let at = self.unknowns(panel);
            let columns = panel.cols as isize;
            (self.rhs.rows(&rows), MatMut::from_raw_parts_mut(at, panel.cols, self.rhs.cols, 1, columns))
        };
        T::solve_lower((self.part(panel, &rows), Conj::No), own.as_mut(), Par::Seq);
        message.copy_from(own.as_ref());
        self.broadcasts.send(panel);
        Ok(())
    }

    unsafe fn trailing(&self, panel: Panel, rows: Range<usize>) {
        // SAFETY: the message is complete, and only read from now on.
        let known = unsafe {
            MatRef::from_raw_parts(self.unknowns(panel), panel.cols, self.rhs.cols, 1, panel.cols as isize)
        };
        let cyclic = &self.l.cyclic;
        let mut first = rows.start;
        while first < rows.end {
            let row = cyclic.row(first);
            let end = (row + 1).next_multiple_of(cyclic.block).min((row + 1).next_multiple_of(CHUNK_ROWS));
            let piece = first..rows.end.min(first + end - row);
            // SAFETY: no other thread uses these rows.
            let to = unsafe { self.rhs.rows(&piece) };
            T::matmul(to, Accum::Add, (self.part(panel, &piece), Conj::No), known, -T::ONE, Par::Seq);
            first = piece.end;
        }
    }

    fn is_ready(&self, panel: Panel) -> bool {
        self.broadcasts.is_ready(panel)
    }

    fn progress(&self) {
        self.broadcasts.progress();
    }
}
