//! Copies between matrices in host memory and packed columns, such as those in page-locked memory. Large ones are divided among the
//! threads of the current rayon pool.

use crate::check::largest_entry;
use crate::host::threads::Threads;
use crate::real::Real;
use faer::{ColMut, ColRef, MatMut, MatRef};
use rayon::prelude::*;

/// Bytes from which on waking threads pays.
const WORTH_SHARING: usize = 1 << 20;

fn is_shared<T>(len: usize) -> bool {
    len * size_of::<T>() >= WORTH_SHARING && Threads::Pool.count() > 1
}

/// Copies the columns of A to packed memory. (rows × columns)
pub(super) fn pack<T: Real>(a: MatRef<'_, T>, to: &mut [T]) {
    debug_assert!(to.len() == a.nrows() * a.ncols());
    let one = |(j, to): (usize, &mut [T])| pack_column(a.col(j), to);
    let rows = a.nrows().max(1);
    if is_shared::<T>(to.len()) {
        to.par_chunks_exact_mut(rows).enumerate().for_each(one);
    } else {
        to.chunks_exact_mut(rows).enumerate().for_each(one);
    }
}

/// The same. Returns row and column of the first entry, column after column, that is not finite, if there is one; then some of the
/// memory is unspecified.
pub(super) fn pack_finite<T: Real>(a: MatRef<'_, T>, to: &mut [T]) -> Option<(usize, usize)> {
    debug_assert!(to.len() == a.nrows() * a.ncols());
    let one = |(j, to): (usize, &mut [T])| pack_finite_column(a.col(j), to).map(|row| (row, j));
    let rows = a.nrows().max(1);
    if is_shared::<T>(to.len()) {
        to.par_chunks_exact_mut(rows).enumerate().find_map_first(one)
    } else {
        to.chunks_exact_mut(rows).enumerate().find_map(one)
    }
}

/// Copies packed memory to the columns of A. (rows × columns)
pub(super) fn unpack<T: Real>(from: &[T], a: MatMut<'_, T>) {
    debug_assert!(from.len() == a.nrows() * a.ncols());
    let rows = a.nrows().max(1);
    if is_shared::<T>(from.len()) {
        let columns = a.par_col_iter_mut().zip(from.par_chunks_exact(rows));
        columns.for_each(|(to, from)| unpack_column(from, to));
    } else {
        a.col_iter_mut().zip(from.chunks_exact(rows)).for_each(|(to, from)| unpack_column(from, to));
    }
}

/// Copies a column of A.
pub(super) fn pack_column<T: Real>(column: ColRef<'_, T>, to: &mut [T]) {
    match column.try_as_col_major() {
        Some(column) => to.copy_from_slice(column.as_slice()),
        None => to.iter_mut().zip(column.iter()).for_each(|(to, from)| *to = *from),
    }
}

fn pack_finite_column<T: Real>(column: ColRef<'_, T>, to: &mut [T]) -> Option<usize> {
    /// Scalars that are read a second time while they are in the cache.
    const BLOCK: usize = 256;
    to.chunks_mut(BLOCK).enumerate().find_map(|(number, to)| {
        let first = number * BLOCK;
        let some = column.subrows(first, to.len());
        pack_column(some, to);
        largest_entry(some).err().map(|row| first + row)
    })
}

/// Copies to a column of A.
pub(super) fn unpack_column<T: Real>(from: &[T], mut column: ColMut<'_, T>) {
    match column.as_mut().try_as_col_major_mut() {
        Some(column) => column.as_slice_mut().copy_from_slice(from),
        None => column.iter_mut().zip(from).for_each(|(to, from)| *to = *from),
    }
}
