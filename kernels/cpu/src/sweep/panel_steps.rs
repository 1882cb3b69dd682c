//! The two steps of a panel, composed of micro-kernels.

use super::at_once::at_once;
use super::diagonal::diagonal;
use super::entries::Entries;
use super::job::{CarriedRows, Job};
use super::low_rank::{self, LowRank, Trailing};
use super::reflection::Reflection;
use super::scratch::Scratch;
use super::shape::{MAX_LANES, NARROW, WIDE, wide};
use crate::compiled;
use crate::health::Health;
use crate::isa::{fence, prefetch_to_write};
use crate::number::Number;
use crate::panel::Panel;
use crate::steps::{Breakdown, Steps};
use core::ops::Range;
use pulp::{Simd, WithSimd};

impl<T: PanelKernels> Steps for Job<T> {
    type Report = Health<T::Part>;

    unsafe fn diagonal(&self, panel: Panel, health: &mut Health<T::Part>) -> Result<(), Breakdown> {
        // SAFETY: the caller guarantees the contract of `Job::diagonal`, which is the same.
        unsafe { Job::diagonal(self, panel, health) }
    }

    unsafe fn trailing(&self, panel: Panel, rows: Range<usize>) {
        // SAFETY: the caller guarantees the contract of `Job::trailing`, which is the same.
        unsafe { Job::trailing(self, panel, rows) }
    }

    fn prefetch(&self, panel: Panel, next: Range<usize>) {
        let (set, len) = self.memory_of_set(panel);
        prefetch_to_write(set, len);
        for column in panel.block() {
            let l = self.l.src.wrapping_offset(column as isize * self.l.src_stride);
            for rows in [panel.block(), next.clone()] {
                prefetch_to_write(l.wrapping_add(rows.start), rows.len());
            }
        }
    }
}

impl<T: PanelKernels> Job<T> {
    /// The diagonal step: transforms the block of `panel` and computes its reflectors.
    ///
    /// # Errors
    /// The column of L whose pivot² is not greater than zero.
    ///
    /// # Safety
    /// All earlier panels have been applied to the rows of the block. No other thread uses these rows, nor the panel's set of
    /// reflectors.
    #[inline(always)]
    pub unsafe fn diagonal(&self, panel: Panel, health: &mut Health<T::Part>) -> Result<(), Breakdown> {
        let made = match self.by_column {
            // SAFETY: the caller guarantees the rows of the block. It is small, and streamed stores would need a fence.
            true => unsafe {
                let low_rank = LowRank { stream: false, ..self.low_rank() };
                let (columns, coefficients) = (panel.block(), self.coefficients(panel));
                T::low_rank_diagonal(
                    self.isa,
                    low_rank::Diagonal::new(low_rank, columns, coefficients, health),
                )
            },
            false => T::diagonal(self.isa, ByReflectors { job: self, panel, health }),
        };
        made.map_err(|column| Breakdown { column })?;
        for column in panel.block() {
            // SAFETY: rows of the block, which no step reads any more.
            unsafe { self.scale(column..column + 1, column..panel.end()) };
        }
        Ok(())
    }

    /// The trailing step on `rows`.
    ///
    /// # Safety
    /// The reflectors of `panel` have been computed, all earlier panels have been applied to `rows`, and no other thread uses
    /// these rows.
    #[inline(always)]
    pub unsafe fn trailing(&self, panel: Panel, rows: Range<usize>) {
        let end = self.carried.map_or(rows.end, |carried| carried.first);
        let (own, below) = (rows.start..rows.end.min(end), rows.start.max(end)..rows.end);
        // SAFETY: the caller guarantees all of `rows`.
        unsafe {
            self.scaled_rows(panel, own);
            if let Some(CarriedRows { entries, .. }) = self.carried {
                Self { l: entries, stream: false, ..*self }.scaled_rows(panel, below);
            }
        }
    }

