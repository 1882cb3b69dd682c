//! The reflections that eliminate V, for columns of V of one sign.
//!
//! At a column of L with the pivot l, for the row a of V and the sign σ:
//!
//! ```text
//! α² = l² + σ a aᴴ      q = a aᴴ/(l + α)      g = σ/α      b = a/(l + α)
//! h = V_i (g aᴴ) − (g q) l_i    l'_i = l_i + h      V_i ← V_i − (l_i + l'_i) b
//! ```
//!
//! These are the reflections that modify a single small L by several columns of V (`cpu/kernels/low_rank/together`), in each lane, with
//! one division: 1/α and 1/(l + α) are multiples of 1/(α(l + α)). With a minus sign α² is formed as if in twice the precision, so that
//! no lane needs another formula where l² and a aᴴ cancel. A lane that would need one, because V outweighs L, because almost nothing of
//! l² is left, or because something is not finite, is found afterwards, from what is kept of the pivots; what is written for it is of
//! no use.

use super::packed::{Packed, load, store};
use super::pivots::Found;
use super::reflection::{Reflection, Squares, reflection};
use crate::number::{Number, RealVector};
use pulp::Simd;

/// V as registers: entry (i, r) is number `i · rank + r`.
#[derive(Clone, Copy)]
pub struct V<R> {
    pub at: *mut R,
    pub rank: usize,
    /// The real numbers of a register.
    pub step: usize,
    /// Working memory: `rank` registers.
    pub b: *mut R,
}

impl<R> V<R> {
    #[inline(always)]
    fn row(self, i: usize) -> *mut R {
        self.at.wrapping_add(i * self.rank * self.step)
    }
}

/// A group: L, V, and the rows of both.
#[derive(Clone, Copy)]
pub struct Elimination<R> {
    pub src: Packed<R>,
    /// May be the same as `src`.
    pub dst: Packed<R>,
    pub v: V<R>,
    pub rows: usize,
    /// For each lane minus the logarithm of the part of the product of ratios that [`Found`] no longer has, and the order.
    pub log: (*mut f64, *const u32),
}

/// Groups that are processed together at most.
pub const TOGETHER: usize = 2;

/// Eliminates the V of up to [`TOGETHER`] groups, all of one rank and with as many rows: reads each L from `src`, and writes L' to
/// `dst`. V is overwritten.
///
/// # Safety
/// L and V of each group have their rows in memory of the whole registers of `S`, `log` has entries for each lane, and `src` and `dst`
/// are the same or do not overlap.
#[cfg_attr(not(unoptimized), inline(always))]
pub unsafe fn eliminate<T: Number, S: Simd, const MINUS: bool>(
    simd: S,
    groups: &[Elimination<T::Part>],
    found: &mut [Found<T::Part, S>],
) {
    // SAFETY: the caller guarantees L and V.
    unsafe {
        match groups.first().map_or(0, |group| group.v.rank) {
            1 => by_pairs::<T, S, 1, MINUS>(simd, groups, found),
            2 => by_pairs::<T, S, 2, MINUS>(simd, groups, found),
            3 => by_pairs::<T, S, 3, MINUS>(simd, groups, found),
            4 => by_pairs::<T, S, 4, MINUS>(simd, groups, found),
            _ => {
                for (group, found) in groups.iter().zip(found) {
                    by_columns::<T, S, MINUS>(simd, *group, found);
                }
            }
        }
    }
}

/// For K columns of V, two columns of L at a time. Two groups take turns, so that the roots and divisions of both are in progress at a
/// time.
///
/// # Safety
/// As [`eliminate`].
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn by_pairs<T: Number, S: Simd, const K: usize, const MINUS: bool>(
    simd: S,
    groups: &[Elimination<T::Part>],
    found: &mut [Found<T::Part, S>],
) {
    let zero = Column::<T, S, K>::zero(simd);
    // SAFETY: the caller guarantees L and V.
    unsafe {
        if let (&[one, other], [found_one, found_other]) = (groups, &mut *found) {
            for j in (0..one.rows).step_by(2) {
                // Copies, which stay in registers.
                let (mut in_one, mut in_other) = (*found_one, *found_other);
                in_one.before_column(j, one.log);
                in_other.before_column(j, other.log);
                let a = first::<T, S, K, MINUS>(simd, one, j, &mut in_one);
                let b = first::<T, S, K, MINUS>(simd, other, j, &mut in_other);
                let (mut next_a, mut next_b) = (zero, zero);
                if j + 1 < one.rows {
                    next_a = second::<T, S, K, MINUS>(simd, one, j, &a, &mut in_one);
                    next_b = second::<T, S, K, MINUS>(simd, other, j, &b, &mut in_other);
                }
                (*found_one, *found_other) = (in_one, in_other);
                below(simd, one, j, &[a, next_a]);
                below(simd, other, j, &[b, next_b]);
            }
        } else if let (&[one], [found]) = (groups, found) {
            for j in (0..one.rows).step_by(2) {
                let mut in_one = *found;
                in_one.before_column(j, one.log);
                let a = first::<T, S, K, MINUS>(simd, one, j, &mut in_one);
                let mut next = zero;
                if j + 1 < one.rows {
                    next = second::<T, S, K, MINUS>(simd, one, j, &a, &mut in_one);
                }
                *found = in_one;
                below(simd, one, j, &[a, next]);
            }
        }
    }
}

