//! The step that eliminates row j of V by column j of L: its numbers, and which column of V it interchanges with that of L.

use super::tile::{TILE, TOGETHER};
use crate::number::Float;

/// The numbers of one step. With the row a of V:
///
/// ```text
/// α = √(l² + a S aᵀ)      β_i = (l_i + l'_i) / (l + α)      V_i ← V_i − β_i a
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Step<T> {
    /// The pivot of L, or the entry of V that it is interchanged with.
    pub l: T,
    /// 1 / α, the pivot of L'.
    pub inverse: T,
    /// 1 / (l + α).
    pub scale: T,
    /// l / α.
    pub ratio: T,
    /// The column of V that is interchanged with the column of L, and the sign that makes its entry positive.
    pub interchange: Option<(usize, T)>,
}

impl<T: Float> Step<T> {
    /// The step for the pivots l and α, and for the row a of V, which becomes that after the interchange.
    ///
    /// A column of V is interchanged with that of L where it outweighs it: otherwise what is left of V is the difference of numbers far
    /// larger than itself. Columns of one sign may be interchanged, those of plus.
    #[inline(always)]
    pub fn new(l: T, alpha: T, a: &mut [T], signs: &[T]) -> Self {
        let two = T::TWO;
        let mut interchange = None;
        let mut largest = two * l;
        for (r, (&x, &sign)) in a.iter().zip(signs).enumerate() {
            if x.abs() > largest && sign > T::ZERO {
                largest = x.abs();
                interchange = Some((r, if x < T::ZERO { -T::ONE } else { T::ONE }));
            }
        }
        let mut pivot = l;
        if let Some((r, sign)) = interchange {
            pivot = sign * a[r];
            a[r] = l;
        }
        Self {
            l: pivot,
            inverse: T::ONE / alpha,
            scale: T::ONE / (pivot + alpha),
            ratio: pivot / alpha,
            interchange,
        }
    }

    /// A step that is not made yet.
    pub fn none() -> Self {
        let zero = T::ZERO;
        Self { l: zero, inverse: zero, scale: zero, ratio: zero, interchange: None }
    }
}

/// Row `row` of V (`half` 0) or of what goes with it (1) in a tile. (k)
#[inline(always)]
pub fn row<T: Float>(tile: &[T], half: usize, row: usize, to: &mut [T]) {
    to.iter_mut().zip(tile.chunks_exact(2 * TILE)).for_each(|(to, column)| *to = column[half * TILE + row]);
}

/// Writes such a row. (k)
#[inline(always)]
pub fn set_row<T: Float>(tile: &mut [T], half: usize, row: usize, from: &[T]) {
    tile.chunks_exact_mut(2 * TILE).zip(from).for_each(|(column, &x)| column[half * TILE + row] = x);
}

/// Products with the signs of the columns of V.
#[inline(always)]
pub fn signed<T: Float>(a: &[T], signs: &[T], to: &mut [T]) {
    to.iter_mut().zip(a.iter().zip(signs)).for_each(|(to, (&a, &sign))| *to = sign * a);
}

/// Whether these steps can be made together: none of them interchanges columns.
#[inline(always)]
pub fn are_plain<T>(steps: &[Step<T>]) -> bool {
    steps.iter().all(|step| step.interchange.is_none())
}

/// For each step p, the products y_p x_qᵀ with rows of the later steps q of those that are made together.
#[inline(always)]
pub fn products<T: Float>(x: &[T], y: &[T], k: usize) -> [[T; TOGETHER]; TILE] {
    let mut to = [[T::ZERO; TOGETHER]; TILE];
    let blocks = x.chunks_exact(TOGETHER * k).zip(y.chunks_exact(TOGETHER * k));
    for ((x, y), to) in blocks.zip(to.chunks_exact_mut(TOGETHER)) {
        for (p, (y, to)) in y.chunks_exact(k).zip(to).enumerate() {
            for (x, to) in x.chunks_exact(k).zip(to).skip(p + 1) {
                *to = x.iter().zip(y).fold(T::ZERO, |sum, (&x, &y)| sum + x * y);
            }
        }
    }
    to
}

impl<T: Float> Step<T> {
    /// The cotangents of the row of V, which replace their sums in `totals` (k + 2), and that of the pivot of L, from the cotangent of
    /// the pivot of L'.
    #[inline(always)]
    pub fn pull_row(&self, pivot: T, a: &[T], totals: &mut [T]) -> T {
        let (of_v, more) = totals.split_at_mut(a.len());
        let of_alpha = (pivot + more[1]) * self.inverse;
        let mut of_l = more[0] + of_alpha * self.l;
        of_v.iter_mut().zip(a).for_each(|(q, &a)| *q += of_alpha * a);
        if let Some((r, sign)) = self.interchange {
            let other = core::mem::replace(&mut of_v[r], sign * of_l);
            of_l = other;
        }
        of_l
    }
}

impl<T: Float> Step<T> {
    /// The tangents of l and α, from that of the pivot of L and the row da of V, which becomes that after the interchange. S da + dS a is
    /// written to `signed_tangents`.
    #[inline(always)]
    pub fn push_row(
        &self,
        mut pivot: T,
        (a, da): (&[T], &mut [T]),
        (signs, sign_tangents): (&[T], &[T]),
        signed_tangents: &mut [T],
    ) -> (T, T) {
        if let Some((r, sign)) = self.interchange {
            let other = sign * da[r];
            da[r] = core::mem::replace(&mut pivot, other);
        }
        let half = T::ONE / T::TWO;
        let mut sum = self.l * pivot;
        for (r, to) in signed_tangents.iter_mut().enumerate() {
            *to = signs[r] * da[r] + sign_tangents[r] * a[r];
            sum += (signs[r] * da[r] + half * sign_tangents[r] * a[r]) * a[r];
        }
        (pivot, sum * self.inverse)
    }
}
