//! Applies the micro reflectors of a panel to rows below them, and chooses the micro-kernel for each row.

use super::apply::{Full, Tile, apply};
use super::in_registers::{Column, Store, apply as apply_columns};
use super::job::Job;
use super::part_of_tile::{ByReflectors, InRegisters};
use super::reflector::Reflector;
use super::scratch::Scratch;
use super::shape::{IN_REGISTERS_COLS, NARROW, TILES_AHEAD, WIDE, in_registers, row_registers, wide};
use crate::number::Number;
use crate::panel::Panel;
use core::ops::Range;
use pulp::{Simd, WithSimd};

/// Bytes of V to which a micro reflector is applied before the next one: half a first-level cache. Neighbouring tiles are
/// independent, so their latencies overlap.
const GROUP_BYTES: usize = 16 << 10;

/// A tile, and a range of its rows.
type RowsOfTile = (usize, Range<usize>);

/// Applies the micro reflectors `blocks` of a panel to `rows` below them.
pub struct Reflection<'a, T: Number> {
    job: &'a Job<T>,
    panel: Panel,
    blocks: Range<usize>,
    rows: Range<usize>,
}

impl<'a, T: Number> Reflection<'a, T> {
    /// # Safety
    /// As [`Job::trailing`], for these reflectors, at the time when this is run.
    pub unsafe fn new(job: &'a Job<T>, panel: Panel, blocks: Range<usize>, rows: Range<usize>) -> Self {
        Self { job, panel, blocks, rows }
    }
}

impl<T: Number> WithSimd for Reflection<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { job, panel, blocks, rows } = self;
        let (plus, minus) = (job.plus, job.minus);
        // If all columns have one sign, they all count as the first, with either sign.
        let first = if plus > 0 { plus } else { minus };
        let vectorized = Vectorized { simd, job, panel, blocks };
        macro_rules! few {
            ($k:literal, $p:literal) => {
                match T::PARTS {
                    1 => vectorized.in_registers::<{ row_registers($k, 1) }, $k, $p>(rows),
                    _ => vectorized.in_registers::<{ row_registers($k, 2) }, $k, $p>(rows),
                }
            };
        }
        // SAFETY: `new` requires exactly this; the constants are those of the job.
        unsafe {
            match (plus + minus, first, in_registers::<S>()) {
                (3, 3, true) => few!(3, 3),
                (3, 2, true) => few!(3, 2),
                (3, 1, true) => few!(3, 1),
                (4, 4, true) => few!(4, 4),
                (4, 3, true) => few!(4, 3),
                (4, 2, true) => few!(4, 2),
                (4, 1, true) => few!(4, 1),
                _ => vectorized.blocked(rows),
            }
        }
    }
}

/// The micro reflectors under one instruction set.
struct Vectorized<'a, T: Number, S> {
    simd: S,
    job: &'a Job<T>,
    panel: Panel,
    blocks: Range<usize>,
}

