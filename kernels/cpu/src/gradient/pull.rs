//! The kernel that pulls cotangents back through the columns of a panel, the last one first.

use super::columns::{Columns, ColumnsMut};
use super::eliminate::chunk;
use super::step::Step;
use super::tile::{LINE, MORE_SUMS, TILE, registers, registers_mut};
use crate::number::Float;
use pulp::{Simd, WithSimd};

/// V and Q of some tiles, taken back through the columns of a panel. With l̄', Q' behind the step and l̄, Q before it,
///
/// ```text
/// d_i = Q'_i S aᵀ           t_i = l̄'_i − d_i / (l + α)      m_i = t_i / α
/// l̄_i = m_i l − d_i / (l + α)     V_i ← V_i + β_i a         Q_i ← Q'_i + m_i a
/// ```
///
/// and the sums over rows, for the cotangents of row j itself: Σ m_i V_i − β_i Q'_i, Σ m_i l_i, Σ m_i l'_i, Σ β_i d_i.
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
    /// (tiles, k, 2, TILE): V and Q of each column.
    pub state: &'a mut [T],
    /// (columns, k + 3, lanes), to which is added.
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
    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) {
        let Self { steps, a, signed, k, l, new, cotangent, mut to, state, sums, live } = self;
        let (tile, rows) = (2 * k * TILE, R * T::lanes::<S>());
        let each = (k + MORE_SUMS) * LINE / size_of::<T>();
        for (c, chunk) in state.chunks_mut(tile * chunk::<T>(k)).enumerate() {
            let first = c * self::chunk::<T>(k);
            for j in (0..steps.len()).rev() {
                let step = &steps[j];
                let (a, signed) = (&a[j * k..][..k], &signed[j * k..][..k]);
                let (next, ahead) =
                    if j > 0 { (j - 1, first) } else { (steps.len() - 1, first + self::chunk::<T>(k)) };
                let sums = T::registers_mut::<S>(&mut sums[j * each..][..each]);
                let fetched = [l, new, cotangent].map(|columns| columns.ahead(next, ahead));
                let written = to.ahead(next, ahead);
                let [l, new, cotangent] = [l, new, cotangent].map(|columns| columns.column(j, first));
                let to = to.column(j, first);
                for (t, tile) in chunk.chunks_exact_mut(tile).enumerate() {
                    fetched.iter().for_each(|ahead| ahead.fetch(t));
                    written.fetch_to_write(t);
                    for at in (0..TILE).step_by(rows) {
                        let from = t * TILE + at;
                        column::<T, S, R>(
                            simd,
                            step,
                            (a, signed),
                            (&l[from..], &new[from..], &cotangent[from..], &mut to[from..]),
                            &mut tile[at..],
                            sums,
                            &live[at..],
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
    step: &Step<T>,
    (a, signed): (&[T], &[T]),
    (l, new, cotangent, to): (&[T], &[T], &[T], &mut [T]),
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
    let (mut beta, mut less, mut m) = ([zero; R], [zero; R], [zero; R]);
    let mut before = [zero; R];
    let (mut with_old, mut with_new, mut with_beta) = (sums[k], sums[k + 1], sums[k + 2]);
    let cotangent = registers::<T, S, R>(cotangent);
    let ratio = T::splat(simd, step.ratio);
    for i in 0..R {
        beta[i] = T::vmul(simd, T::vadd(simd, old[i], new[i]), scale);
        less[i] = T::vsub(simd, zero, beta[i]);
        let along = T::vmul(simd, d[i], scale);
        let left = T::vsub(simd, cotangent[i], along);
        m[i] = T::vmul(simd, left, inverse);
        before[i] = T::vsub(simd, T::vmul(simd, ratio, left), along);
        with_old = T::mul_add(simd, m[i], old[i], with_old);
        with_new = T::mul_add(simd, m[i], new[i], with_new);
        with_beta = T::mul_add(simd, beta[i], d[i], with_beta);
    }
    (sums[k], sums[k + 1], sums[k + 2]) = (with_old, with_new, with_beta);
    for ((tile, &a), sum) in tile.chunks_mut(2 * TILE).zip(a).zip(&mut *sums) {
        let (v, q) = tile.split_at_mut(TILE);
        let (v, q) = (registers_mut::<T, S, R>(v), registers_mut::<T, S, R>(q));
        let a = T::splat(simd, a);
        let mut total = *sum;
        for i in 0..R {
            v[i] = T::mul_add(simd, beta[i], a, v[i]);
            total = T::mul_add(simd, m[i], v[i], total);
            total = T::mul_add(simd, less[i], q[i], total);
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
    *registers_mut::<T, S, R>(to) = before;
}

/// Adds up the registers of sums: to (columns × (k + 3)) is added what they hold.
pub struct Totals<'a, T> {
    pub sums: &'a [T],
    pub k: usize,
    pub to: &'a mut [T],
}

impl<T: Float> WithSimd for Totals<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let each = (self.k + MORE_SUMS) * LINE / size_of::<T>();
        let columns = self.sums.chunks_exact(each).zip(self.to.chunks_exact_mut(self.k + MORE_SUMS));
        for (sums, to) in columns {
            for (to, &sum) in to.iter_mut().zip(T::registers::<S>(sums)) {
                *to += T::total(simd, sum);
            }
        }
    }
}
