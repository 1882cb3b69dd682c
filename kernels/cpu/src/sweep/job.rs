//! The memory of one sweep. This module is independent of threads.

use super::apply::Tile;
use super::entries::Entries;
use super::low_rank::{BLOCK, Coefficients, LowRank, PANEL_COLS, together};
use super::packed::Tiles;
use super::reflector::{OneSign, Reflector};
use super::shape::Shape;
use crate::isa::Isa;
use crate::number::Number;
use crate::panel::Panel;

/// All that the steps of one sweep, [`diagonal`](Job::diagonal) and [`trailing`](Job::trailing), read and write.
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
    /// Columns of a full panel; a multiple of `block`.
    pub panel_cols: usize,
    /// Columns of L that one micro reflector covers.
    pub block: usize,
    /// Lanes of a register.
    pub lanes: usize,
    /// V is in one tile, and the steps are those of `low_rank`, with [`Coefficients`] for each of its columns and not with block
    /// reflectors.
    pub by_column: bool,
    /// In `low_rank`: the columns of V of a sign are applied together where that is accurate.
    pub together: bool,
    /// Block reflectors of whole blocks are computed for all of their columns at once, if that is accurate.
    pub at_once: bool,
    pub plus: usize,
    pub minus: usize,
    /// The real number that new entries of L are multiplied by.
    pub scale: T,
    pub carried: Option<CarriedRows<T>>,
}

/// Rows that are carried through the sweep below L, and are stored elsewhere.
#[derive(Clone, Copy)]
pub struct CarriedRows<T> {
    /// Index of the first of them, which is the number of rows of L.
    pub first: usize,
    pub entries: Entries<T>,
}

// SAFETY: this describes memory, as a job does.
unsafe impl<T: Sync> Sync for CarriedRows<T> {}

// SAFETY: a job describes memory; the contract of each step says which thread may use which rows when.
unsafe impl<T: Sync> Sync for Job<T> {}

impl<T: Number> Job<T> {
    /// Scalars of the block reflectors of one panel, for a V with that many columns of each sign.
    pub fn reflector_len(panel_cols: usize, shape: &Shape, plus: usize, minus: usize) -> usize {
        panel_cols.div_ceil(shape.block) * Self::micro_len(shape.lanes, plus, minus)
    }

    /// Scalars of the coefficients of one panel, for a V with that many columns, which may be applied `together`.
    pub fn coefficients_len(rank: usize, together: bool) -> usize {
        match together {
            true => together::sets_len::<T::Part>(rank),
            false => PANEL_COLS / BLOCK * rank * Coefficients::<T>::LEN,
        }
    }

    /// Scalars of the micro reflectors of one block of columns: one for each sign that occurs.
    fn micro_len(lanes: usize, plus: usize, minus: usize) -> usize {
        let len = |rank| if rank > 0 { Reflector::<T>::len(rank, lanes) } else { 0 };
        len(plus) + len(minus)
    }

    /// The columns of V of each sign, in the order in which they are processed: plus before minus.
    pub fn signed(&self) -> [OneSign; 2] {
        [
            OneSign { first: 0, rank: self.plus, minus: false },
            OneSign { first: self.plus, rank: self.minus, minus: true },
        ]
    }

    /// L and V for the steps of a V with few columns.
    pub fn low_rank(&self) -> LowRank<T> {
        let Self { l, plus, minus, stream, large, together, .. } = *self;
        let (v, v_stride) = (self.v.by_row(), self.v.column_len());
        LowRank { l, v, v_stride, rank: plus + minus, plus, together, stream, large }
    }

    /// The set of reflectors of `panel`. It is asked for so often that divisions count.
    #[inline(always)]
    pub fn set(&self, panel: Panel) -> usize {
        match self.reflector_sets {
            1 => 0,
            sets => panel.index % sets,
        }
    }

    /// The memory of the set of reflectors or coefficients of `panel`, and its scalars.
    pub fn memory_of_set(&self, panel: Panel) -> (*mut T, usize) {
        let Self { block, lanes, plus, minus, .. } = *self;
        let len = match self.by_column {
            true => Self::coefficients_len(plus + minus, self.together),
            false => self.panel_cols.div_ceil(block) * Self::micro_len(lanes, plus, minus),
        };
        (self.reflectors.wrapping_add(self.set(panel) * len), len)
    }

    /// The coefficients of `panel`: one set for each block of columns and column of V, or what `together` stores.
    pub fn coefficients(&self, panel: Panel) -> *mut Coefficients<T> {
        let before = self.set(panel) * Self::coefficients_len(self.plus + self.minus, self.together);
        // SAFETY: the set is inside the memory for which `reflectors` was sized.
        unsafe { self.reflectors.add(before) }.cast()
    }

    /// Micro reflector `s` of `panel` for columns of V of one sign.
    #[inline(always)]
    pub fn reflector(&self, panel: Panel, s: usize, signed: OneSign) -> Reflector<T> {
        let Self { block, lanes, plus, minus, .. } = *self;
        let set = match self.set(panel) {
            0 => 0,
            set => set * self.panel_cols.div_ceil(block) * Self::micro_len(lanes, plus, minus),
        };
        let before = if signed.first > 0 { Reflector::<T>::len(plus, lanes) } else { 0 };
        // SAFETY: set, s and sign are inside the memory for which `reflectors` was sized.
        unsafe {
            let at = self.reflectors.add(set + s * Self::micro_len(lanes, plus, minus) + before);
            Reflector::at(at, lanes, signed.rank)
        }
    }

    /// The tile at row `offset` of a tile of V and at the same row of L, from column `column` on. The base pointers of L may
    /// lie outside the memory, as for a panel in a slot.
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
            // SAFETY: the caller guarantees the tile and the row.
            v: unsafe { self.v.ptr(tile).add(offset) },
            v_stride: self.v.column_len(),
        }
    }
}
