//! The columns of a panel, as a kernel reads and writes them: in place, or packed where they are not contiguous.

use super::lanes::Lanes;
use super::tiles::TILE;
use cholupdate_kernels::isa::{prefetch, prefetch_to_write};
use faer::{ColRef, MatMut, MatRef};

/// Some rows of a panel, whole tiles of them.
#[derive(Clone, Copy)]
pub(super) enum Columns<'a, T> {
    /// Columns are contiguous.
    View(MatRef<'a, T>),
    /// One tile, one column after the other.
    Packed(&'a [T]),
}

impl<'a, T: Lanes> Columns<'a, T> {
    /// Column j, from tile `tile` on.
    #[inline(always)]
    pub fn column(&self, j: usize, tile: usize) -> &'a [T] {
        match *self {
            Self::View(view) => match view.col(j).try_as_col_major() {
                Some(column) => &column.as_slice()[tile * TILE..],
                None => unreachable!("a view has contiguous columns"),
            },
            Self::Packed(packed) => &packed[j * TILE..][..TILE],
        }
    }
}

impl<T: Lanes> Columns<'_, T> {
    /// Where to fetch tiles of column j from; that may be nowhere.
    #[inline(always)]
    pub fn ahead(&self, j: usize, tile: usize) -> Ahead<T> {
        Ahead(if let Self::View(view) = *self { entry(view, j, tile) } else { core::ptr::null() })
    }
}

/// Memory that will be asked for.
#[derive(Clone, Copy)]
pub(super) struct Ahead<T>(*const T);

impl<T> Ahead<T> {
    /// Fetches a tile to be read.
    #[inline(always)]
    pub fn fetch(self, tile: usize) {
        prefetch::<1, T>(self.0.wrapping_add(tile * TILE), TILE);
    }

    /// Fetches a tile to be written.
    #[inline(always)]
    pub fn fetch_to_write(self, tile: usize) {
        prefetch_to_write(self.0.wrapping_add(tile * TILE), TILE);
    }
}

/// Where a tile of column j begins; that may be beyond the matrix.
#[inline(always)]
fn entry<T>(view: MatRef<'_, T>, j: usize, tile: usize) -> *const T {
    view.as_ptr().wrapping_offset(view.col_stride().wrapping_mul(j as isize)).wrapping_add(tile * TILE)
}

/// The same, to be written.
pub(super) enum ColumnsMut<'a, T> {
    View(MatMut<'a, T>),
    Packed(&'a mut [T]),
}

impl<T: Lanes> ColumnsMut<'_, T> {
    #[inline(always)]
    pub fn column(&mut self, j: usize, tile: usize) -> &mut [T] {
        match self {
            Self::View(view) => match view.as_mut().col_mut(j).try_as_col_major_mut() {
                Some(column) => &mut column.as_slice_mut()[tile * TILE..],
                None => unreachable!("a view has contiguous columns"),
            },
            Self::Packed(packed) => &mut packed[j * TILE..][..TILE],
        }
    }
}

impl<T: Lanes> ColumnsMut<'_, T> {
    /// As [`Columns::ahead`].
    #[inline(always)]
    pub fn ahead(&self, j: usize, tile: usize) -> Ahead<T> {
        Ahead(if let Self::View(view) = self { entry(view.as_ref(), j, tile) } else { core::ptr::null() })
    }
}

/// Whether the columns of a matrix are contiguous.
pub(super) fn contiguous<T>(a: MatRef<'_, T>) -> bool {
    a.row_stride() == 1
}

/// Copies a column.
fn read<T: Lanes>(from: ColRef<'_, T>, to: &mut [T]) {
    match from.try_as_col_major() {
        Some(from) => to.copy_from_slice(from.as_slice()),
        None => to.iter_mut().zip(from.iter()).for_each(|(to, &x)| *to = x),
    }
}

/// Packs up to TILE rows of a panel; rows that are missing are zero. (rows × columns)
pub(super) fn pack<'a, T: Lanes>(from: MatRef<'_, T>, to: &'a mut [T]) -> &'a [T] {
    for (j, to) in to.chunks_exact_mut(TILE).take(from.ncols()).enumerate() {
        let (here, beyond) = to.split_at_mut(from.nrows());
        read(from.col(j), here);
        beyond.fill(T::NULL);
    }
    to
}

/// Packs the diagonal block of a panel without its diagonal; what is above is not read, and zero.
pub(super) fn pack_diagonal<'a, T: Lanes>(from: MatRef<'_, T>, to: &'a mut [T]) -> &'a [T] {
    let order = from.ncols();
    for (j, to) in to.chunks_exact_mut(TILE).take(order).enumerate() {
        to.fill(T::NULL);
        read(from.col(j).subrows(j + 1, order - j - 1), &mut to[j + 1..order]);
    }
    to
}

/// Copies a packed tile back.
pub(super) fn unpack<T: Lanes>(from: &[T], mut to: MatMut<'_, T>) {
    for (j, from) in from.chunks_exact(TILE).take(to.ncols()).enumerate() {
        let from = &from[..to.nrows()];
        let mut column = to.as_mut().col_mut(j);
        match column.as_mut().try_as_col_major_mut() {
            Some(column) => column.as_slice_mut().copy_from_slice(from),
            None => column.iter_mut().zip(from).for_each(|(to, &x)| *to = x),
        }
    }
}