/// The reflection of column j.
///
/// # Safety
/// As [`eliminate`], after the columns before; there is column j.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn first<T: Number, S: Simd, const K: usize, const MINUS: bool>(
    simd: S,
    Elimination { src, dst, v, .. }: Elimination<T::Part>,
    j: usize,
    found: &mut Found<T::Part, S>,
) -> Column<T, S, K> {
    // SAFETY: column j of L and row j of V, which the caller guarantees.
    unsafe {
        let a = row::<T, S, K>(simd, v.row(j), v.step);
        Column::new::<MINUS>(simd, (src.entry(j, j), dst.entry(j, j)), a, found)
    }
}

/// The reflection of column j + 1 after that of column j, which is applied to row j + 1.
///
/// # Safety
/// As [`first`], and there is column j + 1.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn second<T: Number, S: Simd, const K: usize, const MINUS: bool>(
    simd: S,
    Elimination { src, dst, v, .. }: Elimination<T::Part>,
    j: usize,
    first: &Column<T, S, K>,
    found: &mut Found<T::Part, S>,
) -> Column<T, S, K> {
    // SAFETY: rows and columns of L and V, which the caller guarantees.
    unsafe {
        let mut a = row::<T, S, K>(simd, v.row(j + 1), v.step);
        let entry = load::<T, S>(src.entry(j + 1, j));
        store::<T, S>(dst.entry(j + 1, j), first.apply(simd, entry, &mut a));
        Column::new::<MINUS>(simd, (src.entry(j + 1, j + 1), dst.entry(j + 1, j + 1)), a, found)
    }
}

/// Applies the reflections of columns j and j + 1 to the rows below.
///
/// # Safety
/// As [`second`], after it.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn below<T: Number, S: Simd, const K: usize>(
    simd: S,
    Elimination { src, dst, v, rows, .. }: Elimination<T::Part>,
    j: usize,
    [first, second]: &[Column<T, S, K>; 2],
) {
    let (step, from) = (v.step, j + 2);
    if from >= rows {
        return;
    }
    let mut old = (src.entry(from, j), src.entry(from, j + 1));
    let mut new = (dst.entry(from, j), dst.entry(from, j + 1));
    let mut x = v.row(from);
    // SAFETY: rows and columns of L and V, which the caller guarantees.
    unsafe {
        for _ in from..rows {
            let mut of_v = row::<T, S, K>(simd, x, step);
            store::<T, S>(new.0, first.apply(simd, load::<T, S>(old.0), &mut of_v));
            store::<T, S>(new.1, second.apply(simd, load::<T, S>(old.1), &mut of_v));
            for r in 0..K {
                store::<T, S>(x.add(r * step), of_v[r]);
            }
            old = (old.0.add(step), old.1.add(step));
            new = (new.0.add(step), new.1.add(step));
            x = x.add(K * step);
        }
    }
}

/// The reflection of a column, for K columns of V.
#[derive(Clone, Copy)]
struct Column<T: Number, S: Simd, const K: usize> {
    /// g q
    q: RealVector<T, S>,
    /// g ā
    a: [T::Vector<S>; K],
    b: [T::Vector<S>; K],
}

impl<T: Number, S: Simd, const K: usize> Column<T, S, K> {
    #[inline(always)]
    fn zero(simd: S) -> Self {
        let zero = T::splat(simd, T::ZERO);
        Self { q: T::Part::splat(simd, T::Part::ZERO), a: [zero; K], b: [zero; K] }
    }

