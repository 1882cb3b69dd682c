//! A modification of the factors of a tile.

use super::change::Change;
use super::given::{Groups, Scale, take};
use super::packed::{MAX_LANES, Packed, entries, load, step, store};
use super::pivots::{Found, largest_ratio};
use super::reflections::{Elimination, TOGETHER, V, eliminate};
use super::runs::Registers;
use crate::number::{Float, Number};
use core::ops::Range;
use pulp::{Simd, WithSimd};

/// The factors of a tile: groups of as many matrices as a register has lanes.
pub struct ModifyTile<'a, T: Number> {
    src: *const T::Part,
    dst: *mut T::Part,
    capacity: usize,
    groups: Groups<'a>,
    change: &'a Change<'a, T>,
    memory: *mut T::Part,
    results: Results<'a, T::Part>,
}

/// What the last elimination of a group has found, and the one before it, if there were two.
type Pair<'a, R, S> = (Option<&'a Found<R, S>>, &'a Found<R, S>);

/// What is found for each matrix of a tile.
pub struct Results<'a, R> {
    /// Not zero if the new L is that of the matrix.
    pub good: &'a mut [R],
    /// The largest ratio of an old pivot to a new one, and the product of these ratios.
    pub largest: &'a mut [R],
    pub product: &'a mut [R],
    /// Minus the logarithms of what the product does not have.
    pub log: &'a mut [f64],
}

impl<'a, T: Number> ModifyTile<'a, T> {
    /// # Safety
    /// When this is run: `src` and `dst` have room for `groups.len()` groups of this capacity, in different memory that is aligned
    /// to registers and that no other thread uses, and the first has factors; `memory` has [`Change::memory`] real numbers; V has the
    /// matrices of the groups, and as many rows as these; the results have a place for each lane.
    pub unsafe fn new(
        (src, dst, capacity): (*const T::Part, *mut T::Part, usize),
        groups: Groups<'a>,
        change: &'a Change<'a, T>,
        memory: *mut T::Part,
        results: Results<'a, T::Part>,
    ) -> Self {
        Self { src, dst, capacity, groups, change, memory, results }
    }
}

impl<T: Number> WithSimd for ModifyTile<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let step = step::<T, S>();
        let (of_group, taken) = self.change.taken(self.capacity, step);
        let v = self.memory.wrapping_add(self.change.scratch(step));
        for first in (0..self.groups.len()).step_by(taken) {
            let some = first..self.groups.len().min(first + taken);
            // SAFETY: `new` requires exactly this.
            unsafe {
                self.take(
                    simd,
                    some.clone(),
                    self.groups.most_rows(some.clone()),
                    Registers { at: v, of_group },
                );
                for from in some.clone().step_by(TOGETHER) {
                    let groups = from..some.end.min(from + TOGETHER);
                    let at = v.wrapping_add((from - first) * of_group);
                    self.modify(simd, groups, Registers { at, of_group });
                }
            }
        }
    }
}

