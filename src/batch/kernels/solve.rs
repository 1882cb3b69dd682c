//! Triangular systems, in each lane.

use super::given::{Groups, Scale, put, take};
use super::packed::{MAX_LANES, Packed, entries};
use crate::batch::operand::BatchMut;
use crate::float::Float;
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
    /// When this is run: `l` has the factors of the groups, aligned to registers, which no thread writes; `memory` has as many
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
    fn with_simd<S: Simd>(self, simd: S) {
        let (lanes, [_, _, columns]) = (T::lanes::<S>(), self.rhs.shape());
        let all: Vec<usize> = (0..columns).collect();
        let ones = vec![T::ONE; columns];
        for g in 0..self.groups.len() {
            let group = self.groups.get(g);
            let at = self.l.wrapping_add(g * entries(self.capacity) * lanes).cast_mut();
            let (l, rows) = (Packed::new(at, self.capacity, lanes), group.most_rows());
            // SAFETY: `new` requires exactly this.
            unsafe {
                take::<T, S>(self.rhs.as_ref(), group, rows, &all, &Scale::Of(&ones), self.memory);
                let finite = finite::<T, S>(simd, self.memory, rows * columns);
                let regular = regular::<T, S>(simd, l, rows, finite);
                if self.sides[0] {
                    forwards::<T, S>(simd, l, (self.memory, columns), rows);
                }
                if self.sides[1] {
                    backwards::<T, S>(simd, l, (self.memory, columns), rows);
                }
                let mut good = [T::ZERO; MAX_LANES];
                T::store::<S>(good.as_mut_ptr(), regular);
                self.good[g * lanes..][..lanes].copy_from_slice(&good[..lanes]);
                put(self.memory, (group, lanes), &good, self.rhs);
            }
        }
    }
}

/// One in each lane whose entries are finite.
///
/// # Safety
/// There are so many registers.
#[inline(always)]
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
#[inline(always)]
unsafe fn regular<T: Float, S: Simd>(simd: S, l: Packed<T>, rows: usize, good: T::Vector<S>) -> T::Vector<S> {
    let (zero, mut good, mut pivot) = (T::splat(simd, T::ZERO), good, l.first());
    for j in 0..rows {
        // SAFETY: the caller guarantees the rows.
        good = T::where_less(simd, (zero, unsafe { T::load::<S>(pivot) }), good, zero);
        pivot = l.next_pivot(pivot, j);
    }
    good
}

/// X ← L⁻¹ X.
///
/// # Safety
/// L and X have these rows, in whole registers of `S`.
#[inline(always)]
pub(super) unsafe fn forwards<T: Float, S: Simd>(
    simd: S,
    l: Packed<T>,
    (x, columns): (*mut T, usize),
    rows: usize,
) {
    let lanes = T::lanes::<S>();
    let mut pivot = l.first();
    // SAFETY: the caller guarantees the rows.
    unsafe {
        for j in 0..rows {
            let diagonal = T::load::<S>(pivot);
            for r in 0..columns {
                let (mut l, mut at) = (pivot, x.add((j * columns + r) * lanes));
                let solved = T::vdiv(simd, T::load::<S>(at), diagonal);
                T::store::<S>(at, solved);
                for _ in j + 1..rows {
                    (l, at) = (l.add(lanes), at.add(columns * lanes));
                    T::store::<S>(at, T::neg_mul_add(simd, T::load::<S>(l), solved, T::load::<S>(at)));
                }
            }
            pivot = l.next_pivot(pivot, j);
        }
    }
}

/// X ← L⁻ᵀ X.
///
/// # Safety
/// As [`forwards`].
#[inline(always)]
unsafe fn backwards<T: Float, S: Simd>(simd: S, l: Packed<T>, (x, columns): (*mut T, usize), rows: usize) {
    let (lanes, zero) = (T::lanes::<S>(), T::splat(simd, T::ZERO));
    if rows == 0 {
        return;
    }
    let mut pivot = l.entry(rows - 1, rows - 1);
    // SAFETY: the caller guarantees the rows.
    unsafe {
        for j in (0..rows).rev() {
            let diagonal = T::load::<S>(pivot);
            for r in 0..columns {
                let first = x.add((j * columns + r) * lanes);
                let (mut l, mut at) = (pivot, first);
                let mut rest = [T::load::<S>(first), zero, zero, zero];
                for i in 1..rows - j {
                    (l, at) = (l.add(lanes), at.add(columns * lanes));
                    rest[i % 4] = T::neg_mul_add(simd, T::load::<S>(l), T::load::<S>(at), rest[i % 4]);
                }
                let sum = T::vadd(simd, T::vadd(simd, rest[0], rest[1]), T::vadd(simd, rest[2], rest[3]));
                T::store::<S>(first, T::vdiv(simd, sum, diagonal));
            }
            if j > 0 {
                pivot = l.pivot_before(pivot, j);
            }
        }
    }
}
