//! The coefficients of a block of columns, as they are stored for the rows below.

use crate::float::Float;
use pulp::Simd;

/// Columns of L whose coefficients are computed together: a chain of multiply-adds that is about as long as that of the roots.
pub(crate) const BLOCK: usize = 8;

/// The numbers that transform rows below one block of columns, for one column of V. All sets of a panel are stored in the
/// memory that block reflectors use for higher rank.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Coefficients<T> {
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

impl<T: Float> Coefficients<T> {
    /// Whether columns are interchanged.
    #[inline(always)]
    pub fn interchanged(&self) -> bool {
        self.interchanges != [T::ZERO; BLOCK]
    }

    /// Applies an interchange to an entry of column `j` of L and one of V.
    #[inline(always)]
    pub fn change_places<S: Simd>(&self, j: usize, l: T, v: T, minus: bool) -> (T, T) {
        let Self { p, x, g, interchanges } = self;
        let (other, p, x, g) = (interchanges[j] * v, p[j], x[j], g[j]);
        let (new, before, behind) = if minus {
            let new = T::fused::<S>(-x, other, l - other) / g;
            (new, new, l)
        } else {
            let new = other + T::fused::<S>(g, l, x * other);
            (new, l, new)
        };
        (new, T::fused::<S>(-p, other + behind, before))
    }

    /// The same for registers.
    #[inline(always)]
    pub fn registers_change_places<S: Simd>(
        &self,
        simd: S,
        j: usize,
        l: T::Vector<S>,
        v: T::Vector<S>,
        minus: bool,
    ) -> (T::Vector<S>, T::Vector<S>) {
        let [p, x, g, sign] =
            [&self.p, &self.x, &self.g, &self.interchanges].map(|all| T::splat(simd, all[j]));
        let other = T::vmul(simd, sign, v);
        let (new, before, behind) = if minus {
            let new = T::vdiv(simd, T::neg_mul_add(simd, x, other, T::vsub(simd, l, other)), g);
            (new, new, l)
        } else {
            let new = T::vadd(simd, other, T::mul_add(simd, g, l, T::vmul(simd, x, other)));
            (new, l, new)
        };
        (new, T::neg_mul_add(simd, p, T::vadd(simd, other, behind), before))
    }
}
