//! The kernel that pushes tangents forward through the columns of a panel.

use super::columns::{Columns, ColumnsMut, Several, later};
use super::eliminate::chunk;
use super::step::{Step, are_plain, products};
use super::tile::{TILE, TOGETHER, by_several, parts, registers, registers_mut, write};
use crate::isa::fence;
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
    /// Whether that is written past the caches.
    pub past: bool,
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
    /// `R`: registers of rows at a time.
    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) {
        let Self {
            steps,
            pivots,
            a,
            signed,
            tangents,
            signed_tangents,
            k,
            l,
            new,
            tangent,
            mut to,
            past,
            state,
        } = self;
        let (tile, rows) = (2 * k * TILE, R * T::lanes::<S>());
        let (together, by_several) = (self::chunk::<T>(k), by_several::<S>(k));
        let mut both = [[[T::ZERO; TOGETHER]; TILE]; 2];
        if by_several {
            both = [products(signed, a, k), products(signed, tangents, k)];
            let others = products(signed_tangents, a, k);
            both[1].as_flattened_mut().iter_mut().zip(others.as_flattened()).for_each(|(sum, &x)| *sum += x);
        }
        for (c, chunk) in state.chunks_mut(tile * together).enumerate() {
            let first = c * together;
            let tiles = [first, first + chunk.len() / tile];
            for at in (0..steps.len()).step_by(TOGETHER) {
                let block = (&steps[at..][..TOGETHER], &pivots[at..][..TOGETHER]);
                if by_several && are_plain(block.0) {
                    let rows_of_v =
                        [a, tangents, signed, signed_tangents].map(|all| parts(&all[at * k..], k));
                    let products = (&both[0][at..][..TOGETHER], &both[1][at..][..TOGETHER]);
                    let next = later(at, TOGETHER, tiles);
                    let (fetched, written) = ([l, new, tangent], to.together_ahead(next));
                    let columns_of_l = [l, new, tangent].map(|columns| columns.together(at, first));
                    let mut to = to.together(at, first);
                    for (t, tile) in chunk.chunks_exact_mut(tile).enumerate() {
                        fetched.iter().for_each(|columns| columns.fetch_together(next, t));
                        if !past {
                            written.iter().for_each(|ahead| ahead.fetch_to_write(t));
                        }
                        for row in (0..TILE).step_by(rows) {
                            let (entries, tile) = ((&columns_of_l, t * TILE + row), &mut tile[row..]);
                            columns::<T, S, R>(
                                simd,
                                block,
                                &rows_of_v,
                                products,
                                entries,
                                (&mut to, past),
                                tile,
                            );
                        }
                    }
                    continue;
                }
                for j in at..at + TOGETHER {
                    let [a, da, signed, signed_tangents] =
                        [a, tangents, signed, signed_tangents].map(|all| &all[j * k..][..k]);
                    let [next, far] = [1, TOGETHER].map(|by| later(j, by, tiles));
                    let fetched = [l, new, tangent].map(|columns| (columns.ahead(next), columns.ahead(far)));
                    let written = to.ahead(next);
                    let [l, new, tangent] = [l, new, tangent].map(|columns| columns.column(j, first));
                    let to = to.column(j, first);
                    for (t, tile) in chunk.chunks_exact_mut(tile).enumerate() {
                        for (next, far) in fetched {
                            next.fetch(t);
                            far.fetch_far(t);
                        }
                        if !past {
                            written.fetch_to_write(t);
                        }
                        for row in (0..TILE).step_by(rows) {
                            let from = t * TILE + row;
                            column::<T, S, R>(
                                simd,
                                (&steps[j], pivots[j]),
                                (a, da),
                                (signed, signed_tangents),
                                ([&l[from..], &new[from..], &tangent[from..]], &mut to[from..], past),
                                &mut tile[row..],
                            );
                        }
                    }
                }
            }
        }
        if past {
            fence();
        }
    }
}

