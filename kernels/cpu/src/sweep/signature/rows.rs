//! The trailing step: applies what the diagonal step has computed to the rows below.

use super::columns::through_columns;
use super::job::SignatureJob;
use crate::number::Number;
use crate::panel::Panel;
use crate::sweep::apply::{Full, Masked, Rows, Tile, apply};
use crate::sweep::interchange::apply_by_column;
use crate::sweep::scratch::Scratch;
use crate::sweep::shape::{NARROW, WIDE, wide};
use core::ops::Range;
use pulp::{Simd, WithSimd};

/// Bytes of V to which the change of a block is applied before the next one: half a first-level cache.
const GROUP_BYTES: usize = 16 << 10;

/// Applies the changes of the blocks of a panel to rows below them.
pub struct Trailing<'a, T: Number> {
    of: &'a SignatureJob<T>,
    panel: Panel,
    blocks: Range<usize>,
    rows: Range<usize>,
}

impl<'a, T: Number> Trailing<'a, T> {
    /// # Safety
    /// When this is run, the diagonal step of these blocks is done, all earlier blocks have been applied to `rows`, and no other thread
    /// uses these rows.
    pub unsafe fn new(
        of: &'a SignatureJob<T>,
        panel: Panel,
        blocks: Range<usize>,
        rows: Range<usize>,
    ) -> Self {
        Self { of, panel, blocks, rows }
    }
}

impl<T: Number> WithSimd for Trailing<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { of, panel, blocks, rows } = self;
        let v = of.job.v;
        let ((first, above), (last, below)) = (v.locate(rows.start), v.locate(rows.end));
        let group = (GROUP_BYTES / (v.tile * of.rank() * size_of::<T>())).max(1);
        let (head, tail) = match first == last {
            true => (above..below, 0..0),
            false => (if above > 0 { above..v.tile } else { 0..0 }, 0..below),
        };
        let whole = first + usize::from(above > 0)..last;
        // SAFETY: `new` requires these rows: `head` and `tail` are rows of one tile each, `whole` are tiles with all their rows.
        unsafe {
            for s in blocks.clone() {
                simd.vectorize(PartOfTile { of, panel, s, tile: first, inside: head.clone() });
            }
            for some in whole.clone().step_by(group) {
                for s in blocks.clone() {
                    let first = panel.first + s * of.job.block;
                    let cols = of.job.block.min(panel.end() - first);
                    for tile in some..whole.end.min(some + group) {
                        if cols < of.job.block {
                            simd.vectorize(PartOfTile { of, panel, s, tile, inside: 0..v.tile });
                        } else {
                            of.whole_tile(simd, (panel, s), tile);
                        }
                    }
                }
            }
            for s in blocks {
                simd.vectorize(PartOfTile { of, panel, s, tile: last, inside: tail.clone() });
            }
        }
    }
}

/// Applies block `s` to rows `inside` of a tile, one register at a time. It is a function of its own, and not inlined at each of its calls.
struct PartOfTile<'a, T: Number> {
    of: &'a SignatureJob<T>,
    panel: Panel,
    s: usize,
    tile: usize,
    inside: Range<usize>,
}

impl<T: Number> WithSimd for PartOfTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { of, panel, s, tile, inside } = self;
        if !inside.is_empty() {
            // SAFETY: what makes this one has checked the rows.
            unsafe { of.registers(simd, (panel, s), tile, inside) };
        }
    }
}

impl<T: Number> SignatureJob<T> {
    /// Applies block `s`, which has all its columns, to a whole tile.
    ///
    /// # Safety
    /// As [`Trailing::new`], for all rows of the tile.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn whole_tile<S: Simd>(&self, simd: S, (panel, s): (Panel, usize), tile: usize) {
        let first = panel.first + s * self.job.block;
        // SAFETY: the caller guarantees the rows; a tile has as many registers.
        unsafe {
            let mut at = self.job.tile(tile, 0, first);
            at.stream = self.job.stream;
            macro_rules! whole {
                ($rows:expr, $cols:expr) => {
                    self.through::<S, _, { $rows }, { $cols }>(simd, Full, (panel, s), $cols, at)
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

    /// Applies block `s` to rows `inside` of a tile, one register at a time.
    ///
    /// # Safety
    /// As [`Trailing::new`], for these rows.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn registers<S: Simd>(
        &self,
        simd: S,
        (panel, s): (Panel, usize),
        tile: usize,
        inside: Range<usize>,
    ) {
        let (lanes, first) = (T::lanes::<S>(), panel.first + s * self.job.block);
        let cols = self.job.block.min(panel.end() - first);
        for row in (inside.start / lanes * lanes..inside.end).step_by(lanes) {
            let real = Masked([T::mask(simd, inside.start.saturating_sub(row), lanes.min(inside.end - row))]);
            // SAFETY: the caller guarantees the rows, and the mask restricts accesses to them.
            unsafe {
                let at = self.job.tile(tile, row, first);
                match wide::<S>() {
                    true => self.through::<S, _, 1, { WIDE.1 }>(simd, real, (panel, s), cols, at),
                    false => self.through::<S, _, 1, { NARROW.1 }>(simd, real, (panel, s), cols, at),
                }
            }
        }
    }

    /// Applies block `s`, of `cols` ≤ C columns, to RV registers of rows.
    ///
    /// # Safety
    /// As [`Trailing::new`], for the real rows.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn through<S: Simd, A: Rows<T, S>, const RV: usize, const C: usize>(
        &self,
        simd: S,
        rows: A,
        (panel, s): (Panel, usize),
        cols: usize,
        at: Tile<T>,
    ) {
        // SAFETY: the diagonal step has written the change; the caller guarantees the real rows.
        unsafe {
            let change = *self.block(panel, s);
            if change.one_by_one {
                let first = panel.first + s * self.job.block;
                let columns = core::slice::from_raw_parts(self.columns.add(first), cols);
                let coefficients = self.coefficients(panel, s);
                return through_columns::<T, S, A, RV>(simd, rows, columns, coefficients, at);
            }
            let mut scratch = Scratch::new();
            let signed = change.signed(self.rank());
            let reflectors = self.reflectors(panel, s, signed);
            for (signed, at) in scratch.ways(signed, at) {
                let reflector = reflectors[usize::from(signed.minus)];
                if reflector.interchanged() {
                    apply_by_column::<T, S, A, RV>(simd, rows, (cols, signed.minus), at, reflector);
                } else {
                    apply::<T, S, A, RV, C>(simd, rows, cols, signed.rank, at, reflector);
                }
            }
        }
    }
}
