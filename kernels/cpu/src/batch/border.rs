//! A further row and column of each matrix of a tile.
//!
//! With the column (a; d) of A, the new row of L is (sᴴ √δ), where s = L⁻¹ a and δ = d − sᴴ s. No other row of L changes.

use super::given::{Group, Groups, Scale, take};
use super::packed::{MAX_LANES, Packed, entries, load, read_lane, step, store, write_lane};
use super::runs::Registers;
use super::solve::forwards;
use crate::batch::view::BatchView;
use crate::number::{Float, Number, RealVector};
use pulp::{Simd, WithSimd};

/// The row of a matrix to which a call does nothing.
pub const NONE: u32 = u32::MAX;

/// If less than this many roundings of d are left in δ, they could decide whether it is positive.
const ROUNDINGS: f64 = 16384.0;

/// The factors of a tile, which get a row each.
pub struct AppendTile<'a, T: Number> {
    l: *mut T::Part,
    capacity: usize,
    /// With the number of the new row of each matrix, or [`NONE`].
    groups: Groups<'a>,
    a: BatchView<'a, T>,
    memory: *mut T::Part,
    results: Appended<'a, T::Part>,
}

/// What is found for each matrix of a tile that gets a row.
pub struct Appended<'a, R> {
    /// Not zero if L has its new row. Otherwise L is as it was, and whether there is such a row is to be decided otherwise. Not written
    /// for a matrix to which the call does nothing.
    pub good: &'a mut [R],
    /// √(d / δ)
    pub largest: &'a mut [R],
    /// 1/√δ
    pub product: &'a mut [R],
}

impl<'a, T: Number> AppendTile<'a, T> {
    /// # Safety
    /// When this is run: `l` has factors for the groups, aligned to registers, in memory that no other thread uses. The number of a new
    /// row is the order of its matrix, less than the capacity; `memory` has as many registers as the capacity; A has the matrices of
    /// the batch, and rows up to the new one.
    pub unsafe fn new(
        (l, capacity): (*mut T::Part, usize),
        groups: Groups<'a>,
        a: BatchView<'a, T>,
        memory: *mut T::Part,
        results: Appended<'a, T::Part>,
    ) -> Self {
        Self { l, capacity, groups, a, memory, results }
    }
}

impl<T: Number> WithSimd for AppendTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let step = step::<T, S>();
        for g in 0..self.groups.len() {
            let group = self.groups.get(g);
            if group.rows[..group.count].iter().any(|&row| row != NONE) {
                let at = self.l.wrapping_add(g * entries(self.capacity) * step);
                // SAFETY: `new` requires exactly this.
                unsafe { self.group::<S>(simd, g, group, Packed::new(at, self.capacity, step)) };
            }
        }
    }
}

