//! Lᵀ X = Y.

use super::Shared;
use crate::cpu::solve::{CHUNK_ROWS, PANEL_COLS};
use crate::cpu::tuning;
use crate::distributed::moves::gather_rows;
use crate::distributed::network::{Network, bytes_mut};
use crate::distributed::rows::LocalRows;
use crate::host::share::Share;
use crate::host::threads::Threads;
use crate::real::Real;
use core::ops::Range;
use faer::reborrow::IntoConst;
use faer::{Accum, Conj, Mat, MatMut, MatRef, Par};
use std::collections::VecDeque;

/// B ← L⁻ᵀ B, each process with its rows. (local rows × m)
pub(in crate::distributed) fn solve_upper<T: Real, N: Network>(
    net: &N,
    l: &LocalRows<T>,
    mut rhs: MatMut<'_, T>,
    threads: Threads,
) {
    let (cyclic, m) = (l.cyclic, rhs.ncols());
    let mut all = Mat::zeros(cyclic.order, m);
    gather_rows(net, &cyclic, rhs.as_ref(), all.as_mut());
    if m == 0 {
        return;
    }
    let threads = tuning::solve_threads(threads, cyclic.order, cyclic.rows(), m);
    let above = Above { l, x: Shared::new(all.as_mut()) };
    let upper = Upper { net, above, share: Share::among(threads), group: threads };
    let mut sent = Sent { net, in_flight: VecDeque::new() };
    for block in cyclic.mine().rev() {
        upper.block(block, &mut sent);
    }
    sent.wait_for_all();
    for place in 0..cyclic.rows() {
        rhs.as_mut().row_mut(place).copy_from(all.row(cyclic.row(place)));
    }
}

/// Parts of the right-hand sides on their way to another process.
struct Sent<'a, T, N: Network> {
    net: &'a N,
    in_flight: VecDeque<(N::Pending, Vec<T>)>,
}

impl<T: Real, N: Network> Sent<'_, T, N> {
    fn send(&mut self, to: usize, mut data: Vec<T>) {
        let bytes = bytes_mut(&mut data);
        // SAFETY: the memory of the vector stays where it is until the message has been waited for.
        let pending = unsafe { self.net.start_send(to, bytes.as_ptr(), bytes.len()) };
        self.in_flight.push_back((pending, data));
        while self.in_flight.front_mut().is_some_and(|(first, _)| self.net.is_complete(first)) {
            self.in_flight.pop_front();
        }
    }

    fn wait_for_all(&mut self) {
        self.in_flight.drain(..).for_each(|(pending, _)| self.net.wait(pending));
    }
}

/// L and X, without the other processes.
struct Above<'a, T> {
    l: &'a LocalRows<T>,
    /// (n × m)
    x: Shared<'a, T>,
}

impl<T, N: Network> Drop for Sent<'_, T, N> {
    /// All have been completed, except after a panic: their memory cannot be released, nor can others go on waiting.
    fn drop(&mut self) {
        if !self.in_flight.is_empty() || std::thread::panicking() {
            self.net.abort();
        }
    }
}

struct Upper<'a, T, N: Network> {
    net: &'a N,
    above: Above<'a, T>,
    share: Option<Share>,
    /// Pieces that are processed together, by different threads.
    group: usize,
}

impl<T: Real> Above<'_, T> {
    /// The rows of L of a block, by rows and columns of L.
    fn part(&self, block: usize, rows: &Range<usize>, columns: &Range<usize>) -> MatRef<'_, T> {
        let cyclic = &self.l.cyclic;
        let of_columns = columns.start / cyclic.block;
        debug_assert!(of_columns <= block);
        let (first, column) = self.l.column(of_columns);
        let left = columns.start - of_columns * cyclic.block;
        column.submatrix(cyclic.before(rows.start) - first, left, rows.len(), columns.len())
    }

    /// Subtracts the share of the unknowns of a panel from the rows above.
    fn subtract(&self, block: usize, panel: &Range<usize>, rows: &Range<usize>) {
        let size = self.l.cyclic.block;
        let mut end = rows.end;
        // L is stored by blocks of columns. From the last one upwards, as everywhere.
        while end > rows.start {
            let first = rows.start.max((end - 1) / size * size);
            // SAFETY: the unknowns are computed, and only read from now on. The rows above are used by this thread alone.
            let (known, to) = unsafe { (self.x.rows(panel).into_const(), self.x.rows(&(first..end))) };
            let l = self.part(block, panel, &(first..end));
            T::matmul(to, Accum::Add, (l.transpose(), Conj::No), known, -T::ONE, Par::Seq);
            end = first;
        }
    }
}

