//! The memory of one sweep, and the two steps of a panel on it. Nothing here knows about threads.

use super::packed::Tiles;
use super::rank_one::{Coefficients, RankOne};
use super::reflector::Reflector;
use super::simd::{Isa, fence};
use super::steps::{Diagonal, Trailing};
use super::trailing::Tile;
use crate::plan::Panel;
use crate::report::Health;
use crate::scalar::Scalar;
use core::ops::Range;

/// Old and new L, column-major; the new one may be the same memory, or null for a rehearsal.
#[derive(Clone, Copy)]
pub(crate) struct Columns<T> {
    pub src: *const T,
    pub src_stride: isize,
    pub dst: *mut T,
    pub dst_stride: isize,
}

// SAFETY: a description of memory, which unsafe calls alone use; who may do so when is their contract.
unsafe impl<T: Sync> Sync for Columns<T> {}

/// What the diagonal steps hand from one panel to the next.
pub(crate) struct Chain<T> {
    pub health: Health<T>,
    /// For one column of V: t, by whose root the working copy of V is too large.
    pub t: T,
}

impl<T: Scalar> Default for Chain<T> {
    fn default() -> Self {
        Self { health: Health::default(), t: T::ONE }
    }
}

/// Everything that the steps of one sweep read and write.
#[derive(Clone, Copy)]
pub(crate) struct Job<T> {
    pub isa: Isa,
    pub l: Columns<T>,
    pub v: Tiles<T>,
    /// Write whole tiles of the new L past the caches.
    pub stream: bool,
    /// L is larger than the caches.
    pub large: bool,
    /// Memory for the block reflectors of `reflector_sets` panels.
    pub reflectors: *mut T,
    pub reflector_sets: usize,
    /// Columns of a full panel, a multiple of `block`.
    pub panel_cols: usize,
    /// Columns of L that one micro reflector covers.
    pub block: usize,
    /// Lanes of a register.
    pub lanes: usize,
    pub plus: usize,
    pub minus: usize,
}

// SAFETY: a job describes memory; who may use which rows when is the contract of each step.
unsafe impl<T: Sync> Sync for Job<T> {}

impl<T: Scalar> Job<T> {
    /// Scalars that the block reflector of one panel takes.
    pub fn reflector_len(panel_cols: usize, block: usize, lanes: usize, rank: usize) -> usize {
        match rank {
            1 => Coefficients::<T>::LEN,
            _ => panel_cols.div_ceil(block) * Reflector::<T>::len(rank, lanes),
        }
    }

    /// What the steps for one column of V need, if it is one.
    pub fn rank_one(&self, panel: Panel) -> Option<(RankOne<T>, *mut Coefficients<T>)> {
        if self.plus + self.minus != 1 {
            return None;
        }
        let sign = if self.plus == 1 { T::ONE } else { -T::ONE };
        let set = Coefficients::<T>::LEN * (panel.index % self.reflector_sets);
        // SAFETY: the set is inside the memory that `reflectors` was sized for.
        let coefficients = unsafe { self.reflectors.add(set) }.cast();
        Some((
            RankOne { l: self.l, v: self.v.by_row(), sign, stream: self.stream, large: self.large },
            coefficients,
        ))
    }

    /// Micro reflector `s` of `panel`.
    pub fn reflector(&self, panel: Panel, s: usize) -> Reflector<T> {
        let rank = self.plus + self.minus;
        let set = Self::reflector_len(self.panel_cols, self.block, self.lanes, rank)
            * (panel.index % self.reflector_sets);
        // SAFETY: set and s are inside the memory that `reflectors` was sized for.
        unsafe {
            let at = self.reflectors.add(set + s * Reflector::<T>::len(rank, self.lanes));
            Reflector::at(at, self.lanes, self.plus, self.minus)
        }
    }

    /// The place of row `offset` of a tile of V and of that row of L, from column `column` on. The base
    /// pointers of L may lie outside the memory, as those of a panel in a slot do.
    ///
    /// # Safety
    /// The tile must be one of V's, and `offset` a row of it.
    #[inline(always)]
    pub unsafe fn tile(&self, tile: usize, offset: usize, column: usize) -> Tile<T> {
        let row = self.v.first_row(tile) + offset;
        let l = &self.l;
        Tile {
            src: l.src.wrapping_offset(column as isize * l.src_stride).wrapping_add(row),
            src_stride: l.src_stride,
            dst: match l.dst.is_null() {
                true => l.dst,
                false => l.dst.wrapping_offset(column as isize * l.dst_stride).wrapping_add(row),
            },
            dst_stride: l.dst_stride,
            stream: false,
            ahead: 0,
            // SAFETY: the caller vouches for the tile and the row.
            v: unsafe { self.v.ptr(tile).add(offset) },
            v_stride: self.v.tile,
        }
    }

    /// The diagonal step: transforms the block of `panel` and fills its reflectors.
    ///
    /// # Errors
    /// The column of L whose pivot² is not greater than zero.
    ///
    /// # Safety
    /// All earlier panels have been applied to the rows of the block, and nobody else uses those rows, nor
    /// the panel's set of reflectors.
    pub unsafe fn diagonal(&self, panel: Panel, chain: &mut Chain<T>) -> Result<(), usize> {
        self.isa.run(Diagonal { job: self, panel, chain })
    }

    /// The trailing step on `rows`.
    ///
    /// # Safety
    /// The reflectors of `panel` are made, all earlier panels have been applied to `rows`, and nobody else
    /// uses those rows.
    pub unsafe fn trailing(&self, panel: Panel, rows: Range<usize>) {
        if !rows.is_empty() {
            self.isa.run(Trailing { job: self, panel, rows });
            if self.stream {
                fence();
            }
        }
    }
}
