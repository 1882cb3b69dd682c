//! A part of the rows of a tile of V, above or below its whole tiles: as many registers at a time as fit, with masks.

use super::apply::{Full, Masked, Rows, Tile, apply};
use super::in_registers::{Column, Store, apply as apply_columns};
use super::interchange::apply_by_column;
use super::job::Job;
use super::reflector::Reflector;
use super::scratch::Scratch;
use super::shape::{NARROW, WIDE, wide};
use crate::number::Number;
use crate::panel::Panel;
use core::ops::Range;
use pulp::{Simd, WithSimd};

/// The registers of a tile that have rows of `inside`, from the one with row `row` on: the lanes that are such rows.
struct Lanes<'a, S> {
    simd: S,
    inside: &'a Range<usize>,
    row: usize,
}

impl<S: Simd> Lanes<'_, S> {
    /// Registers that are left.
    #[inline(always)]
    fn left<T: Number>(&self) -> usize {
        (self.inside.end - self.row).div_ceil(T::lanes::<S>())
    }

    /// The real lanes of the next N registers, of which that many are left. All those between the first and the last are.
    #[inline(always)]
    fn next<T: Number, const N: usize>(&self) -> [T::Mask<S>; N] {
        let Self { simd, inside, row } = *self;
        let mut masks = [T::mask(simd, 0, T::lanes::<S>()); N];
        let last = row + (N - 1) * T::lanes::<S>();
        masks[N - 1] = T::mask(simd, 0, T::lanes::<S>().min(inside.end - last));
        let end = T::lanes::<S>().min(inside.end - row);
        masks[0] = T::mask(simd, inside.start.saturating_sub(row), end);
        masks
    }
}

/// Columns with V in registers for rows `inside` of a tile. It is a function of its own, and not inlined at each of its calls.
pub struct InRegisters<'a, T: Number, const K: usize, const P: usize> {
    job: &'a Job<T>,
    columns: &'a [Column<T, K, P>],
    tile: usize,
    inside: Range<usize>,
    first: usize,
    store: Store,
}

impl<'a, T: Number, const K: usize, const P: usize> InRegisters<'a, T, K, P> {
    /// For `columns`, the first of which is column `first` of L.
    ///
    /// # Safety
    /// As [`Job::trailing`], for these columns and rows, at the time when this is run.
    pub unsafe fn new(
        job: &'a Job<T>,
        (columns, first): (&'a [Column<T, K, P>], usize),
        (tile, inside): (usize, Range<usize>),
        store: Store,
    ) -> Self {
        Self { job, columns, tile, inside, first, store }
    }
}

impl<T: Number, const K: usize, const P: usize> WithSimd for InRegisters<'_, T, K, P> {
    type Output = ();

    /// As many registers at a time as fit.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { job, columns, tile, inside, first, store } = self;
        let mut row = inside.start / T::lanes::<S>() * T::lanes::<S>();
        while row < inside.end {
            let lanes = Lanes { simd, inside: &inside, row };
            // SAFETY: `new` requires the rows `inside`, and masks restrict accesses to them.
            unsafe {
                let at = job.tile(tile, row, first);
                macro_rules! some {
                    ($n:literal) => {{
                        let rows = Masked(lanes.next::<T, $n>());
                        apply_columns::<T, S, _, $n, K, P>(simd, rows, columns, at, store);
                        row += $n * T::lanes::<S>();
                    }};
                }
                match lanes.left::<T>().min(WIDE.0 / T::PARTS) {
                    _ if !wide::<S>() => some!(1),
                    1 => some!(1),
                    2 => some!(2),
                    3 => some!(3),
                    _ => some!(4),
                }
            }
        }
    }
}

/// The micro reflectors for rows `inside` of a tile. It is a function of its own, and not inlined at each of its calls.
pub struct ByReflectors<'a, T: Number> {
    job: &'a Job<T>,
    panel: Panel,
    blocks: Range<usize>,
    tile: usize,
    inside: Range<usize>,
}

