//! Initial factors, column by column (right-looking), in each lane.

use super::packed::{Packed, entries};
use crate::float::Float;
use pulp::{Simd, WithSimd};

/// The matrices of a tile, which become their factors.
pub(crate) struct FactorizeTile<'a, T> {
    at: *mut T,
    capacity: usize,
    /// The rows of each group.
    rows: &'a [usize],
    good: &'a mut [T],
}

impl<'a, T: Float> FactorizeTile<'a, T> {
    /// `good` becomes zero for a matrix whose factor is of no use: it is not positive definite, or so near to that, to underflow or to
    /// overflow that this is to be decided otherwise.
    ///
    /// # Safety
    /// When this is run: `at` has the lower triangles of groups of this capacity, aligned to registers, in memory that no other thread
    /// uses.
    pub unsafe fn new(at: *mut T, capacity: usize, rows: &'a [usize], good: &'a mut [T]) -> Self {
        Self { at, capacity, rows, good }
    }
}

impl<T: Float> WithSimd for FactorizeTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = T::lanes::<S>();
        for (g, &rows) in self.rows.iter().enumerate() {
            let a =
                Packed::new(self.at.wrapping_add(g * entries(self.capacity) * lanes), self.capacity, lanes);
            // SAFETY: `new` requires exactly this.
            unsafe {
                let good = factorize::<T, S>(simd, a, rows);
                T::store::<S>(self.good[g * lanes..][..lanes].as_mut_ptr(), good);
            }
        }
    }
}

/// A becomes L. Returns one in each good lane.
///
/// # Safety
/// A has these rows in memory of the whole registers of `S`.
#[inline(always)]
unsafe fn factorize<T: Float, S: Simd>(simd: S, a: Packed<T>, rows: usize) -> T::Vector<S> {
    let (lanes, zero, one) = (T::lanes::<S>(), T::splat(simd, T::ZERO), T::splat(simd, T::ONE));
    let (least, most) = (T::splat(simd, T::SMALL_SQUARE), T::splat(simd, T::LARGE_SQUARE * T::from_f64(0.5)));
    let mut good = one;
    // SAFETY: the caller guarantees the rows and columns.
    unsafe {
        // Squares of rows of L are entries of A.
        for j in 0..rows {
            good = T::where_less(simd, (T::load::<S>(a.entry(j, j)), most), good, zero);
        }
        let mut pivot = a.first();
        for j in 0..rows {
            let square = T::load::<S>(pivot);
            good = T::where_less(simd, (least, square), good, zero);
            let root = T::vsqrt(simd, square);
            T::store::<S>(pivot, root);
            let mut at = pivot;
            for _ in j + 1..rows {
                at = at.add(lanes);
                // Without negative zeros, also if it underflows.
                let l = T::vadd(simd, T::vdiv(simd, T::load::<S>(at), root), zero);
                T::store::<S>(at, l);
            }
            let mut diagonal = a.next_pivot(pivot, j);
            for m in j + 1..rows {
                let (mut l, mut to) = (pivot.add((m - j) * lanes), diagonal);
                let factor = T::load::<S>(l);
                for _ in m..rows {
                    T::store::<S>(to, T::neg_mul_add(simd, T::load::<S>(l), factor, T::load::<S>(to)));
                    (l, to) = (l.add(lanes), to.add(lanes));
                }
                diagonal = a.next_pivot(diagonal, m);
            }
            pivot = a.next_pivot(pivot, j);
        }
    }
    good
}
