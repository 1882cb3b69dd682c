//! The working copy of V: tiles of rows, each contiguous, in the order in which the trailing step reads them.

use super::shape::MAX_LANES;
use crate::buffer::Buffer;
use crate::compiled;
use crate::isa::Isa;
use crate::number::{Float, Number};
use core::ops::Range;
use faer::{ColRef, MatRef};
use pulp::{Simd, WithSimd};

/// V diag(√|w|) with plus signs first, in tiles of `tile` rows; entry (i, r) of a tile is at r·tile + i. Of complex numbers the real
/// parts of a column of a tile come first, and then its imaginary parts, so that registers of each are loaded as they are.
#[derive(Clone)]
pub struct Packed<T> {
    data: Buffer<T>,
    /// The row of V that is row 0 of the first tile.
    base: usize,
    tile: usize,
    rank: usize,
    /// Minimum number of rows for which memory is allocated.
    pub most: usize,
}

impl<T> Default for Packed<T> {
    fn default() -> Self {
        Self { data: Buffer::default(), base: 0, tile: 1, rank: 0, most: 0 }
    }
}

impl<T: Number> Packed<T> {
    /// Copies `rank` columns of `rows` entries, each times its factor, as rows from `base` on. The rest of the last tile is
    /// zero.
    #[inline(always)]
    pub fn pack<'a>(
        &mut self,
        columns: impl Iterator<Item = (ColRef<'a, T>, T::Part)>,
        rank: usize,
        rows: usize,
        base: usize,
        tile: usize,
    ) {
        self.make_room(rank, rows, base, tile);
        let view = self.view();
        let tiles = rows.div_ceil(tile);
        for (r, (column, scale)) in columns.enumerate() {
            for t in 0..tiles {
                let from = t * tile..((t + 1) * tile).min(rows);
                // SAFETY: there is memory for these tiles and columns, borrowed exclusively.
                unsafe { view.pack_column(t, r, column.subrows(from.start, from.len()), scale) };
            }
        }
    }

    /// The same on several threads: `each` calls a function once for each of as many parts. `columns` returns the columns of V.
    pub fn pack_on<'a, I: Iterator<Item = (ColRef<'a, T>, T::Part)>>(
        &mut self,
        each: impl Fn(usize, &(dyn Fn(usize) + Sync)),
        columns: impl Fn() -> I + Sync,
        rank: usize,
        rows: usize,
        (base, tile): (usize, usize),
    ) {
        /// Rows of V that a thread copies at a time: enough to read each column in several cache lines.
        const ROWS: usize = 192;
        self.make_room(rank, rows, base, tile);
        let (view, tiles) = (self.view(), rows.div_ceil(tile));
        let together = (ROWS / tile).max(1);
        each(tiles.div_ceil(together), &|part| {
            let some = part * together..tiles.min((part + 1) * together);
            for (r, (column, scale)) in columns().enumerate() {
                for t in some.clone() {
                    let from = t * tile..((t + 1) * tile).min(rows);
                    // SAFETY: there is memory for these tiles and columns, borrowed exclusively; each part has its own tiles.
                    unsafe { view.pack_column(t, r, column.subrows(from.start, from.len()), scale) };
                }
            }
        });
    }

    /// Reserves room for `rank` columns of `rows` rows from `base` on. The contents are unspecified.
    #[inline(always)]
    pub fn make_room(&mut self, rank: usize, rows: usize, base: usize, tile: usize) {
        // With a single tile for all rows, its height is the number of rows of this call.
        let step = if tile < rows { tile } else { tile.min(MAX_LANES) };
        self.data.reserve(rows.next_multiple_of(tile).max(self.most.next_multiple_of(step)) * rank);
        (self.base, self.tile, self.rank) = (base, tile, rank);
    }

    /// The first row stored.
    pub fn base(&self) -> usize {
        self.base
    }

    #[inline(always)]
    pub fn view(&mut self) -> Tiles<T> {
        Tiles { data: self.data.as_mut_ptr(), base: self.base, tile: self.tile, rank: self.rank }
    }
}

impl<T: PackKernel> Packed<T> {
    /// Copies V without scaling. All columns have one sign, and are in the same order as in `Signed::columns`; rows are
    /// contiguous. Returns the sum of the squares of V.
    #[inline(always)]
    pub fn pack_one_sign(&mut self, isa: Isa, v: MatRef<'_, T>, minus: bool, tile: usize) -> T::Part {
        let (rows, rank) = v.shape();
        debug_assert!(
            rank > 0 && (rows == 1 || v.row_stride() == 1),
            "V is there, and its rows are neighbours"
        );
        self.make_room(rank, rows, 0, tile);
        let view = self.view();
        // SAFETY: there is memory for these tiles and columns, borrowed exclusively.
        T::pack(isa, unsafe { Pack::new(v, minus, view) })
    }
}

compiled! {
    /// [`Packed::pack_one_sign`].
    PackKernel of numbers {
        pack: Pack<'_, Self> => Self::Part,
    }
}

/// Copies V, whose rows are contiguous, to its tiles, and sums its squares.
pub struct Pack<'a, T: Number> {
    v: MatRef<'a, T>,
    minus: bool,
    to: Tiles<T>,
}

impl<'a, T: Number> Pack<'a, T> {
    /// # Safety
    /// The tiles, of whole registers, have space for V, and no other thread uses them until this has run.
    unsafe fn new(v: MatRef<'a, T>, minus: bool, to: Tiles<T>) -> Self {
        Self { v, minus, to }
    }
}

