//! Tiles of rows: how long they are, and their registers.

use crate::number::Float;
use pulp::Simd;

/// Rows of a tile, and the most columns of L in a panel: the diagonal block of a panel lies in one tile.
pub const TILE: usize = 32;
/// Sums over rows for each column, besides one for each column of V.
pub const MORE_SUMS: usize = 3;
/// Bytes of the largest register, and of a line of the cache.
pub const LINE: usize = 64;

/// The registers with which a slice begins.
#[inline(always)]
pub fn load<T: Float, S: Simd, const R: usize>(simd: S, from: &[T]) -> [T::Vector<S>; R] {
    let lanes = T::lanes::<S>();
    let from = &from[..R * lanes];
    let mut registers = [T::splat(simd, T::ZERO); R];
    for (i, register) in registers.iter_mut().enumerate() {
        // SAFETY: the slice has been cut to R registers, and i is less than R.
        *register = unsafe { T::load::<S>(from.as_ptr().add(i * lanes)) };
    }
    registers
}

/// Writes the registers with which a slice begins.
#[inline(always)]
pub fn store<T: Float, S: Simd, const R: usize>(to: &mut [T], registers: [T::Vector<S>; R]) {
    let lanes = T::lanes::<S>();
    let to = &mut to[..R * lanes];
    for (i, register) in registers.into_iter().enumerate() {
        // SAFETY: as above.
        unsafe { T::store::<S>(to.as_mut_ptr().add(i * lanes), register) };
    }
}
