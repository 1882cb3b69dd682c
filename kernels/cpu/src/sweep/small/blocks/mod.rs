//! The modification of a small L in blocks of columns, in place.

mod coefficients;
mod memory;

use self::coefficients::{Coefficients, Each, Ratios};
use self::memory::{Block, LAST, Memory, STRIDE};
use super::{Made, Small, usual};
use crate::number::Float;
use crate::sweep::low_rank::BLOCK;
use crate::sweep::shape::MAX_LANES;
use core::mem::MaybeUninit;
use pulp::{Simd, WithSimd};

/// A [`Small`] in blocks of columns. By reference, as [`Few`](super::Few).
pub struct Blocks<'a, T>(pub &'a Small<T>);

impl<T: Float> WithSimd for Blocks<'_, T> {
    type Output = Option<Made>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        // SAFETY: `Small::new` requires exactly this.
        unsafe { self.0.in_blocks(simd) }
    }
}

impl<T: Float> Small<T> {
    /// # Safety
    /// As [`new`](Self::new).
    #[inline(always)]
    unsafe fn in_blocks<S: Simd>(&self, simd: S) -> Option<Made> {
        let mut memory = MaybeUninit::<Memory<T>>::uninit();
        let memory = memory.as_mut_ptr();
        let mut ratios = Ratios::default();
        // SAFETY: `new` requires what each step does; each reads what the steps before it have written.
        unsafe {
            let at = Memory::parts(memory);
            let square = self.take_v(simd, at.v);
            if !usual(square) {
                return None;
            }
            let mut first = 0;
            while first < self.rows {
                let whole = self.rows - first >= BLOCK;
                let width = if whole { BLOCK } else { self.rows - first };
                let old = at.old.add(first * (STRIDE + 1));
                let block = match whole {
                    true => {
                        Block { first, l: self.column(first).wrapping_add(first), stride: self.stride, old }
                    }
                    false => {
                        self.fill_last(simd, (first, width), at);
                        Block { first, l: at.last, stride: LAST as isize, old }
                    }
                };
                let Some(new) = self.block(simd, block, width, at.v, &mut ratios) else {
                    self.restore(first, at);
                    return None;
                };
                // The pivots come last: a register of which a part has just been written cannot be loaded at once.
                if whole {
                    for j in 0..BLOCK {
                        *block.column(j).add(j) = new[j];
                    }
                } else {
                    self.take_last(simd, (first, width), at);
                    for j in 0..width {
                        *self.column(first + j).add(first + j) = new[j];
                    }
                }
                first += BLOCK;
            }
            Some(ratios.made(square))
        }
    }

    /// Transforms the columns of a block, of which `width` are columns of L, and all rows from there on, but for the pivots, which
    /// are returned. If that would not be accurate, nothing has been written.
    ///
    /// # Safety
    /// As [`new`](Self::new), after the blocks before.
    #[inline(always)]
    unsafe fn block<S: Simd>(
        &self,
        simd: S,
        block: Block<T>,
        width: usize,
        v: *mut T,
        ratios: &mut Ratios<T>,
    ) -> Option<Each<T>> {
        let (lanes, mut pivots) = (T::lanes::<S>(), [T::ONE; MAX_LANES]);
        // SAFETY: the caller guarantees the rows and columns.
        unsafe {
            for j in 0..BLOCK {
                pivots[j] = *block.column(j).add(j);
            }
            let (coefficients, new) = self.coefficients(simd, block, &pivots, v)?;
            // First the rows that the next block waits for.
            let mut row = block.first + BLOCK;
            while row < self.rows {
                match self.rows - row > lanes {
                    true => self.rows_below::<S, 2>(simd, block, row, &coefficients, v),
                    false => self.rows_below::<S, 1>(simd, block, row, &coefficients, v),
                }
                row += 2 * lanes;
            }
            self.own_rows(simd, block, &coefficients, v);
            ratios.record(&pivots, &new, width);
            Some(new)
        }
    }

    /// Applies the coefficients of a block to RV registers of rows below it, from `row` on.
    ///
    /// # Safety
    /// As `block`.
    #[inline(always)]
    unsafe fn rows_below<S: Simd, const RV: usize>(
        &self,
        simd: S,
        block: Block<T>,
        row: usize,
        coefficients: &Coefficients<T>,
        of_v: *mut T,
    ) {
        let (lanes, first) = (T::lanes::<S>(), block.first);
        let mut v = [T::splat(simd, T::ZERO); RV];
        // SAFETY: rows of V and of the columns of the block; only the last register may reach beyond the last row.
        unsafe {
            for i in 0..RV {
                v[i] = T::load::<S>(of_v.add(row + i * lanes));
            }
            for j in 0..BLOCK {
                let (column, old) = (self.column(first + j), block.old(j).add(row - first));
                for i in 0..RV {
                    let row = row + i * lanes;
                    let l = match i + 1 < RV {
                        true => T::load::<S>(column.add(row)),
                        false => self.load(simd, column, row),
                    };
                    T::store::<S>(old.add(i * lanes), l);
                    let new;
                    (new, v[i]) = coefficients.apply(simd, j, l, v[i]);
                    match i + 1 < RV {
                        true => T::store::<S>(column.add(row), new),
                        false => self.store(simd, column, row, new),
                    }
                }
            }
            for i in 0..RV {
                T::store::<S>(of_v.add(row + i * lanes), v[i]);
            }
        }
    }

    /// Applies the coefficients of a block to its own rows, below the diagonal.
    ///
    /// # Safety
    /// As `block`.
    #[inline(always)]
    unsafe fn own_rows<S: Simd>(
        &self,
        simd: S,
        block: Block<T>,
        coefficients: &Coefficients<T>,
        v: *const T,
    ) {
        let (lanes, zero) = (T::lanes::<S>(), T::splat(simd, T::ZERO));
        let mut above = 0;
        while above < BLOCK {
            let end = if lanes < BLOCK { above + lanes } else { BLOCK };
            // SAFETY: rows of V and of the columns of the block. Of a register that is larger than a block, the rest are rows below
            // it, or space after them.
            unsafe {
                let mut v = T::load::<S>(v.add(block.first + above));
                let all = T::mask(simd, 0, BLOCK.min(lanes));
                for j in 0..end {
                    if j >= above {
                        // Above the diagonal the entries of L are zero, and so remain with zeros in V. The pivot is written later.
                        v = T::select(simd, T::mask(simd, 0, j + 1 - above), zero, v);
                    }
                    let (l, old) = (block.column(j).add(above), block.old(j).add(above));
                    let entries = match lanes > BLOCK {
                        true => T::load_masked(simd, all, l),
                        false => T::load::<S>(l),
                    };
                    let new;
                    (new, v) = coefficients.apply(simd, j, entries, v);
                    match lanes > BLOCK {
                        true => {
                            T::store_masked(simd, all, old, entries);
                            T::store_masked(simd, all, l, new);
                        }
                        false => {
                            T::store::<S>(old, entries);
                            T::store::<S>(l, new);
                        }
                    }
                }
            }
            above += lanes;
        }
    }
}
