//! The columns of a panel, as a kernel reads and writes them: in place, or packed where they are not contiguous.

use super::tile::{TILE, TOGETHER};
use crate::isa::{prefetch, prefetch_to_write};
use crate::number::Float;
use faer::{MatMut, MatRef};

/// Some rows of a panel, whole tiles of them.
#[derive(Clone, Copy)]
pub enum Columns<'a, T> {
    /// Columns are contiguous.
    View(MatRef<'a, T>),
    /// One tile, one column after the other.
    Packed(&'a [T]),
}

impl<'a, T: Float> Columns<'a, T> {
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

/// Rows of columns of L that are taken together, or of V at their steps.
pub type Several<'a, T> = [&'a [T]; TOGETHER];

impl<T: Float> Columns<'_, T> {
    /// Fetches a tile of the columns from j on, `tile` tiles behind tile `ahead`, to be read, to the second-level cache.
    #[inline(always)]
    pub fn fetch_together(&self, (j, ahead): (usize, usize), tile: usize) {
        if let Self::View(view) = *self {
            (j..j + TOGETHER).for_each(|j| prefetch::<2, T>(entry(view, j, ahead + tile), TILE));
        }
    }
}

impl<'a, T: Float> Columns<'a, T> {
    /// Columns from j on, from tile `tile` on.
    #[inline(always)]
    pub fn together(&self, j: usize, tile: usize) -> Several<'a, T> {
        core::array::from_fn(|next| self.column(j + next, tile))
    }
}

impl<T: Float> Columns<'_, T> {
    /// Where to fetch tiles of column j from; that may be nowhere.
    #[inline(always)]
    pub fn ahead(&self, (j, tile): (usize, usize)) -> Ahead<T> {
        Ahead(if let Self::View(view) = *self { entry(view, j, tile) } else { core::ptr::null() })
    }
}

/// The column `by` columns behind column j of a panel, or in the `next` tiles, in which the panel begins again: its number and the
/// tile.
#[inline(always)]
pub fn later(j: usize, by: usize, [tile, next]: [usize; 2]) -> (usize, usize) {
    if j + by < TILE { (j + by, tile) } else { (j + by - TILE, next) }
}

/// The same for columns in reverse order.
#[inline(always)]
pub fn earlier(j: usize, by: usize, [tile, next]: [usize; 2]) -> (usize, usize) {
    if j >= by { (j - by, tile) } else { (j + TILE - by, next) }
}

/// Memory that will be asked for.
#[derive(Clone, Copy)]
pub struct Ahead<T>(*const T);

impl<T> Ahead<T> {
    /// Fetches a tile to be read.
    #[inline(always)]
    pub fn fetch(self, tile: usize) {
        prefetch::<1, T>(self.0.wrapping_add(tile * TILE), TILE);
    }

    /// The same, to the second-level cache.
    #[inline(always)]
    pub fn fetch_far(self, tile: usize) {
        prefetch::<2, T>(self.0.wrapping_add(tile * TILE), TILE);
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
pub enum ColumnsMut<'a, T> {
    View(MatMut<'a, T>),
    Packed(&'a mut [T]),
}

impl<T: Float> ColumnsMut<'_, T> {
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

    /// Columns from j on, from tile `tile` on.
    #[inline(always)]
    pub fn together(&mut self, j: usize, tile: usize) -> [&mut [T]; TOGETHER] {
        match self {
            Self::View(view) => {
                let mut columns = view.as_mut().subcols_mut(j, TOGETHER).col_iter_mut();
                core::array::from_fn(|_| match columns.next().map(|column| column.try_as_col_major_mut()) {
                    Some(Some(column)) => &mut column.as_slice_mut()[tile * TILE..],
                    _ => unreachable!("a view has contiguous columns"),
                })
            }
            Self::Packed(packed) => {
                let mut columns = packed[j * TILE..].chunks_exact_mut(TILE);
                core::array::from_fn(|_| match columns.next() {
                    Some(column) => column,
                    None => unreachable!("a panel has whole blocks of columns"),
                })
            }
        }
    }
}

impl<T: Float> ColumnsMut<'_, T> {
    /// Where to fetch tiles of the columns from j on from.
    #[inline(always)]
    pub fn together_ahead(&self, (j, tile): (usize, usize)) -> [Ahead<T>; TOGETHER] {
        core::array::from_fn(|next| self.ahead((j + next, tile)))
    }
}

impl<T: Float> ColumnsMut<'_, T> {
    /// As [`Columns::ahead`].
    #[inline(always)]
    pub fn ahead(&self, (j, tile): (usize, usize)) -> Ahead<T> {
        Ahead(if let Self::View(view) = self { entry(view.as_ref(), j, tile) } else { core::ptr::null() })
    }
}