impl<T: Real, N: Network> Upper<'_, T, N> {
    /// The pieces of the rows before `end`, from the last one upwards. The `Cpu` engine counts them from the last row of a whole panel.
    fn pieces(&self, end: usize) -> impl Iterator<Item = Range<usize>> + use<T, N> {
        let (last, mut upper) = (self.above.l.cyclic.order.next_multiple_of(PANEL_COLS), end);
        core::iter::from_fn(move || {
            let lower = (upper > 0).then(|| {
                let from_the_end = (last - upper) / CHUNK_ROWS + 1;
                last.saturating_sub(from_the_end * CHUNK_ROWS)
            })?;
            let piece = lower..upper;
            upper = lower;
            Some(piece)
        })
    }

    /// The panels of a block, from the last one upwards, each with the rows of the panel above it.
    fn panels(&self, block: usize) -> Vec<(Range<usize>, Range<usize>)> {
        let (rows, size) = (self.above.l.cyclic.rows_of(block), self.above.l.cyclic.block);
        let above = |end: usize| {
            let of_block = end.saturating_sub(1) / size * size;
            of_block + (end.saturating_sub(1) - of_block) / PANEL_COLS * PANEL_COLS..end
        };
        let firsts: Vec<_> = rows.clone().step_by(PANEL_COLS).collect();
        let panel = |&first: &usize| (first..rows.end.min(first + PANEL_COLS), above(first));
        firsts.iter().rev().map(panel).collect()
    }

    /// Processes the rows of L of a block.
    fn block(&self, block: usize, sent: &mut Sent<'_, T, N>) {
        let cyclic = &self.above.l.cyclic;
        let (rows, panels) = (cyclic.rows_of(block), self.panels(block));
        let from = (block + 1 < cyclic.blocks()).then(|| (block + 1) % cyclic.ranks);
        let to = block.checked_sub(1).map(|above| above % cyclic.ranks);
        let nearest = panels.last().map_or(0, |(_, above)| above.start);
        let mut pieces = self.pieces(rows.end).peekable();
        let mut near = Vec::new();
        while let Some(piece) = pieces.next_if(|piece| piece.end > nearest) {
            self.receive(from, &piece);
            near.push(piece);
        }
        for (panel, above) in &panels {
            // SAFETY: only this thread uses X.
            let known = unsafe { self.above.x.rows(panel) };
            T::solve_upper((self.above.part(block, panel, panel).transpose(), Conj::No), known, Par::Seq);
            self.above.subtract(block, panel, above);
            for piece in &near {
                self.above.subtract(block, panel, &(piece.start..piece.end.min(above.start)));
            }
        }
        for piece in near {
            self.send(to, sent, piece.start..piece.end.min(rows.start));
        }
        while pieces.peek().is_some() {
            let group: Vec<_> = pieces.by_ref().take(self.group).collect();
            group.iter().for_each(|piece| self.receive(from, piece));
            let all = &self.above;
            let work =
                |at: usize| panels.iter().for_each(|(panel, _)| all.subtract(block, panel, &group[at]));
            match &self.share {
                Some(share) => share.each(group.len(), &work),
                None => (0..group.len()).for_each(work),
            }
            group.into_iter().for_each(|piece| self.send(to, sent, piece));
        }
    }

    /// Receives a piece of X from the process that has the block below.
    fn receive(&self, from: Option<usize>, piece: &Range<usize>) {
        let Some(from) = from.filter(|&from| from != self.above.l.cyclic.rank) else { return };
        let mut data = vec![T::ZERO; piece.len() * self.above.x.cols];
        self.net.receive(from, bytes_mut(&mut data));
        // SAFETY: only this thread uses these rows.
        let mut to = unsafe { self.above.x.rows(piece) };
        to.copy_from(MatRef::from_column_major_slice(&data, piece.len(), self.above.x.cols));
    }

    fn send(&self, to: Option<usize>, sent: &mut Sent<'_, T, N>, piece: Range<usize>) {
        let Some(to) = to.filter(|&to| to != self.above.l.cyclic.rank && !piece.is_empty()) else { return };
        // SAFETY: only this thread uses these rows.
        let rows = unsafe { self.above.x.rows(&piece) };
        sent.send(to, rows.col_iter().flat_map(|column| column.iter().copied()).collect());
    }
}
