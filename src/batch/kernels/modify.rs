//! A modification of the factors of a tile.

use super::given::{Groups, Scale, take};
use super::packed::{MAX_LANES, Packed, entries};
use super::pivots::{TOGETHER, ratios};
use super::reflections::{Elimination, V, eliminate};
use crate::batch::operand::BatchRef;
use crate::float::Float;
use core::marker::PhantomData;
use core::ops::Range;
use pulp::{Simd, WithSimd};

/// Bytes of V that are transposed at a time, so that they have reached the cache when they are read as registers.
const TAKEN: usize = 8 << 10;
/// Groups whose V is transposed at a time, at most.
const MOST_TOGETHER: usize = 64;

/// Weights of the columns of V.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Signed<'a, T> {
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
pub(crate) struct Change<'a, T> {
    pub v: BatchRef<'a, T>,
    pub weights: Signed<'a, T>,
    /// Whether a matrix is modified.
    pub mask: Option<&'a [bool]>,
    plus: Vec<usize>,
    minus: Vec<usize>,
    /// √|w| of those columns, where it is the same for all matrices.
    scales: Option<[Vec<T>; 2]>,
}

impl<'a, T: Float> Change<'a, T> {
    pub fn new(v: BatchRef<'a, T>, weights: Signed<'a, T>, mask: Option<&'a [bool]>) -> Self {
        let [_, _, rank] = v.shape();
        let signed = [false, true].map(|minus| weights.columns(rank, minus));
        let same = mask.is_none() && !matches!(weights, Signed::OfEach(_));
        let root = |r: &usize| weights.of(0, *r, rank).abs().sqrt();
        let scales = same.then(|| [0, 1].map(|sign: usize| signed[sign].iter().map(root).collect()));
        let [plus, minus] = signed;
        Self { v, weights, mask, plus, minus, scales }
    }

    /// The columns of V with one sign.
    fn signed(&self, minus: bool) -> &[usize] {
        if minus { &self.minus } else { &self.plus }
    }

    /// √|w| for the columns of V with one sign, if all matrices have the same.
    fn scales(&self, minus: bool) -> Option<&[T]> {
        self.scales.as_ref().map(|both| both[usize::from(minus)].as_slice())
    }

    /// √|w| for a column of a matrix, if it has this sign; zero if not.
    #[inline(always)]
    fn scale(&self, matrix: usize, column: usize, minus: bool) -> T {
        if self.mask.is_some_and(|mask| !mask[matrix]) {
            return T::ZERO;
        }
        match self.weights {
            Signed::Plus | Signed::Minus => T::ONE,
            weights => {
                let [_, _, rank] = self.v.shape();
                let weight = weights.of(matrix, column, rank);
                let other = if minus { weight > T::ZERO } else { weight < T::ZERO };
                // Also if it is not a number, which makes V that.
                if other { T::ZERO } else { weight.abs().sqrt() }
            }
        }
    }

    /// Whether none of these matrices changes.
    pub fn is_none_for(&self, mut matrices: Range<usize>) -> bool {
        let [_, rows, _] = self.v.shape();
        let none = rows == 0 || (self.plus.is_empty() && self.minus.is_empty());
        none || self.mask.is_some_and(|mask| !matrices.any(|matrix| mask[matrix]))
    }

    /// Scalars of working memory.
    pub fn memory(&self, capacity: usize, lanes: usize) -> usize {
        let columns = self.plus.len() + self.minus.len();
        // V of some groups, and b.
        (capacity * columns * lanes).max(TAKEN / size_of::<T>()) + columns * lanes
    }
}

/// The factors of a tile: groups of as many matrices as a register has lanes.
pub(crate) struct ModifyTile<'a, T> {
    src: *const T,
    dst: *mut T,
    capacity: usize,
    groups: Groups<'a>,
    change: &'a Change<'a, T>,
    memory: *mut T,
    results: Results<'a, T>,
}

/// What is found for each matrix of a tile.
pub(crate) struct Results<'a, T> {
    /// Not zero if the new L is that of the matrix.
    pub good: &'a mut [T],
    /// The least ratio of pivots, and their product.
    pub least: &'a mut [T],
    pub product: &'a mut [T],
    /// Logarithms of the products for orders above [`TOGETHER`].
    pub log: &'a mut [f64],
}

impl<'a, T: Float> ModifyTile<'a, T> {
    /// # Safety
    /// When this is run: `src` and `dst` have room for `groups.len()` groups of this capacity, in different memory that is aligned
    /// to registers and that no other thread uses, and the first has factors; `memory` has [`Change::memory`] scalars; V has the
    /// matrices of the groups, and as many rows as these.
    pub unsafe fn new(
        (src, dst, capacity): (*const T, *mut T, usize),
        groups: Groups<'a>,
        change: &'a Change<'a, T>,
        memory: *mut T,
        results: Results<'a, T>,
    ) -> Self {
        Self { src, dst, capacity, groups, change, memory, results }
    }
}

impl<T: Float> WithSimd for ModifyTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let (lanes, columns) = (T::lanes::<S>(), self.change.plus.len() + self.change.minus.len());
        let of_group = (self.capacity * columns * lanes).max(1);
        let together = (TAKEN / size_of::<T>() / of_group).clamp(1, MOST_TOGETHER);
        for first in (0..self.groups.len()).step_by(together) {
            let some = first..self.groups.len().min(first + together);
            let memory = self.memory;
            let at = |g: usize| memory.wrapping_add((g - first) * of_group);
            let mut rows = [0; MOST_TOGETHER];
            for (g, rows) in some.clone().zip(&mut rows) {
                *rows = self.groups.get(g).most_rows();
            }
            // SAFETY: `new` requires exactly this.
            unsafe {
                for g in some.clone() {
                    self.take::<S>(PhantomData, g, at(g));
                    T::store::<S>(self.good(g, lanes), T::splat(simd, T::ONE));
                }
                if !self.change.plus.is_empty() {
                    self.eliminate::<S, false>(simd, some.clone(), &rows, at);
                }
                if !self.change.minus.is_empty() {
                    self.eliminate::<S, true>(simd, some.clone(), &rows, at);
                }
                for g in some {
                    self.finish(simd, g);
                }
            }
        }
    }
}

