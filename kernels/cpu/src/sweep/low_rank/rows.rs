//! Applies the coefficients of a block of columns to rows of L and V.

use super::coefficients::Kind;
use super::{BLOCK, Coefficients, LowRank};
use crate::isa::prefetch;
use crate::number::{Float, Number};
use crate::sweep::apply::{Full, Masked, Rows};
use crate::sweep::shape::{TILES_AHEAD, in_registers, wide};
use core::ops::Range;
use pulp::{Simd, WithSimd};

/// Blocks of columns that are processed together if L is larger than the caches. V is then read half as often, which saves more
/// than the additional streams of L cost.
const TOGETHER: usize = 2;

/// Registers of rows that are processed together, at most. For each there are one of V, one of L and two for results.
const MOST: usize = if cfg!(target_arch = "aarch64") { 3 } else { 4 };

/// The trailing step: applies the coefficients of the panel `columns` to `rows` of L and V below it.
pub struct Trailing<T: Number> {
    low_rank: LowRank<T>,
    columns: Range<usize>,
    coefficients: *const Coefficients<T>,
    rows: Range<usize>,
}

impl<T: Number> Trailing<T> {
    /// # Safety
    /// As [`Job::trailing`](crate::sweep::job::Job::trailing), at the time when it is run; there is a set of
    /// coefficients for each block of columns and column of V.
    pub unsafe fn new(
        low_rank: LowRank<T>,
        columns: Range<usize>,
        coefficients: *const Coefficients<T>,
        rows: Range<usize>,
    ) -> Self {
        Self { low_rank, columns, coefficients, rows }
    }

    /// # Safety
    /// As `new`, for K columns of V.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn run<S: Simd, const K: usize>(self, simd: S) {
        let Self { low_rank, columns, coefficients, rows } = self;
        if let (true, Some(real)) = (K > 1 && low_rank.together, low_rank.real()) {
            // SAFETY: the sets have been computed, and no thread writes to them; the caller guarantees the rest.
            return unsafe { real.rows_together::<S, K>(simd, columns, coefficients.cast(), rows) };
        }
        let blocks = if low_rank.large { TOGETHER } else { 1 };
        for (at, first) in columns.clone().step_by(blocks * BLOCK).enumerate() {
            let together = first..columns.end.min(first + blocks * BLOCK);
            // SAFETY: the coefficients have been computed, and no thread writes to them; the caller guarantees the rest.
            unsafe {
                let of_blocks = coefficients.add(at * blocks * K).cast::<[Coefficients<T>; K]>();
                let of_blocks = core::slice::from_raw_parts(of_blocks, together.len().div_ceil(BLOCK));
                low_rank.rows(simd, together, of_blocks, rows.clone());
            }
        }
    }
}

impl<T: Number> WithSimd for Trailing<T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // SAFETY: `new` requires exactly this.
        unsafe {
            match self.low_rank.rank {
                1 => self.run::<S, 1>(simd),
                2 => self.run::<S, 2>(simd),
                3 => self.run::<S, 3>(simd),
                _ => self.run::<S, 4>(simd),
            }
        }
    }
}

impl<T: Number> LowRank<T> {
    /// Applies the coefficients of `columns`, block by block, to `rows` of L and of K columns of V, all below these columns.
    ///
    /// # Safety
    /// As [`Job::trailing`](crate::sweep::job::Job::trailing).
    #[cfg_attr(not(unoptimized), inline(always))]
    pub unsafe fn rows<S: Simd, const K: usize>(
        &self,
        simd: S,
        columns: Range<usize>,
        coefficients: &[[Coefficients<T>; K]],
        rows: Range<usize>,
    ) {
        // SAFETY: the caller guarantees the rows.
        unsafe {
            match coefficients.iter().flatten().any(Coefficients::interchanged) {
                true => self.all_rows::<S, K, true>(simd, columns, coefficients, rows),
                false => self.all_rows::<S, K, false>(simd, columns, coefficients, rows),
            }
        }
    }