impl<T: Number, S: Simd> Vectorized<'_, T, S> {
    /// With V in registers.
    ///
    /// # Safety
    /// As [`Reflection::new`]; V has K columns, the first P of one sign, and tiles of RV registers.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn in_registers<const RV: usize, const K: usize, const P: usize>(&self, rows: Range<usize>) {
        let few = IN_REGISTERS_COLS / self.job.block;
        for first in self.blocks.clone().step_by(few) {
            let some = Self { blocks: first..self.blocks.end.min(first + few), ..*self };
            // SAFETY: the caller guarantees the rows and the shape of V.
            unsafe {
                match some.interchanged() {
                    true => some.all_by_register(rows.clone()),
                    false => some.few_blocks::<RV, K, P>(rows.clone()),
                }
            }
        }
    }

    /// Whether columns of L in these blocks are interchanged with columns of V.
    ///
    /// # Safety
    /// The reflectors have been computed.
    #[inline(always)]
    unsafe fn interchanged(&self) -> bool {
        let signed = self.job.signed().into_iter().filter(|signed| signed.rank > 0);
        let mut reflectors = signed.flat_map(|signed| self.blocks.clone().map(move |s| (s, signed)));
        // SAFETY: the caller guarantees that the reflectors have been computed.
        reflectors.any(|(s, signed)| unsafe { self.job.reflector(self.panel, s, signed).interchanged() })
    }

    /// The same for at most [`IN_REGISTERS_COLS`] columns.
    ///
    /// # Safety
    /// As `in_registers`.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn few_blocks<const RV: usize, const K: usize, const P: usize>(&self, rows: Range<usize>) {
        let Self { job, panel, .. } = *self;
        let first = panel.first + self.blocks.start * job.block;
        let cols = panel.end().min(panel.first + self.blocks.end * job.block) - first;
        let mut columns = [Column::<T, K, P>::IDENTITY; IN_REGISTERS_COLS];
        for signed in job.signed().into_iter().filter(|signed| signed.rank > 0) {
            for (j, column) in columns[..cols].iter_mut().enumerate() {
                let reflector = job.reflector(panel, self.blocks.start + j / job.block, signed);
                // SAFETY: the reflectors have been computed.
                unsafe { column.read(reflector, signed.first, j % job.block) };
            }
        }
        let columns = &columns[..cols];
        let (head, whole, tail) = self.split(rows);
        let store = match (job.l.dst.is_null(), job.stream) {
            (true, _) => Store::Skip,
            (false, false) => Store::Memory,
            (false, true) => Store::Stream,
        };
        let in_memory = if store == Store::Stream { Store::Memory } else { store };
        // SAFETY: the caller guarantees the rows: `head` and `tail` are rows of one tile each, `whole` are tiles with all their
        // rows.
        unsafe {
            self.over_rows(columns, head, first, in_memory);
            match store {
                Store::Skip => self.over_tiles::<RV, K, P>(columns, whole, first, Store::Skip),
                Store::Memory => self.over_tiles::<RV, K, P>(columns, whole, first, Store::Memory),
                Store::Stream => self.over_tiles::<RV, K, P>(columns, whole, first, Store::Stream),
            }
            self.over_rows(columns, tail, first, in_memory);
        }
    }

    /// Applies `columns`, the first of which is column `first` of L, to rows of a tile.
    ///
    /// # Safety
    /// As `few_blocks`, for these rows.
    #[inline(always)]
    unsafe fn over_rows<const K: usize, const P: usize>(
        &self,
        columns: &[Column<T, K, P>],
        (tile, inside): RowsOfTile,
        first: usize,
        store: Store,
    ) {
        if !inside.is_empty() {
            // SAFETY: the caller guarantees the rows.
            self.simd
                .vectorize(unsafe { InRegisters::new(self.job, (columns, first), (tile, inside), store) });
        }
    }

    /// Applies `columns`, the first of which is column `first` of L, to whole tiles. `store` should be a constant.
    ///
    /// # Safety
    /// As `few_blocks`, for all rows of `tiles`.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn over_tiles<const RV: usize, const K: usize, const P: usize>(
        &self,
        columns: &[Column<T, K, P>],
        tiles: Range<usize>,
        first: usize,
        store: Store,
    ) {
        for tile in tiles {
            // SAFETY: the caller guarantees all rows of the tiles.
            unsafe {
                let mut at = self.job.tile(tile, 0, first);
                at.ahead = if self.job.large { TILES_AHEAD * self.job.v.tile } else { 0 };
                apply_columns::<T, S, _, RV, K, P>(self.simd, Full, columns, at, store);
            }
        }
    }

    /// Applies one micro reflector after another to a group of tiles of V that stays in the first-level cache.
    ///
    /// # Safety
    /// As [`Reflection::new`].
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn blocked(&self, rows: Range<usize>) {
        let Self { job, panel, .. } = *self;
        // SAFETY: the caller guarantees the rows, and all rows of whole tiles are among them.
        unsafe {
            // With a narrower last block its width would have to be a variable in every whole tile; there are few rows below
            // it.
            if !panel.cols.is_multiple_of(job.block) || self.interchanged() {
                return self.all_by_register(rows);
            }
            let (head, whole, tail) = self.split(rows);
            self.by_register(head.0, head.1);
            self.by_group(whole);
            self.by_register(tail.0, tail.1);
        }
    }

    /// # Safety
    /// As [`Reflection::new`].
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn all_by_register(&self, rows: Range<usize>) {
        let (head, whole, tail) = self.split(rows);
        // SAFETY: the caller guarantees the rows, and all rows of whole tiles are among them.
        unsafe {
            self.by_register(head.0, head.1);
            for tile in whole {
                self.by_register(tile, 0..self.job.v.tile);
            }
            self.by_register(tail.0, tail.1);
        }
    }

    /// Processes whole tiles.
    ///
    /// # Safety
    /// As [`Reflection::new`], for all rows of `tiles`.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn by_group(&self, tiles: Range<usize>) {
        let Self { job, panel, .. } = *self;
        if tiles.is_empty() {
            return;
        }
        let (rows, both) = (job.v.tile, job.plus + job.minus);
        let group = (GROUP_BYTES / (rows * both * size_of::<T>())).max(1);
        let mut scratch = Scratch::new();
        for first in tiles.clone().step_by(group) {
            for s in self.blocks.clone() {
                let reflectors = job.signed().map(|signed| job.reflector(panel, s, signed));
                // SAFETY: the caller guarantees all rows of the tiles.
                unsafe {
                    let mut at = job.tile(first, 0, panel.first + s * job.block);
                    at.stream = job.stream;
                    at.ahead = if job.large { group * rows } else { 0 };
                    let count = tiles.end.min(first + group) - first;
                    match job.signed().map(|signed| signed.rank) {
                        [rank, 0] if !at.dst.is_null() => self.over_group((count, rank), at, reflectors[0]),
                        [0, rank] if !at.dst.is_null() => self.over_group((count, rank), at, reflectors[1]),
                        _ => {
                            for _ in 0..count {
                                for (signed, at) in scratch.ways(job.signed(), at) {
                                    let reflector = reflectors[usize::from(signed.minus)];
                                    self.whole_tile(signed.rank, at, reflector);
                                }
                                at = at.next(rows, both);
                            }
                        }
                    }
                }
            }
        }
    }

    /// Applies a micro reflector to consecutive tiles, for a V of one sign. All that is the same for all tiles is a constant of
    /// the loop.
    ///
    /// # Safety
    /// As [`Reflection::new`], for all rows of the tiles.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn over_group(&self, (count, rank): (usize, usize), mut at: Tile<T>, reflector: Reflector<T>) {
        let rows = self.job.v.tile;
        // SAFETY: the caller guarantees all rows of the tiles.
        unsafe {
            match (at.stream, rank) {
                (true, _) => {
                    for _ in 0..count {
                        self.whole_tile(rank, Tile { stream: true, ..at }, reflector);
                        at = at.next(rows, rank);
                    }
                }
                (false, 4) => {
                    for _ in 0..count {
                        self.whole_tile(4, Tile { stream: false, ..at }, reflector);
                        at = at.next(rows, 4);
                    }
                }
                (false, _) => {
                    for _ in 0..count {
                        self.whole_tile(rank, Tile { stream: false, ..at }, reflector);
                        at = at.next(rows, rank);
                    }
                }
            }
        }
    }

    /// # Safety
    /// As [`Reflection::new`], for all rows of the tile.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn whole_tile(&self, rank: usize, at: Tile<T>, reflector: Reflector<T>) {
        // SAFETY: the caller guarantees all rows of the tile.
        unsafe {
            macro_rules! whole {
                ($rows:expr, $cols:expr) => {
                    apply::<T, S, _, { $rows }, { $cols }>(self.simd, Full, $cols, rank, at, reflector)
                };
            }
            match (wide::<S>(), T::PARTS) {
                (true, 1) => whole!(WIDE.0, WIDE.1),
                (true, _) => whole!(WIDE.0 / 2, WIDE.1),
                (false, 1) => whole!(NARROW.0, NARROW.1),
                (false, _) => whole!(NARROW.0 / 2, NARROW.1),
            }
        }
    }

    /// Processes rows `inside` of a tile.
    ///
    /// # Safety
    /// As [`Reflection::new`], for these rows.
    #[inline(always)]
    unsafe fn by_register(&self, tile: usize, inside: Range<usize>) {
        let Self { simd, job, panel, .. } = *self;
        if !inside.is_empty() {
            let which = (panel, self.blocks.clone());
            // SAFETY: the caller guarantees the rows.
            simd.vectorize(unsafe { ByReflectors::new(job, which, (tile, inside)) });
        }
    }

    /// Divides `rows` into rows of a first tile, whole tiles, and rows of a last one. They are processed in this order, and
    /// columns from left to right: where L moves up and left during the sweep, an entry is read before another overwrites it.
    #[inline(always)]
    fn split(&self, rows: Range<usize>) -> (RowsOfTile, Range<usize>, RowsOfTile) {
        let v = self.job.v;
        let (first, above) = v.locate(rows.start);
        let (last, below) = v.locate(rows.end);
        let (head, tail) = match first == last {
            true => (above..below, 0..0),
            false => (if above > 0 { above..v.tile } else { 0..0 }, 0..below),
        };
        ((first, head), first + usize::from(above > 0)..last, (last, tail))
    }
}
