//! The two steps of a panel, put together from micro-kernels. Nothing here knows about threads.

use super::diagonal::diagonal;
use super::packed::Tiles;
use super::rank_one::{Coefficients, RankOne};
use super::reflector::Reflector;
use super::simd::{Isa, NARROW, WIDE, fence, wide};
use super::trailing::{Full, Masked, Tile, apply};
use crate::plan::Panel;
use crate::report::Health;
use crate::scalar::Scalar;
use core::ops::Range;
use pulp::{Simd, WithSimd};

/// How much of V a micro reflector is applied to before the next one's turn: half a first-level cache.
/// Neighbouring tiles are independent, so that their latencies overlap.
const GROUP_BYTES: usize = 16 << 10;

/// Old and new L, column-major; the new one may be the same memory, or null for a rehearsal.
#[derive(Clone, Copy)]
pub(crate) struct Columns<T> {
    pub src: *const T,
    pub src_stride: isize,
    pub dst: *mut T,
    pub dst_stride: isize,
}

/// What the diagonal steps hand from one panel to the next.
pub(crate) struct Chain<T> {
    pub health: Health<T>,
    /// For one column of V: t, by whose root the working copy of V is too large.
    t: T,
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
    /// Memory for the block reflectors of `slots` panels.
    pub reflectors: *mut T,
    pub slots: usize,
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
    fn rank_one(&self, panel: Panel) -> Option<(RankOne<T>, *mut Coefficients<T>)> {
        if self.plus + self.minus != 1 {
            return None;
        }
        let sign = if self.plus == 1 { T::ONE } else { -T::ONE };
        let slot = Coefficients::<T>::LEN * (panel.index % self.slots);
        // SAFETY: the slot is inside the memory that `reflectors` was sized for.
        let coefficients = unsafe { self.reflectors.add(slot) }.cast();
        Some((RankOne { l: self.l, v: self.v.by_row(), sign, stream: self.stream }, coefficients))
    }

    /// Micro reflector `s` of `panel`.
    fn reflector(&self, panel: Panel, s: usize) -> Reflector<T> {
        let rank = self.plus + self.minus;
        let slot =
            Self::reflector_len(self.panel_cols, self.block, self.lanes, rank) * (panel.index % self.slots);
        // SAFETY: slot and s are inside the memory that `reflectors` was sized for.
        unsafe {
            let at = self.reflectors.add(slot + s * Reflector::<T>::len(rank, self.lanes));
            Reflector::at(at, self.lanes, self.plus, self.minus)
        }
    }

    /// The place of row `offset` of a tile of V and of that row of L, from column `column` on. The base
    /// pointers of L may lie outside the memory, as those of a panel in a slot do.
    ///
    /// # Safety
    /// The tile must be one of V's, and `offset` a row of it.
    #[inline(always)]
    unsafe fn tile(&self, tile: usize, offset: usize, column: usize) -> Tile<T> {
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
    /// the panel's slot.
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

struct Diagonal<'a, T> {
    job: &'a Job<T>,
    panel: Panel,
    chain: &'a mut Chain<T>,
}

impl<T: Scalar> WithSimd for Diagonal<'_, T> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Self { job, panel, chain } = self;
        if let Some((rank_one, coefficients)) = job.rank_one(panel) {
            // The block is small, and what is streamed would have to be fenced.
            let rank_one = RankOne { stream: false, ..rank_one };
            // SAFETY: `Job::diagonal` demands exactly this.
            return unsafe {
                rank_one.diagonal(simd, panel.block(), &mut *coefficients, &mut chain.t, &mut chain.health)
            };
        }
        for (s, first) in panel.block().step_by(job.block).enumerate() {
            let cols = job.block.min(panel.end() - first);
            let (tile, offset) = job.v.locate(first);
            let reflector = job.reflector(panel, s);
            // SAFETY: `Job::diagonal` demands the rows of the block; a micro block lies inside one tile,
            // since tiles and panels both start at multiples of its size.
            unsafe {
                diagonal(simd, cols, job.tile(tile, offset, first), reflector, &mut chain.health)
                    .map_err(|column| first + column)?;
                let below = first + cols..panel.end();
                if !below.is_empty() {
                    over_tiles(simd, job, panel, s..s + 1, below);
                }
            }
        }
        Ok(())
    }
}

struct Trailing<'a, T> {
    job: &'a Job<T>,
    panel: Panel,
    rows: Range<usize>,
}

impl<T: Scalar> WithSimd for Trailing<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if let Some((rank_one, coefficients)) = self.job.rank_one(self.panel) {
            // SAFETY: `Job::trailing` demands exactly this.
            unsafe { rank_one.rows(simd, self.panel.first, self.panel.block(), &*coefficients, self.rows) };
            return;
        }
        let blocks = 0..self.panel.cols.div_ceil(self.job.block);
        // SAFETY: `Job::trailing` demands exactly this.
        unsafe { over_tiles(simd, self.job, self.panel, blocks, self.rows) };
    }
}

