//! The kernels on the diagonal block of a panel, where each step waits for the sums of the one before.

use super::eliminate;
use super::pull;
use super::push;
use super::step::{Step, row, set_row, signed};
use super::tile::{LINE, MORE_SUMS, TILE};
use crate::number::Float;
use pulp::{Simd, WithSimd};

/// Makes the steps of a panel, and takes V of the diagonal tile through them.
pub struct EliminateDiagonal<'a, T> {
    /// The pivots of L and L' of each column.
    pub pivots: &'a [(T, T)],
    pub signs: &'a [T],
    pub k: usize,
    /// Packed, without the diagonal. (TILE × columns)
    pub l: &'a [T],
    pub new: &'a [T],
    /// (k, 2, TILE)
    pub tile: &'a mut [T],
    pub steps: &'a mut [Step<T>],
    /// (columns × k)
    pub a: &'a mut [T],
}

impl<T: Float> WithSimd for EliminateDiagonal<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match TILE / T::lanes::<S>() {
            2 => self.run::<S, 2>(simd),
            _ => self.run::<S, 4>(simd),
        }
    }
}

impl<T: Float> EliminateDiagonal<'_, T> {
    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) {
        let Self { pivots, signs, k, l, new, tile, steps, a } = self;
        let columns = pivots.iter().zip(steps).zip(a.chunks_exact_mut(k));
        for (j, ((&(pivot, alpha), step), a)) in columns.enumerate() {
            row(tile, 0, j, a);
            *step = Step::new(pivot, alpha, a, signs);
            let (kept, live) = (Kept::new(step, j, tile), below(step, j));
            let (l, new) = (&l[j * TILE..][..TILE], &new[j * TILE..][..TILE]);
            for at in (0..TILE).step_by(R * T::lanes::<S>()) {
                eliminate::column::<T, S, R>(
                    simd,
                    step,
                    a,
                    (&l[at..], &new[at..]),
                    &mut tile[at..],
                    &live[at..],
                );
            }
            kept.restore(j, tile);
        }
    }
}

/// Takes V and Q of the diagonal tile back through the steps of a panel.
pub struct PullDiagonal<'a, T> {
    pub steps: &'a [Step<T>],
    pub a: &'a [T],
    pub signed: &'a [T],
    pub k: usize,
    /// Packed, without the diagonal. (TILE × columns)
    pub l: &'a [T],
    pub new: &'a [T],
    pub cotangent: &'a [T],
    /// The cotangents of the pivots of L', which become those of the pivots of L.
    pub pivots: &'a mut [T],
    pub to: &'a mut [T],
    /// (k, 2, TILE)
    pub tile: &'a mut [T],
    /// The sums of the rows below, to which are added those of the block. (columns, k + 2, lanes)
    pub sums: &'a mut [T],
    /// The sums of one column. (k + 2)
    pub totals: &'a mut [T],
}

impl<T: Float> WithSimd for PullDiagonal<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match TILE / T::lanes::<S>() {
            2 => self.run::<S, 2>(simd),
            _ => self.run::<S, 4>(simd),
        }
    }
}

impl<T: Float> PullDiagonal<'_, T> {
    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) {
        let Self { steps, a, signed, k, l, new, cotangent, pivots, to, tile, sums, totals } = self;
        let each = (k + MORE_SUMS) * LINE / size_of::<T>();
        for j in (0..steps.len()).rev() {
            let (step, rows, column) = (&steps[j], j * k..(j + 1) * k, j * TILE..(j + 1) * TILE);
            let (a, signed) = (&a[rows.clone()], &signed[rows]);
            let (kept, live) = (Kept::new(step, j, tile), below(step, j));
            let (l, new, cotangent) = (&l[column.clone()], &new[column.clone()], &cotangent[column.clone()]);
            let to = &mut to[column];
            let sums = T::registers_mut::<S>(&mut sums[j * each..][..each]);
            for at in (0..TILE).step_by(R * T::lanes::<S>()) {
                let entries = ([&l[at..], &new[at..], &cotangent[at..]], &mut to[at..], false);
                pull::column::<T, S, R>(simd, step, (a, signed), entries, &mut tile[at..], sums, &live[at..]);
            }
            kept.restore(j, tile);
            totals.iter_mut().zip(&*sums).for_each(|(to, &sum)| *to = T::total(simd, sum));
            pivots[j] = step.pull_row(pivots[j], a, totals);
            set_row(tile, 1, j, &totals[..k]);
        }
    }
}

