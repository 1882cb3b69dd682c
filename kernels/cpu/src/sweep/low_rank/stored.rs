//! The coefficients of a block of columns, as they are stored for the rows below.

use crate::number::Number;
use crate::sweep::compensated::Sums;
use pulp::Simd;

/// Columns of L whose coefficients are computed together: a chain of multiply-adds that is about as long as that of the roots.
pub const BLOCK: usize = 8;

/// The numbers that transform rows below one block of columns, for one column of V. All sets of a panel are stored in the
/// memory that block reflectors use for higher rank.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Coefficients<T> {
    pub p: [T; BLOCK],
    pub x: [T; BLOCK],
    pub g: [T; BLOCK],
    /// σ_a if the column of V and that of L are interchanged, otherwise 0.
    pub interchanges: [T; BLOCK],
}

impl<T> Coefficients<T> {
    /// Scalars of one set.
    pub const LEN: usize = size_of::<Self>() / size_of::<T>();
}

impl<T: Number> Coefficients<T> {
    /// Whether columns are interchanged.
    #[inline(always)]
    pub fn interchanged(&self) -> bool {
        self.interchanges != [T::ZERO; BLOCK]
    }

    /// Applies an interchange to registers of column `j` of L and of V.
    #[inline(always)]
    pub fn change_places<S: Simd>(
        &self,
        simd: S,
        j: usize,
        l: T::Vector<S>,
        v: T::Vector<S>,
        minus: bool,
    ) -> (T::Vector<S>, T::Vector<S>) {
        let (x, g) = (self.x[j].real(), self.g[j].real());
        let (p, turn) = (T::splat(simd, self.p[j]), T::splat(simd, self.interchanges[j]));
        let other;
        let new;
        if T::PARTS == 1 {
            other = T::vmul(simd, turn, v);
            let (x, g) = (T::Part::splat(simd, x), T::Part::splat(simd, g));
            new = if minus {
                let left = T::neg_mul_add(simd, T::vreal(simd, x), other, T::vsub(simd, l, other));
                T::vover(simd, left, g)
            } else {
                T::vadd(simd, other, T::times_add(simd, g, l, T::vtimes(simd, x, other)))
            };
        } else {
            // σ v is rounded by its division, so o and its sums with L are multiplied by the divisor, with twice the digits.
            let size = T::turn_size(self.interchanges[j]);
            let (whole, scaled) = (T::of_real(size), T::Part::splat(simd, size));
            let turned = Sums::<T, S>::zero(simd).plus_product(simd, turn, v);
            other = T::vover(simd, turned.rounded(simd), scaled);
            let (x, g) = (T::splat(simd, T::of_real(x)), T::splat(simd, T::of_real(g * size)));
            new = if minus {
                let negative = turned.negated(simd);
                let left = Sums::zero(simd).plus_product(simd, l, T::splat(simd, whole));
                let left = left.plus_sum(simd, negative).plus_times(simd, x, negative);
                T::vover(simd, left.rounded(simd), T::reals(g))
            } else {
                let sum = turned.plus_times(simd, x, turned).plus_product(simd, g, l);
                T::vover(simd, sum.rounded(simd), scaled)
            };
        }
        let (before, behind) = if minus { (new, l) } else { (l, new) };
        (new, T::neg_mul_add(simd, p, T::vadd(simd, other, behind), before))
    }
}
