//! The working copy of V: tiles of rows, each contiguous, in the order the trailing step reads them.

use super::buffer::Buffer;
use crate::change::Change;
use crate::scalar::Scalar;

/// V diag(√|w|) with plus signs first, in tiles of `tile` rows; entry (i, r) of a tile is at r·tile + i.
#[derive(Clone)]
pub(crate) struct Packed<T> {
    data: Buffer<T>,
    /// The row of V that is row 0 of the first tile.
    base: usize,
    tile: usize,
    rank: usize,
}

impl<T> Default for Packed<T> {
    fn default() -> Self {
        Self { data: Buffer::default(), base: 0, tile: 1, rank: 0 }
    }
}

impl<T: Scalar> Packed<T> {
    /// Copies rows `base..order` of the change; the last tile is filled up with zeros.
    pub fn pack(&mut self, change: &Change<'_, T>, order: usize, base: usize, tile: usize) {
        let rank = change.rank();
        let tiles = (order - base).div_ceil(tile);
        self.data.reserve(tiles * tile * rank);
        (self.base, self.tile, self.rank) = (base, tile, rank);
        let data = self.data.as_mut_ptr();
        for (r, (column, scale)) in change.columns().enumerate() {
            let column = column.col(0).subrows(base, order - base);
            for t in 0..tiles {
                let rows = t * tile..((t + 1) * tile).min(order - base);
                // SAFETY: tile t < tiles and column r < rank own `tile` scalars of what was reserved.
                let to = unsafe { core::slice::from_raw_parts_mut(data.add((t * rank + r) * tile), tile) };
                let part = column.subrows(rows.start, rows.len());
                match part.try_as_col_major() {
                    Some(part) => to.iter_mut().zip(part.as_slice()).for_each(|(y, &x)| *y = scale * x),
                    None => to.iter_mut().zip(part.iter()).for_each(|(y, &x)| *y = scale * x),
                }
                to[rows.len()..].fill(T::ZERO);
            }
        }
    }

    pub fn view(&mut self) -> Tiles<T> {
        Tiles { data: self.data.as_mut_ptr(), base: self.base, tile: self.tile, rank: self.rank }
    }
}

/// Where the tiles are; rows may be worked on by different threads.
#[derive(Clone, Copy)]
pub(crate) struct Tiles<T> {
    data: *mut T,
    base: usize,
    /// Rows in a tile; also the column stride within one.
    pub tile: usize,
    rank: usize,
}

impl<T> Tiles<T> {
    /// For V with one column, where the tiles join up: entry i is row i of V. Rows above the base are not
    /// there.
    pub fn by_row(&self) -> *mut T {
        self.data.wrapping_sub(self.base)
    }

    /// The tile that holds `row` ≥ base, and the row's place in it.
    pub fn locate(&self, row: usize) -> (usize, usize) {
        ((row - self.base) / self.tile, (row - self.base) % self.tile)
    }

    /// The first row of a tile.
    pub fn first_row(&self, tile: usize) -> usize {
        self.base + tile * self.tile
    }

    /// # Safety
    /// `tile` must be one of the packed tiles.
    #[inline(always)]
    pub unsafe fn ptr(&self, tile: usize) -> *mut T {
        // SAFETY: the tile lies inside the packed memory, as the caller says.
        unsafe { self.data.add(tile * self.tile * self.rank) }
    }
}
