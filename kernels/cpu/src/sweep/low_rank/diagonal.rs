//! The diagonal step: the blocks of a panel, one after the other, each with the rows of the panel below it.

use super::{BLOCK, Coefficients, LowRank};
use crate::health::Health;
use crate::number::Number;
use core::ops::Range;
use pulp::{Simd, WithSimd};

/// The diagonal step of the panel `columns`: transforms the diagonal block and computes the coefficients.
pub struct Diagonal<'a, T: Number> {
    low_rank: LowRank<T>,
    columns: Range<usize>,
    coefficients: *mut Coefficients<T>,
    health: &'a mut Health<T::Part>,
}

impl<'a, T: Number> Diagonal<'a, T> {
    /// # Safety
    /// As [`Job::diagonal`](crate::sweep::job::Job::diagonal), at the time when it is run.
    pub unsafe fn new(
        low_rank: LowRank<T>,
        columns: Range<usize>,
        coefficients: *mut Coefficients<T>,
        health: &'a mut Health<T::Part>,
    ) -> Self {
        Self { low_rank, columns, coefficients, health }
    }
}

impl<T: Number> WithSimd for Diagonal<'_, T> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        // SAFETY: `new` requires exactly this.
        unsafe {
            debug_assert!((1..=4).contains(&self.low_rank.rank));
            match self.low_rank.rank {
                1 => self.run::<S, 1>(simd),
                2 => self.run::<S, 2>(simd),
                3 => self.run::<S, 3>(simd),
                _ => self.run::<S, 4>(simd),
            }
        }
    }
}

impl<T: Number> Diagonal<'_, T> {
    /// # Safety
    /// As `new`, for K columns of V.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn run<S: Simd, const K: usize>(self, simd: S) -> Result<(), usize> {
        let Self { low_rank, columns, coefficients, health } = self;
        if let (true, Some(real)) = (K > 1 && low_rank.together, low_rank.real()) {
            // SAFETY: the caller guarantees the rows of the panel, and memory for the sets.
            return unsafe { real.panel_together::<S, K>(simd, columns, coefficients.cast(), health) };
        }
        for (at, first) in columns.clone().step_by(BLOCK).enumerate() {
            let block = first..columns.end.min(first + BLOCK);
            // SAFETY: the caller guarantees the rows of the panel; there are K sets of coefficients for each block.
            unsafe {
                let coefficients = &mut *coefficients.add(at * K).cast::<[Coefficients<T>; K]>();
                low_rank.diagonal_block(simd, block.clone(), coefficients, health)?;
                let below = block.end..columns.end;
                low_rank.rows(simd, block, core::slice::from_ref(coefficients), below);
            }
        }
        Ok(())
    }
}
