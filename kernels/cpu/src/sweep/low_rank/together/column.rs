//! The reflection of a column, applied to the rows of its block.

use super::{Householder, SignedRows};
use crate::number::Float;
use crate::sweep::diagonal::SMALL_CHANGE;
use crate::sweep::interchange::outweighs;
use crate::sweep::shape::MAX_LANES;
use pulp::Simd;

impl<T: Float> SignedRows<T> {
    /// A row of K columns of V, each entry in all lanes; zero for columns of the other sign.
    ///
    /// # Safety
    /// The row must be readable.
    #[inline(always)]
    pub unsafe fn row<S: Simd, const K: usize>(&self, simd: S, row: usize) -> [T::Vector<S>; K] {
        let mut entries = [T::splat(simd, T::ZERO); K];
        for r in 0..K {
            // SAFETY: the caller guarantees the row.
            entries[r] = T::splat(simd, unsafe { *self.v(row, r) });
        }
        self.without_others(simd, &mut entries);
        entries
    }

    /// Sets what belongs to columns of the other sign to zero.
    #[inline(always)]
    fn without_others<S: Simd, const K: usize>(&self, simd: S, row: &mut [T::Vector<S>; K]) {
        if self.signed.len() < K {
            for r in 0..K {
                if !self.signed.contains(&r) {
                    row[r] = T::splat(simd, T::ZERO);
                }
            }
        }
    }

    /// Computes the reflection of column `j` of a block, applies it to the rows of RV registers, and returns the new pivot, which
    /// it does not write. `a` is its row of V, and then the next one. Returns `None`, with nothing written, if the column of L and
    /// one of V were to be interchanged, or if the pivot² is not far above zero.
    ///
    /// # Safety
    /// After the columns of the block before it: the registers of L and of K columns of V must be writable, of L readable up to
    /// `self.rows`, which is more than `j`.
    #[inline(always)]
    pub unsafe fn column<S: Simd, const RV: usize, const K: usize, const MINUS: bool>(
        &self,
        simd: S,
        j: usize,
        a: &mut [T::Vector<S>; K],
        out: &mut Householder<T>,
    ) -> Option<T> {
        let lanes = T::lanes::<S>();
        let (zero, one) = (T::splat(simd, T::ZERO), T::splat(simd, T::ONE));
        // The row below; after the last row it is not used.
        let next = (j + 1).min(self.rows - 1).min(RV * lanes - 1);
        // SAFETY: rows of V and of the column, which the caller guarantees.
        unsafe {
            let pivot = *self.src(j, j);
            let l = T::splat(simd, pivot);
            let mut below = [zero; K];
            let (mut sums, mut squares) = ([zero; 2], [zero; 2]);
            squares[0] = T::vmul(simd, l, l);
            let (mut product, mut products) = ([zero; 2], [[zero; RV]; 2]);
            for r in 0..K {
                let half = r % 2;
                sums[half] = T::mul_add(simd, a[r], a[r], sums[half]);
                squares[half] = match MINUS {
                    true => T::neg_mul_add(simd, a[r], a[r], squares[half]),
                    false => T::mul_add(simd, a[r], a[r], squares[half]),
                };
                below[r] = T::splat(simd, *self.v(next, r));
                product[half] = T::mul_add(simd, below[r], a[r], product[half]);
                for i in 0..RV {
                    let v = T::load::<S>(self.v(i * lanes, r));
                    products[half][i] = T::mul_add(simd, v, a[r], products[half][i]);
                }
            }
            let sum = T::vadd(simd, sums[0], sums[1]);
            let square = square_of_pivot::<T, S, MINUS>(
                simd,
                pivot,
                first_lane::<T, S>(sum),
                T::vadd(simd, squares[0], squares[1]),
            )?;
            let alpha = T::vsqrt(simd, square);
            let inverse = T::vdiv(simd, one, T::vadd(simd, l, alpha));
            let g = T::vdiv(simd, if MINUS { T::splat(simd, -T::ONE) } else { one }, alpha);
            let q = T::vmul(simd, sum, inverse);

            let entry = T::splat(simd, *self.src(next, j));
            let (_, both) = transformed::<T, S>(simd, entry, [q, g], product);
            let mut b = [zero; K];
            for r in 0..K {
                b[r] = T::vmul(simd, a[r], inverse);
                below[r] = T::neg_mul_add(simd, both, b[r], below[r]);
                (out.a[r], out.b[r]) = (first_lane::<T, S>(a[r]), first_lane::<T, S>(b[r]));
            }
            (out.q, out.g) = (first_lane::<T, S>(q), first_lane::<T, S>(g));
            *a = below;
            self.without_others(simd, a);

            let mut both = [zero; RV];
            for i in 0..RV {
                let l = self.load(simd, i * lanes, j);
                let new;
                (new, both[i]) = transformed::<T, S>(simd, l, [q, g], [products[0][i], products[1][i]]);
                // In the rows before, V has been eliminated up to rounding errors.
                let before = T::mask(simd, 0, (j + 1).saturating_sub(i * lanes).min(lanes));
                T::store::<S>(self.dst(i * lanes, j), T::select(simd, before, zero, new));
            }
            for r in 0..K {
                for i in 0..RV {
                    let v = self.v(i * lanes, r);
                    T::store::<S>(v, T::neg_mul_add(simd, both[i], b[r], T::load::<S>(v)));
                }
            }
            // If the change is small, it is more accurate than the new pivot; if it is large, less.
            let change = if MINUS { -out.q } else { out.q };
            let small = out.q < T::from_f64(SMALL_CHANGE) * pivot;
            Some(if small { pivot + change } else { first_lane::<T, S>(alpha) })
        }
    }

