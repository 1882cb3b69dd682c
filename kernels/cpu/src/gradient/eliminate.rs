//! The kernel that takes V through the columns of a panel: V_i ← V_i − β_i a.

use super::columns::Columns;
use super::step::Step;
use super::tile::{TILE, registers, registers_mut};
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
        for (c, chunk) in state.chunks_mut(tile * chunk::<T>(k)).enumerate() {
            let first = c * self::chunk::<T>(k);
            for (j, (step, a)) in steps.iter().zip(a.chunks_exact(k)).enumerate() {
                let (next, ahead) =
                    if j + 1 < steps.len() { (j + 1, first) } else { (0, first + self::chunk::<T>(k)) };
                let fetched = [l, new].map(|columns| columns.ahead(next, ahead));
                let (l, new) = (l.column(j, first), new.column(j, first));
                for (t, tile) in chunk.chunks_exact_mut(tile).enumerate() {
                    fetched.iter().for_each(|ahead| ahead.fetch(t));
                    for at in (0..TILE).step_by(rows) {
                        let from = t * TILE + at;
                        column::<T, S, R>(
                            simd,
                            step,
                            a,
                            (&l[from..], &new[from..]),
                            &mut tile[at..],
                            &live[at..],
                        );
                    }
                }
            }
        }
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
