//! The panels of a sweep over columns of L of both signs: each has one.

use crate::sweep::plan::Panels;
use cholupdate_kernels::panel::Panel;
use core::ops::Range;

/// Panels of columns of one sign, in order, and the rows below them.
pub(super) struct RunPanels<'a> {
    pub panels: &'a [Panel],
    pub rows: Range<usize>,
    /// No panel has columns on both sides of a multiple of this, counted from the first row.
    pub unit: usize,
}

impl Panels for RunPanels<'_> {
    fn panel(&self, index: usize) -> Option<Panel> {
        self.panels.get(index).copied()
    }

    fn next_rows(&self, panel: Panel) -> Range<usize> {
        self.panel(panel.index + 1).map_or(panel.end()..panel.end(), |next| next.block())
    }

    fn trailing_rows(&self, panel: Panel) -> Range<usize> {
        self.next_rows(panel).end..self.rows.end
    }

    fn all_rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    fn unit(&self) -> usize {
        self.unit
    }
}

/// Cuts columns into panels of one sign. Counted from the first column, none has columns on both sides of a multiple of `unit`. One
/// that begins inside a block of columns, or that would end inside one because the sign changes, ends where the block begins or ends.
pub(super) fn cut(
    negative: &[bool],
    columns: Range<usize>,
    (unit, block): (usize, usize),
    panels: &mut Vec<Panel>,
) {
    panels.clear();
    let mut first = columns.start;
    while first < columns.end {
        let before = first - columns.start;
        let most = columns.end.min(first + unit - before % unit);
        let sign = negative[first];
        let same = negative[first..most].iter().take_while(|&&negative| negative == sign).count();
        let end = match before % block {
            0 if first + same == most || same < block => first + same,
            0 => first + same / block * block,
            inside => first + same.min(block - inside),
        };
        panels.push(Panel { index: panels.len(), first, cols: end - first });
        first = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_have_one_sign_and_begin_at_blocks() {
        const BLOCK: usize = 8;
        let mut panels = Vec::new();
        for length in 1..100 {
            let negative: Vec<bool> = (0..211).map(|j| j / length % 2 == 1).collect();
            for (start, unit, block) in [(0, 48, BLOCK), (16, 24, BLOCK), (3, 64, 1)] {
                cut(&negative, start..211, (unit, block), &mut panels);
                let mut first = start;
                for (index, panel) in panels.iter().enumerate() {
                    assert_eq!((panel.index, panel.first), (index, first));
                    assert!(panel.cols > 0);
                    assert!(panel.block().all(|j| negative[j] == negative[first]));
                    let [begin, end] = [first, panel.end()].map(|j| j - start);
                    assert_eq!(begin / unit, (end - 1) / unit);
                    assert!(begin % block == 0 || begin / block == (end - 1) / block);
                    first = panel.end();
                }
                assert_eq!(first, 211);
            }
        }
    }
}
