//! The kernel that pulls cotangents back through the columns of a panel, the last one first.

use super::columns::{Columns, ColumnsMut, Several, earlier};
use super::eliminate::chunk;
use super::step::{Step, are_plain, products};
use super::tile::{LINE, MORE_SUMS, TILE, TOGETHER, by_several, parts, registers, registers_mut, write};
use crate::isa::fence;
use crate::number::Float;
use pulp::{Simd, WithSimd};

/// V and Q of some tiles, taken back through the columns of a panel. With l̄', Q' behind the step and l̄, Q before it,
///
/// ```text
/// d_i = Q'_i S aᵀ           t_i = l̄'_i − d_i / (l + α)      m_i = t_i / α
/// l̄_i = m_i l − d_i / (l + α)     V_i ← V_i + β_i a         Q_i ← Q'_i + m_i a
/// ```
///
/// and the sums over rows, for the cotangents of row j itself: Σ m_i V_i − β_i Q'_i, Σ m_i l_i + β_i d_i / (l + α), and
/// Σ β_i d_i / (l + α) − m_i l'_i.
pub struct Pull<'a, T> {
    pub steps: &'a [Step<T>],
    /// Rows of V at the steps, and the same times the signs. (columns × k)
    pub a: &'a [T],
    pub signed: &'a [T],
    pub k: usize,
    pub l: Columns<'a, T>,
    pub new: Columns<'a, T>,
    pub cotangent: Columns<'a, T>,
    pub to: ColumnsMut<'a, T>,
    /// Whether that is written past the caches.
    pub past: bool,
    /// (tiles, k, 2, TILE): V and Q of each column.
    pub state: &'a mut [T],
    /// (columns, k + 2, lanes), to which is added.
    pub sums: &'a mut [T],
    pub live: &'a [T; TILE],
}

impl<T: Float> WithSimd for Pull<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match TILE / T::lanes::<S>() {
            2 => self.run::<S, 2>(simd),
            _ => self.run::<S, 4>(simd),
        }
    }
}