impl<T: Number> AppendTile<'_, T> {
    /// The rows of a group in which some matrix gets one.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn group<S: Simd>(&mut self, simd: S, g: usize, group: Group<'_>, l: Packed<T::Part>) {
        let (lanes, s) = (T::lanes::<S>(), self.memory);
        let (mut rows, mut diagonal) = ([0; MAX_LANES], [T::Part::ONE; MAX_LANES]);
        let comes = |lane: &usize| group.rows[*lane] != NONE;
        for lane in (0..group.count).filter(comes) {
            rows[lane] = group.rows[lane];
            // SAFETY: the caller guarantees this row of A.
            diagonal[lane] = unsafe { *self.a.entry(group.first + lane, rows[lane] as usize, 0) }.real();
        }
        let above = Group { rows: &rows[..lanes], ..group };
        let most = above.most_rows();
        let [mut pivots, mut roots, mut good] = [[T::Part::ZERO; MAX_LANES]; 3];
        // SAFETY: the caller guarantees A, L and the memory; the arrays have as many lanes as any register.
        unsafe {
            let groups = Groups { first: group.first, count: group.count, rows: above.rows, lanes };
            let to = Registers { at: s, of_group: 0 };
            take(simd, self.a, (groups, 0..1), most, &[0], &Scale::Of(&[T::Part::ONE]), to);
            // Where a matrix has no row, a is zero and L is that of the identity, so that s is zero.
            forwards::<T, S, 1>(simd, [l], ([s], 1), most);
            let d = T::Part::load::<S>(diagonal.as_ptr());
            let square = T::Part::vsub(simd, d, squares::<T, S>(simd, s, most));
            T::Part::store::<S>(pivots.as_mut_ptr(), T::Part::vsqrt(simd, square));
            T::Part::store::<S>(roots.as_mut_ptr(), T::Part::vsqrt(simd, d));
            T::Part::store::<S>(good.as_mut_ptr(), in_range::<T::Part, S>(simd, square, d));
        }
        let whole =
            (0..group.count).all(|lane| good[lane] != T::Part::ZERO && group.rows[lane] as usize == most);
        for lane in (0..group.count).filter(comes) {
            let at = g * lanes + lane;
            self.results.good[at] = good[lane];
            if good[lane] != T::Part::ZERO {
                self.results.product[at] = T::Part::ONE / pivots[lane];
                self.results.largest[at] = roots[lane] / pivots[lane];
                if !whole {
                    // SAFETY: L has room for this row, and s has one entry less.
                    unsafe { write::<T, S>(s, lane, rows[lane] as usize, pivots[lane], l) };
                }
            }
        }
        if whole {
            let (step, zero) = (step::<T, S>(), T::splat(simd, T::ZERO));
            // SAFETY: as above, for all matrices of the group. A lane without one has the row of the identity.
            unsafe {
                for j in 0..most {
                    let entry = T::vadd(simd, T::vconj(simd, load::<T, S>(s.add(j * step))), zero);
                    store::<T, S>(l.entry(most, j), entry);
                }
                let pivots = T::Part::load::<S>(pivots.as_ptr());
                store::<T, S>(l.entry(most, most), T::vreal(simd, pivots));
            }
        }
    }
}

/// Writes the row of one matrix, without negative zeros.
///
/// # Safety
/// L has room for this row, and `s` has an entry for each row before.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn write<T: Number, S: Simd>(
    s: *const T::Part,
    lane: usize,
    row: usize,
    pivot: T::Part,
    l: Packed<T::Part>,
) {
    // SAFETY: the caller guarantees both.
    unsafe {
        for j in 0..row {
            let entry = read_lane::<T, S>(s.add(j * step::<T, S>()), lane);
            write_lane::<T, S>(l.entry(row, j), lane, entry.conj() + T::ZERO);
        }
        write_lane::<T, S>(l.entry(row, row), lane, T::of_real(pivot));
    }
}

/// sᴴ s.
///
/// # Safety
/// `s` has these rows.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn squares<T: Number, S: Simd>(simd: S, s: *const T::Part, rows: usize) -> RealVector<T, S> {
    let mut sums = [T::Part::splat(simd, T::Part::ZERO); 4];
    for i in 0..rows {
        // SAFETY: the caller guarantees the row.
        let entry = unsafe { load::<T, S>(s.add(i * step::<T, S>())) };
        sums[i % 4] = T::plus_squares(simd, entry, sums[i % 4]);
    }
    let [a, b, c, d] = sums;
    T::Part::vadd(simd, T::Part::vadd(simd, a, b), T::Part::vadd(simd, c, d))
}

/// One in each lane in which δ is positive beyond doubt, and neither it nor d is near underflow or overflow. After a pivot of zero
/// s is infinite or not a number, so that δ is no positive number.
#[inline(always)]
fn in_range<T: Float, S: Simd>(simd: S, square: T::Vector<S>, d: T::Vector<S>) -> T::Vector<S> {
    let splat = |x: T| T::splat(simd, x);
    let (zero, one) = (splat(T::ZERO), splat(T::ONE));
    let doubt = T::vmul(simd, d, splat(T::UNIT * T::from_f64(ROUNDINGS)));
    let good = T::where_less(simd, (doubt, square), one, zero);
    let good = T::where_less(simd, (splat(T::SMALL_SQUARE), square), good, zero);
    T::where_less(simd, (d, splat(T::LARGE_SQUARE * T::UNIT)), good, zero)
}
