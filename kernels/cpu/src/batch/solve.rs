//! Triangular systems, in each lane.

use super::given::{Groups, Scale, put, take};
use super::packed::{MAX_LANES, Packed, entries, load, step, store};
use super::runs::Registers;
use crate::batch::view::BatchViewMut;
use crate::number::{Float, Number, RealVector};
use pulp::{Simd, WithSimd};

/// Systems with the factors of a tile.
pub struct SolveTile<'a, T: Number> {
    l: *const T::Part,
    capacity: usize,
    groups: Groups<'a>,
    /// Whether with L, and then whether with Lᴴ.
    sides: [bool; 2],
    rhs: &'a BatchViewMut<'a, T>,
    memory: *mut T::Part,
    /// Not zero on return for matrices whose right-hand sides were finite and whose pivots are not zero. The others are left as they
    /// were.
    good: &'a mut [T::Part],
}

impl<'a, T: Number> SolveTile<'a, T> {
    /// # Safety
    /// When this is run: `l` has the factors of the groups, aligned to registers, which no thread writes; `memory` has twice as many
    /// registers as the right-hand sides of a matrix have entries; no other thread uses the right-hand sides of these matrices, which
    /// have as many rows as their factors.
    pub unsafe fn new(
        (l, capacity): (*const T::Part, usize),
        groups: Groups<'a>,
        sides: [bool; 2],
        rhs: &'a BatchViewMut<'a, T>,
        memory: *mut T::Part,
        good: &'a mut [T::Part],
    ) -> Self {
        Self { l, capacity, groups, sides, rhs, memory, good }
    }
}

impl<T: Number> WithSimd for SolveTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let [_, _, columns] = self.rhs.shape();
        let (all, ones): (Vec<usize>, Vec<T::Part>) = (0..columns).map(|r| (r, T::Part::ONE)).unzip();
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

impl<T: Number> SolveTile<'_, T> {
    /// The systems of G groups from `first` on, which take turns, so that the divisions of all are in progress at a time.
    ///
    /// # Safety
    /// As [`new`](Self::new), and there are these groups.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn solve<S: Simd, const G: usize>(
        &mut self,
        simd: S,
        first: usize,
        all: &[usize],
        ones: &[T::Part],
    ) {
        let (lanes, step, columns) = (T::lanes::<S>(), step::<T, S>(), all.len());
        let some = first..first + G;
        let rows = self.groups.most_rows(some.clone());
        let of_group = self.capacity * columns * step;
        let mut l = [Packed::new(self.l.cast_mut(), self.capacity, step); G];
        let mut x = [self.memory; G];
        for at in 0..G {
            let before = (first + at) * entries(self.capacity) * step;
            l[at] = Packed::new(self.l.wrapping_add(before).cast_mut(), self.capacity, step);
            x[at] = self.memory.wrapping_add(at * of_group);
        }
        // SAFETY: the caller guarantees L, the right-hand sides and the memory.
        unsafe {
            let to = Registers { at: self.memory, of_group };
            let rhs = self.rhs.as_ref();
            take(simd, rhs, (self.groups, some), rows, all, &Scale::Of(ones), to);
            let mut good = [[T::Part::ZERO; MAX_LANES]; G];
            for at in 0..G {
                let finite = finite::<T, S>(simd, x[at], rows * columns);
                T::Part::store::<S>(good[at].as_mut_ptr(), regular::<T::Part, S>(simd, l[at], rows, finite));
            }
            if self.sides[0] {
                forwards::<T, S, G>(simd, l, (x, columns), rows);
            }
            if self.sides[1] {
                backwards::<T, S, G>(simd, l, (x, columns), rows);
            }
            for at in 0..G {
                self.good[(first + at) * lanes..][..lanes].copy_from_slice(&good[at][..lanes]);
                put::<T, S>(simd, x[at], self.groups.get(first + at), &good[at], self.rhs);
            }
        }
    }
}

