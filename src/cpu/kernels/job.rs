//! The memory of one sweep. Nothing here knows about threads.

use super::apply::Tile;
use super::entries::Entries;
use super::low_rank::{BLOCK, Coefficients, LowRank, PANEL_COLS};
use super::packed::Tiles;
use super::reflector::{OneSign, Reflector};
use super::shape::Shape;
use crate::host::isa::Isa;
use crate::scalar::Scalar;
use crate::sweep::plan::Panel;

/// Everything that the steps of one sweep, [`diagonal`](Job::diagonal) and [`trailing`](Job::trailing), read and write.
#[derive(Clone, Copy)]
pub struct Job<T> {
    pub isa: Isa,
    pub l: Entries<T>,
    pub v: Tiles<T>,
    /// Write whole tiles of the new L past the caches.
    pub stream: bool,
    /// L is larger than the caches.
    pub large: bool,
    /// Memory for the block reflectors or coefficients of `reflector_sets` panels.
    pub reflectors: *mut T,
    pub reflector_sets: usize,
    /// Columns of a full panel, a multiple of `block`.
    pub panel_cols: usize,
    /// Columns of L that one micro reflector covers.
    pub block: usize,
    /// Lanes of a register.
    pub lanes: usize,
    /// Each column of V, in one tile, goes through L by itself: with [`Coefficients`] and not by block reflectors.
    pub by_column: bool,
    /// Block reflectors of whole blocks are made for all of their columns at once, where that is accurate.
    pub at_once: bool,
    pub plus: usize,
    pub minus: usize,
    /// What the new entries of L are multiplied by.
    pub scale: T,
    pub carried: Option<CarriedRows<T>>,
}

/// Rows that go through the sweep below L and lie elsewhere.
#[derive(Clone, Copy)]
pub(crate) struct CarriedRows<T> {
    /// The first of them: L has as many rows.
    pub first: usize,
    pub entries: Entries<T>,
}

// SAFETY: a description of memory, as a job is.
unsafe impl<T: Sync> Sync for CarriedRows<T> {}

// SAFETY: a job describes memory; who may use which rows when is the contract of each step.
unsafe impl<T: Sync> Sync for Job<T> {}

impl<T: Scalar> Job<T> {
    /// Scalars that the block reflectors of one panel take, for V with that many columns of each sign.
    pub fn reflector_len(panel_cols: usize, shape: &Shape, plus: usize, minus: usize) -> usize {
        panel_cols.div_ceil(shape.block) * Self::micro_len(shape.lanes, plus, minus)
    }

    /// Scalars that the coefficients of one panel take, for V with that many columns.
    pub fn coefficients_len(rank: usize) -> usize {
        PANEL_COLS / BLOCK * rank * Coefficients::<T>::LEN
    }

    /// Scalars that the micro reflectors of one block of columns take: one for each sign that is there.
    fn micro_len(lanes: usize, plus: usize, minus: usize) -> usize {
        let len = |rank| if rank > 0 { Reflector::<T>::len(rank, lanes) } else { 0 };
        len(plus) + len(minus)
    }

    /// The columns of V of each sign, in the order in which they are worked on: plus before minus.
    pub fn signed(&self) -> [OneSign; 2] {
        [
            OneSign { first: 0, rank: self.plus, minus: false },
            OneSign { first: self.plus, rank: self.minus, minus: true },
        ]
    }

    /// Where the steps for V of a few columns find L and V.
    pub fn low_rank(&self) -> LowRank<T> {
        let Self { l, plus, minus, stream, large, .. } = *self;
        LowRank { l, v: self.v.by_row(), v_stride: self.v.tile, rank: plus + minus, plus, stream, large }
    }

    /// The coefficients of `panel`: of each block of columns one for each column of V.
    pub fn coefficients(&self, panel: Panel) -> *mut Coefficients<T> {
        let before = panel.index % self.reflector_sets * Self::coefficients_len(self.plus + self.minus);
        // SAFETY: the set is inside the memory that `reflectors` was sized for.
        unsafe { self.reflectors.add(before) }.cast()
    }

    /// Micro reflector `s` of `panel` for columns of V of one sign.
    #[inline(always)]
    pub fn reflector(&self, panel: Panel, s: usize, signed: OneSign) -> Reflector<T> {
        let Self { block, lanes, plus, minus, .. } = *self;
        let set = panel.index % self.reflector_sets
            * (self.panel_cols.div_ceil(block) * Self::micro_len(lanes, plus, minus));
        let before = if signed.first > 0 { Reflector::<T>::len(plus, lanes) } else { 0 };
        // SAFETY: set, s and sign are inside the memory that `reflectors` was sized for.
        unsafe {
            let at = self.reflectors.add(set + s * Self::micro_len(lanes, plus, minus) + before);
            Reflector::at(at, lanes, signed.rank)
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
}
