//! The reflection of a column of L for one column of V with a plus sign, in which the two are interchanged where V is larger.
//!
//! With the pivot l of the column and the entry v of V, their entries l_i and v_i in a row below, and σ = v̄/|v|:
//!
//! ```text
//! (o, e) = (l, v), or (|v|, l) if that is larger        (o_i, e_i) = (l_i, v_i), or (σ v_i, l_i)        α² = o² + |e|²
//! q = |e|²/(o + α)       h = e_i ē − q o_i       l'_i = o_i + h/α       v'_i = e_i − (o_i + l'_i) e/(o + α)
//! ```
//!
//! For real numbers σ is a sign, and all of V is multiplied by it, also where nothing is interchanged. A complex σ would have rounding
//! errors: σ v_i is the product v̄ v_i over |v|, and only where it is needed.
//!
//! So V outweighs no column of L, and every lane is good unless its numbers are near overflow.

use crate::number::{Float, Number, RealVector};
use pulp::Simd;

/// If the change of a pivot is below this part of it, the change is more accurate than the new pivot.
const SMALL_CHANGE: f64 = 0.25;

/// The reflection of a column.
#[derive(Clone, Copy)]
pub struct Reflection<T: Number, S: Simd> {
    /// l and |v|, of which the second is the larger one where the two are interchanged.
    pivots: (RealVector<T, S>, RealVector<T, S>),
    turn: Turn<T, S>,
    /// ē
    e: T::Vector<S>,
    q: RealVector<T, S>,
    /// 1/α
    g: RealVector<T, S>,
    /// e/(o + α)
    b: T::Vector<S>,
}

/// σ: a sign, or v̄ and 1/|v|.
#[derive(Clone, Copy)]
struct Turn<T: Number, S: Simd> {
    by: T::Vector<S>,
    inverse: RealVector<T, S>,
}

impl<T: Number, S: Simd> Turn<T, S> {
    /// That of v, and |v|.
    #[inline(always)]
    fn new(simd: S, v: T::Vector<S>) -> (Self, RealVector<T, S>) {
        let splat = |x: T::Part| T::Part::splat(simd, x);
        let (zero, one) = (splat(T::Part::ZERO), splat(T::Part::ONE));
        if T::PARTS == 1 {
            let v = T::reals(v);
            let sign = T::Part::where_less(simd, (v, zero), splat(-T::Part::ONE), one);
            return (Self { by: T::vreal(simd, sign), inverse: one }, T::Part::vmul(simd, sign, v));
        }
        // Of no use where |v|² underflows, but V is then far below L.
        let by = T::vconj(simd, v);
        let size = T::Part::vsqrt(simd, T::real_of_product(simd, by, v));
        (Self { by, inverse: T::Part::vdiv(simd, one, size) }, size)
    }

    #[inline(always)]
    fn apply(&self, simd: S, v: T::Vector<S>) -> T::Vector<S> {
        let turned = T::vmul(simd, self.by, v);
        if T::PARTS == 1 { turned } else { T::vtimes(simd, self.inverse, turned) }
    }
}

impl<T: Number, S: Simd> Reflection<T, S> {
    /// From the pivot of L, whose square is not near underflow, and the entry of V. Also returns the new pivot. A lane in which that is
    /// near overflow is marked in `good`.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub fn new(
        simd: S,
        l: RealVector<T, S>,
        v: T::Vector<S>,
        good: &mut RealVector<T, S>,
    ) -> (RealVector<T, S>, Self) {
        let splat = |x: T::Part| T::Part::splat(simd, x);
        let (zero, one) = (splat(T::Part::ZERO), splat(T::Part::ONE));
        let (turn, size) = Turn::<T, S>::new(simd, v);
        let pivots = (l, size);
        let o = T::Part::where_less(simd, pivots, size, l);
        let stays = if T::PARTS == 1 { T::vreal(simd, size) } else { v };
        let e = T::where_less(simd, pivots, T::vreal(simd, l), stays);
        let conjugate = T::vconj(simd, e);
        let squared_e = T::real_of_product(simd, conjugate, e);
        let square = T::Part::mul_add(simd, o, o, squared_e);
        let most = splat(T::Part::LARGE_SQUARE * T::Part::UNIT);
        *good = T::Part::where_less(simd, (square, most), *good, zero);
        let alpha = T::Part::vsqrt(simd, square);
        let inverse = T::Part::vdiv(simd, one, T::Part::vadd(simd, o, alpha));
        let (q, g) = (T::Part::vmul(simd, squared_e, inverse), T::Part::vdiv(simd, one, alpha));
        let small = T::Part::vmul(simd, splat(T::Part::from_f64(SMALL_CHANGE)), o);
        let pivot = T::Part::where_less(simd, (q, small), T::Part::vadd(simd, o, q), alpha);
        let b = T::vtimes(simd, inverse, e);
        (pivot, Self { pivots, turn, e: conjugate, q, g, b })
    }

    /// The new entries of L and V in a row.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub fn apply(&self, simd: S, l: T::Vector<S>, v: T::Vector<S>) -> (T::Vector<S>, T::Vector<S>) {
        let Self { pivots, turn, e, q, g, b } = *self;
        let turned = turn.apply(simd, v);
        let stays = if T::PARTS == 1 { turned } else { v };
        let (o, x) = (T::where_less(simd, pivots, turned, l), T::where_less(simd, pivots, l, stays));
        let h = T::neg_times_add(simd, q, o, T::vmul(simd, x, e));
        let new = T::times_add(simd, g, h, o);
        (new, T::neg_mul_add(simd, T::vadd(simd, o, new), b, x))
    }
}
