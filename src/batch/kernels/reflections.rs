//! The reflections that eliminate V, for columns of V of one sign.
//!
//! At a column of L with the pivot l, for the row a of V and the sign σ:
//!
//! ```text
//! α² = l² + σ a aᵀ      q = a aᵀ/(l + α)      g = σ/α      b = a/(l + α)
//! h = V_i aᵀ − q l_i    l'_i = l_i + g h      V_i ← V_i − (l_i + l'_i) b
//! ```
//!
//! These are the reflections that modify a single small L by several columns of V (`cpu/kernels/low_rank/together`), in each lane. With a
//! minus sign α² is formed as if in twice the precision, so that no lane needs another formula where l² and a aᵀ cancel. A lane that
//! would need one, because V outweighs L, because almost nothing of l² is left, or because something is not finite, is marked as not
//! good; what is written for it is of no use.

use super::packed::Packed;
use crate::float::Float;
use pulp::Simd;

/// If the change of a pivot is below this part of it, the change is more accurate than the new pivot.
const SMALL_CHANGE: f64 = 0.25;
/// If the squares of a row of V exceed this multiple of the squared pivot of the L without V, columns of L and V are to be
/// interchanged.
const OUTWEIGHS: f64 = 4.0 / 1.01;

/// V as registers: entry (i, r) is number `i · rank + r`.
#[derive(Clone, Copy)]
pub(crate) struct V<T> {
    pub at: *mut T,
    pub rank: usize,
    pub lanes: usize,
    /// Working memory: `rank` registers.
    pub b: *mut T,
}

impl<T> V<T> {
    #[inline(always)]
    fn row(self, i: usize) -> *mut T {
        self.at.wrapping_add(i * self.rank * self.lanes)
    }
}

/// The reflection of a column.
struct Reflection<T: Float, S: Simd> {
    q: T::Vector<S>,
    g: T::Vector<S>,
    /// 1/(l + α)
    inverse: T::Vector<S>,
}

/// A group: L, V, and the rows of both.
#[derive(Clone, Copy)]
pub(super) struct Elimination<T> {
    pub src: Packed<T>,
    /// May be the same as `src`.
    pub dst: Packed<T>,
    pub v: V<T>,
    pub rows: usize,
    /// One in each lane that is good so far.
    pub good: *mut T,
}

/// Eliminates the V of some groups, all of one rank: reads each L from `src`, and writes L' to `dst`. V is overwritten.
///
/// The groups are processed column by column, so that the roots and divisions of one are in progress while those of the next begin.
///
/// # Safety
/// L, V and `good` of each group are in memory of the whole registers of `S`, and `src` and `dst` are the same or do not overlap.
#[inline(always)]
pub(super) unsafe fn eliminate<T: Float, S: Simd, const MINUS: bool>(
    simd: S,
    rank: usize,
    count: usize,
    group: impl Fn(usize) -> Elimination<T>,
) {
    // SAFETY: the caller guarantees L and V.
    unsafe {
        match rank {
            1 => by_pairs::<T, S, 1, MINUS>(simd, count, group),
            2 => by_pairs::<T, S, 2, MINUS>(simd, count, group),
            3 => by_pairs::<T, S, 3, MINUS>(simd, count, group),
            4 => by_pairs::<T, S, 4, MINUS>(simd, count, group),
            _ => by_columns::<T, S, MINUS>(simd, count, group),
        }
    }
}

/// For K columns of V, two columns of L at a time.
///
/// # Safety
/// As [`eliminate`].
#[inline(always)]
unsafe fn by_pairs<T: Float, S: Simd, const K: usize, const MINUS: bool>(
    simd: S,
    count: usize,
    group: impl Fn(usize) -> Elimination<T>,
) {
    let most = (0..count).map(|g| group(g).rows).max().unwrap_or(0);
    for j in (0..most).step_by(2) {
        for g in 0..count {
            let group = group(g);
            if j < group.rows {
                let mut pair = [Column::<T, S, K>::zero(simd); 2];
                // SAFETY: the caller guarantees L and V.
                unsafe {
                    reflections::<T, S, K, MINUS>(simd, group, j, &mut pair);
                    rows_below(simd, group, j, &pair);
                }
            }
        }
    }
}

