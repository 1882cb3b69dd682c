//! What is compiled for batches, once for each scalar type.

use super::begin::{self, Kind};
use super::modify;
use super::operand::{BatchMut, BatchRef};
#[cfg(feature = "serde")]
use super::saved;
use super::solve;
use super::structure;
#[cfg(feature = "serde")]
use super::tiles::Extent;
use super::tiles::Tiles;
use crate::compiled::functions;
use crate::error::Error;
use cholupdate_kernels::batch::change::Change;
use faer::Mat;

functions! {
    /// The verbs on a batch.
    BatchVerbs of numbers {
        batch_begin(tiles: &mut Tiles<Self>, from: BatchRef<'_, Self>, kind: Kind, orders: Option<&[usize]>) -> () = begin::begin;
        batch_replace(tiles: &mut Tiles<Self>, matrix: usize, a: &Mat<Self>) -> Result<(), Error> = begin::replace;
        batch_select(tiles: &Tiles<Self>, matrices: &[usize], capacity: usize) -> Tiles<Self> = begin::select;
        #[cfg(feature = "serde")]
        batch_saved(tiles: &Tiles<Self>) -> Vec<saved::Matrix<Self>> = saved::saved;
        #[cfg(feature = "serde")]
        batch_restored(extent: Extent, matrices: &[saved::Matrix<Self>]) -> Tiles<Self> = saved::restored;
        batch_modify(tiles: &mut Tiles<Self>, change: &Change<'_, Self>) -> () = modify::modify;
        batch_append(tiles: &mut Tiles<Self>, a: BatchRef<'_, Self>, mask: Option<&[bool]>) -> () = structure::append;
        batch_remove(tiles: &mut Tiles<Self>, indices: &[usize], mask: Option<&[bool]>) -> () = structure::remove;
        batch_solve(tiles: &Tiles<Self>, sides: [bool; 2], rhs: &BatchMut<'_, Self>) -> Vec<(usize, Error)> = solve::solve;
        batch_log_det(tiles: &Tiles<Self>, matrix: usize) -> Result<f64, Error> = solve::log_det;
    }
}
