//! From the caller's memory to lanes, and back.

use super::packed::{MAX_LANES, load, read_lane, step, store, write_lane};
use super::runs::{Registers, put_run, transposed};
use super::transpose;
use crate::batch::view::{BatchView, BatchViewMut};
use crate::number::{Float, Number};
use core::ops::Range;
use pulp::Simd;

/// The matrices of a group: one for each lane.
#[derive(Clone, Copy)]
pub struct Group<'a> {
    /// The number of the first one in the batch.
    pub first: usize,
    /// How many there are: the other lanes have none.
    pub count: usize,
    /// The rows of each.
    pub rows: &'a [u32],
}

/// The groups of a tile.
#[derive(Clone, Copy)]
pub struct Groups<'a> {
    /// The number of the first matrix in the batch.
    pub first: usize,
    /// How many matrices there are.
    pub count: usize,
    /// The rows of each, and zero in lanes without one.
    pub rows: &'a [u32],
    pub lanes: usize,
}

impl<'a> Groups<'a> {
    #[inline(always)]
    pub fn len(self) -> usize {
        self.count.div_ceil(self.lanes)
    }

    /// Whether each lane of these groups has a matrix with so many rows.
    #[inline(always)]
    pub fn are_of(self, some: Range<usize>, rows: usize) -> bool {
        let lanes = some.start * self.lanes..some.end * self.lanes;
        lanes.end <= self.count && self.rows[lanes].iter().all(|&order| order as usize == rows)
    }

    /// The most rows of a matrix of these groups.
    #[inline(always)]
    pub fn most_rows(self, some: Range<usize>) -> usize {
        some.map(|g| self.get(g).most_rows()).max().unwrap_or(0)
    }

    #[inline(always)]
    pub fn get(self, g: usize) -> Group<'a> {
        let before = g * self.lanes;
        let count = self.lanes.min(self.count - before);
        Group { first: self.first + before, count, rows: &self.rows[before..][..self.lanes] }
    }
}

impl Group<'_> {
    /// The most rows of one.
    #[inline(always)]
    pub fn most_rows(self) -> usize {
        self.rows.iter().copied().max().unwrap_or(0) as usize
    }
}