impl<T: Float> ModifyTile<'_, T> {
    /// Transposes V of a group: first the columns with a plus sign.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    #[inline(always)]
    unsafe fn take<S: Simd>(&self, _: PhantomData<S>, g: usize, to: *mut T) {
        let (group, change, lanes) = (self.groups.get(g), self.change, T::lanes::<S>());
        let mut to = to;
        for minus in [false, true] {
            let (columns, rows) = (change.signed(minus), group.most_rows());
            let each = |lane: usize, column: usize| change.scale(group.first + lane, column, minus);
            let scale = match change.scales(minus) {
                Some(scales) => Scale::Of(scales),
                None => Scale::OfEach(&each),
            };
            // SAFETY: the caller guarantees V and the memory.
            unsafe { take::<T, S>(change.v, group, rows, columns, &scale, to) };
            to = to.wrapping_add(self.capacity * columns.len() * lanes);
        }
    }

    /// The lanes of a group that are good.
    #[inline(always)]
    fn good(&mut self, g: usize, lanes: usize) -> *mut T {
        self.results.good[g * lanes..][..lanes].as_mut_ptr()
    }

    /// Both L of a group.
    #[inline(always)]
    fn both(&self, g: usize, lanes: usize) -> (Packed<T>, Packed<T>) {
        let at = g * entries(self.capacity) * lanes;
        let packed = |at: *mut T| Packed::new(at, self.capacity, lanes);
        (packed(self.src.wrapping_add(at).cast_mut()), packed(self.dst.wrapping_add(at)))
    }

    /// Eliminates the columns of V with one sign from some groups of so many rows, whose V is at `v`.
    ///
    /// # Safety
    /// As [`new`](Self::new), after `take`, and for a minus sign after the other columns.
    #[inline(always)]
    unsafe fn eliminate<S: Simd, const MINUS: bool>(
        &mut self,
        simd: S,
        groups: Range<usize>,
        rows: &[usize],
        v: impl Fn(usize) -> *mut T,
    ) {
        let (lanes, capacity) = (T::lanes::<S>(), self.capacity);
        let (plus, minus) = (self.change.plus.len(), self.change.minus.len());
        let rank = if MINUS { minus } else { plus };
        let b = self.memory.wrapping_add(self.change.memory(capacity, lanes) - (plus + minus) * lanes);
        let good = self.results.good.as_mut_ptr();
        let before = if MINUS { capacity * plus * lanes } else { 0 };
        let group = |at: usize| {
            let g = groups.start + at;
            let (src, dst) = self.both(g, lanes);
            Elimination {
                src: if MINUS && plus > 0 { dst } else { src },
                dst,
                v: V { at: v(g).wrapping_add(before), rank, lanes, b },
                rows: rows[at],
                good: good.wrapping_add(g * lanes),
            }
        };
        // SAFETY: the caller guarantees L and V.
        unsafe { eliminate::<T, S, MINUS>(simd, rank, groups.len(), group) }
    }

    /// What comes after the eliminations of a group.
    ///
    /// # Safety
    /// As `eliminate`.
    #[inline(always)]
    unsafe fn finish<S: Simd>(&mut self, simd: S, g: usize) {
        let lanes = T::lanes::<S>();
        let ((src, dst), rows) = (self.both(g, lanes), self.groups.get(g).most_rows());
        // SAFETY: the caller guarantees both L.
        unsafe {
            self.ratios(simd, (src, dst), g);
            // Beyond the orders L is that of the identity.
            for j in 0..self.capacity {
                for i in rows.max(j)..self.capacity {
                    T::store::<S>(dst.entry(i, j), T::load::<S>(src.entry(i, j)));
                }
            }
        }
    }

    /// Compares the pivots of a group.
    ///
    /// # Safety
    /// As `group`, after the eliminations.
    #[inline(always)]
    unsafe fn ratios<S: Simd>(&mut self, simd: S, l: (Packed<T>, Packed<T>), g: usize) {
        let (lanes, group) = (T::lanes::<S>(), self.groups.get(g));
        let rows = group.most_rows();
        let mut orders = [T::ZERO; MAX_LANES];
        let equal = group.rows.iter().all(|&order| order as usize == rows);
        let Results { least, product, log, .. } = &mut self.results;
        let [least, product] = [least, product].map(|to| to[g * lanes..][..lanes].as_mut_ptr());
        // SAFETY: the caller guarantees L; the results have a place for each lane.
        unsafe {
            let orders = if equal {
                None
            } else {
                for (to, &order) in orders.iter_mut().zip(group.rows) {
                    *to = T::from_f64(f64::from(order));
                }
                Some(T::load::<S>(orders.as_ptr()))
            };
            let infinite = T::splat(simd, T::INFINITY);
            let first = rows.min(TOGETHER);
            let (mut smallest, all) = ratios(simd, l, 0..first, orders, infinite);
            T::store::<S>(product, all);
            for from in (first..rows).step_by(TOGETHER) {
                let all;
                (smallest, all) = ratios(simd, l, from..rows.min(from + TOGETHER), orders, smallest);
                for lane in 0..lanes {
                    log[g * lanes + lane] += (*product.add(lane)).to_f64().ln();
                }
                T::store::<S>(product, all);
            }
            T::store::<S>(least, smallest);
        }
    }
}