impl<T: Number> ModifyTile<'_, T> {
    /// Transposes V of some groups: first the columns with a plus sign.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn take<S: Simd>(&self, simd: S, some: Range<usize>, rows: usize, to: Registers<T::Part>) {
        let (change, step) = (self.change, step::<T, S>());
        let mut to = to;
        for minus in [false, true] {
            let columns = change.signed(minus);
            if columns.is_empty() {
                continue;
            }
            let each = |matrix: usize, column: usize| change.scale(matrix, column, minus);
            let scale = match change.scales(minus) {
                Some(scales) => Scale::Of(scales),
                None => Scale::OfEach(&each),
            };
            // SAFETY: the caller guarantees V and the memory.
            unsafe { take(simd, change.v, (self.groups, some.clone()), rows, columns, &scale, to) };
            to.at = to.at.wrapping_add(self.capacity * columns.len() * step);
        }
    }

    /// Both L of a group.
    #[inline(always)]
    fn both(&self, g: usize, step: usize) -> (Packed<T::Part>, Packed<T::Part>) {
        let at = g * entries(self.capacity) * step;
        let packed = |at: *mut T::Part| Packed::new(at, self.capacity, step);
        (packed(self.src.wrapping_add(at).cast_mut()), packed(self.dst.wrapping_add(at)))
    }

    /// Modifies up to [`TOGETHER`] groups, whose V is at `v`, one after the other.
    ///
    /// # Safety
    /// As [`new`](Self::new), after `take`.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn modify<S: Simd>(&mut self, simd: S, groups: Range<usize>, v: Registers<T::Part>) {
        let rows = self.groups.most_rows(groups.clone());
        let [plus, minus] = [&self.change.plus, &self.change.minus].map(|columns| !columns.is_empty());
        let nothing = [Found::<T::Part, S>::nothing(simd); TOGETHER];
        let (mut found, mut before) = (nothing, None);
        // SAFETY: the caller guarantees L and V; at the end both L have been read and written.
        unsafe {
            if plus {
                self.eliminate::<S, false>(simd, groups.clone(), rows, v, &mut found);
            }
            if plus && minus {
                before = Some(found);
                found = nothing;
            }
            if minus {
                self.eliminate::<S, true>(simd, groups.clone(), rows, v, &mut found);
            }
            for (at, g) in groups.enumerate() {
                self.finish(simd, g, rows, (before.as_ref().map(|before| &before[at]), &found[at]));
            }
        }
    }

    /// Eliminates the columns of V with one sign.
    ///
    /// # Safety
    /// As [`modify`](Self::modify), for a minus sign after the other columns.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn eliminate<S: Simd, const MINUS: bool>(
        &mut self,
        simd: S,
        groups: Range<usize>,
        rows: usize,
        v: Registers<T::Part>,
        found: &mut [Found<T::Part, S>; TOGETHER],
    ) {
        let (lanes, step, count) = (T::lanes::<S>(), step::<T, S>(), groups.len());
        let (plus, minus) = (self.change.plus.len(), self.change.minus.len());
        let rank = if MINUS { minus } else { plus };
        let before = if MINUS { self.capacity * plus * step } else { 0 };
        let log = self.results.log.as_mut_ptr();
        let group = |at: usize| {
            let g = groups.start + at.min(count - 1);
            let (src, dst) = self.both(g, step);
            Elimination {
                src: if MINUS && plus > 0 { dst } else { src },
                dst,
                v: V { at: v.at.wrapping_add(at * v.of_group + before), rank, step, b: self.memory },
                rows,
                log: (log.wrapping_add(g * lanes), self.groups.rows.as_ptr().wrapping_add(g * lanes)),
            }
        };
        let all: [Elimination<T::Part>; TOGETHER] = core::array::from_fn(group);
        // SAFETY: the caller guarantees L and V.
        unsafe { eliminate::<T, S, MINUS>(simd, &all[..count], &mut found[..count]) }
    }

    /// What comes after the eliminations of a group: with what the last one has found, and the one before it, if there were two.
    ///
    /// # Safety
    /// As [`modify`](Self::modify), after it.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn finish<S: Simd>(
        &mut self,
        simd: S,
        g: usize,
        rows: usize,
        (before, found): Pair<'_, T::Part, S>,
    ) {
        let (lanes, group) = (T::lanes::<S>(), self.groups.get(g));
        let (src, dst) = self.both(g, step::<T, S>());
        let Results { good: of_good, largest: of_largest, product: of_product, .. } = &mut self.results;
        let places = [of_good, of_largest, of_product].map(|of| of[g * lanes..][..lanes].as_mut_ptr());
        let zero = T::Part::splat(simd, T::Part::ZERO);
        // SAFETY: the caller guarantees both L; the results have a place for each lane.
        unsafe {
            let (mut good, mut product) = (found.good(simd), found.product);
            if let Some(before) = before {
                good = T::Part::where_less(simd, (zero, before.good(simd)), good, zero);
                product = T::Part::vmul(simd, product, before.product);
            }
            let mut orders = [T::Part::ZERO; MAX_LANES];
            for (to, &order) in orders.iter_mut().zip(group.rows) {
                *to = T::Part::from_f64(f64::from(order));
            }
            let orders = T::Part::load::<S>(orders.as_ptr());
            let largest = largest_ratio::<T::Part, S>(simd, (src, dst), rows, orders);
            for (place, found) in places.into_iter().zip([good, largest, product]) {
                T::Part::store::<S>(place, found);
            }
            // Beyond the orders L is that of the identity.
            let columns = if rows < self.capacity { self.capacity } else { 0 };
            for j in 0..columns {
                for i in rows.max(j)..self.capacity {
                    store::<T, S>(dst.entry(i, j), load::<T, S>(src.entry(i, j)));
                }
            }
        }
    }
}