impl<'a, T: Number> ByReflectors<'a, T> {
    /// # Safety
    /// As [`Job::trailing`], for these reflectors and rows, at the time when this is run.
    pub unsafe fn new(
        job: &'a Job<T>,
        (panel, blocks): (Panel, Range<usize>),
        (tile, inside): (usize, Range<usize>),
    ) -> Self {
        Self { job, panel, blocks, tile, inside }
    }
}

impl<T: Number> WithSimd for ByReflectors<'_, T> {
    type Output = ();

    /// As many registers at a time as fit.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { job, panel, blocks, tile, inside } = self;
        let lanes = T::lanes::<S>();
        for s in blocks {
            let column = panel.first + s * job.block;
            let of_block = OfBlock {
                simd,
                job,
                cols: job.block.min(panel.end() - column),
                reflectors: job.signed().map(|signed| job.reflector(panel, s, signed)),
            };
            let mut row = inside.start / lanes * lanes;
            while row < inside.end {
                let all_real = row >= inside.start && row + lanes <= inside.end;
                let some = Lanes { simd, inside: &inside, row };
                // SAFETY: `new` requires the rows `inside`, and masks restrict accesses to them.
                row += lanes
                    * unsafe {
                        let at = job.tile(tile, row, column);
                        match (wide::<S>(), some.left::<T>().min(WIDE.0 / T::PARTS)) {
                            (true, 4..) => of_block.reflect(some.next::<T, 4>(), at),
                            (true, 3) => of_block.reflect(some.next::<T, 3>(), at),
                            (true, 2) => of_block.reflect(some.next::<T, 2>(), at),
                            (false, _) if all_real => of_block.reflect_whole(some.next::<T, 1>(), at),
                            _ => of_block.reflect(some.next::<T, 1>(), at),
                        }
                    };
            }
        }
    }
}

/// The reflectors of one block of columns, of both signs.
struct OfBlock<'a, T: Number, S> {
    simd: S,
    job: &'a Job<T>,
    cols: usize,
    reflectors: [Reflector<T>; 2],
}

impl<T: Number, S: Simd> OfBlock<'_, T, S> {
    /// Applies them to the registers of rows from `at` on, of which these lanes are real. Returns the number of registers.
    ///
    /// # Safety
    /// As [`ByReflectors::new`], for the real rows.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn reflect<const RV: usize>(&self, real: [T::Mask<S>; RV], at: Tile<T>) -> usize {
        // SAFETY: the caller guarantees the real rows.
        unsafe { self.through::<_, RV>(Masked(real), real, at) }
    }

    /// The same for one register, all of whose lanes are real.
    ///
    /// # Safety
    /// As `reflect`.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn reflect_whole(&self, real: [T::Mask<S>; 1], at: Tile<T>) -> usize {
        // SAFETY: the caller guarantees the rows.
        unsafe { self.through::<_, 1>(Full, real, at) }
    }

    /// # Safety
    /// As `reflect`; `rows` loads and stores the lanes of `real`.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn through<A: Rows<T, S>, const RV: usize>(
        &self,
        rows: A,
        real: [T::Mask<S>; RV],
        at: Tile<T>,
    ) -> usize {
        let Self { simd, job, cols, reflectors } = *self;
        let mut scratch = Scratch::new();
        for (signed, at) in scratch.ways(job.signed(), at) {
            let (rank, reflector) = (signed.rank, reflectors[usize::from(signed.minus)]);
            // SAFETY: the caller guarantees the real rows.
            unsafe {
                if reflector.interchanged() {
                    for (i, real) in real.into_iter().enumerate() {
                        let (at, columns) = (at.rows_below(i * T::lanes::<S>()), (cols, signed.minus));
                        apply_by_column::<T, S, _, 1>(simd, Masked([real]), columns, at, reflector);
                    }
                } else if wide::<S>() {
                    apply::<T, S, A, RV, { WIDE.1 }>(simd, rows, cols, rank, at, reflector);
                } else {
                    apply::<T, S, A, RV, { NARROW.1 }>(simd, rows, cols, rank, at, reflector);
                }
            }
        }
        RV
    }
}
