//! A row and column less of each matrix of a tile.
//!
//! Without row f, the rows after it move up, and column f of L below the diagonal is the V of an update of the columns that come after
//! it. Where matrices of a group lose different rows, each entry of L is chosen from those that are in its place with and without a
//! move, and a column before f meets a V of zero, which changes no bit of it.

use super::border::NONE;
use super::given::{Group, Groups};
use super::interchanged::Reflection;
use super::packed::{MAX_LANES, Packed, entries, load, read_lane, step, store, write_lane};
use crate::number::{Float, Number};
use core::ops::Range;
use pulp::{Simd, WithSimd};

/// Bytes of V of the groups that are processed at a time.
const TOGETHER: usize = 8 << 10;
/// The most groups that are.
const MOST_TOGETHER: usize = 16;

/// The factors of a tile, which lose a row each.
pub struct RemoveTile<'a, T: Number> {
    src: *const T::Part,
    dst: *mut T::Part,
    capacity: usize,
    /// With the number of the row of each matrix that goes, or [`NONE`].
    groups: Groups<'a>,
    /// The rows of each.
    orders: &'a [u32],
    memory: *mut T::Part,
    results: Removed<'a, T::Part>,
}

/// What is found for each matrix.
pub struct Removed<'a, R> {
    /// Not zero if the new L is that of the matrix, for one that loses no row too.
    pub good: &'a mut [R],
    /// √(det A' / det A). It may overflow.
    pub product: &'a mut [R],
}

/// Real numbers of working memory, with `step` of them in a register.
pub fn memory<R>(capacity: usize, step: usize) -> usize {
    (TOGETHER / size_of::<R>()).max(of_group(capacity, step))
}

/// V, and the row that goes.
fn of_group(capacity: usize, step: usize) -> usize {
    (capacity + 1) * step
}

impl<'a, T: Number> RemoveTile<'a, T> {
    /// # Safety
    /// When this is run: `src` and `dst` have room for groups of this capacity, in different memory that is aligned to registers and
    /// that no other thread uses, and the first has factors of these orders; `memory` has [`memory`] real numbers. Rows that go are less
    /// than the orders.
    pub unsafe fn new(
        (src, dst, capacity): (*const T::Part, *mut T::Part, usize),
        groups: Groups<'a>,
        orders: &'a [u32],
        memory: *mut T::Part,
        results: Removed<'a, T::Part>,
    ) -> Self {
        Self { src, dst, capacity, groups, orders, memory, results }
    }
}

impl<T: Number> WithSimd for RemoveTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let of_group = of_group(self.capacity, step::<T, S>());
        let together = (TOGETHER / size_of::<T::Part>() / of_group).clamp(1, MOST_TOGETHER);
        for first in (0..self.groups.len()).step_by(together) {
            let count = together.min(self.groups.len() - first);
            let mut some = [None; MOST_TOGETHER];
            let mut columns = 0;
            // SAFETY: `new` requires exactly this.
            unsafe {
                for (at, place) in some[..count].iter_mut().enumerate() {
                    let memory = self.memory.wrapping_add(at * of_group);
                    let group = self.begin::<S>(simd, first + at, memory);
                    group.columns_before::<S>(simd);
                    columns = columns.max(group.columns().end);
                    *place = Some(group);
                }
                // Column by column, so that the roots and divisions of one group overlap with those of the next.
                for j in 0..columns {
                    for group in some[..count].iter().flatten() {
                        if group.columns().contains(&j) {
                            if group.mixed {
                                group.column::<S, true>(simd, j);
                            } else {
                                group.column::<S, false>(simd, j);
                            }
                        }
                    }
                }
                for group in some[..count].iter().flatten() {
                    group.finish::<S>(simd, self.capacity);
                }
            }
        }
    }
}

