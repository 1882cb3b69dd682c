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

/// Eliminates V: reads L from `src`, and writes L' to `dst`, which may be the same. V is overwritten. Returns one in each good lane.
///
/// # Safety
/// L and V have `rows` rows in memory of the whole registers of `S`, and `src` and `dst` are the same or do not overlap.
#[inline(always)]
pub(super) unsafe fn eliminate<T: Float, S: Simd, const MINUS: bool>(
    simd: S,
    l: (Packed<T>, Packed<T>),
    v: V<T>,
    rows: usize,
    good: T::Vector<S>,
) -> T::Vector<S> {
    // SAFETY: the caller guarantees L and V.
    unsafe {
        match v.rank {
            1 => columns::<T, S, 1, MINUS>(simd, l, v, rows, good),
            2 => columns::<T, S, 2, MINUS>(simd, l, v, rows, good),
            3 => columns::<T, S, 3, MINUS>(simd, l, v, rows, good),
            4 => columns::<T, S, 4, MINUS>(simd, l, v, rows, good),
            _ => columns_of_many::<T, S, MINUS>(simd, l, v, rows, good),
        }
    }
}

/// For K columns of V.
///
/// # Safety
/// As [`eliminate`].
#[inline(always)]
unsafe fn columns<T: Float, S: Simd, const K: usize, const MINUS: bool>(
    simd: S,
    (src, dst): (Packed<T>, Packed<T>),
    v: V<T>,
    rows: usize,
    mut good: T::Vector<S>,
) -> T::Vector<S> {
    let zero = T::splat(simd, T::ZERO);
    // SAFETY: rows and columns of L and V, which the caller guarantees.
    unsafe {
        let mut pivots = (src.entry(0, 0), dst.entry(0, 0));
        for j in 0..rows {
            let (mut a, mut b) = ([zero; K], [zero; K]);
            for r in 0..K {
                a[r] = T::load::<S>(v.row(j).add(r * v.lanes));
            }
            let l = T::load::<S>(pivots.0);
            let squares = squares::<T, S>(simd, &a);
            let (pivot, Reflection { q, g, inverse }) =
                reflection::<T, S, MINUS>(simd, l, squares, &mut good);
            T::store::<S>(pivots.1, pivot);
            for r in 0..K {
                b[r] = T::vmul(simd, a[r], inverse);
            }
            let ((mut from, mut to), mut row) = (pivots, v.row(j));
            for _ in j + 1..rows {
                (from, to, row) = (from.add(v.lanes), to.add(v.lanes), row.add(K * v.lanes));
                let l = T::load::<S>(from);
                let mut x = [zero; K];
                let mut h = T::neg_mul_add(simd, q, l, zero);
                for r in 0..K {
                    x[r] = T::load::<S>(row.add(r * v.lanes));
                    h = T::mul_add(simd, x[r], a[r], h);
                }
                let new = T::mul_add(simd, g, h, l);
                T::store::<S>(to, new);
                let both = T::vadd(simd, l, new);
                for r in 0..K {
                    T::store::<S>(row.add(r * v.lanes), T::neg_mul_add(simd, both, b[r], x[r]));
                }
            }
            pivots = (src.next_pivot(pivots.0, j), dst.next_pivot(pivots.1, j));
        }
    }
    good
}

/// For any number of columns of V.
///
/// # Safety
/// As [`eliminate`].
#[inline(always)]
unsafe fn columns_of_many<T: Float, S: Simd, const MINUS: bool>(
    simd: S,
    (src, dst): (Packed<T>, Packed<T>),
    v: V<T>,
    rows: usize,
    mut good: T::Vector<S>,
) -> T::Vector<S> {
    let (zero, rank, lanes) = (T::splat(simd, T::ZERO), v.rank, v.lanes);
    // SAFETY: rows and columns of L and V, which the caller guarantees.
    unsafe {
        let mut pivots = (src.entry(0, 0), dst.entry(0, 0));
        for j in 0..rows {
            let a = v.row(j);
            let mut sums = Squares::<T, S>::zero(simd);
            for r in 0..rank {
                sums.add(simd, T::load::<S>(a.add(r * lanes)));
            }
            let l = T::load::<S>(pivots.0);
            let (pivot, Reflection { q, g, inverse }) = reflection::<T, S, MINUS>(simd, l, sums, &mut good);
            T::store::<S>(pivots.1, pivot);
            let ((mut from, mut to), mut row) = (pivots, a);
            for _ in j + 1..rows {
                (from, to, row) = (from.add(lanes), to.add(lanes), row.add(rank * lanes));
                let l = T::load::<S>(from);
                let mut h = [T::neg_mul_add(simd, q, l, zero), zero];
                for r in 0..rank {
                    let (x, a) = (T::load::<S>(row.add(r * lanes)), T::load::<S>(a.add(r * lanes)));
                    h[r % 2] = T::mul_add(simd, x, a, h[r % 2]);
                }
                let new = T::mul_add(simd, g, T::vadd(simd, h[0], h[1]), l);
                T::store::<S>(to, new);
                let both = T::vmul(simd, T::vadd(simd, l, new), inverse);
                for r in 0..rank {
                    let (at, a) = (row.add(r * lanes), T::load::<S>(a.add(r * lanes)));
                    T::store::<S>(at, T::neg_mul_add(simd, both, a, T::load::<S>(at)));
                }
            }
            pivots = (src.next_pivot(pivots.0, j), dst.next_pivot(pivots.1, j));
        }
    }
    good
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