    /// A register of rows of a column of L, zeros after the last row.
    ///
    /// # Safety
    /// The column must be readable up to `self.rows`.
    #[inline(always)]
    unsafe fn load<S: Simd>(&self, simd: S, row: usize, column: usize) -> T::Vector<S> {
        let (lanes, from) = (T::lanes::<S>(), self.src(row, column));
        // SAFETY: the column has these rows, and the mask restricts the load to them.
        unsafe {
            match row + lanes <= self.rows {
                true => T::load::<S>(from),
                false => T::load_masked(simd, T::mask(simd, 0, self.rows.saturating_sub(row)), from),
            }
        }
    }
}

/// α² from l, a aᵀ and l² + σ a aᵀ, or `None` if columns were to be interchanged, or if it is not far from zero and from overflow.
#[inline(always)]
fn square_of_pivot<T: Float, S: Simd, const MINUS: bool>(
    simd: S,
    l: T,
    norm_squared: T,
    square: T::Vector<S>,
) -> Option<T::Vector<S>> {
    if outweighs(l, norm_squared, MINUS) {
        return None;
    }
    let mut square = square;
    // If most of l² remains, cancellation is too small to justify a root.
    if MINUS && l * l < T::TWO * norm_squared {
        let norm = norm_squared.sqrt();
        square = T::splat(simd, (l - norm) * (l + norm));
    }
    let value = first_lane::<T, S>(square);
    // False for NaN.
    (value > T::SMALL_SQUARE && value < T::INFINITY).then_some(square)
}

/// Returns l' and l + l' for entries of L and the products V aᵀ, in two parts.
#[inline(always)]
pub fn transformed<T: Float, S: Simd>(
    simd: S,
    l: T::Vector<S>,
    [q, g]: [T::Vector<S>; 2],
    products: [T::Vector<S>; 2],
) -> (T::Vector<S>, T::Vector<S>) {
    let h = T::vadd(simd, T::neg_mul_add(simd, q, l, products[0]), products[1]);
    let new = T::mul_add(simd, g, h, l);
    (new, T::vadd(simd, l, new))
}

#[inline(always)]
fn first_lane<T: Float, S: Simd>(x: T::Vector<S>) -> T {
    let mut all = [T::ZERO; MAX_LANES];
    // SAFETY: a register has at most as many lanes.
    unsafe { T::store::<S>(all.as_mut_ptr(), x) };
    all[0]
}