impl<T: Number> RemoveTile<'_, T> {
    /// A group, with its V.
    ///
    /// # Safety
    /// As [`new`](Self::new); `memory` has [`of_group`] real numbers.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn begin<S: Simd>(&mut self, simd: S, g: usize, memory: *mut T::Part) -> Removal<T> {
        let (lanes, step, group) = (T::lanes::<S>(), step::<T, S>(), self.groups.get(g));
        let at = g * entries(self.capacity) * step;
        let packed = |at: *mut T::Part| Packed::new(at, self.capacity, step);
        let src = packed(self.src.wrapping_add(at).cast_mut());
        let dst = packed(self.dst.wrapping_add(at));
        let orders = &self.orders[g * lanes..][..lanes];
        let Group { rows: going, .. } = group;
        let rows = orders.iter().copied().max().unwrap_or(0) as usize;
        let first = going.iter().filter(|&&row| row != NONE).min().map_or(rows, |&row| row as usize);
        let goes = |lane: usize| match going[lane] {
            // Without a matrix L is that of the identity, and stays so.
            NONE if orders[lane] == 0 => first,
            NONE => self.capacity + 1,
            row => row as usize,
        };
        let mixed = (0..lanes).any(|lane| goes(lane) != first);
        let v = memory.wrapping_add(step);
        let mut pivots = [T::Part::ONE; MAX_LANES];
        let [good, product] = [&mut self.results.good, &mut self.results.product]
            .map(|of| of[g * lanes..][..lanes].as_mut_ptr());
        let (zero, one) = (T::Part::splat(simd, T::Part::ZERO), T::Part::splat(simd, T::Part::ONE));
        // SAFETY: the caller guarantees L and the memory; the arrays have as many lanes as any register.
        unsafe {
            for lane in 0..lanes {
                let row = goes(lane);
                memory.add(lane).write(T::Part::from_f64(row as f64));
                if row < rows {
                    pivots[lane] = *src.entry(row, row).add(lane);
                }
                if mixed {
                    for i in first..rows.saturating_sub(1) {
                        let entry =
                            if row <= i { read_lane::<T, S>(src.entry(i + 1, row), lane) } else { T::ZERO };
                        write_lane::<T, S>(v.add(i * step), lane, entry);
                    }
                }
            }
            if !mixed {
                for i in first..rows.saturating_sub(1) {
                    store::<T, S>(v.add(i * step), load::<T, S>(src.entry(i + 1, first)));
                }
            }
            T::Part::store::<S>(product, T::Part::vdiv(simd, one, T::Part::load::<S>(pivots.as_ptr())));
            // Of all columns, not only of those that change: which these are depends on the other matrices of the group.
            let least = T::Part::splat(simd, T::Part::SMALL_SQUARE);
            let most = T::Part::splat(simd, T::Part::LARGE_SQUARE * T::Part::UNIT);
            let (mut in_range, mut pivot) = (one, src.first());
            for j in 0..rows {
                let square = T::Part::vmul(simd, T::Part::load::<S>(pivot), T::Part::load::<S>(pivot));
                in_range = T::Part::where_less(simd, (least, square), in_range, zero);
                in_range = T::Part::where_less(simd, (square, most), in_range, zero);
                pivot = src.next_pivot(pivot, j);
            }
            T::Part::store::<S>(good, in_range);
        }
        Removal { src, dst, rows, first, mixed, goes: memory, v, good, product }
    }
}

/// A group.
#[derive(Clone, Copy)]
struct Removal<T: Number> {
    src: Packed<T::Part>,
    dst: Packed<T::Part>,
    /// The most rows of a matrix.
    rows: usize,
    /// The first row that goes; `rows` if none does.
    first: usize,
    /// Whether different rows go.
    mixed: bool,
    /// The row that goes in each lane.
    goes: *mut T::Part,
    v: *mut T::Part,
    good: *mut T::Part,
    product: *mut T::Part,
}

impl<T: Number> Removal<T> {
    /// The columns that the removed ones change: not the last one, which becomes that of the identity.
    #[inline(always)]
    fn columns(&self) -> Range<usize> {
        self.first..self.rows.saturating_sub(1)
    }

