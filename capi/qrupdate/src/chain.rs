//! Chains of rotations through many columns. Each rotation uses the result of the previous one.
//!
//! Every step uses the entry x of a row and the carried number t of its column:
//!
//! | chain | acts on | written | carried |
//! |---|---|---|---|
//! | `DOWN` | row k and one more row | c x + s t | c t − s̄ x |
//! | `UP` | row k and one more row, from the last row upwards | c x − s̄ t | c t + s x |
//! | `DOWN`, `NEIGHBOURS` | rows k and k + 1 | c t + s x | c x − s̄ t |
//! | `UP`, `NEIGHBOURS` | rows k and k + 1, from the last row upwards | c t − s̄ x | c x + s t |
//!
//! In a single column the chain limits the speed. So eight columns are processed together, a few rows at a time, with the
//! columns in the lanes of registers: tiles are transposed, rotated, and transposed back.

use crate::lanes::{Lanes, difference, sum};
use crate::number::Number;
use core::ops::Range;

/// Columns that are processed together.
pub const BLOCK: usize = 8;
/// The prefetch distance in bytes.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 256;

/// From the first row to the last.
pub const DOWN: bool = false;
/// From the last row to the first.
pub const UP: bool = true;
/// A row and a row that is stored elsewhere.
pub const APART: bool = false;
/// Two rows one below the other.
pub const NEIGHBOURS: bool = true;

/// Returns the new entry and the new carried number.
#[inline(always)]
pub fn step<T: Number, const UPWARDS: bool, const PAIRS: bool>(c: T::Real, s: T, x: T, t: T) -> (T, T) {
    let (q, (a, b)) = ((c, s), if PAIRS { (t, x) } else { (x, t) });
    if UPWARDS { (difference(q, a, b), sum(q, b, a)) } else { (sum(q, a, b), difference(q, b, a)) }
}

/// The same for a row of a tile.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
unsafe fn steps<T: Number, L: Lanes<T, W>, const W: usize, const UPWARDS: bool, const PAIRS: bool>(
    q: L::Rotation,
    x: L,
    t: L,
) -> (L, L) {
    let (a, b) = if PAIRS { (t, x) } else { (x, t) };
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        if UPWARDS {
            (L::difference(q, a, b), L::sum(q, b, a))
        } else {
            (L::sum(q, a, b), L::difference(q, b, a))
        }
    }
}

/// Columns, and their rotations.
#[derive(Clone, Copy)]
pub struct Columns<T: Number> {
    /// Row k of the first column is read at `from` + k and written at `to` + k. With `NEIGHBOURS` these are one row apart, and
    /// columns may be written to the previous or next column.
    pub from: *const T,
    pub to: *mut T,
    pub stride: usize,
    /// Cosine and sine of rotation k.
    pub c: *const T::Real,
    pub s: *const T,
}

impl<T: Number> Columns<T> {
    /// The columns without the first few.
    ///
    /// # Safety
    /// There are more columns than these.
    #[inline(always)]
    unsafe fn after(self, columns: usize) -> Self {
        // SAFETY: the caller guarantees that there are more columns.
        let (from, to) =
            unsafe { (self.from.add(columns * self.stride), self.to.add(columns * self.stride)) };
        Self { from, to, ..self }
    }
}