/// The reflections of columns j and j + 1 of a group, or of the last one, and their first row.
///
/// # Safety
/// As [`eliminate`], after the columns before; there is column j.
#[inline(always)]
unsafe fn reflections<T: Float, S: Simd, const K: usize, const MINUS: bool>(
    simd: S,
    Elimination { src, dst, v, rows, good }: Elimination<T>,
    j: usize,
    pair: &mut [Column<T, S, K>; 2],
) {
    let lanes = v.lanes;
    // SAFETY: rows and columns of L and V, which the caller guarantees.
    unsafe {
        let mut are_good = T::load::<S>(good);
        let (pivots, row) = ((src.entry(j, j), dst.entry(j, j)), v.row(j));
        let a = load(simd, row, lanes);
        pair[0] = Column::new::<MINUS>(simd, pivots, a, &mut are_good);
        if j + 1 < rows {
            let mut a = load::<T, S, K>(simd, row.add(K * lanes), lanes);
            let entry = T::load::<S>(pivots.0.add(lanes));
            T::store::<S>(pivots.1.add(lanes), pair[0].apply(simd, entry, &mut a));
            let next = (src.next_pivot(pivots.0, j), dst.next_pivot(pivots.1, j));
            pair[1] = Column::new::<MINUS>(simd, next, a, &mut are_good);
        }
        T::store::<S>(good, are_good);
    }
}

/// Applies the reflections of columns j and j + 1 to the rows below.
///
/// # Safety
/// As [`reflections`], after it.
#[inline(always)]
unsafe fn rows_below<T: Float, S: Simd, const K: usize>(
    simd: S,
    Elimination { src, dst, v, rows, .. }: Elimination<T>,
    j: usize,
    pair: &[Column<T, S, K>; 2],
) {
    if j + 2 >= rows {
        return;
    }
    let (lanes, [first, second]) = (v.lanes, *pair);
    let mut from = (src.entry(j + 1, j), src.entry(j + 1, j + 1));
    let mut to = (dst.entry(j + 1, j), dst.entry(j + 1, j + 1));
    let mut x = v.row(j + 1);
    // SAFETY: rows and columns of L and V, which the caller guarantees.
    unsafe {
        for _ in j + 2..rows {
            from = (from.0.add(lanes), from.1.add(lanes));
            to = (to.0.add(lanes), to.1.add(lanes));
            x = x.add(K * lanes);
            let mut row = load::<T, S, K>(simd, x, lanes);
            T::store::<S>(to.0, first.apply(simd, T::load::<S>(from.0), &mut row));
            T::store::<S>(to.1, second.apply(simd, T::load::<S>(from.1), &mut row));
            for r in 0..K {
                T::store::<S>(x.add(r * lanes), row[r]);
            }
        }
    }
}

/// The reflection of a column, for K columns of V.
#[derive(Clone, Copy)]
struct Column<T: Float, S: Simd, const K: usize> {
    q: T::Vector<S>,
    g: T::Vector<S>,
    a: [T::Vector<S>; K],
    b: [T::Vector<S>; K],
}

impl<T: Float, S: Simd, const K: usize> Column<T, S, K> {
    #[inline(always)]
    fn zero(simd: S) -> Self {
        let zero = T::splat(simd, T::ZERO);
        Self { q: zero, g: zero, a: [zero; K], b: [zero; K] }
    }

