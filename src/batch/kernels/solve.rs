//! Triangular systems, in each lane.

use super::given::{Groups, Scale, put, take};
use super::packed::{MAX_LANES, Packed, entries};
use super::runs::Registers;
use crate::batch::operand::BatchMut;
use crate::number::Float;
use pulp::{Simd, WithSimd};

/// Systems with the factors of a tile.
pub(crate) struct SolveTile<'a, T> {
    l: *const T,
    capacity: usize,
    groups: Groups<'a>,
    /// Whether with L, and then whether with Lᵀ.
    sides: [bool; 2],
    rhs: &'a BatchMut<'a, T>,
    memory: *mut T,
    /// Not zero on return for matrices whose right-hand sides were finite and whose pivots are not zero. The others are left as they
    /// were.
    good: &'a mut [T],
}

impl<'a, T: Float> SolveTile<'a, T> {
    /// # Safety
    /// When this is run: `l` has the factors of the groups, aligned to registers, which no thread writes; `memory` has twice as many
    /// registers as the right-hand sides of a matrix have entries; no other thread uses the right-hand sides of these matrices, which
    /// have as many rows as their factors.
    pub unsafe fn new(
        (l, capacity): (*const T, usize),
        groups: Groups<'a>,
        sides: [bool; 2],
        rhs: &'a BatchMut<'a, T>,
        memory: *mut T,
        good: &'a mut [T],
    ) -> Self {
        Self { l, capacity, groups, sides, rhs, memory, good }
    }
}

impl<T: Float> WithSimd for SolveTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let [_, _, columns] = self.rhs.shape();
        let (all, ones): (Vec<usize>, Vec<T>) = (0..columns).map(|r| (r, T::ONE)).unzip();
        let mut g = 0;
        while g < self.groups.len() {
            // SAFETY: `new` requires exactly this.
            unsafe {
                if g + 1 < self.groups.len() {
                    self.solve::<S, 2>(simd, g, &all, &ones);
                    g += 2;
                } else {
                    self.solve::<S, 1>(simd, g, &all, &ones);
                    g += 1;
                }
            }
        }
    }
}

impl<T: Float> SolveTile<'_, T> {
    /// The systems of G groups from `first` on, which take turns, so that the divisions of all are in progress at a time.
    ///
    /// # Safety
    /// As [`new`](Self::new), and there are these groups.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn solve<S: Simd, const G: usize>(&mut self, simd: S, first: usize, all: &[usize], ones: &[T]) {
        let (lanes, columns) = (T::lanes::<S>(), all.len());
        let some = first..first + G;
        let rows = self.groups.most_rows(some.clone());
        let of_group = self.capacity * columns * lanes;
        let mut l = [Packed::new(self.l.cast_mut(), self.capacity, lanes); G];
        let mut x = [self.memory; G];
        for at in 0..G {
            let before = (first + at) * entries(self.capacity) * lanes;
            l[at] = Packed::new(self.l.wrapping_add(before).cast_mut(), self.capacity, lanes);
            x[at] = self.memory.wrapping_add(at * of_group);
        }
        // SAFETY: the caller guarantees L, the right-hand sides and the memory.
        unsafe {
            let to = Registers { at: self.memory, of_group };
            let rhs = self.rhs.as_ref();
            take(simd, rhs, (self.groups, some), rows, all, &Scale::Of(ones), to);
            let mut good = [[T::ZERO; MAX_LANES]; G];
            for at in 0..G {
                let finite = finite::<T, S>(simd, x[at], rows * columns);
                T::store::<S>(good[at].as_mut_ptr(), regular::<T, S>(simd, l[at], rows, finite));
            }
            if self.sides[0] {
                forwards::<T, S, G>(simd, l, (x, columns), rows);
            }
            if self.sides[1] {
                backwards::<T, S, G>(simd, l, (x, columns), rows);
            }
            for at in 0..G {
                self.good[(first + at) * lanes..][..lanes].copy_from_slice(&good[at][..lanes]);
                put(simd, x[at], self.groups.get(first + at), &good[at], self.rhs);
            }
        }
    }
}

/// One in each lane whose entries are finite.
///
/// # Safety
/// There are so many registers.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn finite<T: Float, S: Simd>(simd: S, at: *const T, registers: usize) -> T::Vector<S> {
    let (zero, one) = (T::splat(simd, T::ZERO), T::splat(simd, T::ONE));
    let mut probe = zero;
    for i in 0..registers {
        // x · 0 is 0 for every finite x and NaN for every other.
        // SAFETY: the caller guarantees the registers.
        probe = T::mul_add(simd, unsafe { T::load::<S>(at.add(i * T::lanes::<S>())) }, zero, probe);
    }
    T::where_less(simd, (probe, one), one, zero)
}

