//! How the factors of a batch begin.

use super::alone::{self, Alone};
use super::operand::BatchRef;
use super::tiles::{Extent, Tile, Tiles, Work, write};
use crate::error::Error;
use cholupdate_kernels::batch::BatchKernel;
use cholupdate_kernels::batch::factorize::FactorizeTile;
use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::number::{Float, Number};
use faer::Mat;

/// What a batch is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Matrices A.
    Matrices,
    /// Their factors L.
    Factors,
}

/// The lower triangle of a matrix, zero above the diagonal.
fn lower<T: Alone>(from: BatchRef<'_, T>, matrix: usize, order: usize) -> Mat<T> {
    let entry = |i: usize, j: usize| if i < j { T::ZERO } else { from.get(matrix, i, j) };
    Mat::from_fn(order, order, entry)
}

/// The factor of one matrix.
fn one<T: Alone>(from: BatchRef<'_, T>, kind: Kind, matrix: usize, order: usize) -> Result<Mat<T>, Error> {
    let given = lower(from, matrix, order);
    match kind {
        Kind::Matrices => alone::factorize(&given),
        Kind::Factors => alone::adopt(&given),
    }
}

/// Makes the factors of all matrices, each of its order. A matrix that cannot be factored has none.
pub(super) fn begin<T: Alone + BatchKernel>(
    tiles: &mut Tiles<T>,
    from: BatchRef<'_, T>,
    kind: Kind,
    orders: Option<&[usize]>,
) {
    let extent = tiles.extent;
    let order = |matrix: usize| orders.map_or(extent.capacity, |orders| orders[matrix]);
    let scalars = extent.capacity * extent.capacity;
    tiles.each(scalars, |t, tile, work| {
        let matrices = extent.matrices(t);
        for (at, matrix) in matrices.clone().enumerate() {
            tile.orders[at] = u32::try_from(order(matrix)).unwrap_or(u32::MAX);
        }
        match kind {
            Kind::Matrices => in_lanes(tile, work, (extent, t), from),
            Kind::Factors => {
                for (at, matrix) in matrices.enumerate() {
                    if !copied(tile, (extent, at), from, matrix) {
                        let l = one(from, kind, matrix, order(matrix));
                        set(tile, extent, at, l);
                    }
                }
            }
        }
    });
}

/// Factors the matrices of a tile side by side, and those alone for which that does not serve.
fn in_lanes<T: Alone + BatchKernel>(
    tile: &mut Tile<T>,
    work: &mut Work<T>,
    (extent, t): (Extent, usize),
    from: BatchRef<'_, T>,
) {
    let matrices = extent.matrices(t);
    let l = (tile.l.as_mut_slice().as_mut_ptr(), extent.capacity);
    work.good.reserve(extent.of_tile());
    let good = &mut work.good.as_mut_slice()[..extent.of_tile()];
    // SAFETY: the tile is new, with room for these groups aligned to cache lines, and is borrowed exclusively.
    let step = unsafe { FactorizeTile::new(from.view(), extent.groups(t, &tile.orders), l, good) };
    T::factorize_tile(Isa::detect(), step);
    for (at, matrix) in matrices.enumerate() {
        if work.good.as_slice()[at] == T::Part::ZERO {
            let l = one(from, Kind::Matrices, matrix, tile.orders[at] as usize);
            set(tile, extent, at, l);
        }
    }
}

/// Copies the factor of a matrix to its place. Returns whether it is one whose rows are far from overflow and whose diagonal is real
/// and not negative; otherwise what has been written is of no use.
fn copied<T: Alone>(
    tile: &mut Tile<T>,
    (extent, at): (Extent, usize),
    from: BatchRef<'_, T>,
    matrix: usize,
) -> bool {
    let (order, l) = (tile.orders[at] as usize, tile.l.as_mut_slice());
    let (mut squares, mut signs) = (T::Part::ZERO, true);
    for j in 0..order {
        for i in j..order {
            let entry = from.get(matrix, i, j) + T::ZERO;
            for &part in T::parts(&[entry]) {
                squares += part * part;
            }
            extent.set_entry(l, at, (i, j), entry);
        }
        let pivot: T = extent.entry(l, at, (j, j));
        signs &= pivot.real() >= T::Part::ZERO && pivot == T::of_real(pivot.real());
    }
    // False for NaN. The sum is at least that of any row.
    signs && squares < T::Part::LARGE_SQUARE * T::Part::UNIT
}

/// Gives a matrix its factor, or none.
fn set<T: Alone>(tile: &mut Tile<T>, extent: Extent, at: usize, l: Result<Mat<T>, Error>) {
    let known = tile.missing.binary_search_by_key(&at, |(matrix, _)| *matrix);
    match l {
        Ok(l) => {
            tile.write(extent, at, &l);
            if let Ok(known) = known {
                tile.missing.remove(known);
            }
        }
        Err(error) => {
            tile.orders[at] = 0;
            write::<T>(tile.l.as_mut_slice(), extent, at, &Mat::new());
            match known {
                Ok(known) => tile.missing[known].1 = error,
                Err(before) => tile.missing.insert(before, (at, error)),
            }
        }
    }
}

/// Factors A (n × n) in place of matrix number `matrix` of the batch.
///
/// # Errors
/// As [`Cholesky::new`](crate::Cholesky::new); the matrix is then as it was.
pub(super) fn replace<T: Alone>(tiles: &mut Tiles<T>, matrix: usize, a: &Mat<T>) -> Result<(), Error> {
    let l = alone::factorize(a)?;
    let extent = tiles.extent;
    let of_tile = extent.of_tile();
    set(&mut tiles.tiles[matrix / of_tile], extent, matrix % of_tile, Ok(l));
    Ok(())
}

/// Copies of some of the factors, in this order, with room for orders up to the capacity.
pub(super) fn select<T: Alone>(from: &Tiles<T>, matrices: &[usize], capacity: usize) -> Tiles<T> {
    let extent = Extent::new::<T>(matrices.len(), capacity, from.extent.threads);
    let mut tiles = Tiles::new(extent);
    tiles.each(0, |t, tile, _| {
        for (at, matrix) in extent.matrices(t).enumerate() {
            let (old, number) = from.of(matrices[matrix]);
            let l = match old.missing(number) {
                Some(error) => Err(error.clone()),
                None => Ok(old.factor(from.extent, number)),
            };
            set(tile, extent, at, l);
        }
    });
    tiles
}
