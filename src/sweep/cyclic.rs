//! The distribution of the rows: block i of `block` rows belongs to process, or device, i mod P, as in a P × 1 process grid of ScaLAPACK
//! with that block size. Pure geometry, no data.
//!
//! A process stores its rows in order, so the rows from any row of L on are a range of its own.

#[cfg(feature = "distributed")]
use core::ops::Range;

/// Which rows of an L (n × n) a process has.
#[cfg(feature = "distributed")]
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

/// The process, or device, that has this row, if each of `ranks` has `block` of them in turn.
pub(crate) fn owner(row: usize, block: usize, ranks: usize) -> usize {
    row / block % ranks
}

#[cfg(feature = "distributed")]
impl Cyclic {
    /// The process that has this row.
    #[must_use]
    pub fn owner(&self, row: usize) -> usize {
        owner(row, self.block, self.ranks)
    }

    /// Whether this process has this row.
    #[must_use]
    pub fn is_mine(&self, row: usize) -> bool {
        self.owner(row) == self.rank
    }

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

#[cfg(all(test, feature = "distributed"))]
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
}
