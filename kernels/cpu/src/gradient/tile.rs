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
pub fn registers<T: Float, S: Simd, const R: usize>(x: &[T]) -> &[T::Vector<S>; R] {
    match T::registers::<S>(&x[..R * T::lanes::<S>()]).first_chunk() {
        Some(registers) => registers,
        None => unreachable!("a slice of R registers has R registers"),
    }
}

/// The same, to be written.
#[inline(always)]
pub fn registers_mut<T: Float, S: Simd, const R: usize>(x: &mut [T]) -> &mut [T::Vector<S>; R] {
    match T::registers_mut::<S>(&mut x[..R * T::lanes::<S>()]).first_chunk_mut() {
        Some(registers) => registers,
        None => unreachable!("a slice of R registers has R registers"),
    }
}
