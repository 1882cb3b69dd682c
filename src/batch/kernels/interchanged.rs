//! The reflection of a column of L for one column of V with a plus sign, in which the two are interchanged where V is larger.
//!
//! With the pivot l of the column and the entry v of V, and their entries l_i and v_i in a row below, both of V times the sign of v:
//!
//! ```text
//! (o, e) = (l, |v|), or (|v|, l) if that is larger        α² = o² + e²
//! q = e²/(o + α)        h = e_i e − q o_i        l'_i = o_i + h/α        v'_i = e_i − (o_i + l'_i) e/(o + α)
//! ```
//!
//! So V outweighs no column of L, and every lane is good unless its numbers are near overflow.

use crate::number::Float;
use pulp::Simd;

/// If the change of a pivot is below this part of it, the change is more accurate than the new pivot.
const SMALL_CHANGE: f64 = 0.25;

/// The reflection of a column.
#[derive(Clone, Copy)]
pub(super) struct Reflection<T: Float, S: Simd> {
    /// l and |v|, of which the second is the larger one where the two are interchanged.
    pivots: (T::Vector<S>, T::Vector<S>),
    sign: T::Vector<S>,
    e: T::Vector<S>,
    q: T::Vector<S>,
    /// 1/α
    g: T::Vector<S>,
    /// e/(o + α)
    b: T::Vector<S>,
}

impl<T: Float, S: Simd> Reflection<T, S> {
    /// From the pivot of L, whose square is not near underflow, and the entry of V. Also returns the new pivot. A lane in which that is
    /// near overflow is marked in `good`.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub fn new(simd: S, l: T::Vector<S>, v: T::Vector<S>, good: &mut T::Vector<S>) -> (T::Vector<S>, Self) {
        let splat = |x: T| T::splat(simd, x);
        let (zero, one) = (splat(T::ZERO), splat(T::ONE));
        let sign = T::where_less(simd, (v, zero), splat(-T::ONE), one);
        let pivots = (l, T::vmul(simd, sign, v));
        let (o, e) = Self::interchanged(simd, pivots, pivots);
        let squared_e = T::vmul(simd, e, e);
        let square = T::mul_add(simd, o, o, squared_e);
        *good = T::where_less(simd, (square, splat(T::LARGE_SQUARE * T::UNIT)), *good, zero);
        let alpha = T::vsqrt(simd, square);
        let inverse = T::vdiv(simd, one, T::vadd(simd, o, alpha));
        let (q, g) = (T::vmul(simd, squared_e, inverse), T::vdiv(simd, one, alpha));
        let small = T::vmul(simd, splat(T::from_f64(SMALL_CHANGE)), o);
        let pivot = T::where_less(simd, (q, small), T::vadd(simd, o, q), alpha);
        (pivot, Self { pivots, sign, e, q, g, b: T::vmul(simd, e, inverse) })
    }

    /// The same order of two numbers as that which has the larger one of the pivots first.
    #[inline(always)]
    fn interchanged(
        simd: S,
        pivots: (T::Vector<S>, T::Vector<S>),
        (l, v): (T::Vector<S>, T::Vector<S>),
    ) -> (T::Vector<S>, T::Vector<S>) {
        (T::where_less(simd, pivots, v, l), T::where_less(simd, pivots, l, v))
    }

    /// The new entries of L and V in a row.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub fn apply(&self, simd: S, l: T::Vector<S>, v: T::Vector<S>) -> (T::Vector<S>, T::Vector<S>) {
        let Self { pivots, sign, e, q, g, b } = *self;
        let (o, x) = Self::interchanged(simd, pivots, (l, T::vmul(simd, sign, v)));
        let h = T::neg_mul_add(simd, q, o, T::vmul(simd, x, e));
        let new = T::mul_add(simd, g, h, o);
        (new, T::neg_mul_add(simd, T::vadd(simd, o, new), b, x))
    }
}
