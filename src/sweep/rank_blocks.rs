//! The division of the columns of V into rank blocks.

use core::ops::Range;

/// The columns of the signed V in blocks of `width`, each of one sign. A device processes one block in one pass of its kernels.
/// Blocks with a plus sign come first. A block with fewer columns counts as filled with zeros, which change nothing.
///
/// The minus columns are in reverse order of blocks, so that a downdate removes the rank blocks of an earlier update in the
/// reverse order of their addition. With another order no rank block would return to an earlier factor, and in a loop that adds
/// and removes the same V the rounding errors would accumulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RankBlocks {
    pub width: usize,
    plus: usize,
    minus: usize,
}

impl RankBlocks {
    /// No columns.
    pub const NONE: Self = Self { width: 1, plus: 0, minus: 0 };

    pub fn new(width: usize, plus: usize, minus: usize) -> Self {
        Self { width, plus, minus }
    }

    /// The number of blocks with a plus sign.
    pub fn count_plus(&self) -> usize {
        self.plus.div_ceil(self.width)
    }

    pub fn count(&self) -> usize {
        self.count_plus() + self.minus.div_ceil(self.width)
    }

    /// Whether the columns of a block have a minus sign.
    pub fn is_minus(&self, block: usize) -> bool {
        block >= self.count_plus()
    }

    /// The number of columns of all blocks, including zeros.
    pub fn columns(&self) -> usize {
        self.count() * self.width
    }

    /// The column of the signed V at `place` in the blocks; `None` for a column of zeros.
    pub fn column_at(&self, place: usize) -> Option<usize> {
        let (block, r) = (place / self.width, place % self.width);
        let (first, own, columns) = match self.is_minus(block) {
            false => (0, block, self.plus),
            true => (self.plus, self.count() - 1 - block, self.minus),
        };
        let r = own * self.width + r;
        (r < columns).then_some(first + r)
    }

    /// The number of columns of V in a block. Only the last block with a plus sign and the first one with a minus sign may have
    /// fewer than the width.
    #[cfg(any(feature = "cuda", test))]
    pub fn columns_of(&self, block: usize) -> usize {
        let after_plus = self.count_plus();
        if block + 1 == after_plus {
            self.plus - block * self.width
        } else if block == after_plus {
            self.columns_of_first_minus()
        } else {
            self.width
        }
    }

    /// The place of a column of the signed V in the blocks.
    #[cfg(any(feature = "cuda", test))]
    pub fn place_of(&self, column: usize) -> usize {
        match column.checked_sub(self.plus) {
            None => column,
            Some(minus) => (self.count() - 1 - minus / self.width) * self.width + minus % self.width,
        }
    }

    /// The places of columns of V, in runs of neighbours.
    #[cfg(any(feature = "cuda", test))]
    pub fn places_of_v(&self) -> [Range<usize>; 3] {
        let (after_plus, behind) = (self.count_plus() * self.width, self.after_first_minus());
        [0..self.plus, after_plus..after_plus + self.columns_of_first_minus(), behind..self.columns()]
    }

    /// The places of columns of zeros.
    pub fn places_of_zeros(&self) -> [Range<usize>; 2] {
        let (after_plus, behind) = (self.count_plus() * self.width, self.after_first_minus());
        [self.plus..after_plus, after_plus + self.columns_of_first_minus()..behind]
    }

    /// Columns of the first block with a minus sign, which contains the remainder that does not fill a block.
    fn columns_of_first_minus(&self) -> usize {
        self.minus - self.minus.saturating_sub(1) / self.width * self.width
    }

    /// The place after that block.
    fn after_first_minus(&self) -> usize {
        self.columns().min((self.count_plus() + 1) * self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_place_with_its_sign() {
        for width in [1, 4, 16, 32] {
            for (plus, minus) in
                [(0, 0), (1, 0), (0, 1), (1, 1), (3, 2), (16, 0), (17, 30), (40, 1), (0, 256), (33, 32)]
            {
                let blocks = RankBlocks::new(width, plus, minus);
                let mut found = Vec::new();
                for place in 0..blocks.columns() {
                    let of_v = blocks.places_of_v().iter().filter(|places| places.contains(&place)).count();
                    let of_zeros =
                        blocks.places_of_zeros().iter().filter(|places| places.contains(&place)).count();
                    let column = blocks.column_at(place);
                    assert_eq!((of_v, of_zeros), if column.is_some() { (1, 0) } else { (0, 1) });
                    if let Some(column) = column {
                        assert_eq!(blocks.place_of(column), place);
                        assert_eq!(blocks.is_minus(place / width), column >= plus);
                        found.push(column);
                    }
                }
                for block in 0..blocks.count() {
                    let places = block * width..(block + 1) * width;
                    let there = places.filter(|&place| blocks.column_at(place).is_some()).count();
                    assert_eq!(blocks.columns_of(block), there);
                }
                found.sort_unstable();
                assert_eq!(found, (0..plus + minus).collect::<Vec<_>>());
                let zeros = |columns: usize| columns.next_multiple_of(width) - columns;
                assert_eq!(blocks.columns(), plus + minus + zeros(plus) + zeros(minus));
            }
        }
    }

    #[test]
    fn minus_columns_begin_with_the_last() {
        let blocks = RankBlocks::new(4, 5, 9);
        let columns: Vec<_> = (0..blocks.columns()).step_by(4).map(|place| blocks.column_at(place)).collect();
        assert_eq!(columns, [Some(0), Some(4), Some(13), Some(9), Some(5)]);
    }
}
