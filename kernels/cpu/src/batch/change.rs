//! What a modification adds to all matrices.

use super::reflections::TOGETHER;
use crate::batch::view::BatchView;
use crate::number::{Float, Number};
use core::ops::Range;

/// Bytes of V that are transposed at a time, so that they have reached the cache when they are read as registers.
const TAKEN: usize = 8 << 10;

/// Weights of the columns of V.
#[derive(Clone, Copy, Debug)]
pub enum Signed<'a, T> {
    /// 1 for all.
    Plus,
    /// −1 for all.
    Minus,
    /// One for each column of all matrices.
    Each(&'a [T]),
    /// One for each column of each matrix, matrix by matrix.
    OfEach(&'a [T]),
}

impl<T: Float> Signed<'_, T> {
    /// The weight of column `r`, of `rank` columns, of a matrix.
    #[inline(always)]
    pub fn of(self, matrix: usize, r: usize, rank: usize) -> T {
        match self {
            Self::Plus => T::ONE,
            Self::Minus => -T::ONE,
            Self::Each(w) => w[r],
            Self::OfEach(w) => w[matrix * rank + r],
        }
    }

    /// The columns that have a plus sign in some matrix, or those with a minus sign in the order of a downdate that undoes an update.
    fn columns(self, rank: usize, minus: bool) -> Vec<usize> {
        let some = |w: T| if minus { !(w >= T::ZERO) } else { !(w <= T::ZERO) };
        let occurs = |&r: &usize| match self {
            Self::OfEach(w) => w.iter().skip(r).step_by(rank).any(|&w| some(w)),
            _ => some(self.of(0, r, rank)),
        };
        if minus { (0..rank).rev().filter(occurs).collect() } else { (0..rank).filter(occurs).collect() }
    }
}

/// V and its weights, for all tiles.
pub struct Change<'a, T: Number> {
    pub v: BatchView<'a, T>,
    pub weights: Signed<'a, T::Part>,
    /// Whether a matrix is modified.
    pub mask: Option<&'a [bool]>,
    pub plus: Vec<usize>,
    pub minus: Vec<usize>,
    /// √|w| of those columns, where it is the same for all matrices.
    scales: Option<[Vec<T::Part>; 2]>,
}

impl<'a, T: Number> Change<'a, T> {
    pub fn new(v: BatchView<'a, T>, weights: Signed<'a, T::Part>, mask: Option<&'a [bool]>) -> Self {
        let [_, _, rank] = v.shape();
        let signed = [false, true].map(|minus| weights.columns(rank, minus));
        let same = mask.is_none() && !matches!(weights, Signed::OfEach(_));
        let root = |r: &usize| weights.of(0, *r, rank).abs().sqrt();
        let scales = same.then(|| [0, 1].map(|sign: usize| signed[sign].iter().map(root).collect()));
        let [plus, minus] = signed;
        Self { v, weights, mask, plus, minus, scales }
    }

    /// The columns of V with one sign.
    pub fn signed(&self, minus: bool) -> &[usize] {
        if minus { &self.minus } else { &self.plus }
    }

    /// √|w| for the columns of V with one sign, if all matrices have the same.
    pub fn scales(&self, minus: bool) -> Option<&[T::Part]> {
        self.scales.as_ref().map(|both| both[usize::from(minus)].as_slice())
    }

    /// √|w| for a column of a matrix, if it has this sign; zero if not.
    #[inline(always)]
    pub fn scale(&self, matrix: usize, column: usize, minus: bool) -> T::Part {
        let zero = T::Part::ZERO;
        if self.mask.is_some_and(|mask| !mask[matrix]) {
            return zero;
        }
        match self.weights {
            Signed::Plus | Signed::Minus => T::Part::ONE,
            weights => {
                let [_, _, rank] = self.v.shape();
                let weight = weights.of(matrix, column, rank);
                let other = if minus { weight > zero } else { weight < zero };
                // Also if it is not a number, which makes V that.
                if other { zero } else { weight.abs().sqrt() }
            }
        }
    }

    /// Whether none of these matrices changes.
    pub fn is_none_for(&self, mut matrices: Range<usize>) -> bool {
        let [_, rows, _] = self.v.shape();
        let none = rows == 0 || (self.plus.is_empty() && self.minus.is_empty());
        none || self.mask.is_some_and(|mask| !matrices.any(|matrix| mask[matrix]))
    }

    /// The real numbers of V of a group, with `step` of them in a register, and how many groups are transposed at a time.
    #[inline(always)]
    pub fn taken(&self, capacity: usize, step: usize) -> (usize, usize) {
        let of_group = (capacity * (self.plus.len() + self.minus.len()) * step).max(1);
        (of_group, (TAKEN / size_of::<T::Part>() / of_group / TOGETHER * TOGETHER).max(TOGETHER))
    }

    /// The real numbers of b for the columns of V with either sign, which come before V.
    #[inline(always)]
    pub fn scratch(&self, step: usize) -> usize {
        self.plus.len().max(self.minus.len()) * step
    }

    /// Real numbers of working memory.
    pub fn memory(&self, capacity: usize, step: usize) -> usize {
        let (of_group, taken) = self.taken(capacity, step);
        self.scratch(step) + of_group * taken
    }
}