/// `good` in each lane whose pivots are not zero, and zero in the others.
///
/// # Safety
/// L has these rows, in whole registers of `S`.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn regular<T: Float, S: Simd>(simd: S, l: Packed<T>, rows: usize, good: T::Vector<S>) -> T::Vector<S> {
    let (zero, mut good, mut pivot) = (T::splat(simd, T::ZERO), good, l.first());
    for j in 0..rows {
        // SAFETY: the caller guarantees the rows.
        good = T::where_less(simd, (zero, unsafe { T::load::<S>(pivot) }), good, zero);
        pivot = l.next_pivot(pivot, j);
    }
    good
}

/// X ← L⁻¹ X, two columns of L at a time.
///
/// # Safety
/// L and X have these rows, in whole registers of `S`.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) unsafe fn forwards<T: Float, S: Simd, const G: usize>(
    simd: S,
    l: [Packed<T>; G],
    (x, columns): ([*mut T; G], usize),
    rows: usize,
) {
    let (lanes, zero) = (T::lanes::<S>(), T::splat(simd, T::ZERO));
    let row = columns * lanes;
    // SAFETY: the caller guarantees the rows.
    unsafe {
        for r in 0..columns {
            for j in (0..rows).step_by(2) {
                let (mut one, mut two) = ([zero; G], [zero; G]);
                for g in 0..G {
                    let at = x[g].add(j * row + r * lanes);
                    one[g] = T::vdiv(simd, T::load::<S>(at), T::load::<S>(l[g].entry(j, j)));
                    T::store::<S>(at, one[g]);
                }
                if j + 1 == rows {
                    break;
                }
                for g in 0..G {
                    let at = x[g].add((j + 1) * row + r * lanes);
                    let below = T::load::<S>(l[g].entry(j + 1, j));
                    let rest = T::neg_mul_add(simd, below, one[g], T::load::<S>(at));
                    two[g] = T::vdiv(simd, rest, T::load::<S>(l[g].entry(j + 1, j + 1)));
                    T::store::<S>(at, two[g]);
                }
                if j + 2 == rows {
                    break;
                }
                let (mut left, mut right, mut at) = ([x[0]; G], [x[0]; G], x);
                for g in 0..G {
                    (left[g], right[g]) = (l[g].entry(j + 2, j), l[g].entry(j + 2, j + 1));
                    at[g] = x[g].add((j + 2) * row + r * lanes);
                }
                for i in 0..rows - j - 2 {
                    for g in 0..G {
                        let at = at[g].add(i * row);
                        let (left, right) = (left[g].add(i * lanes), right[g].add(i * lanes));
                        let rest = T::neg_mul_add(simd, T::load::<S>(left), one[g], T::load::<S>(at));
                        T::store::<S>(at, T::neg_mul_add(simd, T::load::<S>(right), two[g], rest));
                    }
                }
            }
        }
    }
}

/// X ← L⁻ᵀ X, two columns of L at a time.
///
/// # Safety
/// As [`forwards`].
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn backwards<T: Float, S: Simd, const G: usize>(
    simd: S,
    l: [Packed<T>; G],
    (x, columns): ([*mut T; G], usize),
    rows: usize,
) {
    let (lanes, zero) = (T::lanes::<S>(), T::splat(simd, T::ZERO));
    let row = columns * lanes;
    // SAFETY: the caller guarantees the rows.
    unsafe {
        for r in 0..columns {
            // Columns j and j + 1, from the last ones on. A last one of an odd number is alone, so that which columns are pairs does not
            // depend on the orders of other matrices.
            if rows % 2 == 1 {
                for g in 0..G {
                    let at = x[g].add((rows - 1) * row + r * lanes);
                    let pivot = T::load::<S>(l[g].entry(rows - 1, rows - 1));
                    T::store::<S>(at, T::vdiv(simd, T::load::<S>(at), pivot));
                }
            }
            for j in (0..rows / 2 * 2).step_by(2).rev() {
                let (mut one, mut two) = ([zero; G], [zero; G]);
                let (mut left, mut right, mut below) = ([x[0]; G], [x[0]; G], x);
                for g in 0..G {
                    let at = x[g].add(j * row + r * lanes);
                    (one[g], two[g]) = (T::load::<S>(at), T::load::<S>(at.add(row)));
                    (left[g], right[g]) = (l[g].entry(j + 1, j), l[g].entry(j + 1, j + 1));
                    below[g] = at.add(row);
                }
                for i in 1..rows - j - 1 {
                    for g in 0..G {
                        let known = T::load::<S>(below[g].add(i * row));
                        one[g] = T::neg_mul_add(simd, T::load::<S>(left[g].add(i * lanes)), known, one[g]);
                        two[g] = T::neg_mul_add(simd, T::load::<S>(right[g].add(i * lanes)), known, two[g]);
                    }
                }
                for g in 0..G {
                    two[g] = T::vdiv(simd, two[g], T::load::<S>(right[g]));
                    T::store::<S>(below[g], two[g]);
                }
                for g in 0..G {
                    let rest = T::neg_mul_add(simd, T::load::<S>(left[g]), two[g], one[g]);
                    let solved = T::vdiv(simd, rest, T::load::<S>(l[g].entry(j, j)));
                    T::store::<S>(below[g].sub(row), solved);
                }
            }
        }
    }
}
