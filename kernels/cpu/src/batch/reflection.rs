//! The reflection of one column, from its pivot and its row of V.

use super::pivots::Found;
use crate::number::{Float, Number};
use pulp::Simd;

/// If the change of a pivot is below this part of it, the change is more accurate than the new pivot.
const SMALL_CHANGE: f64 = 0.25;

/// The reflection of a column.
pub struct Reflection<T: Float, S: Simd> {
    /// The new pivot.
    pub pivot: T::Vector<S>,
    /// g q
    pub q: T::Vector<S>,
    pub g: T::Vector<S>,
    /// 1/(l + α)
    pub inverse: T::Vector<S>,
}

/// The sum of the squares of a row of V, and what has been rounded off it.
#[derive(Clone, Copy)]
pub struct Squares<T: Float, S: Simd> {
    sum: T::Vector<S>,
    rest: T::Vector<S>,
}

impl<T: Float, S: Simd> Squares<T, S> {
    /// |x|² of a first x.
    #[inline(always)]
    pub fn of<N: Number<Part = T>>(simd: S, x: N::Vector<S>) -> Self {
        let parts = N::vparts(x);
        let mut squares = Self::square(simd, parts[0]);
        for part in 1..N::PARTS {
            squares.add_square(simd, parts[part]);
        }
        squares
    }

    /// Adds |x|².
    #[cfg_attr(not(unoptimized), inline(always))]
    pub fn add<N: Number<Part = T>>(&mut self, simd: S, x: N::Vector<S>) {
        let parts = N::vparts(x);
        for part in 0..N::PARTS {
            self.add_square(simd, parts[part]);
        }
    }

    /// x²
    #[inline(always)]
    fn square(simd: S, x: T::Vector<S>) -> Self {
        let sum = T::vmul(simd, x, x);
        let minus = T::vsub(simd, T::splat(simd, T::ZERO), sum);
        Self { sum, rest: T::exact_mul_add(simd, x, x, minus) }
    }

    /// Adds x². (Ogita, Rump and Oishi 2005, Dot2)
    #[cfg_attr(not(unoptimized), inline(always))]
    fn add_square(&mut self, simd: S, x: T::Vector<S>) {
        let square = Self::square(simd, x);
        let sum = T::vadd(simd, self.sum, square.sum);
        let part = T::vsub(simd, sum, self.sum);
        let off_sum =
            T::vadd(simd, T::vsub(simd, self.sum, T::vsub(simd, sum, part)), T::vsub(simd, square.sum, part));
        self.rest = T::vadd(simd, self.rest, T::vadd(simd, square.rest, off_sum));
        self.sum = sum;
    }
}

/// The reflection of a column with the pivot `l`.
#[cfg_attr(not(unoptimized), inline(always))]
pub fn reflection<T: Float, S: Simd, const MINUS: bool>(
    simd: S,
    l: T::Vector<S>,
    Squares { sum, rest }: Squares<T, S>,
    found: &mut Found<T, S>,
) -> Reflection<T, S> {
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
    let alpha = T::vsqrt(simd, square);
    let both = T::vadd(simd, l, alpha);
    let inverse_product = T::vdiv(simd, one, T::vmul(simd, alpha, both));
    let inverse = T::vmul(simd, inverse_product, alpha);
    let inverse_alpha = T::vmul(simd, inverse_product, both);
    let q = T::vmul(simd, sum, inverse);
    // g q without the factor α(l + α)/(α(l + α)).
    let scaled = T::vmul(simd, sum, inverse_product);
    let (changed, g, scaled) = if MINUS {
        (T::vsub(simd, l, q), T::vsub(simd, zero, inverse_alpha), T::vsub(simd, zero, scaled))
    } else {
        (T::vadd(simd, l, q), inverse_alpha, scaled)
    };
    let small = T::vmul(simd, splat(T::from_f64(SMALL_CHANGE)), l);
    found.add::<MINUS>(simd, square, q, T::vmul(simd, l, inverse_alpha));
    Reflection { pivot: T::where_less(simd, (q, small), changed, alpha), q: scaled, g, inverse }
}
