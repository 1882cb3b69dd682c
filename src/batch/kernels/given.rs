//! From the caller's memory to lanes, and back.

use super::packed::MAX_LANES;
use crate::batch::operand::{BatchMut, BatchRef};
use crate::float::Float;
use pulp::Simd;

/// The matrices of a group: one for each lane.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a> {
    /// The number of the first one in the batch.
    pub first: usize,
    /// How many there are: the other lanes have none.
    pub count: usize,
    /// The rows of each.
    pub rows: &'a [u32],
}

/// The groups of a tile.
#[derive(Clone, Copy)]
pub(crate) struct Groups<'a> {
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
pub(crate) enum Scale<'a, T> {
    /// One for each column that is copied.
    Of(&'a [T]),
    /// One for each lane and column of V.
    OfEach(&'a dyn Fn(usize, usize) -> T),
}

/// Copies columns of a batch of matrices, entry (i, r) to register `i · columns + r`, and zero where a matrix has no row or the scale
/// is zero.
///
/// # Safety
/// `to` has `rows` × `columns.len()` registers of `lanes` scalars, and the matrices of the group have as many rows and columns as they
/// are said to.
#[inline(always)]
pub(crate) unsafe fn take<T: Float, S: Simd>(
    from: BatchRef<'_, T>,
    group: Group<'_>,
    rows: usize,
    columns: &[usize],
    scale: &Scale<'_, T>,
    to: *mut T,
) {
    let (count, lanes, [batch, row, _]) = (columns.len(), T::lanes::<S>(), from.strides());
    let equal = group.count == lanes && group.rows.iter().all(|&order| order as usize == rows);
    // SAFETY: the caller guarantees the registers, and entries are read where they exist.
    unsafe {
        if let Scale::Of(scales) = scale
            && equal
        {
            for (r, (&column, &scale)) in columns.iter().zip(*scales).enumerate() {
                let (mut at, mut to) = (from.entry(group.first, 0, column), to.add(r * lanes));
                for _ in 0..rows {
                    for lane in 0..lanes {
                        *to.add(lane) = scale * *at.add(lane * batch);
                    }
                    (at, to) = (at.wrapping_add(row), to.wrapping_add(count * lanes));
                }
            }
            return;
        }
        for lane in 0..lanes {
            let order = if lane < group.count { group.rows[lane] as usize } else { 0 };
            for (r, &column) in columns.iter().enumerate() {
                let scale = match scale {
                    _ if order == 0 => T::ZERO,
                    Scale::Of(scales) => scales[r],
                    Scale::OfEach(scale) => scale(lane, column),
                };
                // The column may be one that is not to be read.
                let order = if scale == T::ZERO { 0 } else { order };
                for i in 0..rows {
                    let entry =
                        if i < order { scale * *from.entry(group.first + lane, i, column) } else { T::ZERO };
                    *to.add((i * count + r) * lanes + lane) = entry;
                }
            }
        }
    }
}

/// Copies the rows of registers back, for the lanes that are `good`.
///
/// # Safety
/// As [`take`], for registers that have been written.
#[inline(always)]
pub(crate) unsafe fn put<T: Float>(
    from: *const T,
    (group, lanes): (Group<'_>, usize),
    good: &[T; MAX_LANES],
    to: &BatchMut<'_, T>,
) {
    let [_, _, columns] = to.shape();
    for lane in (0..group.count).filter(|&lane| good[lane] != T::ZERO) {
        for i in 0..group.rows[lane] as usize {
            for r in 0..columns {
                // SAFETY: the caller guarantees the registers; the entries exist, and no other thread has this matrix.
                unsafe { *to.entry(group.first + lane, i, r) = *from.add((i * columns + r) * lanes + lane) };
            }
        }
    }
}
