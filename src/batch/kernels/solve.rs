//! Triangular systems, in each lane.

use super::MAX_LANES;
use super::given::{Groups, Scale, put, take};
use super::packed::{Packed, entries};
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
    /// Not zero on return for matrices whose right-hand sides were finite. The others are left as they were.
    good: &'a mut [T],
}

impl<'a, T: Float> SolveTile<'a, T> {
    /// A lane in which `good` is zero is left out.
    ///
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
                if self.sides[0] {
                    forwards::<T, S>(simd, l, (self.memory, columns), rows);
                }
                if self.sides[1] {
                    backwards::<T, S>(simd, l, (self.memory, columns), rows);
                }
                let (mut good, mut is_finite) = ([T::ZERO; MAX_LANES], [T::ZERO; MAX_LANES]);
                T::store::<S>(is_finite.as_mut_ptr(), finite);
                for (lane, to) in self.good[g * lanes..][..lanes].iter_mut().enumerate() {
                    *to *= is_finite[lane];
                    good[lane] = *to;
                }
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

/// X ← L⁻¹ X.
///
/// # Safety
/// L and X have these rows, in whole registers of `S`.
#[inline(always)]
unsafe fn forwards<T: Float, S: Simd>(simd: S, l: Packed<T>, (x, columns): (*mut T, usize), rows: usize) {
    let lanes = T::lanes::<S>();
    let mut pivot = l.entry(0, 0);
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
