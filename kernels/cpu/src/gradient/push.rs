//! The kernel that pushes tangents forward through the columns of a panel.

use super::columns::{Columns, ColumnsMut};
use super::eliminate::chunk;
use super::step::Step;
use super::tile::{TILE, registers, registers_mut};
use crate::number::Float;
use pulp::{Simd, WithSimd};

/// V and its tangent of some tiles, taken through the columns of a panel:
///
/// ```text
/// dl'_i = (dl l_i + l dl_i + dV_i S aᵀ + V_i (S da + dS a)ᵀ − l'_i dα) / α
/// dβ_i = (dl_i + dl'_i − β_i (dl + dα)) / (l + α)
/// V_i ← V_i − β_i a        dV_i ← dV_i − dβ_i a − β_i da
/// ```
pub struct Push<'a, T> {
    pub steps: &'a [Step<T>],
    /// The tangents of l and α of each step.
    pub pivots: &'a [(T, T)],
    /// Rows of V at the steps, the same times the signs, their tangents, and S da + dS a. (columns × k)
    pub a: &'a [T],
    pub signed: &'a [T],
    pub tangents: &'a [T],
    pub signed_tangents: &'a [T],
    pub k: usize,
    pub l: Columns<'a, T>,
    pub new: Columns<'a, T>,
    pub tangent: Columns<'a, T>,
    pub to: ColumnsMut<'a, T>,
    /// (tiles, k, 2, TILE): V and dV of each column.
    pub state: &'a mut [T],
}

impl<T: Float> WithSimd for Push<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match TILE / T::lanes::<S>() {
            2 => self.run::<S, 2>(simd),
            _ => self.run::<S, 4>(simd),
        }
    }
}

impl<T: Float> Push<'_, T> {
    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) {
        let Self { steps, pivots, a, signed, tangents, signed_tangents, k, l, new, tangent, mut to, state } =
            self;
        let (tile, rows) = (2 * k * TILE, R * T::lanes::<S>());
        for (c, chunk) in state.chunks_mut(tile * chunk::<T>(k)).enumerate() {
            let first = c * self::chunk::<T>(k);
            for (j, (step, &pivots)) in steps.iter().zip(pivots).enumerate() {
                let row = j * k..(j + 1) * k;
                let a = (&a[row.clone()], &tangents[row.clone()]);
                let with_signs = (&signed[row.clone()], &signed_tangents[row]);
                let (next, ahead) =
                    if j + 1 < steps.len() { (j + 1, first) } else { (0, first + self::chunk::<T>(k)) };
                let fetched = [l, new, tangent].map(|columns| columns.ahead(next, ahead));
                let written = to.ahead(next, ahead);
                let [l, new, tangent] = [l, new, tangent].map(|columns| columns.column(j, first));
                let to = to.column(j, first);
                for (t, tile) in chunk.chunks_exact_mut(tile).enumerate() {
                    fetched.iter().for_each(|ahead| ahead.fetch(t));
                    written.fetch_to_write(t);
                    for at in (0..TILE).step_by(rows) {
                        let from = t * TILE + at;
                        column::<T, S, R>(
                            simd,
                            (step, pivots),
                            a,
                            with_signs,
                            (&l[from..], &new[from..], &tangent[from..], &mut to[from..]),
                            &mut tile[at..],
                        );
                    }
                }
            }
        }
    }
}

/// One step, for the rows of `R` registers, with which all slices begin.
#[inline(always)]
pub fn column<T: Float, S: Simd, const R: usize>(
    simd: S,
    (step, pivots): (&Step<T>, (T, T)),
    (a, da): (&[T], &[T]),
    (signed, signed_tangents): (&[T], &[T]),
    (l, new, tangent, to): (&[T], &[T], &[T], &mut [T]),
    tile: &mut [T],
) {
    let zero = T::splat(simd, T::ZERO);
    let (mut old, mut old_tangent) = (*registers::<T, S, R>(l), *registers::<T, S, R>(tangent));
    if let Some((p, sign)) = step.interchange {
        let sign = T::splat(simd, sign);
        let halves = tile[2 * p * TILE..].chunks_mut(TILE).zip([&mut old, &mut old_tangent]);
        for (half, of_l) in halves {
            let half = registers_mut::<T, S, R>(half);
            for i in 0..R {
                let other = T::vmul(simd, sign, half[i]);
                half[i] = core::mem::replace(&mut of_l[i], other);
            }
        }
    }
    let new = registers::<T, S, R>(new);
    let [pivot, alpha_tangent, pivot_tangent] =
        [step.l, -pivots.1, pivots.0].map(|number| T::splat(simd, number));
    let mut sum = [zero; R];
    for i in 0..R {
        sum[i] = T::mul_add(simd, pivot_tangent, old[i], T::vmul(simd, pivot, old_tangent[i]));
        sum[i] = T::mul_add(simd, alpha_tangent, new[i], sum[i]);
    }
    for ((tile, &a), &da) in tile.chunks(2 * TILE).zip(signed).zip(signed_tangents) {
        let (v, dv) = tile.split_at(TILE);
        let (v, dv) = (registers::<T, S, R>(v), registers::<T, S, R>(dv));
        let (a, da) = (T::splat(simd, a), T::splat(simd, da));
        for i in 0..R {
            sum[i] = T::mul_add(simd, da, v[i], T::mul_add(simd, a, dv[i], sum[i]));
        }
    }
    let (inverse, scale) = (T::splat(simd, step.inverse), T::splat(simd, step.scale));
    let both = T::splat(simd, -(pivots.0 + pivots.1));
    // Minus β and minus its tangent.
    let (mut beta, mut beta_tangent) = ([zero; R], [zero; R]);
    for i in 0..R {
        sum[i] = T::vmul(simd, sum[i], inverse);
        let factor = T::vmul(simd, T::vadd(simd, old[i], new[i]), scale);
        let change = T::mul_add(simd, factor, both, T::vadd(simd, old_tangent[i], sum[i]));
        beta[i] = T::vsub(simd, zero, factor);
        beta_tangent[i] = T::vsub(simd, zero, T::vmul(simd, change, scale));
    }
    *registers_mut::<T, S, R>(to) = sum;
    for ((tile, &a), &da) in tile.chunks_mut(2 * TILE).zip(a).zip(da) {
        let (v, dv) = tile.split_at_mut(TILE);
        let (v, dv) = (registers_mut::<T, S, R>(v), registers_mut::<T, S, R>(dv));
        let (a, da) = (T::splat(simd, a), T::splat(simd, da));
        for i in 0..R {
            v[i] = T::mul_add(simd, beta[i], a, v[i]);
            dv[i] = T::mul_add(simd, beta_tangent[i], a, dv[i]);
            dv[i] = T::mul_add(simd, beta[i], da, dv[i]);
        }
    }
}
