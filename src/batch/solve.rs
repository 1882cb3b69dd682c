//! Triangular systems with all factors, and their determinants.

use super::alone::Alone;
use super::operand::BatchMut;
use super::tiles::Tiles;
use crate::error::Error;
use cholupdate_kernels::batch::BatchKernel;
use cholupdate_kernels::batch::solve::SolveTile;
use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::number::{Float, Number};
use std::sync::{Mutex, PoisonError};

/// Solves L Y = B and then Lᴴ X = Y, or one of them, in place. Returns the matrices for which that is not possible, in order; their
/// right-hand sides stay as they were.
pub(super) fn solve<T: Alone + BatchKernel>(
    tiles: &Tiles<T>,
    sides: [bool; 2],
    rhs: &BatchMut<'_, T>,
) -> Vec<(usize, Error)> {
    let (extent, [_, rows, columns]) = (tiles.extent, rhs.shape());
    let failures = Mutex::new(Vec::new());
    tiles.each_read(rows * columns, |t, tile, work| {
        let (of_tile, matrices) = (extent.of_tile(), extent.matrices(t));
        // For two groups.
        work.v.reserve(2 * extent.capacity * columns * extent.step);
        work.good.reserve(of_tile);
        let good = &mut work.good.as_mut_slice()[..of_tile];
        let l = (tile.l.as_slice().as_ptr(), extent.capacity);
        let groups = extent.groups(t, &tile.orders);
        let memory = work.v.as_mut_slice().as_mut_ptr();
        // SAFETY: the tile has these factors, aligned to cache lines, and is borrowed; the right-hand sides have the matrices of the
        // batch and their rows, and each tile is the work of one thread.
        let step = unsafe { SolveTile::new(l, groups, sides, rhs.view(), memory, good) };
        T::solve_tile(Isa::detect(), step);
        let missing = tile.missing.iter().map(|(at, error)| (matrices.start + at, error.clone()));
        let mut found: Vec<_> = missing.collect();
        for (at, matrix) in matrices.enumerate().filter(|&(at, _)| work.good.as_slice()[at] == T::Part::ZERO)
        {
            let order = tile.orders[at] as usize;
            let pivot = |j: usize| extent.pivot(tile.l.as_slice(), at, j);
            let entries = (0..columns).flat_map(|r| (0..order).map(move |i| (i, r)));
            let mut bad = entries.filter(|&(i, r)| !rhs.as_ref().get(matrix, i, r).is_finite());
            let error = match bad.next() {
                Some((row, column)) => Error::NonFinite { argument: "rhs", row, column },
                None => singular(order, pivot).unwrap_or(Error::Singular { column: 0 }),
            };
            found.push((matrix, error));
        }
        if !found.is_empty() {
            failures.lock().unwrap_or_else(PoisonError::into_inner).append(&mut found);
        }
    });
    let mut failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    failures.sort_unstable_by_key(|(matrix, _)| *matrix);
    failures
}

/// The error of a matrix with a pivot that is zero.
fn singular<R: Float>(order: usize, pivot: impl Fn(usize) -> R) -> Option<Error> {
    (0..order).find(|&j| pivot(j) == R::ZERO).map(|column| Error::Singular { column })
}

/// log det A.
///
/// # Errors
/// `Singular`, or the reason why the matrix has no factor.
pub(super) fn log_det<T: Alone>(tiles: &Tiles<T>, matrix: usize) -> Result<f64, Error> {
    let (tile, at) = tiles.of(matrix);
    if let Some(error) = tile.missing(at) {
        return Err(error.clone());
    }
    let (order, extent) = (tile.orders[at] as usize, tiles.extent);
    let pivot = |j: usize| extent.pivot(tile.l.as_slice(), at, j);
    if let Some(error) = singular(order, pivot) {
        return Err(error);
    }
    // The empty sum is −0.
    Ok(0.0 + 2.0 * (0..order).map(|j| pivot(j).to_f64().ln()).sum::<f64>())
}