/// Steps without an interchange, for the rows of `R` registers, with which the entries of L, L' and the tangent, and the tile, begin.
#[inline(always)]
#[allow(clippy::reversed_empty_ranges, reason = "no step precedes the first one")]
fn columns<T: Float, S: Simd, const R: usize>(
    simd: S,
    (steps, pivots): (&[Step<T>], &[(T, T)]),
    [a, da, signed, signed_tangents]: &[Several<'_, T>; 4],
    (of_change, of_beta): (&[[T; TOGETHER]], &[[T; TOGETHER]]),
    ([l, new, tangent], from): (&[Several<'_, T>; 3], usize),
    (to, past): (&mut [&mut [T]; TOGETHER], bool),
    tile: &mut [T],
) {
    let k = a[0].len();
    let zero = T::splat(simd, T::ZERO);
    // dV S Aᵀ + V (S dA + dS A)ᵀ, with V and dV before all steps.
    let mut change = [[zero; R]; TOGETHER];
    for (r, tile) in tile.chunks(2 * TILE).enumerate().take(k) {
        let (v, dv) = tile.split_at(TILE);
        let (v, dv) = (registers::<T, S, R>(v), registers::<T, S, R>(dv));
        for j in 0..TOGETHER {
            let (a, da) = (T::splat(simd, signed[j][r]), T::splat(simd, signed_tangents[j][r]));
            for i in 0..R {
                change[j][i] = T::mul_add(simd, da, v[i], T::mul_add(simd, a, dv[i], change[j][i]));
            }
        }
    }
    // Minus β and minus its tangent.
    let mut beta = [[zero; R]; TOGETHER];
    macro_rules! solve {
        ($($j:literal)*) => {$({
            let (step, pivots) = (&steps[$j], pivots[$j]);
            for h in 0..$j {
                let (product, of_beta) = (T::splat(simd, of_change[h][$j]), T::splat(simd, of_beta[h][$j]));
                for i in 0..R {
                    change[$j][i] = T::mul_add(simd, change[h][i], product, change[$j][i]);
                    change[$j][i] = T::mul_add(simd, beta[h][i], of_beta, change[$j][i]);
                }
            }
            let (l, new) = (registers::<T, S, R>(&l[$j][from..]), registers::<T, S, R>(&new[$j][from..]));
            let tangent = registers::<T, S, R>(&tangent[$j][from..]);
            let [pivot, alpha_tangent, pivot_tangent] =
                [step.l, -pivots.1, pivots.0].map(|number| T::splat(simd, number));
            let [inverse, scale, both] =
                [step.inverse, -step.scale, pivots.0 + pivots.1].map(|number| T::splat(simd, number));
            let mut pushed = [zero; R];
            for i in 0..R {
                let sum = T::mul_add(simd, pivot_tangent, l[i], change[$j][i]);
                let sum = T::mul_add(simd, pivot, tangent[i], T::mul_add(simd, alpha_tangent, new[i], sum));
                let sum = T::vmul(simd, sum, inverse);
                pushed[i] = sum;
                beta[$j][i] = T::vmul(simd, T::vadd(simd, l[i], new[i]), scale);
                let all = T::mul_add(simd, beta[$j][i], both, T::vadd(simd, tangent[i], sum));
                change[$j][i] = T::vmul(simd, all, scale);
            }
            write::<T, S, R>(&mut to[$j][from..], pushed, past);
        })*};
    }
    // Written out: a triangular loop nest is not unrolled, and the registers would then be in memory.
    solve!(0 1 2 3);
    for (r, tile) in tile.chunks_mut(2 * TILE).enumerate().take(k) {
        let (v, dv) = tile.split_at_mut(TILE);
        let (v, dv) = (registers_mut::<T, S, R>(v), registers_mut::<T, S, R>(dv));
        let (mut left, mut tangents) = (*v, *dv);
        for j in 0..TOGETHER {
            let (a, da) = (T::splat(simd, a[j][r]), T::splat(simd, da[j][r]));
            for i in 0..R {
                left[i] = T::mul_add(simd, beta[j][i], a, left[i]);
                tangents[i] = T::mul_add(simd, change[j][i], a, tangents[i]);
                tangents[i] = T::mul_add(simd, beta[j][i], da, tangents[i]);
            }
        }
        (*v, *dv) = (left, tangents);
    }
}

/// One step, for the rows of `R` registers, with which all slices begin.
#[inline(always)]
pub fn column<T: Float, S: Simd, const R: usize>(
    simd: S,
    (step, pivots): (&Step<T>, (T, T)),
    (a, da): (&[T], &[T]),
    (signed, signed_tangents): (&[T], &[T]),
    ([l, new, tangent], to, past): ([&[T]; 3], &mut [T], bool),
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
    write::<T, S, R>(to, sum, past);
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
