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
//! One column is as slow as its chain. Sixteen columns are taken together, four rows at a time, with the columns in the lanes of
//! registers: four tiles of 4 × 4 that are transposed, taken through, and transposed back.

use crate::real::Real;
use core::array::from_mut;
use core::ops::Range;

/// Columns that are taken together.
pub const BLOCK: usize = 16;
/// Columns of a tile, and its rows.
const TILE: usize = 4;

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
pub fn step<T: Real, const FMA: bool, const UPWARDS: bool, const PAIRS: bool>(
    c: T,
    s: T,
    x: T,
    t: T,
) -> (T, T) {
    let (a, b) = if PAIRS { (t, x) } else { (x, t) };
    let s = if UPWARDS { -s } else { s };
    if FMA { (c.mul_add(a, s * b), c.mul_add(b, -(s * a))) } else { (c * a + s * b, c * b - s * a) }
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

/// Takes columns through the rotations `rows`, with t for each. Those that move to the right are taken from the right on.
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
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the instructions are there, and the rest is the caller's promise.
        return unsafe { with_avx2::<T, UPWARDS, PAIRS>(columns, rows, t) };
    }
    // SAFETY: forwarded to the caller.
    unsafe { blocks::<T, false, UPWARDS, PAIRS>(columns, rows, t) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn with_avx2<T: Real, const UPWARDS: bool, const PAIRS: bool>(
    columns: Columns<T>,
    rows: Range<usize>,
    t: &mut [T],
) {
    // SAFETY: forwarded to the caller.
    unsafe { blocks::<T, true, UPWARDS, PAIRS>(columns, rows, t) }
}

/// As many columns as fill tiles, and then the others one by one.
#[inline(always)]
unsafe fn blocks<T: Real, const FMA: bool, const UPWARDS: bool, const PAIRS: bool>(
    columns: Columns<T>,
    rows: Range<usize>,
    t: &mut [T],
) {
    let shifted = |columns: Columns<T>, by: usize| {
        // SAFETY: fewer columns than t has.
        let (from, to) =
            unsafe { (columns.from.add(by * columns.stride), columns.to.add(by * columns.stride)) };
        Columns { from, to, ..columns }
    };
    if let Ok(t) = <&mut [T; BLOCK]>::try_from(&mut *t) {
        // SAFETY: forwarded to the caller.
        return unsafe { tiles::<T, 4, BLOCK, FMA, UPWARDS, PAIRS>(columns, rows, t) };
    }
    let whole = t.len() / TILE * TILE;
    let one_by_one = |t: &mut [T], range: Range<usize>| {
        for at in in_order::<UPWARDS>(range) {
            // SAFETY: forwarded to the caller.
            unsafe {
                tiles::<T, 0, 1, FMA, UPWARDS, PAIRS>(
                    shifted(columns, at),
                    rows.clone(),
                    from_mut(&mut t[at]),
                )
            };
        }
    };
    if UPWARDS {
        one_by_one(t, whole..t.len());
    }
    for tile in in_order::<UPWARDS>(0..whole / TILE) {
        let (four, _) = t[tile * TILE..].split_first_chunk_mut::<TILE>().expect("a whole tile");
        // SAFETY: forwarded to the caller.
        unsafe {
            tiles::<T, 1, TILE, FMA, UPWARDS, PAIRS>(shifted(columns, tile * TILE), rows.clone(), four)
        };
    }
    if !UPWARDS {
        one_by_one(t, whole..t.len());
    }
}

/// Numbers from the first on, or from the last.
#[inline(always)]
fn in_order<const UPWARDS: bool>(range: Range<usize>) -> impl Iterator<Item = usize> {
    let Range { start, end } = range;
    (start..end).map(move |at| if UPWARDS { start + end - 1 - at } else { at })
}

/// TILES tiles beside each other, and the rows that fill none.
#[inline(always)]
unsafe fn tiles<
    T: Real,
    const TILES: usize,
    const COLUMNS: usize,
    const FMA: bool,
    const UPWARDS: bool,
    const PAIRS: bool,
>(
    Columns { from, to, stride, c, s }: Columns<T>,
    rows: Range<usize>,
    t: &mut [T; COLUMNS],
) {
    let mut carried = *t;
    let height = if TILES > 0 { rows.len() / TILE } else { 0 };
    for tile in 0..height {
        let top = if UPWARDS { rows.end - (tile + 1) * TILE } else { rows.start + tile * TILE };
        // SAFETY: TILE rotations of `rows`.
        let (c, s) =
            unsafe { (c.add(top).cast::<[T; TILE]>().read(), s.add(top).cast::<[T; TILE]>().read()) };
        for beside in in_order::<UPWARDS>(0..TILES) {
            let mut entries = [[T::ZERO; TILE]; TILE];
            for (column, entries) in entries.iter_mut().enumerate() {
                let at = (beside * TILE + column) * stride + top;
                // SAFETY: TILE of `rows` in one of the columns.
                *entries = unsafe { from.add(at).cast::<[T; TILE]>().read() };
            }
            let mut lanes = transposed(entries);
            for at in in_order::<UPWARDS>(0..TILE) {
                for lane in 0..TILE {
                    let t = &mut carried[beside * TILE + lane];
                    (lanes[at][lane], *t) = step::<T, FMA, UPWARDS, PAIRS>(c[at], s[at], lanes[at][lane], *t);
                }
            }
            for (column, entries) in transposed(lanes).into_iter().enumerate() {
                let at = (beside * TILE + column) * stride + top;
                // SAFETY: as above, where they are written.
                unsafe { to.add(at).cast::<[T; TILE]>().write(entries) };
            }
        }
    }
    let rest =
        if UPWARDS { rows.start..rows.end - height * TILE } else { rows.start + height * TILE..rows.end };
    for row in in_order::<UPWARDS>(rest) {
        // SAFETY: a rotation of `rows`.
        let (c, s) = unsafe { (*c.add(row), *s.add(row)) };
        for column in in_order::<UPWARDS>(0..COLUMNS) {
            // SAFETY: an entry of `rows` in one of the columns.
            let (x, to) = unsafe { (*from.add(column * stride + row), to.add(column * stride + row)) };
            let (new, t) = step::<T, FMA, UPWARDS, PAIRS>(c, s, x, carried[column]);
            carried[column] = t;
            // SAFETY: as above, where it is written.
            unsafe { *to = new };
        }
    }
    *t = carried;
}

#[inline(always)]
fn transposed<T: Copy>(tile: [[T; TILE]; TILE]) -> [[T; TILE]; TILE] {
    core::array::from_fn(|row| core::array::from_fn(|column| tile[column][row]))
}