    /// The same; `INTERCHANGED`: columns of V and L are interchanged.
    ///
    /// # Safety
    /// As `rows`.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn all_rows<S: Simd, const K: usize, const INTERCHANGED: bool>(
        &self,
        simd: S,
        columns: Range<usize>,
        coefficients: &[[Coefficients<T>; K]],
        rows: Range<usize>,
    ) {
        let lanes = T::lanes::<S>();
        let mut row = rows.start;
        // SAFETY: the caller guarantees the rows; the mask restricts accesses to the remaining ones.
        unsafe {
            // As many registers of rows as fit: within one row each operation waits for the previous one.
            let registers = match (wide::<S>(), K) {
                (true, _) | (false, 1) => MOST,
                (false, _) => 2,
            };
            let together = registers / T::PARTS;
            // Interchanges are rare, so a single register at a time keeps the code small.
            if !INTERCHANGED {
                while together == MOST && row + MOST * lanes <= rows.end {
                    self.tile::<S, _, MOST, K, false>(simd, Full, columns.clone(), coefficients, row);
                    row += MOST * lanes;
                }
                while together > 1 && row + 2 * lanes <= rows.end {
                    self.tile::<S, _, 2, K, false>(simd, Full, columns.clone(), coefficients, row);
                    row += 2 * lanes;
                }
            }
            while row < rows.end {
                let mask = Masked([T::mask(simd, 0, (rows.end - row).min(lanes))]);
                self.tile::<S, _, 1, K, INTERCHANGED>(simd, mask, columns.clone(), coefficients, row);
                row += lanes;
            }
        }
    }

    /// Processes RV registers of rows from `row` on, for all `columns`. V stays in registers.
    ///
    /// # Safety
    /// As `rows`, for the real lanes of these registers.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn tile<S: Simd, A: Rows<T, S>, const RV: usize, const K: usize, const INTERCHANGED: bool>(
        &self,
        simd: S,
        real: A,
        columns: Range<usize>,
        coefficients: &[[Coefficients<T>; K]],
        row: usize,
    ) {
        let lanes = T::lanes::<S>();
        let (zero, two) = (T::splat(simd, T::ZERO), T::Part::splat(simd, T::Part::TWO));
        // Whole lines, from the start of a line on. Of a single register a part may be real.
        let lines = |rows: usize| (rows * size_of::<T>()).is_multiple_of(64);
        let streamed = self.stream && RV > 1 && lines(row) && lines(RV * lanes);
        // Of 16 registers, L, its changes and its new entries leave too few for V if all are processed side by side.
        let at_once = if in_registers::<S>() { RV } else { RV.min(2) };
        let (large, written) = (self.large, !self.l.dst.is_null());
        let (src_stride, dst_stride) = (self.l.src_stride, self.l.dst_stride);
        // SAFETY: all accesses: the caller guarantees the real rows and the columns.
        unsafe {
            let mut v = [[zero; RV]; K];
            for r in 0..K {
                for i in 0..RV {
                    v[r][i] = real.load_v(simd, i, self.v(row + i * lanes, r), self.apart());
                }
            }
            // Pointers and not indices: the loop over columns is short, and what it keeps in memory delays it.
            let mut src = self.src(row, columns.start);
            let mut dst = self.l.dst.wrapping_offset(columns.start as isize * dst_stride).wrapping_add(row);
            let mut left = columns.len();
            for of_block in coefficients {
                let width = left.min(BLOCK);
                left -= width;
                for j in 0..width {
                    prefetch::<1, T>(src.wrapping_add(RV * lanes), RV * lanes);
                    if large {
                        prefetch::<2, T>(src.wrapping_add(TILES_AHEAD * RV * lanes), RV * lanes);
                    }
                    for first in (0..RV).step_by(at_once) {
                        let some = first..RV.min(first + at_once);
                        let (mut old, mut change) = ([zero; RV], [zero; RV]);
                        for i in some.clone() {
                            old[i] = real.load(simd, i, src.add(i * lanes));
                        }
                        let mut new = old;
                        for r in 0..K {
                            if INTERCHANGED && of_block[r].interchanges[j] != T::ZERO {
                                for i in some.clone() {
                                    let (l, minus) = (new[i], r >= self.plus);
                                    (new[i], v[r][i]) = of_block[r].change_places(simd, j, l, v[r][i], minus);
                                    (old[i], change[i]) = (new[i], zero);
                                }
                                continue;
                            }
                            let Coefficients { p, x, g, .. } = &of_block[r];
                            let (p, g) = (T::splat(simd, p[j]), T::splat(simd, g[j]));
                            let x = T::Part::splat(simd, x[j].real());
                            for i in some.clone() {
                                let l = new[i];
                                let d = T::mul_add(simd, g, v[r][i], T::vtimes(simd, x, l));
                                change[i] = if r == 0 { d } else { T::vadd(simd, change[i], d) };
                                new[i] = T::vadd(simd, old[i], change[i]);
                                let both = if (K == 1 && T::PARTS == 1) || self.kind(r) == Kind::AfterPlus {
                                    T::times_add(simd, two, l, d)
                                } else {
                                    T::vadd(simd, l, new[i])
                                };
                                v[r][i] = T::neg_mul_add(simd, p, both, v[r][i]);
                            }
                        }
                        for i in some {
                            if streamed {
                                T::stream::<S>(dst.add(i * lanes), new[i]);
                            } else if written {
                                real.store(simd, i, dst.add(i * lanes), new[i]);
                            }
                        }
                    }
                    (src, dst) = (src.wrapping_offset(src_stride), dst.wrapping_offset(dst_stride));
                }
            }
            for r in 0..K {
                for i in 0..RV {
                    real.store_v(simd, i, self.v(row + i * lanes, r), self.apart(), v[r][i]);
                }
            }
        }
    }
}