impl<T: Float> Pull<'_, T> {
    /// `R`: registers of rows at a time.
    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) {
        let Self { steps, a, signed, k, l, new, cotangent, mut to, past, state, sums, live } = self;
        let (tile, rows) = (2 * k * TILE, R * T::lanes::<S>());
        let each = (k + MORE_SUMS) * LINE / size_of::<T>();
        let (together, by_several) = (self::chunk::<T>(k), by_several::<S>(k));
        let products = if by_several { products(a, signed, k) } else { [[T::ZERO; TOGETHER]; TILE] };
        for (c, chunk) in state.chunks_mut(tile * together).enumerate() {
            let first = c * together;
            let tiles = [first, first + chunk.len() / tile];
            for at in (0..steps.len()).step_by(TOGETHER).rev() {
                let block = &steps[at..][..TOGETHER];
                if by_several && are_plain(block) {
                    let rows_of_v =
                        (parts(&a[at * k..], k), parts(&signed[at * k..], k), &products[at..][..TOGETHER]);
                    let next = earlier(at, TOGETHER, tiles);
                    let (fetched, written) = ([l, new, cotangent], to.together_ahead(next));
                    let columns_of_l = [l, new, cotangent].map(|columns| columns.together(at, first));
                    let (mut to, sums) = (to.together(at, first), &mut sums[at * each..][..TOGETHER * each]);
                    for (t, tile) in chunk.chunks_exact_mut(tile).enumerate() {
                        fetched.iter().for_each(|columns| columns.fetch_together(next, t));
                        if !past {
                            written.iter().for_each(|ahead| ahead.fetch_to_write(t));
                        }
                        for row in (0..TILE).step_by(rows) {
                            let (entries, tile) = ((&columns_of_l, t * TILE + row), &mut tile[row..]);
                            columns::<T, S, R>(simd, block, rows_of_v, entries, (&mut to, past), tile, sums);
                        }
                    }
                    continue;
                }
                for j in (at..at + TOGETHER).rev() {
                    let rows_of_v = (&a[j * k..][..k], &signed[j * k..][..k]);
                    let [next, far] = [1, TOGETHER].map(|by| earlier(j, by, tiles));
                    let sums = T::registers_mut::<S>(&mut sums[j * each..][..each]);
                    let fetched =
                        [l, new, cotangent].map(|columns| (columns.ahead(next), columns.ahead(far)));
                    let written = to.ahead(next);
                    let [l, new, cotangent] = [l, new, cotangent].map(|columns| columns.column(j, first));
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
                            let entries =
                                ([&l[from..], &new[from..], &cotangent[from..]], &mut to[from..], past);
                            let (tile, live) = (&mut tile[row..], &live[row..]);
                            column::<T, S, R>(simd, &steps[j], rows_of_v, entries, tile, sums, live);
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

/// Steps without an interchange, for the rows of `R` registers, with which the entries of L, L' and the cotangent, and the tile,
/// begin.
#[inline(always)]
#[allow(clippy::reversed_empty_ranges, reason = "no step follows the last one")]
fn columns<T: Float, S: Simd, const R: usize>(
    simd: S,
    steps: &[Step<T>],
    (a, signed, products): (Several<'_, T>, Several<'_, T>, &[[T; TOGETHER]]),
    ([l, new, cotangent], from): (&[Several<'_, T>; 3], usize),
    (to, past): (&mut [&mut [T]; TOGETHER], bool),
    tile: &mut [T],
    sums: &mut [T],
) {
    let k = a[0].len();
    let zero = T::splat(simd, T::ZERO);
    let (sums, each) =
        (T::registers_mut::<S>(sums), (k + MORE_SUMS) * (LINE / size_of::<T>()) / T::lanes::<S>());
    // D = Q S Aᵀ, with Q behind all steps.
    let mut m = [[zero; R]; TOGETHER];
    for (r, tile) in tile.chunks(2 * TILE).enumerate().take(k) {
        let q = registers::<T, S, R>(&tile[TILE..]);
        for j in 0..TOGETHER {
            let a = T::splat(simd, signed[j][r]);
            for i in 0..R {
                m[j][i] = T::mul_add(simd, a, q[i], m[j][i]);
            }
        }
    }
    let mut beta = [[zero; R]; TOGETHER];
    macro_rules! solve {
        ($($j:literal)*) => {$({
            let step = &steps[$j];
            for h in $j + 1..TOGETHER {
                let product = T::splat(simd, products[$j][h]);
                for i in 0..R {
                    m[$j][i] = T::mul_add(simd, m[h][i], product, m[$j][i]);
                }
            }
            let (l, new) = (registers::<T, S, R>(&l[$j][from..]), registers::<T, S, R>(&new[$j][from..]));
            let cotangent = registers::<T, S, R>(&cotangent[$j][from..]);
            let (scale, inverse) = (T::splat(simd, step.scale), T::splat(simd, step.inverse));
            let ratio = T::splat(simd, step.ratio);
            let mut before = [zero; R];
            let (mut with_old, mut with_new) = (sums[$j * each + k], sums[$j * each + k + 1]);
            for i in 0..R {
                beta[$j][i] = T::vmul(simd, T::vadd(simd, l[i], new[i]), scale);
                let along = T::vmul(simd, m[$j][i], scale);
                let left = T::vsub(simd, cotangent[i], along);
                m[$j][i] = T::vmul(simd, left, inverse);
                before[i] = T::vsub(simd, T::vmul(simd, ratio, left), along);
                let both = T::vmul(simd, beta[$j][i], along);
                with_old = T::vadd(simd, with_old, T::mul_add(simd, m[$j][i], l[i], both));
                with_new = T::vadd(simd, with_new, T::neg_mul_add(simd, m[$j][i], new[i], both));
            }
            (sums[$j * each + k], sums[$j * each + k + 1]) = (with_old, with_new);
            write::<T, S, R>(&mut to[$j][from..], before, past);
        })*};
    }
    // Written out: a triangular loop nest is not unrolled, and the registers would then be in memory.
    solve!(3 2 1 0);
    for (r, tile) in tile.chunks_mut(2 * TILE).enumerate().take(k) {
        let (v, q) = tile.split_at_mut(TILE);
        let (v, q) = (registers_mut::<T, S, R>(v), registers_mut::<T, S, R>(q));
        let (mut before, mut pulled) = (*v, *q);
        for j in (0..TOGETHER).rev() {
            let (a, mut total) = (T::splat(simd, a[j][r]), sums[j * each + r]);
            for i in 0..R {
                before[i] = T::mul_add(simd, beta[j][i], a, before[i]);
                total = T::mul_add(simd, m[j][i], before[i], total);
                total = T::neg_mul_add(simd, beta[j][i], pulled[i], total);
                pulled[i] = T::mul_add(simd, m[j][i], a, pulled[i]);
            }
            sums[j * each + r] = total;
        }
        (*v, *q) = (before, pulled);
    }
}

/// One step, for the rows of `R` registers, with which all slices begin.
#[inline(always)]
pub fn column<T: Float, S: Simd, const R: usize>(
    simd: S,
    step: &Step<T>,
    (a, signed): (&[T], &[T]),
    ([l, new, cotangent], to, past): ([&[T]; 3], &mut [T], bool),
    tile: &mut [T],
    sums: &mut [T::Vector<S>],
    live: &[T],
) {
    let k = a.len();
    let zero = T::splat(simd, T::ZERO);
    let (scale, inverse) = (T::splat(simd, step.scale), T::splat(simd, step.inverse));
    let new = registers::<T, S, R>(new);
    let mut old = *registers::<T, S, R>(l);
    if step.interchange.is_some() {
        // l stands in V. The entry of V that it was interchanged with comes from what the step has made of them.
        let mut dot = [zero; R];
        for (r, &a) in signed.iter().enumerate() {
            let v = registers::<T, S, R>(&tile[2 * r * TILE..]);
            let a = T::splat(simd, a);
            for i in 0..R {
                dot[i] = T::mul_add(simd, a, v[i], dot[i]);
            }
        }
        let (pivot, live) = (T::splat(simd, step.l), registers::<T, S, R>(live));
        for i in 0..R {
            let sum = T::vsub(simd, T::vmul(simd, pivot, new[i]), dot[i]);
            old[i] = T::vmul(simd, T::vmul(simd, sum, inverse), live[i]);
        }
    }
    let mut d = [zero; R];
    for (r, &a) in signed.iter().enumerate() {
        let q = registers::<T, S, R>(&tile[(2 * r + 1) * TILE..]);
        let a = T::splat(simd, a);
        for i in 0..R {
            d[i] = T::mul_add(simd, a, q[i], d[i]);
        }
    }
    let (mut beta, mut m, mut before) = ([zero; R], [zero; R], [zero; R]);
    let (mut with_old, mut with_new) = (sums[k], sums[k + 1]);
    let cotangent = registers::<T, S, R>(cotangent);
    let ratio = T::splat(simd, step.ratio);
    for i in 0..R {
        beta[i] = T::vmul(simd, T::vadd(simd, old[i], new[i]), scale);
        let along = T::vmul(simd, d[i], scale);
        let left = T::vsub(simd, cotangent[i], along);
        m[i] = T::vmul(simd, left, inverse);
        before[i] = T::vsub(simd, T::vmul(simd, ratio, left), along);
        let both = T::vmul(simd, beta[i], along);
        with_old = T::vadd(simd, with_old, T::mul_add(simd, m[i], old[i], both));
        with_new = T::vadd(simd, with_new, T::neg_mul_add(simd, m[i], new[i], both));
    }
    (sums[k], sums[k + 1]) = (with_old, with_new);
    for ((tile, &a), sum) in tile.chunks_mut(2 * TILE).zip(a).zip(&mut *sums) {
        let (v, q) = tile.split_at_mut(TILE);
        let (v, q) = (registers_mut::<T, S, R>(v), registers_mut::<T, S, R>(q));
        let a = T::splat(simd, a);
        let mut total = *sum;
        for i in 0..R {
            v[i] = T::mul_add(simd, beta[i], a, v[i]);
            total = T::mul_add(simd, m[i], v[i], total);
            total = T::neg_mul_add(simd, beta[i], q[i], total);
            q[i] = T::mul_add(simd, m[i], a, q[i]);
        }
        *sum = total;
    }
    if let Some((p, sign)) = step.interchange {
        let (v, q) = tile[2 * p * TILE..].split_at_mut(TILE);
        let (v, q) = (registers_mut::<T, S, R>(v), registers_mut::<T, S, R>(q));
        let sign = T::splat(simd, sign);
        for i in 0..R {
            v[i] = T::vmul(simd, sign, old[i]);
            let other = T::vmul(simd, sign, before[i]);
            before[i] = core::mem::replace(&mut q[i], other);
        }
    }
    write::<T, S, R>(to, before, past);
}

/// Adds the sums of a group of rows to those of others.
pub struct AddUp<'a, T> {
    pub sums: &'a [T],
    pub to: &'a mut [T],
}

impl<T: Float> WithSimd for AddUp<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (to, &sum) in T::registers_mut::<S>(self.to).iter_mut().zip(T::registers::<S>(self.sums)) {
            *to = T::vadd(simd, *to, sum);
        }
    }
}