    /// # Safety
    /// As [`trailing`](Self::trailing).
    #[inline(always)]
    unsafe fn scaled_rows(&self, panel: Panel, rows: Range<usize>) {
        /// Few enough to be in a cache when they are scaled.
        const ROWS: usize = 256;
        if self.scale == T::ONE {
            // SAFETY: the caller guarantees the rows.
            return unsafe { self.rows(panel, rows) };
        }
        let cached = Self { stream: false, ..*self };
        for first in rows.clone().step_by(ROWS) {
            let some = first..rows.end.min(first + ROWS);
            // SAFETY: the caller guarantees the rows; no step reads their new entries any more.
            unsafe {
                cached.rows(panel, some.clone());
                cached.scale(panel.block(), some);
            }
        }
    }

    /// Multiplies new entries by the scale.
    ///
    /// # Safety
    /// The entries have been written, and no other thread uses them.
    #[inline(always)]
    unsafe fn scale(&self, columns: Range<usize>, rows: Range<usize>) {
        let Entries { dst, dst_stride, .. } = self.l;
        if self.scale == T::ONE || dst.is_null() {
            return;
        }
        for column in columns {
            let first = dst.wrapping_offset(column as isize * dst_stride).wrapping_add(rows.start);
            // SAFETY: these rows of the column, which the caller guarantees.
            let entries = unsafe { core::slice::from_raw_parts_mut(first, rows.len()) };
            entries.iter_mut().for_each(|entry| *entry = entry.times(self.scale.real()));
        }
    }

    /// # Safety
    /// As [`trailing`](Self::trailing), for rows in the memory of L.
    #[inline(always)]
    unsafe fn rows(&self, panel: Panel, rows: Range<usize>) {
        if rows.is_empty() {
            return;
        }
        // SAFETY: the caller guarantees the rows.
        unsafe {
            if self.by_column {
                let coefficients = self.coefficients(panel).cast_const();
                T::low_rank_trailing(
                    self.isa,
                    Trailing::new(self.low_rank(), panel.block(), coefficients, rows),
                );
            } else {
                let blocks = 0..panel.cols.div_ceil(self.block);
                T::trailing(self.isa, Reflection::new(self, panel, blocks, rows));
            }
        }
        if self.stream {
            fence();
        }
    }
}

compiled! {
    /// The two steps of a panel, by reflectors and column by column.
    PanelKernels of numbers {
        diagonal: ByReflectors<'_, Self> => Result<(), usize>,
        trailing: Reflection<'_, Self> => (),
        low_rank_diagonal: low_rank::Diagonal<'_, Self> => Result<(), usize>,
        low_rank_trailing: Trailing<Self> => (),
    }
}

/// The diagonal step by block reflectors: [`Job::diagonal`].
pub struct ByReflectors<'a, T: Number> {
    job: &'a Job<T>,
    panel: Panel,
    health: &'a mut Health<T::Part>,
}

impl<T: Number> WithSimd for ByReflectors<'_, T> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Self { job, panel, health } = self;
        let mut scratch = Scratch::new();
        for (s, first) in panel.block().step_by(job.block).enumerate() {
            let cols = job.block.min(panel.end() - first);
            let (tile, offset) = job.v.locate(first);
            let mut old = [T::Part::ONE; MAX_LANES];
            let mut new = old;
            // SAFETY: `Job::diagonal` requires the rows of the block; a micro block is inside one tile, since tiles and panels
            // both start at multiples of its size.
            unsafe {
                let at = job.tile(tile, offset, first);
                for (j, old) in old[..cols].iter_mut().enumerate() {
                    *old = (*at.src.wrapping_offset(j as isize * (at.src_stride + 1))).real();
                }
                for (signed, at) in scratch.ways(job.signed(), at) {
                    let reflector = job.reflector(panel, s, signed);
                    let made = match wide::<S>() {
                        _ if cols < job.block || !job.at_once => false,
                        true => at_once::<T, S, { WIDE.1 }>(simd, at, reflector, signed.minus, &mut new),
                        false => at_once::<T, S, { NARROW.1 }>(simd, at, reflector, signed.minus, &mut new),
                    };
                    if !made {
                        diagonal(simd, cols, at, reflector, signed.minus, &mut new)
                            .map_err(|column| first + column)?;
                    }
                }
                health.record(&old[..cols], &new[..cols]);
                let below = first + cols..panel.end();
                if !below.is_empty() {
                    simd.vectorize(Reflection::new(job, panel, s..s + 1, below));
                }
            }
        }
        Ok(())
    }
}
