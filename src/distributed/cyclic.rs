//! The distribution of the rows: block i of `block` rows belongs to process i mod P, as in a P × 1 process grid of ScaLAPACK with
//! that block size. Pure geometry, no data.
//!
//! A process stores its rows in order, so the rows from any row of L on are a range of its own.

use crate::sweep::plan::{Panel, Panels};
use core::ops::Range;

/// Which rows of an L (n × n) a process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cyclic {
    /// Rows of L.
    pub order: usize,
    /// Rows of a block.
    pub block: usize,
    /// Number of processes.
    pub ranks: usize,
    /// This process.
    pub rank: usize,
}

impl Cyclic {
    /// The number of blocks of rows.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.order.div_ceil(self.block)
    }

    /// The rows of a block.
    #[must_use]
    pub fn rows_of(&self, block: usize) -> Range<usize> {
        block * self.block..self.order.min((block + 1) * self.block)
    }

    /// The process that has this row.
    #[must_use]
    pub fn owner(&self, row: usize) -> usize {
        row / self.block % self.ranks
    }

    /// Whether this process has this row.
    #[must_use]
    pub fn is_mine(&self, row: usize) -> bool {
        self.owner(row) == self.rank
    }

    /// The number of rows of this process.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.before(self.order)
    }

    /// The number of rows of this process before row `row` of L: the place of that row, if this process has it.
    #[must_use]
    pub fn before(&self, row: usize) -> usize {
        let (block, within) = (row / self.block, row % self.block);
        let whole = (block + self.ranks - 1 - self.rank) / self.ranks;
        whole * self.block + if block % self.ranks == self.rank { within } else { 0 }
    }

    /// The row of L that this process has at a place.
    #[must_use]
    pub fn row(&self, place: usize) -> usize {
        (place / self.block * self.ranks + self.rank) * self.block + place % self.block
    }

    /// The blocks of this process, in order.
    pub fn mine(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        (self.rank..self.blocks()).step_by(self.ranks)
    }

    /// The same rows for another process.
    #[must_use]
    pub fn of(&self, rank: usize) -> Self {
        Self { rank, ..*self }
    }
}

/// The panels of a sweep from column `start` on. A panel ends where its block of rows does, so a process has all of a diagonal block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalPlan {
    pub cyclic: Cyclic,
    /// The first column that changes.
    pub start: usize,
    /// The end of the columns.
    pub end: usize,
    /// Columns of a panel, but for the last of a block.
    pub panel_cols: usize,
}

impl LocalPlan {
    /// The number of panels before the first one of a block.
    fn panels_before(&self, block: usize) -> usize {
        let (first, size) = (self.start / self.cyclic.block, self.cyclic.block);
        if block <= first {
            return 0;
        }
        let in_first = ((first + 1) * size - self.start).div_ceil(self.panel_cols);
        in_first + (block - first - 1) * size.div_ceil(self.panel_cols)
    }

    /// The number of panels.
    pub fn panels(&self) -> usize {
        if self.start >= self.end {
            return 0;
        }
        let last = (self.end - 1) / self.cyclic.block;
        let first_column = self.start.max(last * self.cyclic.block);
        self.panels_before(last) + (self.end - first_column).div_ceil(self.panel_cols)
    }
}

impl Panels for LocalPlan {
    fn panel(&self, index: usize) -> Option<Panel> {
        let (first, size) = (self.start / self.cyclic.block, self.cyclic.block);
        let in_first = self.panels_before(first + 1);
        let (block, within) = match index.checked_sub(in_first) {
            None => (first, index),
            Some(later) => {
                let each = size.div_ceil(self.panel_cols);
                (first + 1 + later / each, later % each)
            }
        };
        let column = self.start.max(block * size) + within * self.panel_cols;
        let end = self.end.min((block + 1) * size).min(column + self.panel_cols);
        (column < self.end).then(|| Panel { index, first: column, cols: end - column })
    }

    fn next_rows(&self, panel: Panel) -> Range<usize> {
        let from = self.cyclic.before(panel.end());
        match self.panel(panel.index + 1) {
            Some(next) if self.cyclic.is_mine(next.first) => from..from + next.cols,
            _ => from..from,
        }
    }

    fn trailing_rows(&self, panel: Panel) -> Range<usize> {
        self.next_rows(panel).end..self.cyclic.rows()
    }

    fn all_rows(&self) -> Range<usize> {
        let block = self.start / self.cyclic.block * self.cyclic.block;
        self.cyclic.before(block)..self.cyclic.rows()
    }

    fn unit(&self) -> usize {
        self.cyclic.block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_with_one_process_and_at_its_place() {
        for (order, block, ranks) in [(0, 4, 3), (1, 4, 3), (7, 2, 3), (24, 8, 3), (25, 8, 4), (100, 16, 1)] {
            let all = |rank| Cyclic { order, block, ranks, rank };
            assert_eq!((0..ranks).map(|rank| all(rank).rows()).sum::<usize>(), order);
            for row in 0..order {
                let owner = all(0).owner(row);
                assert_eq!(all(owner).row(all(owner).before(row)), row);
                for rank in 0..ranks {
                    let (mine, later) = (all(rank).is_mine(row), all(rank).before(row + 1));
                    assert_eq!(later - all(rank).before(row), usize::from(mine));
                }
            }
            for rank in 0..ranks {
                let rows: Vec<_> = all(rank).mine().flat_map(|b| all(rank).rows_of(b)).collect();
                assert_eq!(rows, (0..all(rank).rows()).map(|place| all(rank).row(place)).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn panels_cover_the_columns_in_order_and_stay_in_their_block() {
        for (order, block, ranks) in [(1, 16, 2), (100, 16, 3), (200, 48, 2), (193, 64, 5), (300, 192, 1)] {
            for (start, panel_cols) in [(0, 24), (8, 48), (0, 64), (104, 16), (96, 24)] {
                let plan = |rank| LocalPlan {
                    cyclic: Cyclic { order, block, ranks, rank },
                    start,
                    end: order,
                    panel_cols,
                };
                let (mut next, one) = (start.min(order), plan(0));
                for index in 0..one.panels() {
                    let panel = one.panel(index).unwrap();
                    assert_eq!((panel.index, panel.first), (index, next));
                    assert_eq!(panel.first / block, (panel.end() - 1) / block);
                    next = panel.end();
                    let count = |rows: &dyn Fn(LocalPlan) -> usize| -> usize {
                        (0..ranks).map(|rank| rows(plan(rank))).sum()
                    };
                    let below = count(&|plan| plan.next_rows(panel).len() + plan.trailing_rows(panel).len());
                    let following = one.panel(index + 1).map_or(0, |panel| panel.cols);
                    assert_eq!(below, order - panel.end());
                    assert_eq!(count(&|plan| plan.next_rows(panel).len()), following);
                }
                assert_eq!(next, order.max(start.min(order)));
                assert_eq!(one.panel(one.panels()), None);
            }
        }
    }
}
