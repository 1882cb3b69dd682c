//! The kernel that takes V through the columns of a panel: V_i ← V_i − β_i a.

use super::columns::{Columns, Several, later};
use super::step::{Step, are_plain};
use super::tile::{TILE, TOGETHER, by_several, parts, registers, registers_mut};
use crate::number::Float;
use pulp::{Simd, WithSimd};

/// V of some tiles, taken through the columns of a panel.
pub struct Eliminate<'a, T> {
    pub steps: &'a [Step<T>],
    /// Rows of V at the steps. (columns × k)
    pub a: &'a [T],
    pub k: usize,
    pub l: Columns<'a, T>,
    pub new: Columns<'a, T>,
    /// (tiles, k, 2, TILE): the first TILE of each column are V.
    pub state: &'a mut [T],
    /// 1 for the rows of the tile that the step changes, 0 for the others.
    pub live: &'a [T; TILE],
}

/// Tiles that go through a panel together: as many as the first-level cache holds.
#[inline(always)]
pub fn chunk<T>(k: usize) -> usize {
    const BYTES: usize = 1 << 14;
    (BYTES / (2 * k * TILE * size_of::<T>())).max(1)
}

impl<T: Float> WithSimd for Eliminate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match TILE / T::lanes::<S>() {
            2 => self.run::<S, 2>(simd),
            _ => self.run::<S, 4>(simd),
        }
    }
}

impl<T: Float> Eliminate<'_, T> {
    /// `R`: registers of rows at a time.
    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) {
        let Self { steps, a, k, l, new, state, live } = self;
        let (tile, rows) = (2 * k * TILE, R * T::lanes::<S>());
        let (together, by_several) = (self::chunk::<T>(k), by_several::<S>(k));
        for (c, chunk) in state.chunks_mut(tile * together).enumerate() {
            let first = c * together;
            let tiles = [first, first + chunk.len() / tile];
            for at in (0..steps.len()).step_by(TOGETHER) {
                let block = &steps[at..][..TOGETHER];
                if by_several && are_plain(block) {
                    let a = parts(&a[at * k..], k);
                    let next = later(at, TOGETHER, tiles);
                    let columns_of_l = [l, new].map(|columns| columns.together(at, first));
                    for (t, tile) in chunk.chunks_exact_mut(tile).enumerate() {
                        [l, new].iter().for_each(|columns| columns.fetch_together(next, t));
                        for row in (0..TILE).step_by(rows) {
                            let tile = &mut tile[row..];
                            columns::<T, S, R>(simd, block, a, (&columns_of_l, t * TILE + row), tile);
                        }
                    }
                    continue;
                }
                for (j, step) in (at..).zip(block) {
                    let a = &a[j * k..][..k];
                    let [next, far] = [1, TOGETHER].map(|by| later(j, by, tiles));
                    let fetched = [l, new].map(|columns| (columns.ahead(next), columns.ahead(far)));
                    let (l, new) = (l.column(j, first), new.column(j, first));
                    for (t, tile) in chunk.chunks_exact_mut(tile).enumerate() {
                        for (next, far) in fetched {
                            next.fetch(t);
                            far.fetch_far(t);
                        }
                        for row in (0..TILE).step_by(rows) {
                            let entries = (&l[t * TILE + row..], &new[t * TILE + row..]);
                            column::<T, S, R>(simd, step, a, entries, &mut tile[row..], &live[row..]);
                        }
                    }
                }
            }
        }
    }
}

/// Steps without an interchange, for the rows of `R` registers, with which the tile begins, and these entries of L and L' from one on.
#[inline(always)]
fn columns<T: Float, S: Simd, const R: usize>(
    simd: S,
    steps: &[Step<T>],
    a: Several<'_, T>,
    ([l, new], from): (&[Several<'_, T>; 2], usize),
    tile: &mut [T],
) {
    // Minus β.
    let mut beta = [[T::splat(simd, T::ZERO); R]; TOGETHER];
    for j in 0..TOGETHER {
        let (l, new) = (registers::<T, S, R>(&l[j][from..]), registers::<T, S, R>(&new[j][from..]));
        let scale = T::splat(simd, -steps[j].scale);
        for i in 0..R {
            beta[j][i] = T::vmul(simd, T::vadd(simd, l[i], new[i]), scale);
        }
    }
    for (r, tile) in tile.chunks_mut(2 * TILE).enumerate().take(a[0].len()) {
        let v = registers_mut::<T, S, R>(tile);
        let mut left = *v;
        for j in 0..TOGETHER {
            let a = T::splat(simd, a[j][r]);
            for i in 0..R {
                left[i] = T::mul_add(simd, beta[j][i], a, left[i]);
            }
        }
        *v = left;
    }
}

/// One step, for the rows of `R` registers, with which all slices begin. `live` is 1 for the rows that the step changes, 0 for the
/// others.
#[inline(always)]
pub fn column<T: Float, S: Simd, const R: usize>(
    simd: S,
    step: &Step<T>,
    a: &[T],
    (l, new): (&[T], &[T]),
    tile: &mut [T],
    live: &[T],
) {
    let (mut old, new) = (*registers::<T, S, R>(l), registers::<T, S, R>(new));
    if let Some((p, sign)) = step.interchange {
        let (sign, live) = (T::splat(simd, sign), registers::<T, S, R>(live));
        let v = registers_mut::<T, S, R>(&mut tile[2 * p * TILE..]);
        for i in 0..R {
            let other = T::vmul(simd, T::vmul(simd, sign, v[i]), live[i]);
            v[i] = core::mem::replace(&mut old[i], other);
        }
    }
    // Minus β.
    let mut beta = [T::splat(simd, T::ZERO); R];
    let scale = T::splat(simd, step.scale);
    for i in 0..R {
        let sum = T::vadd(simd, old[i], new[i]);
        beta[i] = T::vsub(simd, beta[i], T::vmul(simd, sum, scale));
    }
    for (v, &a) in tile.chunks_mut(2 * TILE).zip(a) {
        let v = registers_mut::<T, S, R>(v);
        let a = T::splat(simd, a);
        for i in 0..R {
            v[i] = T::mul_add(simd, beta[i], a, v[i]);
        }
    }
}