/// Makes the steps of a panel and their tangents, and takes V and dV of the diagonal tile through them.
pub struct PushDiagonal<'a, T> {
    /// The pivots of L and L' of each column.
    pub pivots: &'a [(T, T)],
    /// The tangents of the pivots of L, which become those of the l and α of each step.
    pub pivot_tangents: &'a mut [(T, T)],
    pub signs: &'a [T],
    pub sign_tangents: &'a [T],
    pub k: usize,
    /// Packed, without the diagonal. (TILE × columns)
    pub l: &'a [T],
    pub new: &'a [T],
    pub tangent: &'a [T],
    pub to: &'a mut [T],
    /// (k, 2, TILE)
    pub tile: &'a mut [T],
    pub steps: &'a mut [Step<T>],
    /// (columns × k)
    pub a: &'a mut [T],
    pub signed: &'a mut [T],
    pub tangents: &'a mut [T],
    pub signed_tangents: &'a mut [T],
}

impl<T: Float> WithSimd for PushDiagonal<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match TILE / T::lanes::<S>() {
            2 => self.run::<S, 2>(simd),
            _ => self.run::<S, 4>(simd),
        }
    }
}

impl<T: Float> PushDiagonal<'_, T> {
    #[inline(always)]
    fn run<S: Simd, const R: usize>(self, simd: S) {
        let Self { pivots, pivot_tangents, k, l, new, tangent, to, tile, steps, .. } = self;
        let signs = (self.signs, self.sign_tangents);
        for (j, step) in steps.iter_mut().enumerate() {
            let (rows, column) = (j * k..(j + 1) * k, j * TILE..(j + 1) * TILE);
            let (a, with_signs) = (&mut self.a[rows.clone()], &mut self.signed[rows.clone()]);
            let (da, with_tangents) = (&mut self.tangents[rows.clone()], &mut self.signed_tangents[rows]);
            row(tile, 0, j, a);
            row(tile, 1, j, da);
            *step = Step::new(pivots[j].0, pivots[j].1, a, signs.0);
            pivot_tangents[j] = step.push_row(pivot_tangents[j].0, (a, da), signs, with_tangents);
            signed(a, signs.0, with_signs);
            let (l, new, tangent) = (&l[column.clone()], &new[column.clone()], &tangent[column.clone()]);
            let to = &mut to[column];
            for at in (0..TILE).step_by(R * T::lanes::<S>()) {
                push::column::<T, S, R>(
                    simd,
                    (step, pivot_tangents[j]),
                    (a, da),
                    (with_signs, with_tangents),
                    ([&l[at..], &new[at..], &tangent[at..]], &mut to[at..], false),
                    &mut tile[at..],
                );
            }
        }
    }
}

/// 1 for the rows of a tile below row j, 0 for the others; steps without an interchange do not read them.
#[inline(always)]
fn below<T: Float>(step: &Step<T>, j: usize) -> [T; TILE] {
    let mut live = [T::ONE; TILE];
    if step.interchange.is_some() {
        live[..=j].fill(T::ZERO);
    }
    live
}

/// A column of V in a diagonal tile, of which an interchange may change the rows down to that of the step only in passing.
struct Kept<T> {
    column: Option<usize>,
    entries: [T; TILE],
}

impl<T: Float> Kept<T> {
    #[inline(always)]
    fn new(step: &Step<T>, j: usize, tile: &[T]) -> Self {
        let mut kept = Self { column: None, entries: [T::ZERO; TILE] };
        if let Some((column, _)) = step.interchange {
            kept.column = Some(column);
            kept.entries[..=j].copy_from_slice(&tile[2 * column * TILE..][..=j]);
        }
        kept
    }

    #[inline(always)]
    fn restore(&self, j: usize, tile: &mut [T]) {
        if let Some(column) = self.column {
            tile[2 * column * TILE..][..=j].copy_from_slice(&self.entries[..=j]);
        }
    }
}
