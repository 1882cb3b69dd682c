//! Runs of entries that are next to each other in the caller's memory, as blocks of registers that are transposed.

use super::packed::{MAX_LANES, Packed, load, step, store};
use super::transpose;
use crate::batch::view::BatchView;
use crate::number::Number;
use pulp::Simd;

/// Registers of the columns of some groups.
#[derive(Clone, Copy)]
pub struct Registers<R> {
    pub at: *mut R,
    /// Real numbers from one group to the next.
    pub of_group: usize,
}

/// As `take` for all rows of as many matrices as there are lanes, if the entries of a column or of a whole matrix
/// are next to each other. Returns whether they are. Without scales the columns are copied.
///
/// # Safety
/// As `take`, for `count` groups from matrix `first` on.
#[cfg_attr(not(unoptimized), inline(always))]
pub unsafe fn transposed<T: Number, S: Simd>(
    simd: S,
    from: BatchView<'_, T>,
    (first, count): (usize, usize),
    rows: usize,
    columns: &[usize],
    scales: Option<&[T::Part]>,
    to: Registers<T::Part>,
) -> bool {
    let (lanes, register, one) = (T::lanes::<S>(), step::<T, S>(), T::Part::ONE);
    let ([_, _, all], [batch, row, column]) = (from.shape(), from.strides());
    if !transpose::exists(simd) {
        return false;
    }
    // SAFETY: the caller guarantees the entries and the registers.
    unsafe {
        if row == 1 {
            let step = columns.len() * register;
            for (r, &column) in columns.iter().enumerate() {
                let scale = T::Part::splat(simd, scales.map_or(one, |scales| scales[r]));
                for i in (0..rows).step_by(lanes) {
                    let mut at = from.entry(first, i, column);
                    let mut to_group = to.at.wrapping_add(i * step + r * register);
                    let entries = lanes.min(rows - i);
                    for _ in 0..count {
                        let block = block::<T, S>(simd, at, batch, entries);
                        for t in 0..lanes {
                            if t < entries {
                                let entry = T::vtimes(simd, scale, block[t]);
                                store::<T, S>(to_group.wrapping_add(t * step), entry);
                            }
                        }
                        (at, to_group) = (at.wrapping_add(lanes * batch), to_group.wrapping_add(to.of_group));
                    }
                }
            }
            return true;
        }
        if column != 1 || row != all || columns.len() != all {
            return false;
        }
        let reversed = columns.first() > columns.last();
        for start in (0..rows * all).step_by(lanes) {
            let entries = lanes.min(rows * all - start);
            // Where each entry goes, and by what it is multiplied.
            let (mut places, mut factors) = ([0; MAX_LANES], [one; MAX_LANES]);
            for t in 0..entries {
                let (i, r) = ((start + t) / all, (start + t) % all);
                let r = if reversed { all - 1 - r } else { r };
                (places[t], factors[t]) = ((i * all + r) * register, scales.map_or(one, |scales| scales[r]));
            }
            let (mut at, mut to_group) = (from.entry(first, 0, 0).wrapping_add(start), to.at);
            for _ in 0..count {
                let block = block::<T, S>(simd, at, batch, entries);
                for t in 0..lanes {
                    if t < entries {
                        let entry = T::vtimes(simd, T::Part::splat(simd, factors[t]), block[t]);
                        store::<T, S>(to_group.wrapping_add(places[t]), entry);
                    }
                }
                (at, to_group) = (at.wrapping_add(lanes * batch), to_group.wrapping_add(to.of_group));
            }
        }
    }
    true
}

/// Some entries of each matrix of a group, from `at` on, one register for each entry.
///
/// # Safety
/// The matrices are `batch` scalars from each other and have so many entries, at most as many as there are lanes.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn block<T: Number, S: Simd>(
    simd: S,
    at: *const T,
    batch: usize,
    entries: usize,
) -> [T::Vector<S>; MAX_LANES] {
    let lanes = T::lanes::<S>();
    let mut block = [T::splat(simd, T::ZERO); MAX_LANES];
    // SAFETY: the caller guarantees the entries.
    unsafe {
        if entries == lanes {
            for lane in 0..lanes {
                block[lane] = T::load::<S>(at.wrapping_add(lane * batch));
            }
        } else {
            let mask = T::mask(simd, 0, entries);
            for lane in 0..lanes {
                block[lane] = T::load_masked(simd, mask, at.wrapping_add(lane * batch));
            }
        }
    }
    transpose::transpose::<T, S>(simd, &mut block);
    block
}

/// Copies the lower triangles of as many matrices as there are lanes, from number `first` on, if the entries of a row or of a column are
/// next to each other. Returns whether they are. Without negative zeros, and without imaginary parts of the diagonal, which are not read.
///
/// # Safety
/// The matrices have so many rows and columns, and L has room for them in whole registers of `S`.
#[cfg_attr(not(unoptimized), inline(always))]
pub unsafe fn lower<T: Number, S: Simd>(
    simd: S,
    from: BatchView<'_, T>,
    first: usize,
    rows: usize,
    l: Packed<T::Part>,
) -> bool {
    let (lanes, zero, [batch, row, column]) = (T::lanes::<S>(), T::splat(simd, T::ZERO), from.strides());
    if !transpose::exists(simd) || (row != 1 && column != 1) {
        return false;
    }
    let by_rows = column == 1;
    for line in 0..rows {
        let entries = if by_rows { 0..line + 1 } else { line..rows };
        for start in entries.clone().step_by(lanes) {
            let place = |at: usize| if by_rows { (line, at) } else { (at, line) };
            let (count, (i, j)) = (lanes.min(entries.end - start), place(start));
            // SAFETY: the caller guarantees the entries and the registers.
            unsafe {
                let block = block::<T, S>(simd, from.entry(first, i, j), batch, count);
                for t in 0..lanes {
                    if t < count {
                        let (i, j) = place(start + t);
                        let mut entry = T::vadd(simd, block[t], zero);
                        if T::PARTS > 1 && i == j {
                            entry = T::vreal(simd, T::reals(entry));
                        }
                        store::<T, S>(l.entry(i, j), entry);
                    }
                }
            }
        }
    }
    true
}

/// Writes the lanes of `count` registers, those that are `good`, to as many entries from `to` on.
///
/// # Safety
/// There are so many registers, at most as many as lanes, `step` real numbers from each other, and so many entries for each lane.
#[cfg_attr(not(unoptimized), inline(always))]
pub unsafe fn put_run<T: Number, S: Simd>(
    simd: S,
    (from, step): (*const T::Part, usize),
    count: usize,
    good: &[T::Part; MAX_LANES],
    to: impl Fn(usize) -> *mut T,
) {
    let lanes = T::lanes::<S>();
    let mut block = [T::splat(simd, T::ZERO); MAX_LANES];
    // SAFETY: the caller guarantees the registers and the entries.
    unsafe {
        for t in 0..lanes {
            if t < count {
                block[t] = load::<T, S>(from.wrapping_add(t * step));
            }
        }
        transpose::transpose::<T, S>(simd, &mut block);
        let mask = T::mask(simd, 0, count);
        for lane in 0..lanes {
            if good[lane] == T::Part::ZERO {
                continue;
            }
            if count == lanes {
                T::store::<S>(to(lane), block[lane]);
            } else {
                T::store_masked(simd, mask, to(lane), block[lane]);
            }
        }
    }
}
