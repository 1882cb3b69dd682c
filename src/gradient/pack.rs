//! Rows of a panel that a kernel cannot read where they are, packed, and the zeros above the diagonal.

use crate::real::Real;
use cholupdate_kernels::gradient::tile::{Clear, TILE};
use cholupdate_kernels::isa::Isa;
use faer::{ColRef, MatMut, MatRef};

/// Whether the columns of a matrix are contiguous.
pub(super) fn contiguous<T>(a: MatRef<'_, T>) -> bool {
    a.row_stride() == 1
}

/// Copies a column.
fn read<T: Real>(from: ColRef<'_, T>, to: &mut [T]) {
    match from.try_as_col_major() {
        Some(from) => to.copy_from_slice(from.as_slice()),
        None => to.iter_mut().zip(from.iter()).for_each(|(to, &x)| *to = x),
    }
}

/// Packs up to TILE rows of a panel; rows that are missing are zero. (rows × columns)
pub(super) fn pack<'a, T: Real>(from: MatRef<'_, T>, to: &'a mut [T]) -> &'a [T] {
    for (j, to) in to.chunks_exact_mut(TILE).take(from.ncols()).enumerate() {
        let (here, beyond) = to.split_at_mut(from.nrows());
        read(from.col(j), here);
        beyond.fill(T::ZERO);
    }
    to
}

/// Packs the diagonal block of a panel without its diagonal; what is above is not read, and zero.
pub(super) fn pack_diagonal<'a, T: Real>(from: MatRef<'_, T>, to: &'a mut [T]) -> &'a [T] {
    let order = from.ncols();
    for (j, to) in to.chunks_exact_mut(TILE).take(order).enumerate() {
        to.fill(T::ZERO);
        read(from.col(j).subrows(j + 1, order - j - 1), &mut to[j + 1..order]);
    }
    to
}

/// Copies a packed tile back.
pub(super) fn unpack<T: Real>(from: &[T], mut to: MatMut<'_, T>) {
    for (j, from) in from.chunks_exact(TILE).take(to.ncols()).enumerate() {
        let from = &from[..to.nrows()];
        let mut column = to.as_mut().col_mut(j);
        match column.as_mut().try_as_col_major_mut() {
            Some(column) => column.as_slice_mut().copy_from_slice(from),
            None => column.iter_mut().zip(from).for_each(|(to, &x)| *to = x),
        }
    }
}

/// Writes zeros, past the caches if so asked and columns are contiguous.
pub(super) fn clear<T: Real>(to: MatMut<'_, T>, past: bool) {
    if past && contiguous(to.as_ref()) {
        T::clear(Isa::detect(), Clear { to });
    } else {
        zero(to);
    }
}

/// Writes zeros.
pub(super) fn zero<T: Real>(to: MatMut<'_, T>) {
    for mut column in to.col_iter_mut() {
        match column.as_mut().try_as_col_major_mut() {
            Some(column) => column.as_slice_mut().fill(T::ZERO),
            None => column.iter_mut().for_each(|x| *x = T::ZERO),
        }
    }
}