/// Applies the rotations `rows` to columns, with t for each. With `UP` columns may move to the right, otherwise to the left.
///
/// # Safety
/// All pointers are valid for `rows`, and those to columns for as many columns as t has entries. The columns that are written
/// are those that are read, or each is a neighbour of its own. No rotation is written.
pub unsafe fn apply<T: Number, const UPWARDS: bool, const PAIRS: bool>(
    columns: Columns<T>,
    rows: Range<usize>,
    t: &mut [T],
) {
    if rows.is_empty() || t.is_empty() {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected;
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has the instructions, and the caller guarantees the rest.
            return unsafe { with_avx2::<T, UPWARDS, PAIRS>(columns, rows, t) };
        }
    }
    // SAFETY: the caller guarantees the columns and rotations.
    unsafe { blocks::<T, [T; 4], 4, 2, UPWARDS, PAIRS>(columns, rows, t) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn with_avx2<T: Number, const UPWARDS: bool, const PAIRS: bool>(
    columns: Columns<T>,
    rows: Range<usize>,
    t: &mut [T],
) {
    // SAFETY: the caller guarantees the columns and rotations; this function has the instructions.
    unsafe { blocks::<T, T::Avx2, 4, 2, UPWARDS, PAIRS>(columns, rows, t) }
}

/// Processes a whole block; otherwise as many columns as fill tiles, and then the others one by one.
///
/// # Safety
/// As for [`apply`]; the processor has the instructions of L. BESIDE · W is BLOCK.
#[inline(always)]
unsafe fn blocks<
    T: Number,
    L: Lanes<T, W>,
    const W: usize,
    const BESIDE: usize,
    const UPWARDS: bool,
    const PAIRS: bool,
>(
    columns: Columns<T>,
    rows: Range<usize>,
    t: &mut [T],
) {
    if t.len() == BESIDE * W {
        // SAFETY: the caller guarantees the columns, rotations and instructions.
        return unsafe { tiles::<T, L, W, BESIDE, UPWARDS, PAIRS>(columns, rows, t) };
    }
    let whole = t.len() / W;
    let (in_tiles, others) = t.split_at_mut(whole * W);
    // SAFETY: the caller guarantees the columns, rotations and instructions; columns that move to the right are processed from
    // the right.
    unsafe {
        let one_by_one = |others: &mut [T]| {
            for at in in_order::<UPWARDS>(0..others.len()) {
                let column = columns.after(whole * W + at);
                single::<T, UPWARDS, PAIRS>(column, rows.clone(), &mut others[at]);
            }
        };
        if UPWARDS {
            one_by_one(others);
        }
        for tile in in_order::<UPWARDS>(0..whole) {
            let t = &mut in_tiles[tile * W..][..W];
            tiles::<T, L, W, 1, UPWARDS, PAIRS>(columns.after(tile * W), rows.clone(), t);
        }
        if !UPWARDS {
            one_by_one(others);
        }
    }
}

/// The numbers in ascending order, or in descending order for `UP`.
#[inline(always)]
fn in_order<const UPWARDS: bool>(range: Range<usize>) -> impl Iterator<Item = usize> {
    let Range { start, end } = range;
    (start..end).map(move |at| if UPWARDS { start + end - 1 - at } else { at })
}

/// Processes one column.
///
/// # Safety
/// As for [`apply`].
#[inline(always)]
unsafe fn single<T: Number, const UPWARDS: bool, const PAIRS: bool>(
    Columns { from, to, c, s, .. }: Columns<T>,
    rows: Range<usize>,
    t: &mut T,
) {
    for row in in_order::<UPWARDS>(rows) {
        // SAFETY: one of the rows.
        unsafe {
            let (new, next) = step::<T, UPWARDS, PAIRS>(*c.add(row), *s.add(row), *from.add(row), *t);
            *t = next;
            *to.add(row) = new;
        }
    }
}

/// Processes BESIDE · W columns by tiles of W × W, and then the rows that do not fill a tile.
///
/// # Safety
/// As for [`apply`]; the processor has the instructions of L, and t has BESIDE · W entries.
#[inline(always)]
unsafe fn tiles<
    T: Number,
    L: Lanes<T, W>,
    const W: usize,
    const BESIDE: usize,
    const UPWARDS: bool,
    const PAIRS: bool,
>(
    columns: Columns<T>,
    rows: Range<usize>,
    t: &mut [T],
) {
    let Columns { from, to, stride, c, s } = columns;
    let height = rows.len() / W;
    // SAFETY: t has BESIDE · W entries.
    let mut carried: [L; BESIDE] =
        core::array::from_fn(|beside| unsafe { L::load(t[beside * W..].as_ptr()) });
    for tile in 0..height {
        let top = if UPWARDS { rows.end - (tile + 1) * W } else { rows.start + tile * W };
        for beside in in_order::<UPWARDS>(0..BESIDE) {
            let at = |column: usize| (beside * W + column) * stride + top;
            for column in 0..W {
                ahead::<T, UPWARDS>(from.wrapping_add(at(column)));
            }
            // SAFETY: W of `rows` in W of the columns, and as many rotations.
            unsafe {
                let mut lanes = L::transposed(core::array::from_fn(|column| L::load(from.add(at(column)))));
                for row in in_order::<UPWARDS>(0..W) {
                    let rotation = L::rotation(*c.add(top + row), *s.add(top + row));
                    (lanes[row], carried[beside]) =
                        steps::<T, L, W, UPWARDS, PAIRS>(rotation, lanes[row], carried[beside]);
                }
                for (column, entries) in L::transposed(lanes).into_iter().enumerate() {
                    entries.store(to.add(at(column)));
                }
            }
        }
    }
    for (beside, carried) in carried.into_iter().enumerate() {
        // SAFETY: t has BESIDE · W entries.
        unsafe { carried.store(t[beside * W..].as_mut_ptr()) };
    }
    let rest = if UPWARDS { rows.start..rows.end - height * W } else { rows.start + height * W..rows.end };
    for column in in_order::<UPWARDS>(0..BESIDE * W) {
        // SAFETY: the caller guarantees the columns and rotations.
        unsafe { single::<T, UPWARDS, PAIRS>(columns.after(column), rest.clone(), &mut t[column]) };
    }
}

/// Prefetches the next entries of a column. Hardware prefetchers do not follow this many columns at a time.
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
#[inline(always)]
pub fn ahead<T, const UPWARDS: bool>(entry: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let next = if UPWARDS { entry.wrapping_byte_sub(AHEAD) } else { entry.wrapping_byte_add(AHEAD) };
        // SAFETY: a prefetch of an invalid address has no effect.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(next.cast()) };
    }
}
