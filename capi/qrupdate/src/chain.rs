//! Chains of rotations through many columns: each rotation takes what the one before left.
//!
//! Every step takes the entry x of a row and the carried t of its column:
//!
//! | chain | acts on | written | carried on |
//! |---|---|---|---|
//! | `DOWN` | row k and one more row | c x + s t | c t − s x |
//! | `UP` | row k and one more row, from the last on | c x − s t | c t + s x |
//! | `DOWN`, `NEIGHBOURS` | rows k and k + 1 | c t + s x | c x − s t |
//! | `UP`, `NEIGHBOURS` | rows k and k + 1, from the last on | c t − s x | c x + s t |
//!
//! One column is as slow as its chain. Eight columns are taken together, a few rows at a time, with the columns in the lanes of
//! registers: tiles that are transposed, taken through, and transposed back.

use crate::lanes::Lanes;
use crate::real::Real;
use core::ops::Range;

/// Columns that are taken together.
pub const BLOCK: usize = 8;
/// How far ahead memory is told, in bytes.
const AHEAD: usize = 256;

/// From the first row to the last.
pub const DOWN: bool = false;
/// From the last row to the first.
pub const UP: bool = true;
/// A row and one that is kept apart.
pub const APART: bool = false;
/// Two rows one below the other.
pub const NEIGHBOURS: bool = true;

/// What an entry becomes, and what is carried on.
#[inline(always)]
pub fn step<T: Real, const UPWARDS: bool, const PAIRS: bool>(c: T, s: T, x: T, t: T) -> (T, T) {
    let (a, b) = if PAIRS { (t, x) } else { (x, t) };
    if UPWARDS { (c * a - s * b, c * b + s * a) } else { (c * a + s * b, c * b - s * a) }
}

/// The same for a row of a tile.
///
/// # Safety
/// The instructions are there.
#[inline(always)]
unsafe fn steps<T, L: Lanes<T, W>, const W: usize, const UPWARDS: bool, const PAIRS: bool>(
    (c, s): (L, L),
    x: L,
    t: L,
) -> (L, L) {
    let (a, b) = if PAIRS { (t, x) } else { (x, t) };
    // SAFETY: forwarded to the caller.
    unsafe {
        if UPWARDS {
            (L::difference(c, a, s, b), L::sum(c, b, s, a))
        } else {
            (L::sum(c, a, s, b), L::difference(c, b, s, a))
        }
    }
}

/// Columns, and what rotates them.
#[derive(Clone, Copy)]
pub struct Columns<T> {
    /// Row k of the first column is read here, at k, and written there: `NEIGHBOURS` write one row above or below, and columns may
    /// move to the one before or behind.
    pub from: *const T,
    pub to: *mut T,
    pub stride: usize,
    /// Cosine and sine of rotation k.
    pub c: *const T,
    pub s: *const T,
}

impl<T> Columns<T> {
    /// Without the first few.
    ///
    /// # Safety
    /// There are more.
    #[inline(always)]
    unsafe fn after(self, columns: usize) -> Self {
        // SAFETY: forwarded to the caller.
        let (from, to) =
            unsafe { (self.from.add(columns * self.stride), self.to.add(columns * self.stride)) };
        Self { from, to, ..self }
    }
}

/// Takes columns through the rotations `rows`, with t for each. Those that go `UP` may move to the right, the others to the left.
///
/// # Safety
/// All pointers are valid for `rows`, and those to columns for as many columns as t has; the columns that are written are those
/// that are read, or each the neighbour of its own. No rotation is written.
pub unsafe fn apply<T: Real, const UPWARDS: bool, const PAIRS: bool>(
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
            // SAFETY: the instructions are there, and the rest is the caller's promise.
            return unsafe { with_avx2::<T, UPWARDS, PAIRS>(columns, rows, t) };
        }
    }
    // SAFETY: forwarded to the caller.
    unsafe { blocks::<T, [T; 4], 4, 2, UPWARDS, PAIRS>(columns, rows, t) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn with_avx2<T: Real, const UPWARDS: bool, const PAIRS: bool>(
    columns: Columns<T>,
    rows: Range<usize>,
    t: &mut [T],
) {
    // SAFETY: forwarded to the caller.
    unsafe { blocks::<T, T::Avx2, 4, 2, UPWARDS, PAIRS>(columns, rows, t) }
}

/// A whole block; else as many columns as fill tiles, and then the others one by one.
///
/// # Safety
/// As for [`apply`], with the instructions of L. BESIDE · W is BLOCK.
#[inline(always)]
unsafe fn blocks<
    T: Real,
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
        // SAFETY: forwarded to the caller.
        return unsafe { tiles::<T, L, W, BESIDE, UPWARDS, PAIRS>(columns, rows, t) };
    }
    let whole = t.len() / W;
    let (in_tiles, others) = t.split_at_mut(whole * W);
    // SAFETY: forwarded to the caller; columns that move to the right are taken from the right on.
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

/// Numbers from the first on, or from the last.
#[inline(always)]
fn in_order<const UPWARDS: bool>(range: Range<usize>) -> impl Iterator<Item = usize> {
    let Range { start, end } = range;
    (start..end).map(move |at| if UPWARDS { start + end - 1 - at } else { at })
}

/// One column.
///
/// # Safety
/// As for [`apply`].
#[inline(always)]
unsafe fn single<T: Real, const UPWARDS: bool, const PAIRS: bool>(
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

/// BESIDE · W columns by tiles of W × W, and the rows that fill none.
///
/// # Safety
/// As for [`apply`], with the instructions of L; t has so many entries.
#[inline(always)]
unsafe fn tiles<
    T: Real,
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
    // SAFETY: t has so many entries.
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
                    let rotation = (L::splat(*c.add(top + row)), L::splat(*s.add(top + row)));
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
        // SAFETY: t has so many entries.
        unsafe { carried.store(t[beside * W..].as_mut_ptr()) };
    }
    let rest = if UPWARDS { rows.start..rows.end - height * W } else { rows.start + height * W..rows.end };
    for column in in_order::<UPWARDS>(0..BESIDE * W) {
        // SAFETY: forwarded to the caller.
        unsafe { single::<T, UPWARDS, PAIRS>(columns.after(column), rest.clone(), &mut t[column]) };
    }
}

/// Has memory send what comes next in a column: processors do not guess it for so many columns at once.
#[inline(always)]
pub fn ahead<T, const UPWARDS: bool>(entry: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let next = if UPWARDS { entry.wrapping_byte_sub(AHEAD) } else { entry.wrapping_byte_add(AHEAD) };
        // SAFETY: an address that leads nowhere is left alone.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(next.cast()) };
    }
}
