//! Initial factors, column by column (left-looking), in each lane.

use super::given::{Group, Groups};
use super::packed::{Packed, entries};
use super::runs::lower;
use crate::batch::operand::BatchRef;
use crate::number::Float;
use pulp::{Simd, WithSimd};

/// The factors of the matrices of a tile.
pub(crate) struct FactorizeTile<'a, T> {
    from: BatchRef<'a, T>,
    groups: Groups<'a>,
    to: *mut T,
    capacity: usize,
    good: &'a mut [T],
}

impl<'a, T: Float> FactorizeTile<'a, T> {
    /// `good` becomes zero for a matrix whose factor is of no use: it is not positive definite, or so near to that, to underflow or to
    /// overflow that this is to be decided otherwise.
    ///
    /// # Safety
    /// When this is run: `to` has room for these groups, aligned to registers, in memory that no other thread uses, with the identity
    /// from the order of each matrix on; the batch has their matrices, of at least these orders.
    pub unsafe fn new(
        from: BatchRef<'a, T>,
        groups: Groups<'a>,
        (to, capacity): (*mut T, usize),
        good: &'a mut [T],
    ) -> Self {
        Self { from, groups, to, capacity, good }
    }
}

impl<T: Float> WithSimd for FactorizeTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let lanes = T::lanes::<S>();
        for g in 0..self.groups.len() {
            let (group, at) = (self.groups.get(g), g * entries(self.capacity) * lanes);
            let l = Packed::new(self.to.wrapping_add(at), self.capacity, lanes);
            let rows = group.most_rows();
            // SAFETY: `new` requires exactly this.
            unsafe {
                let equal = self.groups.are_of(g..g + 1, rows);
                if !(equal && lower(simd, self.from, group.first, rows, l)) {
                    by_lanes(self.from, group, l);
                }
                let good = factorize::<T, S>(simd, l, rows);
                T::store::<S>(self.good[g * lanes..][..lanes].as_mut_ptr(), good);
            }
        }
    }
}

/// Copies the lower triangle of each matrix. Without negative zeros.
///
/// # Safety
/// The matrices have as many rows as the group says, and L has room for them.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn by_lanes<T: Float>(from: BatchRef<'_, T>, group: Group<'_>, l: Packed<T>) {
    for lane in 0..group.count {
        let order = group.rows[lane] as usize;
        for j in 0..order {
            for i in j..order {
                // SAFETY: the caller guarantees the entry and its register.
                unsafe { *l.entry(i, j).add(lane) = *from.entry(group.first + lane, i, j) + T::ZERO };
            }
        }
    }
}

/// A becomes L, two columns at a time, each from the columns before it. Returns one in each good lane.
///
/// # Safety
/// A has these rows in memory of the whole registers of `S`.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn factorize<T: Float, S: Simd>(simd: S, a: Packed<T>, rows: usize) -> T::Vector<S> {
    let (zero, one) = (T::splat(simd, T::ZERO), T::splat(simd, T::ONE));
    let (least, most) = (T::splat(simd, T::SMALL_SQUARE), T::splat(simd, T::LARGE_SQUARE * T::from_f64(0.5)));
    let mut good = one;
    // SAFETY: the caller guarantees the rows and columns.
    unsafe {
        // Squares of rows of L are entries of A.
        for j in 0..rows {
            good = T::where_less(simd, (T::load::<S>(a.entry(j, j)), most), good, zero);
        }
        for j in (0..rows).step_by(2) {
            let [square, below] = reduced(simd, a, [j, (j + 1).min(rows - 1)], (j, rows));
            good = T::where_less(simd, (least, square[0]), good, zero);
            let root = T::vsqrt(simd, square[0]);
            let inverse = T::vdiv(simd, one, root);
            T::store::<S>(a.entry(j, j), root);
            if j + 1 == rows {
                break;
            }
            let left = T::vadd(simd, T::vmul(simd, below[0], inverse), zero);
            T::store::<S>(a.entry(j + 1, j), left);
            let next_square = T::neg_mul_add(simd, left, left, below[1]);
            good = T::where_less(simd, (least, next_square), good, zero);
            let next_root = T::vsqrt(simd, next_square);
            let next_inverse = T::vdiv(simd, one, next_root);
            T::store::<S>(a.entry(j + 1, j + 1), next_root);
            for i in (j + 2..rows).step_by(2) {
                let both = [i, (i + 1).min(rows - 1)];
                let entries = reduced(simd, a, both, (j, rows));
                for (i, [one, two]) in both.into_iter().zip(entries) {
                    // Without negative zeros, also if it underflows.
                    let one = T::vadd(simd, T::vmul(simd, one, inverse), zero);
                    let two = T::vmul(simd, T::neg_mul_add(simd, one, left, two), next_inverse);
                    T::store::<S>(a.entry(i, j), one);
                    T::store::<S>(a.entry(i, j + 1), T::vadd(simd, two, zero));
                }
            }
        }
    }
    good
}

/// Entries of A in two rows and in columns j and j + 1, less what the columns before account for. An entry above the diagonal, or in a
/// column that there is not, is of no use.
///
/// # Safety
/// As [`factorize`], after columns 0..j.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn reduced<T: Float, S: Simd>(
    simd: S,
    a: Packed<T>,
    [p, q]: [usize; 2],
    (j, rows): (usize, usize),
) -> [[T::Vector<S>; 2]; 2] {
    let (lanes, k) = (T::lanes::<S>(), (j + 1).min(rows - 1));
    // SAFETY: the caller guarantees the rows and columns.
    unsafe {
        let mut at_p = [T::load::<S>(a.entry(p, j)), T::load::<S>(a.entry(p.max(k), k))];
        let mut at_q = [T::load::<S>(a.entry(q, j)), T::load::<S>(a.entry(q.max(k), k))];
        // Where row 0 would be in column m.
        let mut column = a.first();
        for m in 0..j {
            let row = |i: usize| column.wrapping_add(i * lanes);
            let [in_j, in_k] = [T::load::<S>(row(j)), T::load::<S>(row(k))];
            let [in_p, in_q] = [T::load::<S>(row(p)), T::load::<S>(row(q))];
            at_p = [T::neg_mul_add(simd, in_p, in_j, at_p[0]), T::neg_mul_add(simd, in_p, in_k, at_p[1])];
            at_q = [T::neg_mul_add(simd, in_q, in_j, at_q[0]), T::neg_mul_add(simd, in_q, in_k, at_q[1])];
            column = a.next_pivot(column, m).wrapping_sub(lanes);
        }
        [at_p, at_q]
    }
}
