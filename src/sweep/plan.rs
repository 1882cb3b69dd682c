//! The division of the columns into panels: pure geometry, no data.

use cholupdate_kernels::panel::Panel;
use core::ops::Range;

/// The panels of a sweep in order, and the rows below each, by their index in the memory of this process.
pub(crate) trait Panels: Sync {
    /// The panel at position `index`, or `None` past the last.
    fn panel(&self, index: usize) -> Option<Panel>;

    /// The rows below `panel` that belong to the next diagonal block, if this process has that block.
    fn next_rows(&self, panel: Panel) -> Range<usize>;

    /// The rows below the next diagonal rows. No panel's begin before those of an earlier one.
    fn trailing_rows(&self, panel: Panel) -> Range<usize>;

    /// The range that contains all of these rows. It is divided into chunks from its start on.
    fn all_rows(&self) -> Range<usize>;

    /// A diagonal block is inside a chunk if the number of rows of the chunk is a multiple of this.
    fn unit(&self) -> usize;
}

impl Panels for Plan {
    #[inline]
    fn panel(&self, index: usize) -> Option<Panel> {
        Plan::panel(self, index)
    }

    fn next_rows(&self, panel: Panel) -> Range<usize> {
        Plan::next_rows(self, panel)
    }

    fn trailing_rows(&self, panel: Panel) -> Range<usize> {
        Plan::trailing_rows(self, panel)
    }

    fn all_rows(&self) -> Range<usize> {
        self.start..self.rows
    }

    fn unit(&self) -> usize {
        self.panel_cols
    }
}

/// The panels of one sweep over L (rows × cols, rows ≥ cols, lower trapezoid), from column `start` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub rows: usize,
    pub cols: usize,
    /// Earlier columns do not change: V is zero in rows `0..start`.
    pub start: usize,
    pub panel_cols: usize,
}

impl Plan {
    #[inline]
    pub fn panels(&self) -> usize {
        (self.cols - self.start.min(self.cols)).div_ceil(self.panel_cols)
    }

    /// The next diagonal rows: the rows below `panel` that belong to the next diagonal block.
    pub fn next_rows(&self, panel: Panel) -> Range<usize> {
        match self.panel(panel.index + 1) {
            Some(next) => next.block(),
            None => panel.end()..panel.end(),
        }
    }

    /// The rows below the next diagonal rows.
    pub fn trailing_rows(&self, panel: Panel) -> Range<usize> {
        self.next_rows(panel).end..self.rows
    }

    /// The panel at position `index`, or `None` past the last.
    #[inline]
    pub fn panel(&self, index: usize) -> Option<Panel> {
        let first = self.start + index * self.panel_cols;
        (first < self.cols).then(|| Panel { index, first, cols: self.panel_cols.min(self.cols - first) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_cover_the_columns_once_and_in_order() {
        for (rows, cols, start, panel_cols) in
            [(0, 0, 0, 4), (7, 7, 0, 4), (9, 5, 3, 1), (8, 8, 8, 3), (100, 64, 5, 16)]
        {
            let plan = Plan { rows, cols, start, panel_cols };
            let mut next = start;
            for index in 0..plan.panels() {
                let panel = plan.panel(index).unwrap();
                assert_eq!((panel.index, panel.first), (index, next));
                assert!(panel.cols >= 1 && panel.cols <= panel_cols);
                next = panel.end();
            }
            assert_eq!(next, cols);
            assert_eq!(plan.panel(plan.panels()), None);
        }
    }
}
