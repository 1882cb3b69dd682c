//! Modifications of all factors.

use super::alone::{self, Alone};
use super::tiles::{Extent, Tile, Tiles, Work, write};
use crate::report::Modification;
use cholupdate_kernels::batch::BatchKernel;
use cholupdate_kernels::batch::change::Change;
use cholupdate_kernels::batch::modify::{ModifyTile, Results};
use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::number::Number;
use core::mem;

/// A + V diag(w) Vᴴ for each matrix. One for which that is not possible stays as it was.
pub(super) fn modify<T: Alone + BatchKernel>(tiles: &mut Tiles<T>, change: &Change<'_, T>) {
    let extent = tiles.extent;
    let [_, rows, rank] = change.v.shape();
    tiles.each(rows * rank, |t, tile, work| {
        tile.failures.clear();
        tile.reports.clear();
        let matrices = extent.matrices(t);
        if change.is_none_for(matrices.clone()) {
            tile.unchanged(extent);
        } else {
            in_lanes(tile, work, (extent, t), change);
        }
        let modified = |matrix: usize| change.mask.is_none_or(|mask| mask[matrices.start + matrix]);
        let missing = tile.missing.iter().filter(|(matrix, _)| modified(*matrix)).cloned();
        tile.failures.extend(missing);
        tile.failures.sort_unstable_by_key(|(matrix, _)| *matrix);
    });
}

/// Modifies the factors of a tile side by side, and those alone for which that does not serve.
fn in_lanes<T: Alone + BatchKernel>(
    tile: &mut Tile<T>,
    work: &mut Work<T>,
    (extent, t): (Extent, usize),
    change: &Change<'_, T>,
) {
    let (of_tile, matrices) = (extent.of_tile(), extent.matrices(t));
    work.shadow.reserve(extent.of_factors());
    work.v.reserve(change.memory(extent.capacity, extent.step));
    work.good.reserve(of_tile);
    tile.log.clear();
    tile.log.resize(of_tile, 0.0);
    let results = Results {
        good: &mut work.good.as_mut_slice()[..of_tile],
        largest: &mut tile.largest.as_mut_slice()[..of_tile],
        product: &mut tile.product.as_mut_slice()[..of_tile],
        log: &mut tile.log,
    };
    let l = (tile.l.as_slice().as_ptr(), work.shadow.as_mut_slice().as_mut_ptr(), extent.capacity);
    let groups = extent.groups(t, &tile.orders);
    // SAFETY: both tiles have room for the groups, aligned to cache lines, and are borrowed exclusively, as is the memory for V.
    let step = unsafe { ModifyTile::new(l, groups, change, work.v.as_mut_slice().as_mut_ptr(), results) };
    T::modify_tile(Isa::detect(), step);
    for (at, matrix) in matrices.enumerate() {
        if work.good.as_slice()[at] != T::Part::ZERO {
            continue;
        }
        let made = match change.mask {
            Some(mask) if !mask[matrix] => Ok((tile.factor(extent, at), Modification::identity())),
            _ => alone::modify((tile, extent, at), change, matrix),
        };
        let l = match made {
            Ok((l, report)) => {
                tile.reports.push((at, report));
                l
            }
            Err(error) => {
                tile.failures.push((at, error));
                tile.factor(extent, at)
            }
        };
        write::<T>(work.shadow.as_mut_slice(), extent, at, &l);
    }
    mem::swap(&mut tile.l, &mut work.shadow);
}
