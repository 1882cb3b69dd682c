//! Rows and columns that come and go, for all factors.

use super::alone::{self, Alone};
use super::operand::BatchRef;
use super::tiles::{Extent, Tile, Tiles, Work, write};
use crate::error::Error;
use crate::report::Modification;
use cholupdate_kernels::batch::BatchKernel;
use cholupdate_kernels::batch::border::{AppendTile, Appended, NONE};
use cholupdate_kernels::batch::removal::{RemoveTile, Removed, memory};
use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::number::{Float, Number};
use core::mem;

/// Notes which row of each matrix of a tile comes or goes, as `row` says for one that has a factor, and fails those of which none can.
/// Returns whether any does.
fn noted<T: Alone>(
    tile: &mut Tile<T>,
    work: &mut Work<T>,
    (extent, t): (Extent, usize),
    mask: Option<&[bool]>,
    row: impl Fn(u32, usize) -> Result<u32, Error>,
) -> bool {
    tile.unchanged(extent);
    work.rows.clear();
    work.rows.resize(extent.of_tile(), NONE);
    let mut any = false;
    for (at, matrix) in extent.matrices(t).enumerate() {
        if mask.is_some_and(|mask| !mask[matrix]) {
            continue;
        }
        let noted = tile.missing(at).map_or_else(|| row(tile.orders[at], matrix), |error| Err(error.clone()));
        match noted {
            Ok(row) => {
                work.rows[at] = row;
                any = true;
            }
            Err(error) => tile.failures.push((at, error)),
        }
    }
    any
}

/// Appends a row and column to each matrix: column b of `a`, as far as that has rows. One for which that is not possible stays as it
/// was.
pub(super) fn append<T: Alone + BatchKernel>(
    tiles: &mut Tiles<T>,
    a: BatchRef<'_, T>,
    mask: Option<&[bool]>,
) {
    let extent = tiles.extent;
    let [_, rows, _] = a.shape();
    let next = |order: u32, _| match order as usize {
        order if order < rows => Ok(order as u32),
        order => Err(Error::Shape { argument: "a", extent: "rows", expected: order + 1, found: rows }),
    };
    tiles.each(rows, |t, tile, work| {
        if !noted(tile, work, (extent, t), mask, next) {
            return;
        }
        let of_tile = extent.of_tile();
        work.v.reserve(extent.capacity * extent.step);
        work.good.reserve(of_tile);
        let results = Appended {
            good: &mut work.good.as_mut_slice()[..of_tile],
            largest: &mut tile.largest.as_mut_slice()[..of_tile],
            product: &mut tile.product.as_mut_slice()[..of_tile],
        };
        let l = (tile.l.as_mut_slice().as_mut_ptr(), extent.capacity);
        let (groups, v) = (extent.groups(t, &work.rows), work.v.as_mut_slice().as_mut_ptr());
        // SAFETY: the tile has these factors, aligned to cache lines, and is borrowed exclusively, as is the memory. The new rows are
        // those after the last one, and rows of A.
        let step = unsafe { AppendTile::new(l, groups, a.view(), v, results) };
        T::append_tile(Isa::detect(), step);
        for (at, matrix) in extent.matrices(t).enumerate().filter(|&(at, _)| work.rows[at] != NONE) {
            let row = work.rows[at] as usize;
            if work.good.as_slice()[at] == T::Part::ZERO {
                match alone::append((tile, extent, at), a, matrix) {
                    Ok((l, report)) => {
                        for j in 0..=row {
                            extent.set_entry(tile.l.as_mut_slice(), at, (row, j), l[(row, j)] + T::ZERO);
                        }
                        tile.reports.push((at, report));
                    }
                    Err(error) => {
                        tile.failures.push((at, error));
                        continue;
                    }
                }
            }
            tile.orders[at] += 1;
        }
        tile.failures.sort_unstable_by_key(|(at, _)| *at);
    });
}

/// Removes a row and column of each matrix, that of its index. One for which that is not possible stays as it was.
pub(super) fn remove<T: Alone + BatchKernel>(tiles: &mut Tiles<T>, indices: &[usize], mask: Option<&[bool]>) {
    let extent = tiles.extent;
    let going = |order: u32, matrix: usize| match indices[matrix] {
        found if found < order as usize => Ok(found as u32),
        found => Err(Error::Index { argument: "indices", entry: matrix, found, limit: order as usize }),
    };
    tiles.each(extent.capacity, |t, tile, work| {
        if !noted(tile, work, (extent, t), mask, going) {
            return;
        }
        let of_tile = extent.of_tile();
        work.shadow.reserve(extent.of_factors());
        work.v.reserve(memory::<T::Part>(extent.capacity, extent.step));
        work.good.reserve(of_tile);
        let results = Removed {
            good: &mut work.good.as_mut_slice()[..of_tile],
            product: &mut tile.product.as_mut_slice()[..of_tile],
        };
        let l = (tile.l.as_slice().as_ptr(), work.shadow.as_mut_slice().as_mut_ptr(), extent.capacity);
        let (groups, v) = (extent.groups(t, &work.rows), work.v.as_mut_slice().as_mut_ptr());
        // SAFETY: both tiles have room for the groups, aligned to cache lines, and are borrowed exclusively, as is the memory for V.
        // Rows that go have been compared with the orders.
        let step = unsafe { RemoveTile::new(l, groups, &tile.orders, v, results) };
        T::remove_tile(Isa::detect(), step);
        for at in 0..extent.matrices(t).len() {
            let (row, good) = (work.rows[at], work.good.as_slice()[at] != T::Part::ZERO);
            if row == NONE {
                tile.product.as_mut_slice()[at] = T::Part::ONE;
                if !good {
                    write::<T>(work.shadow.as_mut_slice(), extent, at, &tile.factor(extent, at));
                }
            } else if good {
                tile.orders[at] -= 1;
                let product = &mut tile.product.as_mut_slice()[at];
                *product = T::Part::ONE / *product;
                if !(*product > T::Part::TINY && product.is_finite()) {
                    let report = report(tile, work.shadow.as_slice(), extent, at);
                    tile.reports.push((at, report));
                }
            } else {
                alone_without((tile, extent, at), work.shadow.as_mut_slice(), row as usize);
            }
        }
        mem::swap(&mut tile.l, &mut work.shadow);
        tile.failures.sort_unstable_by_key(|(at, _)| *at);
    });
}

/// Removes a row and column of one matrix, whose new factor is written to the shadow tile.
fn alone_without<T: Alone>(
    (tile, extent, at): (&mut Tile<T>, Extent, usize),
    shadow: &mut [T::Part],
    row: usize,
) {
    let l = match alone::remove((tile, extent, at), row) {
        Ok((l, report)) => {
            tile.reports.push((at, report));
            tile.orders[at] -= 1;
            l
        }
        Err(error) => {
            tile.failures.push((at, error));
            tile.factor(extent, at)
        }
    };
    write::<T>(shadow, extent, at, &l);
}

/// The report of a matrix that has lost a row, from both factors. Its order is the new one.
fn report<T: Alone>(tile: &Tile<T>, shadow: &[T::Part], extent: Extent, at: usize) -> Modification {
    let order = tile.orders[at] as usize;
    let log = |l: &[T::Part], order: usize| -> f64 {
        (0..order).map(|j| extent.pivot(l, at, j).to_f64().ln()).sum()
    };
    let change = log(shadow, order) - log(tile.l.as_slice(), order + 1);
    Modification::identity().and(1.0, 2.0 * change)
}
