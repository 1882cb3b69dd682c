//! Initial factors, column by column (left-looking), in each lane.

use super::given::{Group, Groups};
use super::packed::{Packed, entries, load, step, store, write_lane};
use super::runs::lower;
use crate::batch::view::BatchView;
use crate::number::{Float, Number, RealVector};
use pulp::{Simd, WithSimd};

/// The factors of the matrices of a tile.
pub struct FactorizeTile<'a, T: Number> {
    from: BatchView<'a, T>,
    groups: Groups<'a>,
    to: *mut T::Part,
    capacity: usize,
    good: &'a mut [T::Part],
}

impl<'a, T: Number> FactorizeTile<'a, T> {
    /// `good` becomes zero for a matrix whose factor is of no use: it is not positive definite, or so near to that, to underflow or to
    /// overflow that this is to be decided otherwise.
    ///
    /// # Safety
    /// When this is run: `to` has room for these groups, aligned to registers, in memory that no other thread uses, with the identity
    /// from the order of each matrix on; the batch has their matrices, of at least these orders.
    pub unsafe fn new(
        from: BatchView<'a, T>,
        groups: Groups<'a>,
        (to, capacity): (*mut T::Part, usize),
        good: &'a mut [T::Part],
    ) -> Self {
        Self { from, groups, to, capacity, good }
    }
}

impl<T: Number> WithSimd for FactorizeTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let (lanes, step) = (T::lanes::<S>(), step::<T, S>());
        for g in 0..self.groups.len() {
            let (group, at) = (self.groups.get(g), g * entries(self.capacity) * step);
            let l = Packed::new(self.to.wrapping_add(at), self.capacity, step);
            let rows = group.most_rows();
            // SAFETY: `new` requires exactly this.
            unsafe {
                let equal = self.groups.are_of(g..g + 1, rows);
                if !(equal && lower(simd, self.from, group.first, rows, l)) {
                    by_lanes::<T, S>(self.from, group, l);
                }
                let good = factorize::<T, S>(simd, l, rows);
                T::Part::store::<S>(self.good[g * lanes..][..lanes].as_mut_ptr(), good);
            }
        }
    }
}

/// Copies the lower triangle of each matrix. Without negative zeros, and without imaginary parts of the diagonal, which are not read.
///
/// # Safety
/// The matrices have as many rows as the group says, and L has room for them.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn by_lanes<T: Number, S: Simd>(from: BatchView<'_, T>, group: Group<'_>, l: Packed<T::Part>) {
    for lane in 0..group.count {
        let order = group.rows[lane] as usize;
        for j in 0..order {
            for i in j..order {
                // SAFETY: the caller guarantees the entry and its register.
                unsafe {
                    let entry = *from.entry(group.first + lane, i, j) + T::ZERO;
                    let entry = if i == j { T::of_real(entry.real()) } else { entry };
                    write_lane::<T, S>(l.entry(i, j), lane, entry);
                }
            }
        }
    }
}

