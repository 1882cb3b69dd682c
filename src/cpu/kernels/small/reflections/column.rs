//! The reflection of a column of a block.

use super::{Block, OneSign};
use crate::cpu::kernels::diagonal::SMALL_CHANGE;
use crate::cpu::kernels::interchange::outweighs;
use crate::cpu::kernels::shape::MAX_LANES;
use crate::float::Float;
use pulp::Simd;

/// Independent partial sums over the columns of V. They hide the latency of a multiply-add.
const PARTIAL_SUMS: usize = 4;

impl<T: Float> OneSign<T> {
    /// A row of V, each entry in all lanes.
    ///
    /// # Safety
    /// As [`run`](Self::run).
    #[inline(always)]
    pub(super) unsafe fn row<S: Simd, const K: usize>(&self, simd: S, row: usize) -> [T::Vector<S>; K] {
        let mut entries = [T::splat(simd, T::ZERO); K];
        for r in 0..K {
            // SAFETY: a row of V.
            entries[r] = T::splat(simd, unsafe { *self.v(row, r) });
        }
        entries
    }

    /// Computes the coefficients of column `j` of a block, and applies them to the rows of the block. `a` is its row of V, and then
    /// the next one. Returns `None` if the column of L and one of V were to be interchanged, or the pivot² is not far above zero.
    ///
    /// # Safety
    /// As [`run`](Self::run), after the columns before.
    #[inline(always)]
    pub(super) unsafe fn column<S: Simd, const RV: usize, const K: usize, const MINUS: bool>(
        &self,
        simd: S,
        block: Block,
        j: usize,
        a: &mut [T::Vector<S>; K],
    ) -> Option<()> {
        let (lanes, first) = (T::lanes::<S>(), block.first);
        let (zero, one) = (T::splat(simd, T::ZERO), T::splat(simd, T::ONE));
        // The row below; in the last column it is not used.
        let next = (j + 1).min(RV * lanes - 1);
        // SAFETY: rows of V and of the column. Rows of a register after the last one of L have space.
        unsafe {
            let pivot = *self.src(first + j, first + j);
            let l = T::splat(simd, pivot);
            let (mut sums, mut squares) = ([zero; PARTIAL_SUMS], [zero; PARTIAL_SUMS]);
            squares[0] = T::vmul(simd, l, l);
            let mut below = self.row::<S, K>(simd, first + next);
            let (mut product, mut products) = ([zero; 2], [[zero; RV]; 2]);
            for r in 0..K {
                let (sum, square) = (&mut sums[r % PARTIAL_SUMS], &mut squares[r % PARTIAL_SUMS]);
                *sum = T::mul_add(simd, a[r], a[r], *sum);
                *square = match MINUS {
                    true => T::neg_mul_add(simd, a[r], a[r], *square),
                    false => T::mul_add(simd, a[r], a[r], *square),
                };
                product[r % 2] = T::mul_add(simd, a[r], below[r], product[r % 2]);
                for i in 0..RV {
                    let v = T::load::<S>(self.v(first + i * lanes, r));
                    products[r % 2][i] = T::mul_add(simd, a[r], v, products[r % 2][i]);
                }
            }
            let (sum, mut square) = (sum_of::<T, S, K>(simd, sums), sum_of::<T, S, K>(simd, squares));
            let norm_squared = first_lane::<T, S>(sum);
            if outweighs(pivot, norm_squared, MINUS) {
                return None;
            }
            // If most of l² remains, cancellation is too small to justify a root.
            if MINUS && pivot * pivot < T::TWO * norm_squared {
                let norm = norm_squared.sqrt();
                square = T::splat(simd, (pivot - norm) * (pivot + norm));
            }
            // Also for NaN.
            if !(first_lane::<T, S>(square) > T::SMALL_SQUARE) {
                return None;
            }
            let alpha = T::vsqrt(simd, square);
            let inverse = T::vdiv(simd, one, T::vadd(simd, l, alpha));
            let g = T::vdiv(simd, if MINUS { T::splat(simd, -T::ONE) } else { one }, alpha);
            let q = T::vmul(simd, sum, inverse);

            let entry = T::splat(simd, *self.src(first + next, first + j));
            let h = T::neg_mul_add(simd, q, entry, T::vadd(simd, product[0], product[1]));
            let both = T::mul_add(simd, g, h, T::vadd(simd, entry, entry));
            let coefficients = &mut *self.coefficients(block, j);
            let mut b = [zero; K];
            for r in 0..K {
                b[r] = T::vmul(simd, a[r], inverse);
                below[r] = T::neg_mul_add(simd, both, b[r], below[r]);
                (coefficients.a[r], coefficients.b[r]) = (first_lane::<T, S>(a[r]), first_lane::<T, S>(b[r]));
            }
            (coefficients.q, coefficients.g) = (first_lane::<T, S>(q), first_lane::<T, S>(g));
            *a = below;

            let mut u = [zero; RV];
            for i in 0..RV {
                let row = first + i * lanes;
                let l = self.load(simd, row, first + j);
                let h = T::neg_mul_add(simd, q, l, T::vadd(simd, products[0][i], products[1][i]));
                let new = T::mul_add(simd, g, h, l);
                u[i] = T::vadd(simd, l, new);
                // The rows before this one are of V already eliminated, up to rounding errors.
                let before = T::mask(simd, 0, (j + 1).saturating_sub(i * lanes).min(lanes));
                T::store::<S>(self.dst(row, first + j), T::select(simd, before, zero, new));
            }
            for r in 0..K {
                for i in 0..RV {
                    let v = self.v(first + i * lanes, r);
                    T::store::<S>(v, T::neg_mul_add(simd, u[i], b[r], T::load::<S>(v)));
                }
            }
            // If the change is small, it is more accurate than the new pivot; if it is large, less.
            let change = if MINUS { -coefficients.q } else { coefficients.q };
            let small = coefficients.q < T::from_f64(SMALL_CHANGE) * pivot;
            (*self.memory).new[first + j] = if small { pivot + change } else { first_lane::<T, S>(alpha) };
        }
        Some(())
    }
}

#[inline(always)]
fn first_lane<T: Float, S: Simd>(x: T::Vector<S>) -> T {
    let mut all = [T::ZERO; MAX_LANES];
    // SAFETY: a register has at most as many lanes.
    unsafe { T::store::<S>(all.as_mut_ptr(), x) };
    all[0]
}

/// The sum of partial sums of K terms.
#[inline(always)]
fn sum_of<T: Float, S: Simd, const K: usize>(simd: S, x: [T::Vector<S>; PARTIAL_SUMS]) -> T::Vector<S> {
    match K {
        1 => x[0],
        2 => T::vadd(simd, x[0], x[1]),
        3 => T::vadd(simd, T::vadd(simd, x[0], x[1]), x[2]),
        _ => T::vadd(simd, T::vadd(simd, x[0], x[1]), T::vadd(simd, x[2], x[3])),
    }
}
