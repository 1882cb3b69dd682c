//! The panels of a sweep over distributed rows.

use crate::sweep::cyclic::Cyclic;
use crate::sweep::plan::Panels;
use cholupdate_kernels::panel::Panel;
use core::ops::Range;

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