    /// From the pivot of L and the row `a` of V. Writes the new pivot.
    ///
    /// # Safety
    /// The pivots of both L can be read and written.
    #[inline(always)]
    unsafe fn new<const MINUS: bool>(
        simd: S,
        (old, new): (*mut T, *mut T),
        a: [T::Vector<S>; K],
        good: &mut T::Vector<S>,
    ) -> Self {
        // SAFETY: the caller guarantees the pivots.
        unsafe {
            let squares = squares::<T, S>(simd, &a);
            let (pivot, Reflection { q, g, inverse }) =
                reflection::<T, S, MINUS>(simd, T::load::<S>(old), squares, good);
            T::store::<S>(new, pivot);
            let mut b = a;
            for r in 0..K {
                b[r] = T::vmul(simd, a[r], inverse);
            }
            Self { q, g, a, b }
        }
    }

    /// Transforms an entry of L, which is returned, and its row of V.
    #[inline(always)]
    fn apply(&self, simd: S, l: T::Vector<S>, row: &mut [T::Vector<S>; K]) -> T::Vector<S> {
        let Self { q, g, .. } = *self;
        // In this order, as for any number of columns: further columns of zeros change no bit.
        let mut h = T::neg_mul_add(simd, q, l, T::splat(simd, T::ZERO));
        for r in 0..K {
            h = T::mul_add(simd, row[r], self.a[r], h);
        }
        let new = T::mul_add(simd, g, h, l);
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
#[inline(always)]
unsafe fn load<T: Float, S: Simd, const K: usize>(simd: S, at: *const T, lanes: usize) -> [T::Vector<S>; K] {
    let mut row = [T::splat(simd, T::ZERO); K];
    for r in 0..K {
        // SAFETY: the caller guarantees the registers.
        row[r] = unsafe { T::load::<S>(at.add(r * lanes)) };
    }
    row
}

/// For any number of columns of V.
///
/// # Safety
/// As [`eliminate`].
#[inline(always)]
unsafe fn by_columns<T: Float, S: Simd, const MINUS: bool>(
    simd: S,
    count: usize,
    group: impl Fn(usize) -> Elimination<T>,
) {
    let most = (0..count).map(|g| group(g).rows).max().unwrap_or(0);
    for j in 0..most {
        for g in 0..count {
            let group = group(g);
            if j < group.rows {
                // SAFETY: the caller guarantees L and V.
                unsafe { one_column::<T, S, MINUS>(simd, group, j) };
            }
        }
    }
}

/// Column j of a group.
///
/// # Safety
/// As [`reflections`].
#[inline(always)]
unsafe fn one_column<T: Float, S: Simd, const MINUS: bool>(
    simd: S,
    Elimination { src, dst, v, rows, good }: Elimination<T>,
    j: usize,
) {
    let (zero, rank, lanes) = (T::splat(simd, T::ZERO), v.rank, v.lanes);
    // SAFETY: rows and columns of L and V, which the caller guarantees.
    unsafe {
        let (pivots, a) = ((src.entry(j, j), dst.entry(j, j)), v.row(j));
        let mut sums = Squares::<T, S>::zero(simd);
        for r in 0..rank {
            sums.add(simd, T::load::<S>(a.add(r * lanes)));
        }
        let mut are_good = T::load::<S>(good);
        let (pivot, Reflection { q, g, inverse }) =
            reflection::<T, S, MINUS>(simd, T::load::<S>(pivots.0), sums, &mut are_good);
        T::store::<S>(good, are_good);
        T::store::<S>(pivots.1, pivot);
        for r in 0..rank {
            let b = T::vmul(simd, T::load::<S>(a.add(r * lanes)), inverse);
            T::store::<S>(v.b.add(r * lanes), b);
        }
        let ((mut from, mut to), mut row) = (pivots, a);
        for _ in j + 1..rows {
            (from, to, row) = (from.add(lanes), to.add(lanes), row.add(rank * lanes));
            let l = T::load::<S>(from);
            let mut h = T::neg_mul_add(simd, q, l, zero);
            for r in 0..rank {
                let (x, a) = (T::load::<S>(row.add(r * lanes)), T::load::<S>(a.add(r * lanes)));
                h = T::mul_add(simd, x, a, h);
            }
            let new = T::mul_add(simd, g, h, l);
            T::store::<S>(to, new);
            let both = T::vadd(simd, l, new);
            for r in 0..rank {
                let (at, b) = (row.add(r * lanes), T::load::<S>(v.b.add(r * lanes)));
                T::store::<S>(at, T::neg_mul_add(simd, both, b, T::load::<S>(at)));
            }
        }
    }
}

/// The sum of the squares of a row of V, and what has been rounded off it.
#[derive(Clone, Copy)]
struct Squares<T: Float, S: Simd> {
    sum: T::Vector<S>,
    rest: T::Vector<S>,
}

impl<T: Float, S: Simd> Squares<T, S> {
    #[inline(always)]
    fn zero(simd: S) -> Self {
        let zero = T::splat(simd, T::ZERO);
        Self { sum: zero, rest: zero }
    }

    /// Adds x². (Ogita, Rump and Oishi 2005, Dot2)
    #[inline(always)]
    fn add(&mut self, simd: S, x: T::Vector<S>) {
        let square = T::vmul(simd, x, x);
        let minus_square = T::vsub(simd, T::splat(simd, T::ZERO), square);
        let off_square = T::exact_mul_add(simd, x, x, minus_square);
        let sum = T::vadd(simd, self.sum, square);
        let part = T::vsub(simd, sum, self.sum);
        let off_sum =
            T::vadd(simd, T::vsub(simd, self.sum, T::vsub(simd, sum, part)), T::vsub(simd, square, part));
        self.rest = T::vadd(simd, self.rest, T::vadd(simd, off_square, off_sum));
        self.sum = sum;
    }
}

#[inline(always)]
fn squares<T: Float, S: Simd>(simd: S, a: &[T::Vector<S>]) -> Squares<T, S> {
    let mut sums = Squares::zero(simd);
    for &a in a {
        sums.add(simd, a);
    }
    sums
}

/// The new pivot and the reflection of a column with the pivot `l`. A lane for which they are not accurate is marked in `good`.
#[inline(always)]
fn reflection<T: Float, S: Simd, const MINUS: bool>(
    simd: S,
    l: T::Vector<S>,
    Squares { sum, rest }: Squares<T, S>,
    good: &mut T::Vector<S>,
) -> (T::Vector<S>, Reflection<T, S>) {
    let splat = |x: T| T::splat(simd, x);
    let (zero, one) = (splat(T::ZERO), splat(T::ONE));
    let square = if MINUS {
        // l² − sum exactly where they cancel, as the difference of neighbours.
        let square = T::vmul(simd, l, l);
        let off = T::exact_mul_add(simd, l, l, T::vsub(simd, zero, square));
        T::vadd(simd, T::vsub(simd, square, sum), T::vsub(simd, off, rest))
    } else {
        T::mul_add(simd, l, l, sum)
    };
    // The comparisons are false for NaN.
    let most = if MINUS { square } else { T::vmul(simd, l, l) };
    let in_range = T::where_less(simd, (splat(T::SMALL_SQUARE), square), *good, zero);
    let in_range = T::where_less(simd, (square, splat(T::LARGE_SQUARE * T::UNIT)), in_range, zero);
    let heavy = T::where_less(simd, (splat(T::SMALL_SQUARE), sum), zero, in_range);
    *good = T::where_less(simd, (T::vmul(simd, splat(T::from_f64(OUTWEIGHS)), most), sum), heavy, in_range);

    let alpha = T::vsqrt(simd, square);
    let inverse = T::vdiv(simd, one, T::vadd(simd, l, alpha));
    let g = T::vdiv(simd, if MINUS { splat(-T::ONE) } else { one }, alpha);
    let q = T::vmul(simd, sum, inverse);
    let changed = if MINUS { T::vsub(simd, l, q) } else { T::vadd(simd, l, q) };
    let small = T::vmul(simd, splat(T::from_f64(SMALL_CHANGE)), l);
    (T::where_less(simd, (q, small), changed, alpha), Reflection { q, g, inverse })
}