    /// From the pivot of L and the row `a` of V. Writes the new pivot.
    ///
    /// # Safety
    /// The pivots of both L can be read and written.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn new<const MINUS: bool>(
        simd: S,
        (old, new): (*mut T::Part, *mut T::Part),
        a: [T::Vector<S>; K],
        found: &mut Found<T::Part, S>,
    ) -> Self {
        // SAFETY: the caller guarantees the pivots.
        unsafe {
            let mut squares = Squares::of::<T>(simd, a[0]);
            for &a in &a[1..] {
                squares.add::<T>(simd, a);
            }
            let Reflection { pivot, q, g, inverse } =
                reflection::<T::Part, S, MINUS>(simd, T::Part::load::<S>(old), squares, found);
            store::<T, S>(new, T::vreal(simd, pivot));
            let mut column = Self { q, a, b: a };
            for r in 0..K {
                column.a[r] = T::vtimes(simd, g, T::vconj(simd, a[r]));
                column.b[r] = T::vtimes(simd, inverse, a[r]);
            }
            column
        }
    }

    /// Transforms an entry of L, which is returned, and its row of V.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn apply(&self, simd: S, l: T::Vector<S>, row: &mut [T::Vector<S>; K]) -> T::Vector<S> {
        // In this order, as for any number of columns: further columns of zeros change no bit.
        let mut change = T::neg_times_add(simd, self.q, l, T::splat(simd, T::ZERO));
        for r in 0..K {
            change = T::mul_add(simd, row[r], self.a[r], change);
        }
        let new = T::vadd(simd, l, change);
        let both = T::vadd(simd, l, new);
        for r in 0..K {
            row[r] = T::neg_mul_add(simd, both, self.b[r], row[r]);
        }
        new
    }
}

/// A row of V.
///
/// # Safety
/// It has K registers.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn row<T: Number, S: Simd, const K: usize>(
    simd: S,
    at: *const T::Part,
    step: usize,
) -> [T::Vector<S>; K] {
    let mut row = [T::splat(simd, T::ZERO); K];
    for r in 0..K {
        // SAFETY: the caller guarantees the registers.
        row[r] = unsafe { load::<T, S>(at.add(r * step)) };
    }
    row
}

/// For any number of columns of V.
///
/// # Safety
/// As [`eliminate`].
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn by_columns<T: Number, S: Simd, const MINUS: bool>(
    simd: S,
    group: Elimination<T::Part>,
    found: &mut Found<T::Part, S>,
) {
    for j in 0..group.rows {
        // SAFETY: the caller guarantees L and V.
        unsafe {
            found.before_column(j, group.log);
            one_column::<T, S, MINUS>(simd, group, j, found);
        }
    }
}

/// Column j of a group.
///
/// # Safety
/// As [`first`].
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn one_column<T: Number, S: Simd, const MINUS: bool>(
    simd: S,
    Elimination { src, dst, v, rows, .. }: Elimination<T::Part>,
    j: usize,
    found: &mut Found<T::Part, S>,
) {
    let (zero, rank, step) = (T::splat(simd, T::ZERO), v.rank, v.step);
    // SAFETY: rows and columns of L and V, which the caller guarantees.
    unsafe {
        let (pivots, a) = ((src.entry(j, j), dst.entry(j, j)), v.row(j));
        let mut squares = Squares::of::<T>(simd, load::<T, S>(a));
        for r in 1..rank {
            squares.add::<T>(simd, load::<T, S>(a.add(r * step)));
        }
        let Reflection { pivot, q, g, inverse } =
            reflection::<T::Part, S, MINUS>(simd, T::Part::load::<S>(pivots.0), squares, found);
        store::<T, S>(pivots.1, T::vreal(simd, pivot));
        for r in 0..rank {
            let (a, b) = (a.add(r * step), v.b.add(r * step));
            store::<T, S>(b, T::vtimes(simd, inverse, load::<T, S>(a)));
            store::<T, S>(a, T::vtimes(simd, g, T::vconj(simd, load::<T, S>(a))));
        }
        let ((mut from, mut to), mut row) = (pivots, a);
        for _ in j + 1..rows {
            (from, to, row) = (from.add(step), to.add(step), row.add(rank * step));
            let l = load::<T, S>(from);
            let mut change = T::neg_times_add(simd, q, l, zero);
            for r in 0..rank {
                let (x, a) = (load::<T, S>(row.add(r * step)), load::<T, S>(a.add(r * step)));
                change = T::mul_add(simd, x, a, change);
            }
            let new = T::vadd(simd, l, change);
            store::<T, S>(to, new);
            let both = T::vadd(simd, l, new);
            for r in 0..rank {
                let (at, b) = (row.add(r * step), load::<T, S>(v.b.add(r * step)));
                store::<T, S>(at, T::neg_mul_add(simd, both, b, load::<T, S>(at)));
            }
        }
    }
}
