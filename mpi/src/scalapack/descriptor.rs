//! Descriptors of matrices, and their rules.

use super::ScalapackError;
use super::library::{Scalapack, scalapack};
use core::ffi::c_int;

/// A descriptor of ScaLAPACK, as `descinit` makes it: its type, the BLACS context, M, N, MB, NB, RSRC, CSRC and LLD. All but the context
/// and LLD are the same on all processes, also on those outside the grid, whose context is −1.
pub type Descriptor = [c_int; 9];

/// The rules that a process can find broken, in the numbers by which processes tell each other which one it is.
pub(super) const RULES: [&str; 8] = [
    "is not that of a dense matrix (type 1)",
    "has other numbers of rows and columns than the order of A",
    "has a block size below 1",
    "begins at a process outside the grid",
    "has a leading dimension that is less than the number of local rows",
    "describes more entries than the local array has",
    "a grid of this shape needs other numbers of processes",
    "is that of another grid",
];

/// A rule by its number.
pub(super) fn broken(rule: usize) -> ScalapackError {
    ScalapackError::Descriptor(RULES[rule])
}

/// The process grid of a context: the numbers of its rows and columns, and the row and the column of this process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub rows: usize,
    pub cols: usize,
    pub row: usize,
    pub col: usize,
}

/// The place of this process, if it is in the grid.
pub(super) fn place(scalapack: &Scalapack, context: c_int) -> Option<Place> {
    if context < 0 {
        return None;
    }
    let (mut rows, mut cols, mut row, mut col) = (0, 0, -1, -1);
    // SAFETY: the results are places of their types.
    unsafe { (scalapack.info)(context, &mut rows, &mut cols, &mut row, &mut col) };
    let is_inside = (0..rows).contains(&row) && (0..cols).contains(&col);
    is_inside.then_some(Place {
        rows: rows as usize,
        cols: cols as usize,
        row: row as usize,
        col: col as usize,
    })
}

/// The number of rows or columns of a process at position `at` of `of`, in blocks of `size` from process `first` on: ScaLAPACK's
/// `numroc`.
pub(super) fn count(all: usize, size: usize, (at, first, of): (usize, usize, usize)) -> usize {
    let (blocks, distance) = (all / size, (of + at - first) % of);
    let whole = blocks / of * size;
    match distance.cmp(&(blocks % of)) {
        core::cmp::Ordering::Less => whole + size,
        core::cmp::Ordering::Equal => whole + all % size,
        core::cmp::Ordering::Greater => whole,
    }
}

/// The number of entries of a local array, from its first to its last, of a matrix with this order.
///
/// # Errors
/// `Descriptor`.
pub(super) fn described(
    scalapack: &Scalapack,
    desc: &Descriptor,
    order: usize,
) -> Result<usize, ScalapackError> {
    let [kind, context, m, n, mb, nb, rsrc, csrc, lld] = *desc;
    if kind != 1 {
        return Err(broken(0));
    }
    if c_int::try_from(order).ok().is_none_or(|order| (m, n) != (order, order)) {
        return Err(broken(1));
    }
    if mb < 1 || nb < 1 {
        return Err(broken(2));
    }
    let Some(at) = place(scalapack, context) else { return Ok(0) };
    let is_first = |first: c_int, of: usize| usize::try_from(first).is_ok_and(|first| first < of);
    if !is_first(rsrc, at.rows) || !is_first(csrc, at.cols) {
        return Err(broken(3));
    }
    let own_rows = count(order, mb as usize, (at.row, rsrc as usize, at.rows));
    let own_cols = count(order, nb as usize, (at.col, csrc as usize, at.cols));
    if i64::from(lld) < own_rows.max(1) as i64 {
        return Err(broken(4));
    }
    Ok(if own_rows > 0 && own_cols > 0 { (own_cols - 1) * lld as usize + own_rows } else { 0 })
}

/// The number of entries that a local array must have. 0 if the descriptor is wrong, or ScaLAPACK is missing, which the call that takes
/// the array finds.
pub(crate) fn local_entries(desc: &Descriptor, order: usize) -> usize {
    scalapack().and_then(|scalapack| described(scalapack, desc, order).ok()).unwrap_or(0)
}