/// One in each lane whose entries are finite.
///
/// # Safety
/// There are so many registers.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn finite<T: Number, S: Simd>(simd: S, at: *const T::Part, registers: usize) -> RealVector<T, S> {
    let (zero, one) = (T::Part::splat(simd, T::Part::ZERO), T::Part::splat(simd, T::Part::ONE));
    let mut probe = T::splat(simd, T::ZERO);
    for i in 0..registers {
        // x · 0 is 0 for every finite x and NaN for every other.
        // SAFETY: the caller guarantees the registers.
        probe = T::times_add(simd, zero, unsafe { load::<T, S>(at.add(i * step::<T, S>())) }, probe);
    }
    let (parts, mut finite) = (T::vparts(probe), one);
    for part in 0..T::PARTS {
        finite = T::Part::where_less(simd, (parts[part], one), finite, zero);
    }
    finite
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
pub unsafe fn forwards<T: Number, S: Simd, const G: usize>(
    simd: S,
    l: [Packed<T::Part>; G],
    (x, columns): ([*mut T::Part; G], usize),
    rows: usize,
) {
    let (step, zero) = (step::<T, S>(), T::splat(simd, T::ZERO));
    let row = columns * step;
    // SAFETY: the caller guarantees the rows.
    unsafe {
        for r in 0..columns {
            for j in (0..rows).step_by(2) {
                let (mut one, mut two) = ([zero; G], [zero; G]);
                for g in 0..G {
                    let at = x[g].add(j * row + r * step);
                    one[g] = T::vover(simd, load::<T, S>(at), T::Part::load::<S>(l[g].entry(j, j)));
                    store::<T, S>(at, one[g]);
                }
                if j + 1 == rows {
                    break;
                }
                for g in 0..G {
                    let at = x[g].add((j + 1) * row + r * step);
                    let below = load::<T, S>(l[g].entry(j + 1, j));
                    let rest = T::neg_mul_add(simd, below, one[g], load::<T, S>(at));
                    two[g] = T::vover(simd, rest, T::Part::load::<S>(l[g].entry(j + 1, j + 1)));
                    store::<T, S>(at, two[g]);
                }
                if j + 2 == rows {
                    break;
                }
                let (mut left, mut right, mut at) = ([x[0]; G], [x[0]; G], x);
                for g in 0..G {
                    (left[g], right[g]) = (l[g].entry(j + 2, j), l[g].entry(j + 2, j + 1));
                    at[g] = x[g].add((j + 2) * row + r * step);
                }
                for i in 0..rows - j - 2 {
                    for g in 0..G {
                        let at = at[g].add(i * row);
                        let (left, right) = (left[g].add(i * step), right[g].add(i * step));
                        let rest = T::neg_mul_add(simd, load::<T, S>(left), one[g], load::<T, S>(at));
                        store::<T, S>(at, T::neg_mul_add(simd, load::<T, S>(right), two[g], rest));
                    }
                }
            }
        }
    }
}

/// X ← L⁻ᴴ X, two columns of L at a time.
///
/// # Safety
/// As [`forwards`].
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn backwards<T: Number, S: Simd, const G: usize>(
    simd: S,
    l: [Packed<T::Part>; G],
    (x, columns): ([*mut T::Part; G], usize),
    rows: usize,
) {
    let (step, zero) = (step::<T, S>(), T::splat(simd, T::ZERO));
    let row = columns * step;
    // SAFETY: the caller guarantees the rows.
    unsafe {
        for r in 0..columns {
            // Columns j and j + 1, from the last ones on. A last one of an odd number is alone, so that which columns are pairs does not
            // depend on the orders of other matrices.
            if rows % 2 == 1 {
                for g in 0..G {
                    let at = x[g].add((rows - 1) * row + r * step);
                    let pivot = T::Part::load::<S>(l[g].entry(rows - 1, rows - 1));
                    store::<T, S>(at, T::vover(simd, load::<T, S>(at), pivot));
                }
            }
            for j in (0..rows / 2 * 2).step_by(2).rev() {
                let (mut one, mut two) = ([zero; G], [zero; G]);
                let (mut left, mut right, mut below) = ([x[0]; G], [x[0]; G], x);
                for g in 0..G {
                    let at = x[g].add(j * row + r * step);
                    (one[g], two[g]) = (load::<T, S>(at), load::<T, S>(at.add(row)));
                    (left[g], right[g]) = (l[g].entry(j + 1, j), l[g].entry(j + 1, j + 1));
                    below[g] = at.add(row);
                }
                for i in 1..rows - j - 1 {
                    for g in 0..G {
                        let known = load::<T, S>(below[g].add(i * row));
                        let in_one = T::vconj(simd, load::<T, S>(left[g].add(i * step)));
                        let in_two = T::vconj(simd, load::<T, S>(right[g].add(i * step)));
                        one[g] = T::neg_mul_add(simd, in_one, known, one[g]);
                        two[g] = T::neg_mul_add(simd, in_two, known, two[g]);
                    }
                }
                for g in 0..G {
                    two[g] = T::vover(simd, two[g], T::Part::load::<S>(right[g]));
                    store::<T, S>(below[g], two[g]);
                }
                for g in 0..G {
                    let beside = T::vconj(simd, load::<T, S>(left[g]));
                    let rest = T::neg_mul_add(simd, beside, two[g], one[g]);
                    let solved = T::vover(simd, rest, T::Part::load::<S>(l[g].entry(j, j)));
                    store::<T, S>(below[g].sub(row), solved);
                }
            }
        }
    }
}
