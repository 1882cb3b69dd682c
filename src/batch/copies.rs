//! Copies of all factors.

use super::operand::BatchMut;
use super::tiles::Tiles;
use cholupdate_kernels::number::Number;

/// Writes the factors to lower triangles. Matrices without a factor, and rows from the order of a matrix on, are not written.
pub(super) fn copy<T: Number>(tiles: &Tiles<T>, to: &BatchMut<'_, T>) {
    let extent = tiles.extent;
    tiles.each_read(extent.capacity * extent.capacity, |t, tile, _| {
        let l = tile.l.as_slice();
        for (at, matrix) in extent.matrices(t).enumerate() {
            let order = tile.orders[at] as usize;
            for j in 0..order {
                for i in j..order {
                    // SAFETY: the caller has checked that `to` has the matrices of the batch and their rows. Its entries share no
                    // memory, it is borrowed exclusively, and each matrix is the work of one thread.
                    unsafe { to.view().entry(matrix, i, j).write(extent.entry(l, at, (i, j))) };
                }
            }
        }
    });
}
