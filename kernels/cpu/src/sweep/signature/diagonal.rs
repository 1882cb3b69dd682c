//! The diagonal step: the pivots and their signs, and what the rows below need.

use super::change::BlockChange;
use super::columns::{Block, Triangle};
use super::job::SignatureJob;
use super::rows::Trailing;
use crate::health::Health;
use crate::number::{Float, Number};
use crate::panel::Panel;
use crate::sweep::apply::Tile;
use crate::sweep::at_once::at_once;
use crate::sweep::diagonal::diagonal;
use crate::sweep::scratch::Scratch;
use crate::sweep::shape::{MAX_LANES, NARROW, WIDE, wide};
use core::ops::Range;
use pulp::{Simd, WithSimd};

/// The diagonal step of a panel.
pub struct Diagonal<'a, T: Number> {
    of: &'a SignatureJob<T>,
    panel: Panel,
    health: &'a mut Health<T::Part>,
}

impl<'a, T: Number> Diagonal<'a, T> {
    /// # Safety
    /// When this is run, all earlier panels have been applied to the rows of the block, and no other thread uses these rows, nor what a
    /// diagonal step writes.
    pub unsafe fn new(of: &'a SignatureJob<T>, panel: Panel, health: &'a mut Health<T::Part>) -> Self {
        Self { of, panel, health }
    }
}

impl<T: Number> WithSimd for Diagonal<'_, T> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Self { of, panel, health } = self;
        for (s, first) in panel.block().step_by(of.job.block).enumerate() {
            let columns = first..panel.end().min(first + of.job.block);
            let below = columns.end..panel.end();
            // SAFETY: `new` requires the rows of the block.
            unsafe {
                of.transform(simd, (panel, s), columns, health)?;
                if !below.is_empty() {
                    simd.vectorize(Trailing::new(of, panel, s..s + 1, below));
                }
            }
        }
        Ok(())
    }
}

impl<T: Number> SignatureJob<T> {
    /// Transforms the diagonal block of these columns, block `s` of the panel.
    ///
    /// # Errors
    /// The column whose pivot is zero to working precision.
    ///
    /// # Safety
    /// As [`Diagonal::new`].
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn transform<S: Simd>(
        &self,
        simd: S,
        (panel, s): (Panel, usize),
        columns: Range<usize>,
        health: &mut Health<T::Part>,
    ) -> Result<(), usize> {
        let (first, cols) = (columns.start, columns.len());
        let (tile, offset) = self.job.v.locate(first);
        let mut copy: Triangle<T> = [[T::ZERO; MAX_LANES]; MAX_LANES];
        let (mut old, mut new) = ([T::Part::ONE; MAX_LANES], [T::Part::ONE; MAX_LANES]);
        // SAFETY: the caller guarantees the rows of the block, which are inside one tile, and what the step writes. The signs, and the
        // changes of blocks and columns, are those of all columns of the sweep.
        unsafe {
            let at = self.job.tile(tile, offset, first);
            for j in 0..cols {
                let column = at.src.wrapping_offset(j as isize * at.src_stride);
                core::ptr::copy_nonoverlapping(column.add(j), copy[j].as_mut_ptr().add(j), cols - j);
                old[j] = copy[j][j].real();
            }
            let negative = *self.old.add(first);
            let one_sign = columns.clone().all(|column| *self.old.add(column) == negative);
            let change = BlockChange { plus: *self.plus, negative, one_by_one: false };
            if one_sign && self.together(simd, (panel, s), (cols, change), at, &mut new) {
                *self.block(panel, s) = change;
                columns.for_each(|column| *self.new.add(column) = negative);
            } else {
                *self.block(panel, s) = BlockChange { one_by_one: true, ..change };
                self.one_by_one(simd, (panel, s), columns, at, &mut copy)?;
                for j in 0..cols {
                    let column = at.dst.wrapping_offset(j as isize * at.dst_stride);
                    core::ptr::copy_nonoverlapping(copy[j].as_ptr().add(j), column.add(j), cols - j);
                    new[j] = copy[j][j].real();
                }
            }
        }
        health.record(&old[..cols], &new[..cols]);
        Ok(())
    }

    /// Eliminates V from all columns of a block by two reflectors. Returns `false` if a pivot may change its sign; the new L of the block
    /// may then have been written.
    ///
    /// # Safety
    /// As [`Diagonal::new`].
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn together<S: Simd>(
        &self,
        simd: S,
        (panel, s): (Panel, usize),
        (cols, change): (usize, BlockChange),
        at: Tile<T>,
        new: &mut [T::Part; MAX_LANES],
    ) -> bool {
        let mut scratch = Scratch::new();
        let signed = change.signed(self.rank());
        let reflectors = self.reflectors(panel, s, signed);
        for (signed, at) in scratch.ways(signed, at) {
            let (reflector, minus) = (reflectors[usize::from(signed.minus)], signed.minus);
            let mut before = [T::Part::ONE; MAX_LANES];
            // SAFETY: the caller guarantees the rows of the block, and the reflectors.
            unsafe {
                for (j, before) in before[..cols].iter_mut().enumerate() {
                    *before = (*at.src.wrapping_offset(j as isize * (at.src_stride + 1))).real();
                }
                let made = match wide::<S>() {
                    _ if cols < self.job.block => false,
                    true => at_once::<T, S, { WIDE.1 }>(simd, at, reflector, minus, new),
                    false => at_once::<T, S, { NARROW.1 }>(simd, at, reflector, minus, new),
                };
                if !made && diagonal(simd, cols, at, reflector, minus, new).is_err() {
                    return false;
                }
            }
            // With less than that left, the columns one by one decide. The comparison is false for NaN.
            let share = T::Part::TWO * self.tolerance.sqrt();
            let left = |j: usize| new[j] > share * before[j];
            if minus && !(0..cols).all(left) {
                return false;
            }
        }
        true
    }

    /// Eliminates V from the columns of a block one after the other, in a copy of the block.
    ///
    /// # Errors
    /// The column whose pivot is zero to working precision.
    ///
    /// # Safety
    /// As [`Diagonal::new`].
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn one_by_one<S: Simd>(
        &self,
        simd: S,
        (panel, s): (Panel, usize),
        columns: Range<usize>,
        at: Tile<T>,
        l: &mut Triangle<T>,
    ) -> Result<(), usize> {
        let (v, cols) = (self.coefficients(panel, s), columns.len());
        let rows = T::mask(simd, 0, cols);
        // SAFETY: the caller guarantees the rows of V, and what the step writes; a row of the reflector has a scalar for each lane.
        unsafe {
            for r in 0..v.rank {
                let x = T::load_parts_masked(simd, rows, at.v.add(r * at.v_stride), at.apart());
                T::store::<S>(v.b(r), x);
                T::store::<S>(v.g(r), T::splat(simd, T::ZERO));
            }
            let mut block = Block { l, v, cols };
            for (j, column) in columns.enumerate() {
                let state = (*self.old.add(column), &mut *self.plus);
                let (made, negative) = block.eliminate(j, state, self.tolerance).map_err(|()| column)?;
                *self.columns.add(column) = made;
                *self.new.add(column) = negative;
            }
        }
        Ok(())
    }
}