/// Applies the micro reflectors `blocks` of `panel` to `rows`: tile by tile, so that a tile of V stays in
/// the first-level cache through all of them.
///
/// # Safety
/// As [`Job::trailing`], for these reflectors.
#[inline(always)]
unsafe fn over_tiles<T: Scalar, S: Simd>(
    simd: S,
    job: &Job<T>,
    panel: Panel,
    blocks: Range<usize>,
    rows: Range<usize>,
) {
    let tile_rows = job.v.tile;
    let (first, above) = job.v.locate(rows.start);
    let (last, below) = job.v.locate(rows.end);
    // Whole tiles lie between what is left of the first and of the last. A ragged block has none.
    let whole = match panel.cols.is_multiple_of(job.block) {
        true => first + usize::from(above > 0)..last,
        false => last + 1..last + 1,
    };
    for tile in (first..=last).filter(|tile| !whole.contains(tile)) {
        let inside = if tile == first { above } else { 0 }..if tile == last { below } else { tile_rows };
        if !inside.is_empty() {
            // SAFETY: rows `inside` of the tile are among `rows`, which are the caller's.
            unsafe { partial(simd, job, panel, blocks.clone(), tile, inside) };
        }
    }
    // SAFETY: as above, for all rows of whole tiles.
    unsafe { full_tiles(simd, job, panel, blocks, whole) };
}

/// Whole tiles, with the loops over V unrolled for the smallest ranks.
///
/// # Safety
/// As `over_tiles`, for all rows of `tiles`.
#[inline(always)]
unsafe fn full_tiles<T: Scalar, S: Simd>(
    simd: S,
    job: &Job<T>,
    panel: Panel,
    blocks: Range<usize>,
    tiles: Range<usize>,
) {
    // SAFETY: forwarded to the caller; the constants are the job's own.
    unsafe {
        match (job.plus, job.minus) {
            (4, 0) => full_tiles_of(simd, job, panel, blocks, tiles, (4, 0)),
            (0, 4) => full_tiles_of(simd, job, panel, blocks, tiles, (0, 4)),
            signs => full_tiles_of(simd, job, panel, blocks, tiles, signs),
        }
    }
}

/// Whole tiles for V with that many columns of each sign.
///
/// # Safety
/// As `full_tiles`; `signs` are the job's.
#[inline(always)]
unsafe fn full_tiles_of<T: Scalar, S: Simd>(
    simd: S,
    job: &Job<T>,
    panel: Panel,
    blocks: Range<usize>,
    tiles: Range<usize>,
    signs: (usize, usize),
) {
    let group = (GROUP_BYTES / (job.v.tile * (signs.0 + signs.1) * size_of::<T>())).max(1);
    for first in tiles.clone().step_by(group) {
        for s in blocks.clone() {
            let reflector = job.reflector(panel, s);
            for tile in first..tiles.end.min(first + group) {
                // SAFETY: forwarded to the caller.
                unsafe {
                    let mut at = job.tile(tile, 0, panel.first + s * job.block);
                    at.stream = job.stream;
                    if wide::<S>() {
                        apply::<T, S, _, { WIDE.0 }, { WIDE.1 }>(simd, Full, WIDE.1, signs, at, reflector);
                    } else {
                        apply::<T, S, _, { NARROW.0 }, { NARROW.1 }>(
                            simd, Full, NARROW.1, signs, at, reflector,
                        );
                    }
                }
            }
        }
    }
}

/// One tile of which only the rows `inside` take part, a register at a time.
///
/// # Safety
/// As `over_tiles`, for rows `inside` of the tile.
#[inline(always)]
unsafe fn partial<T: Scalar, S: Simd>(
    simd: S,
    job: &Job<T>,
    panel: Panel,
    blocks: Range<usize>,
    tile: usize,
    inside: Range<usize>,
) {
    let lanes = T::lanes::<S>();
    let signs = (job.plus, job.minus);
    for s in blocks {
        let column = panel.first + s * job.block;
        let cols = job.block.min(panel.end() - column);
        let reflector = job.reflector(panel, s);
        for i in inside.start / lanes..inside.end.div_ceil(lanes) {
            let from = inside.start.saturating_sub(i * lanes);
            let to = (inside.end - i * lanes).min(lanes);
            // SAFETY: whole registers and masks both keep to rows `inside`, which are the caller's.
            unsafe {
                let at = job.tile(tile, i * lanes, column);
                let mask = Masked([T::mask(simd, from, to)]);
                match (to - from == lanes, wide::<S>()) {
                    (true, true) => apply::<T, S, _, 1, { WIDE.1 }>(simd, Full, cols, signs, at, reflector),
                    (true, false) => {
                        apply::<T, S, _, 1, { NARROW.1 }>(simd, Full, cols, signs, at, reflector)
                    }
                    (false, true) => apply::<T, S, _, 1, { WIDE.1 }>(simd, mask, cols, signs, at, reflector),
                    (false, false) => {
                        apply::<T, S, _, 1, { NARROW.1 }>(simd, mask, cols, signs, at, reflector)
                    }
                }
            }
        }
    }
}
