//! The rows below a diagonal block, divided into groups of tiles: one thread's part each.

use super::tiles::{Extents, GROUP};
use crate::real::Real;
use cholupdate_kernels::gradient::tile::TILE;
use core::ops::Range;
use faer::MatMut;
use rayon::prelude::*;

/// The rows of a group, and its part of the working memory.
pub(super) struct Part<'a, T> {
    pub index: usize,
    pub state: &'a mut [T],
    pub sums: &'a mut [T],
    pub packed: &'a mut [T],
    /// The columns of the panel of the result.
    pub to: MatMut<'a, T>,
}

/// What the parts are made of. (state, sums, packed: of all groups)
pub(super) struct Whole<'a, T> {
    pub state: &'a mut [T],
    pub sums: &'a mut [T],
    pub packed: &'a mut [T],
    pub to: MatMut<'a, T>,
}

impl<T: Real> Part<'_, T> {
    /// The rows of this group from row `start` on, which begins a tile.
    pub fn rows(&self, extents: Extents, start: usize) -> Range<usize> {
        let first = self.index * GROUP * TILE;
        let end = (first + GROUP * TILE).min(extents.n);
        first.max(start).min(end)..end
    }
}

/// Does the work of every group, on several threads if that pays.
pub(super) fn for_each_part<T: Real>(
    whole: Whole<'_, T>,
    extents: Extents,
    threads: usize,
    work: impl Fn(Part<'_, T>) + Sync,
) {
    let Whole { state, sums, packed, to } = whole;
    let (state_each, sums_each, packed_each) =
        (GROUP * extents.tile(), extents.sums::<T>(), 4 * extents.packed());
    let rows = GROUP * TILE;
    if threads > 1 {
        let together = extents.groups().div_ceil(threads);
        state
            .par_chunks_mut(state_each)
            .zip(sums.par_chunks_mut(sums_each))
            .zip(packed.par_chunks_mut(packed_each))
            .zip(to.par_row_chunks_mut(rows))
            .enumerate()
            .with_min_len(together)
            .for_each(|(index, (((state, sums), packed), to))| work(Part { index, state, sums, packed, to }));
    } else {
        let parts = state.chunks_mut(state_each).zip(sums.chunks_mut(sums_each));
        let mut rest = to;
        for (index, ((state, sums), packed)) in parts.zip(packed.chunks_mut(packed_each)).enumerate() {
            let here = rows.min(rest.nrows());
            let (to, below) = rest.split_at_row_mut(here);
            rest = below;
            work(Part { index, state, sums, packed, to });
        }
    }
}

/// Passes on rows, beginning with a tile: all whole tiles at once if a kernel can read them in place, otherwise one tile after the
/// other, to be packed.
pub(super) fn in_runs(rows: Range<usize>, in_place: bool, mut work: impl FnMut(Range<usize>, bool)) {
    let whole = if in_place { rows.start + rows.len() / TILE * TILE } else { rows.start };
    if whole > rows.start {
        work(rows.start..whole, false);
    }
    for start in (whole..rows.end).step_by(TILE) {
        work(start..(start + TILE).min(rows.end), true);
    }
}