impl<T: Number> WithSimd for Pack<'_, T> {
    type Output = T::Part;

    /// Returns the sum of the squares of V.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> T::Part {
        let Self { v, minus, to } = self;
        let (rows, rank) = v.shape();
        let (lanes, stride) = (T::lanes::<S>(), v.col_stride());
        // A downdate reads V from its last column on.
        let (leading, step) = if minus { ((rank - 1) as isize * stride, -stride) } else { (0, stride) };
        let mut from = v.as_ptr().wrapping_offset(leading);
        let (mut at, mut first) = (to.data.cast::<T::Part>(), 0);
        let mut sums = T::Part::splat(simd, T::Part::ZERO);
        while first < rows {
            let mut column = from;
            for _ in 0..rank {
                for row in (0..to.tile).step_by(lanes) {
                    let real = rows.saturating_sub(first + row).min(lanes);
                    // SAFETY: the mask restricts loads to the rows of V, and `new` requires the tiles.
                    unsafe {
                        let x = T::load_masked(simd, T::mask(simd, 0, real), column.wrapping_add(row));
                        T::store_parts::<S>(at.add(row), to.tile, x);
                        sums = T::plus_squares(simd, x, sums);
                    }
                }
                (at, column) = (at.wrapping_add(to.column_len()), column.wrapping_offset(step));
            }
            (from, first) = (from.wrapping_add(to.tile), first + to.tile);
        }
        let mut each = [T::Part::ZERO; MAX_LANES];
        // SAFETY: there is space for a register.
        unsafe { T::Part::store::<S>(each.as_mut_ptr(), sums) };
        each[..lanes].iter().fold(T::Part::ZERO, |sum, &lane| sum + lane)
    }
}

/// The location of the tiles. Different threads may use different rows.
#[derive(Clone, Copy)]
pub struct Tiles<T> {
    data: *mut T,
    base: usize,
    /// Rows in a tile; also the distance from the real to the imaginary parts of a column.
    pub tile: usize,
    rank: usize,
}

// SAFETY: this describes memory that only unsafe calls access; their contracts say which thread may access what when.
unsafe impl<T: Send> Send for Tiles<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Tiles<T> {}

impl<T: Number> Tiles<T> {
    /// A part, the real or the imaginary one, of column `r` of a tile.
    ///
    /// # Safety
    /// There is memory for it, and no other thread uses it.
    #[inline(always)]
    unsafe fn column<'a>(&self, tile: usize, r: usize, part: usize) -> &'a mut [T::Part] {
        let at = r * self.column_len() + part * self.tile;
        // SAFETY: tile and column have `self.tile` real numbers of that memory for each part to themselves.
        unsafe { core::slice::from_raw_parts_mut(self.ptr(tile).add(at), self.tile) }
    }

    /// Copies the rows of a tile from column `r` of V, times a factor. Missing rows are set to zero.
    ///
    /// # Safety
    /// As `column`.
    #[inline(always)]
    pub unsafe fn pack_column(&self, tile: usize, r: usize, rows: ColRef<'_, T>, scale: T::Part) {
        for part in 0..T::PARTS {
            // SAFETY: the caller guarantees the contract of `column`, which is the same.
            let to = unsafe { self.column(tile, r, part) };
            match rows.try_as_col_major() {
                Some(from) if T::PARTS == 1 => {
                    let from = T::parts(from.as_slice());
                    to.iter_mut().zip(from).for_each(|(to, &from)| *to = scale * from);
                }
                _ => to.iter_mut().zip(rows.iter()).for_each(|(to, from)| {
                    *to = scale * T::parts(core::slice::from_ref(from))[part];
                }),
            }
            to[rows.nrows()..].fill(T::Part::ZERO);
        }
    }

    /// Real numbers of a column of a tile; also the distance from one column to the next.
    #[inline(always)]
    pub fn column_len(&self) -> usize {
        self.tile * T::PARTS
    }

    /// Entry `r` of a row of V.
    ///
    /// # Safety
    /// It is one of V's, and no other thread writes to it.
    #[inline(always)]
    pub unsafe fn entry(&self, row: usize, r: usize) -> T {
        let (tile, offset) = self.locate(row);
        // SAFETY: the caller guarantees the entry.
        unsafe { T::read_parts(self.ptr(tile).add(r * self.column_len() + offset), self.tile) }
    }

    /// Adds this multiple of the squared norm of each row of V from `first` on, over these columns, to its sum.
    ///
    /// # Safety
    /// They are V's, and no other thread writes to them.
    pub unsafe fn add_squares(&self, first: usize, columns: Range<usize>, factor: f64, sums: &mut [f64]) {
        let mut rest = sums;
        let mut row = first;
        while !rest.is_empty() {
            let (tile, offset) = self.locate(row);
            let (sums, later) = rest.split_at_mut(rest.len().min(self.tile - offset));
            for (r, part) in columns.clone().flat_map(|r| (0..T::PARTS).map(move |part| (r, part))) {
                let at = r * self.column_len() + part * self.tile + offset;
                // SAFETY: the caller guarantees these rows of the column.
                let column = unsafe { core::slice::from_raw_parts(self.ptr(tile).add(at), sums.len()) };
                for (sum, &x) in sums.iter_mut().zip(column) {
                    let x = x.to_f64();
                    *sum += factor * (x * x);
                }
            }
            (row, rest) = (row + sums.len(), later);
        }
    }

    /// For V in one tile: entry i is row i of its first column. Rows before the base do not exist.
    pub fn by_row(&self) -> *mut T::Part {
        self.data.cast::<T::Part>().wrapping_sub(self.base)
    }

    /// The tile that contains `row` ≥ base, and the row's index in it.
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
    pub unsafe fn ptr(&self, tile: usize) -> *mut T::Part {
        // SAFETY: the tile is inside the packed memory, as the caller guarantees.
        unsafe { self.data.cast::<T::Part>().add(tile * self.column_len() * self.rank) }
    }
}
