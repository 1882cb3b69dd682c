//! Consecutive columns of L.

use core::ops::Range;

/// `cols` consecutive columns of L from column `first` on; row `first` contains the first diagonal entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panel {
    /// Position in the sweep, from 0.
    pub index: usize,
    pub first: usize,
    pub cols: usize,
}

impl Panel {
    /// The columns of the panel; also the rows of its diagonal block.
    #[inline]
    pub fn block(&self) -> Range<usize> {
        self.first..self.end()
    }
    /// The first row below the diagonal block.
    #[inline]
    pub fn end(&self) -> usize {
        self.first + self.cols
    }
}