/// A becomes L, two columns at a time, each from the columns before it. Returns one in each good lane.
///
/// # Safety
/// A has these rows in memory of the whole registers of `S`.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn factorize<T: Number, S: Simd>(simd: S, a: Packed<T::Part>, rows: usize) -> RealVector<T, S> {
    let no_entry = T::splat(simd, T::ZERO);
    let (zero, one) = (T::Part::splat(simd, T::Part::ZERO), T::Part::splat(simd, T::Part::ONE));
    let least = T::Part::splat(simd, T::Part::SMALL_SQUARE);
    let most = T::Part::splat(simd, T::Part::LARGE_SQUARE * T::Part::from_f64(0.5));
    let mut good = one;
    // SAFETY: the caller guarantees the rows and columns.
    unsafe {
        // Squares of rows of L are entries of A.
        for j in 0..rows {
            good = T::Part::where_less(simd, (T::Part::load::<S>(a.entry(j, j)), most), good, zero);
        }
        for j in (0..rows).step_by(2) {
            let [first, below] = reduced::<T, S>(simd, a, [j, (j + 1).min(rows - 1)], (j, rows));
            let square = T::reals(first[0]);
            good = T::Part::where_less(simd, (least, square), good, zero);
            let root = T::Part::vsqrt(simd, square);
            let inverse = T::Part::vdiv(simd, one, root);
            store::<T, S>(a.entry(j, j), T::vreal(simd, root));
            if j + 1 == rows {
                break;
            }
            let left = T::vadd(simd, T::vtimes(simd, inverse, below[0]), no_entry);
            store::<T, S>(a.entry(j + 1, j), left);
            let next_square = minus_squares::<T, S>(simd, left, T::reals(below[1]));
            good = T::Part::where_less(simd, (least, next_square), good, zero);
            let next_root = T::Part::vsqrt(simd, next_square);
            let next_inverse = T::Part::vdiv(simd, one, next_root);
            store::<T, S>(a.entry(j + 1, j + 1), T::vreal(simd, next_root));
            let left = T::vconj(simd, left);
            for i in (j + 2..rows).step_by(2) {
                let both = [i, (i + 1).min(rows - 1)];
                let entries = reduced::<T, S>(simd, a, both, (j, rows));
                for (i, [one, two]) in both.into_iter().zip(entries) {
                    // Without negative zeros, also if it underflows.
                    let one = T::vadd(simd, T::vtimes(simd, inverse, one), no_entry);
                    let two = T::vtimes(simd, next_inverse, T::neg_mul_add(simd, one, left, two));
                    store::<T, S>(a.entry(i, j), one);
                    store::<T, S>(a.entry(i, j + 1), T::vadd(simd, two, no_entry));
                }
            }
        }
    }
    good
}

/// square − |x|²
#[inline(always)]
fn minus_squares<T: Number, S: Simd>(
    simd: S,
    x: T::Vector<S>,
    mut square: RealVector<T, S>,
) -> RealVector<T, S> {
    let parts = T::vparts(x);
    for part in 0..T::PARTS {
        square = T::Part::neg_mul_add(simd, parts[part], parts[part], square);
    }
    square
}

/// Entries of A in two rows and in columns j and j + 1, less what the columns before account for. An entry above the diagonal, or in a
/// column that there is not, is of no use.
///
/// # Safety
/// As [`factorize`], after columns 0..j.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn reduced<T: Number, S: Simd>(
    simd: S,
    a: Packed<T::Part>,
    [p, q]: [usize; 2],
    (j, rows): (usize, usize),
) -> [[T::Vector<S>; 2]; 2] {
    let (step, k) = (step::<T, S>(), (j + 1).min(rows - 1));
    // SAFETY: the caller guarantees the rows and columns.
    unsafe {
        let mut at_p = [load::<T, S>(a.entry(p, j)), load::<T, S>(a.entry(p.max(k), k))];
        let mut at_q = [load::<T, S>(a.entry(q, j)), load::<T, S>(a.entry(q.max(k), k))];
        // Where row 0 would be in column m.
        let mut column = a.first();
        for m in 0..j {
            let row = |i: usize| column.wrapping_add(i * step);
            let [in_j, in_k] = [load::<T, S>(row(j)), load::<T, S>(row(k))];
            let [in_j, in_k] = [T::vconj(simd, in_j), T::vconj(simd, in_k)];
            let [in_p, in_q] = [load::<T, S>(row(p)), load::<T, S>(row(q))];
            at_p = [T::neg_mul_add(simd, in_p, in_j, at_p[0]), T::neg_mul_add(simd, in_p, in_k, at_p[1])];
            at_q = [T::neg_mul_add(simd, in_q, in_j, at_q[0]), T::neg_mul_add(simd, in_q, in_k, at_q[1])];
            column = a.next_pivot(column, m).wrapping_sub(step);
        }
        [at_p, at_q]
    }
}
