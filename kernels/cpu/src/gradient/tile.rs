//! Tiles of rows: how long they are, and their registers.

use crate::isa::fence;
use crate::number::{Float, is_portable};
use crate::sweep::shape::wide;
use faer::MatMut;
use pulp::{Simd, WithSimd};

/// Rows of a tile, and the most columns of L in a panel: the diagonal block of a panel lies in one tile.
pub const TILE: usize = 32;
/// Columns of L that are taken together.
pub const TOGETHER: usize = 4;
/// Sums over rows for each column, besides one for each column of V.
pub const MORE_SUMS: usize = 2;
/// Bytes of the largest register, and of a line of the cache.
pub const LINE: usize = 64;

/// Whether columns of L are taken together, for k columns of V. With fewer, the columns of L are most of what is read, and better read
/// one after the other. With 16 registers, what several columns have in common does not stay in registers.
#[inline(always)]
pub fn by_several<S: Simd>(k: usize) -> bool {
    wide::<S>() && k >= 8
}

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

/// The parts of this length with which a slice begins.
#[inline(always)]
pub fn parts<T>(x: &[T], each: usize) -> [&[T]; TOGETHER] {
    core::array::from_fn(|part| &x[part * each..][..each])
}

/// Writes registers to the memory with which a slice begins: `past` the caches, if so asked and the memory is aligned. Then other threads
/// see it after a `fence`.
#[inline(always)]
pub fn write<T: Float, S: Simd, const R: usize>(to: &mut [T], x: [T::Vector<S>; R], past: bool) {
    let to = registers_mut::<T, S, R>(to);
    if past && !is_portable::<S>() && to.as_ptr().addr().is_multiple_of(size_of::<T::Vector<S>>()) {
        for (to, x) in to.iter_mut().zip(x) {
            // SAFETY: `to` is borrowed memory of a register. The first is at a multiple of its size, and so are those that follow. A
            // register of any but the portable fallback is one of the machine.
            unsafe { T::stream::<S>(core::ptr::from_mut(to).cast(), x) };
        }
    } else {
        *to = x;
    }
}

/// Writes zeros to contiguous columns, past the caches.
pub struct Clear<'a, T> {
    pub to: MatMut<'a, T>,
}

impl<T: Float> WithSimd for Clear<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let zero = [T::splat(simd, T::ZERO)];
        for column in self.to.col_iter_mut() {
            let Some(column) = column.try_as_col_major_mut() else { unreachable!("columns are contiguous") };
            let mut registers = column.as_slice_mut().chunks_exact_mut(T::lanes::<S>());
            registers.by_ref().for_each(|to| write::<T, S, 1>(to, zero, true));
            registers.into_remainder().fill(T::ZERO);
        }
        fence();
    }
}