    /// `moved` in each lane whose row that goes is not after row `i`, and `stays` in the others.
    ///
    /// # Safety
    /// The rows that go are in memory.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn choose<S: Simd>(
        &self,
        simd: S,
        i: usize,
        moved: T::Vector<S>,
        stays: T::Vector<S>,
    ) -> T::Vector<S> {
        let behind = T::Part::splat(simd, T::Part::from_f64((i + 1) as f64));
        // SAFETY: the caller guarantees the memory.
        T::where_less(simd, (unsafe { T::Part::load::<S>(self.goes) }, behind), moved, stays)
    }

    /// The columns before the first row that goes. The rows after it move up.
    ///
    /// # Safety
    /// As [`RemoveTile::new`].
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn columns_before<S: Simd>(&self, simd: S) {
        let Self { src, dst, rows, first, mixed, .. } = *self;
        // SAFETY: the caller guarantees these rows of both L.
        unsafe {
            for j in 0..first {
                for i in j..first {
                    store::<T, S>(dst.entry(i, j), load::<T, S>(src.entry(i, j)));
                }
                for i in first..rows.saturating_sub(1) {
                    let mut entry = load::<T, S>(src.entry(i + 1, j));
                    if mixed {
                        entry = self.choose::<S>(simd, i, entry, load::<T, S>(src.entry(i, j)));
                    }
                    store::<T, S>(dst.entry(i, j), entry);
                }
                if first < rows {
                    self.last_row::<S>(simd, j);
                }
            }
        }
    }

    /// Entry j of the last row, which becomes that of the identity.
    ///
    /// # Safety
    /// As [`RemoveTile::new`]; there is such a row.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn last_row<S: Simd>(&self, simd: S, j: usize) {
        let last = self.rows - 1;
        let identity = T::splat(simd, if j == last { T::ONE } else { T::ZERO });
        // SAFETY: the caller guarantees the row.
        unsafe {
            let stays = load::<T, S>(self.src.entry(last, j));
            store::<T, S>(self.dst.entry(last, j), self.choose::<S>(simd, last, identity, stays));
        }
    }

    /// Column j, from the first row that goes on, except for the last row and column.
    ///
    /// # Safety
    /// As [`RemoveTile::new`], after the columns before.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn column<S: Simd, const MIXED: bool>(&self, simd: S, j: usize) {
        let Self { src, dst, rows, good, product, .. } = *self;
        let (step, zero) = (step::<T, S>(), T::splat(simd, T::ZERO));
        // SAFETY: the caller guarantees the rows and columns of both L, and V.
        unsafe {
            let goes = T::Part::load::<S>(self.goes);
            let behind = |i: usize| T::Part::splat(simd, T::Part::from_f64((i + 1) as f64));
            let (mut v, mut to) = (self.v.add(j * step), dst.entry(j, j));
            // From the next row, of the next column and of this one.
            let (mut next, mut same) = (src.entry(j + 1, j + 1), src.entry(j + 1, j));
            let mut l = T::Part::load::<S>(next);
            if MIXED {
                l = T::Part::where_less(simd, (goes, behind(j)), l, T::Part::load::<S>(same.sub(step)));
            }
            let mut are_good = T::Part::load::<S>(good);
            let (pivot, reflection) = Reflection::<T, S>::new(simd, l, load::<T, S>(v), &mut are_good);
            T::Part::store::<S>(good, are_good);
            store::<T, S>(to, T::vreal(simd, pivot));
            let ratio = T::Part::vdiv(simd, pivot, l);
            T::Part::store::<S>(product, T::Part::vmul(simd, T::Part::load::<S>(product), ratio));
            for i in j + 1..rows - 1 {
                (v, to) = (v.add(step), to.add(step));
                (next, same) = (next.add(step), same.add(step));
                let mut l = load::<T, S>(next);
                if MIXED {
                    let (below, here) = (load::<T, S>(same), load::<T, S>(same.sub(step)));
                    let column_stays = T::where_less(simd, (goes, behind(i)), below, here);
                    l = T::where_less(simd, (goes, behind(j)), l, column_stays);
                }
                let (new, rest) = reflection.apply(simd, l, load::<T, S>(v));
                // Without negative zeros.
                store::<T, S>(to, T::vadd(simd, new, zero));
                store::<T, S>(v, rest);
            }
            self.last_row::<S>(simd, j);
        }
    }

    /// The last column, and the rows that no matrix has.
    ///
    /// # Safety
    /// As [`RemoveTile::new`], after all other columns.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn finish<S: Simd>(&self, simd: S, capacity: usize) {
        let Self { src, dst, rows, first, .. } = *self;
        // SAFETY: the caller guarantees both L.
        unsafe {
            if first < rows {
                self.last_row::<S>(simd, rows - 1);
            }
            for j in 0..capacity {
                for i in rows.max(j)..capacity {
                    store::<T, S>(dst.entry(i, j), load::<T, S>(src.entry(i, j)));
                }
            }
        }
    }
}