/// The numbers by which columns of a group are multiplied.
pub enum Scale<'a, R> {
    /// One for each column that is copied.
    Of(&'a [R]),
    /// One for each matrix of the batch and column of V.
    OfEach(&'a dyn Fn(usize, usize) -> R),
}

/// Copies columns of the matrices of some groups, entry (i, r) to register `i · columns + r` of the group, and zero where a matrix has no
/// row or the scale is zero.
///
/// # Safety
/// Each group has `rows` × `columns.len()` registers, and its matrices have as many rows and columns as they are said
/// to.
#[cfg_attr(not(unoptimized), inline(always))]
pub unsafe fn take<T: Number, S: Simd>(
    simd: S,
    from: BatchView<'_, T>,
    (groups, some): (Groups<'_>, Range<usize>),
    rows: usize,
    columns: &[usize],
    scale: &Scale<'_, T::Part>,
    to: Registers<T::Part>,
) {
    let lanes = T::lanes::<S>();
    let (full, equal) = (some.end * lanes <= groups.count, groups.are_of(some.clone(), rows));
    let first = groups.first + some.start * lanes;
    let at = |number: usize| to.at.wrapping_add(number * to.of_group);
    // SAFETY: the caller guarantees the registers, and that the matrices have these rows.
    unsafe {
        let of = match scale {
            Scale::Of(scales) => Some(*scales),
            Scale::OfEach(_) => None,
        };
        if full && transposed(simd, from, (first, some.len()), rows, columns, of, to) {
            for (number, g) in some.enumerate().filter(|_| !equal || of.is_none()) {
                correct::<T, S>(simd, groups.get(g), rows, columns, scale, at(number));
            }
            return;
        }
        for (number, g) in some.enumerate() {
            match of {
                Some(scales) if equal => {
                    by_entries::<T, S>(from, groups.get(g), rows, columns, scales, at(number));
                }
                _ => by_lanes::<T, S>(from, groups.get(g), rows, columns, scale, at(number)),
            }
        }
    }
}

/// Zeros the rows that a matrix does not have, and multiplies by the scales of each.
///
/// # Safety
/// As [`take`], for one group and its registers, which have been written.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn correct<T: Number, S: Simd>(
    simd: S,
    group: Group<'_>,
    rows: usize,
    columns: &[usize],
    scale: &Scale<'_, T::Part>,
    to: *mut T::Part,
) {
    let (lanes, step, zero) = (T::lanes::<S>(), step::<T, S>(), T::splat(simd, T::ZERO));
    let tiny = T::Part::splat(simd, T::Part::TINY);
    let (mut orders, mut scales) = ([T::Part::ZERO; MAX_LANES], [T::Part::ONE; MAX_LANES]);
    for (to, &order) in orders.iter_mut().zip(group.rows) {
        *to = T::Part::from_f64(f64::from(order));
    }
    // SAFETY: an array has at least a register; the caller guarantees those of the group.
    unsafe {
        let orders = T::Part::load::<S>(orders.as_ptr());
        for (r, &column) in columns.iter().enumerate() {
            if let Scale::OfEach(scale) = scale {
                for (lane, to) in scales.iter_mut().enumerate().take(lanes) {
                    *to = scale(group.first + lane, column);
                }
            }
            let of_each = T::Part::load::<S>(scales.as_ptr());
            for i in 0..rows {
                let at = to.add((i * columns.len() + r) * step);
                let mut entry = load::<T, S>(at);
                if let Scale::OfEach(_) = scale {
                    // The column may be one that is not to be read. A scale that is not a number counts.
                    entry = T::where_less(simd, (of_each, tiny), zero, T::vtimes(simd, of_each, entry));
                }
                let row = T::Part::splat(simd, T::Part::from_f64(i as f64));
                store::<T, S>(at, T::where_less(simd, (row, orders), entry, zero));
            }
        }
    }
}

/// As [`take`] for matrices of one order in all lanes.
///
/// # Safety
/// As [`take`].
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn by_entries<T: Number, S: Simd>(
    from: BatchView<'_, T>,
    group: Group<'_>,
    rows: usize,
    columns: &[usize],
    scales: &[T::Part],
    to: *mut T::Part,
) {
    let (lanes, step, [batch, row, _]) = (T::lanes::<S>(), step::<T, S>(), from.strides());
    // SAFETY: the caller guarantees the entries and the registers.
    unsafe {
        for (r, (&column, &scale)) in columns.iter().zip(scales).enumerate() {
            let (mut at, mut to) = (from.entry(group.first, 0, column), to.add(r * step));
            for _ in 0..rows {
                for lane in 0..lanes {
                    write_lane::<T, S>(to, lane, (*at.add(lane * batch)).times(scale));
                }
                (at, to) = (at.wrapping_add(row), to.wrapping_add(columns.len() * step));
            }
        }
    }
}

/// As [`take`], for any orders and scales.
///
/// # Safety
/// As [`take`].
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn by_lanes<T: Number, S: Simd>(
    from: BatchView<'_, T>,
    group: Group<'_>,
    rows: usize,
    columns: &[usize],
    scale: &Scale<'_, T::Part>,
    to: *mut T::Part,
) {
    let (count, lanes, step) = (columns.len(), T::lanes::<S>(), step::<T, S>());
    for lane in 0..lanes {
        let order = if lane < group.count { group.rows[lane] as usize } else { 0 };
        for (r, &column) in columns.iter().enumerate() {
            let scale = match scale {
                _ if order == 0 => T::Part::ZERO,
                Scale::Of(scales) => scales[r],
                Scale::OfEach(scale) => scale(group.first + lane, column),
            };
            // The column may be one that is not to be read.
            let order = if scale == T::Part::ZERO { 0 } else { order };
            for i in 0..rows {
                // SAFETY: the caller guarantees the registers, and the entry exists.
                unsafe {
                    let entry = if i < order {
                        (*from.entry(group.first + lane, i, column)).times(scale)
                    } else {
                        T::ZERO
                    };
                    write_lane::<T, S>(to.add((i * count + r) * step), lane, entry);
                }
            }
        }
    }
}

/// Copies the rows of registers back, for the lanes that are `good`.
///
/// # Safety
/// As [`take`] for this group and all columns, for registers that have been written.
#[cfg_attr(not(unoptimized), inline(always))]
pub unsafe fn put<T: Number, S: Simd>(
    simd: S,
    from: *const T::Part,
    group: Group<'_>,
    good: &[T::Part; MAX_LANES],
    to: &BatchViewMut<'_, T>,
) {
    let ([_, _, columns], [_, row, column]) = (to.shape(), to.as_ref().strides());
    let (lanes, register, rows) = (T::lanes::<S>(), step::<T, S>(), group.most_rows());
    let equal = group.count == lanes && group.rows.iter().all(|&order| order as usize == rows);
    let by_rows = column == 1 && row == columns;
    if equal && transpose::exists(simd) && (by_rows || row == 1) {
        // Runs of entries that are next to each other, and registers from one of them to the next.
        let (runs, entries, step) = if row == 1 { (columns, rows, columns) } else { (1, rows * columns, 1) };
        for run in 0..runs {
            for start in (0..entries).step_by(lanes) {
                let count = lanes.min(entries - start);
                // SAFETY: the caller guarantees the registers; the entries exist, and no other thread has these matrices.
                unsafe {
                    let first = from.wrapping_add((start * step + run) * register);
                    put_run::<T, S>(simd, (first, step * register), count, good, |lane| {
                        to.entry(group.first + lane, 0, run).wrapping_add(start)
                    });
                }
            }
        }
        return;
    }
    for lane in (0..group.count).filter(|&lane| good[lane] != T::Part::ZERO) {
        for i in 0..group.rows[lane] as usize {
            for r in 0..columns {
                // SAFETY: the caller guarantees the registers; the entries exist, and no other thread has this matrix.
                unsafe {
                    let entry = read_lane::<T, S>(from.add((i * columns + r) * register), lane);
                    to.entry(group.first + lane, i, r).write(entry);
                }
            }
        }
    }
}
