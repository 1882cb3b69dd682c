//! The coefficients of a panel applied to rows of L and V.

use super::{Coefficients, RankOne};
use crate::cpu::kernels::apply::{Full, Masked, Rows};
use crate::cpu::kernels::shape::TILES_AHEAD;
use crate::host::isa::{prefetch, stream};
use crate::scalar::Scalar;
use core::ops::Range;
use pulp::{Simd, WithSimd};

/// Registers of rows that are worked on together, so that the chain through a row has company.
const ROW_VECTORS: usize = 4;

/// Columns of L that are gone down together: as many streams as hardware prefetchers follow.
const STREAMS: usize = 8;

/// The trailing step: see [`RankOne::trailing`].
pub(crate) struct Trailing<'a, T> {
    rank_one: RankOne<T>,
    columns: Range<usize>,
    coefficients: &'a Coefficients<T>,
    rows: Range<usize>,
}

impl<T: Scalar> WithSimd for Trailing<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let panel = self.columns.start;
        // SAFETY: `RankOne::trailing` demands exactly this.
        unsafe { self.rank_one.rows(simd, panel, self.columns, self.coefficients, self.rows) };
    }
}

impl<T: Scalar> RankOne<T> {
    /// The trailing step: applies the coefficients of the panel `columns` to `rows` of L and V below it.
    ///
    /// # Safety
    /// As [`Job::trailing`](crate::cpu::kernels::job::Job::trailing), when it is run.
    pub unsafe fn trailing(
        self,
        columns: Range<usize>,
        coefficients: &Coefficients<T>,
        rows: Range<usize>,
    ) -> Trailing<'_, T> {
        Trailing { rank_one: self, columns, coefficients, rows }
    }

    /// Applies the coefficients of `columns` to `rows` of L and V, all below those columns.
    ///
    /// `panel` is where the columns' panel begins: coefficient j is that of column `panel + j`.
    ///
    /// # Safety
    /// As [`Job::trailing`](crate::cpu::kernels::job::Job::trailing).
    #[inline(always)]
    pub(super) unsafe fn rows<S: Simd>(
        &self,
        simd: S,
        panel: usize,
        columns: Range<usize>,
        coefficients: &Coefficients<T>,
        rows: Range<usize>,
    ) {
        for first in columns.clone().step_by(STREAMS) {
            let columns = first..columns.end.min(first + STREAMS);
            // SAFETY: forwarded to the caller.
            unsafe { self.few_columns(simd, panel, columns, coefficients, rows.clone()) };
        }
    }

    /// The same for few enough columns.
    ///
    /// # Safety
    /// As `rows`.
    #[inline(always)]
    unsafe fn few_columns<S: Simd>(
        &self,
        simd: S,
        panel: usize,
        columns: Range<usize>,
        coefficients: &Coefficients<T>,
        rows: Range<usize>,
    ) {
        let lanes = T::lanes::<S>();
        let mut row = rows.start;
        // SAFETY: forwarded to the caller; the mask keeps to what is left of `rows`.
        unsafe {
            while row + ROW_VECTORS * lanes <= rows.end {
                self.tile::<S, _, ROW_VECTORS>(simd, Full, panel, columns.clone(), coefficients, row);
                row += ROW_VECTORS * lanes;
            }
            while row + 2 * lanes <= rows.end {
                self.tile::<S, _, 2>(simd, Full, panel, columns.clone(), coefficients, row);
                row += 2 * lanes;
            }
            while row < rows.end {
                let mask = Masked([T::mask(simd, 0, (rows.end - row).min(lanes))]);
                self.tile::<S, _, 1>(simd, mask, panel, columns.clone(), coefficients, row);
                row += lanes;
            }
        }
    }

    /// RV registers of rows from `row` on, over all `columns`: v stays in registers.
    ///
    /// # Safety
    /// As `rows`, for the real lanes of these registers.
    #[inline(always)]
    unsafe fn tile<S: Simd, A: Rows<T, S>, const RV: usize>(
        &self,
        simd: S,
        real: A,
        panel: usize,
        columns: Range<usize>,
        coefficients: &Coefficients<T>,
        row: usize,
    ) {
        let lanes = T::lanes::<S>();
        let place = columns.start - panel..columns.end - panel;
        let (p, x, g) =
            (&coefficients.p[place.clone()], &coefficients.x[place.clone()], &coefficients.g[place]);
        // SAFETY: all accesses: the real rows and the columns are the caller's.
        unsafe {
            let mut v = [T::splat(simd, T::ZERO); RV];
            for i in 0..RV {
                v[i] = real.load(simd, i, self.row(row + i * lanes));
            }
            if columns.start == panel && coefficients.scale != T::ONE {
                let scale = T::splat(simd, coefficients.scale);
                v.iter_mut().for_each(|x| *x = T::vmul(simd, *x, scale));
            }
            // Whole lines: RV registers of at least 32 bytes, from the start of a line on.
            let streamed = self.stream && RV == ROW_VECTORS && (row * size_of::<T>()).is_multiple_of(64);
            let mixed = coefficients.mixed != T::ZERO;
            for (j, ((&p, &x), &g)) in p.iter().zip(x).zip(g).enumerate() {
                let (src, dst) = (self.src(row, columns.start + j), self.dst(row, columns.start + j));
                prefetch::<1, T>(src.wrapping_add(RV * lanes), RV * lanes);
                if self.large {
                    prefetch::<2, T>(src.wrapping_add(TILES_AHEAD * RV * lanes), RV * lanes);
                }
                let (p, x, g) = (T::splat(simd, p), T::splat(simd, x), T::splat(simd, g));
                for i in 0..RV {
                    let old = real.load(simd, i, src.add(i * lanes));
                    let kept = T::vmul(simd, x, old);
                    let new = if mixed {
                        let new = T::vadd(simd, old, T::mul_add(simd, g, v[i], kept));
                        v[i] = T::neg_mul_add(simd, p, T::vadd(simd, old, new), v[i]);
                        new
                    } else {
                        v[i] = T::neg_mul_add(simd, p, old, v[i]);
                        T::vadd(simd, old, T::mul_add(simd, g, v[i], kept))
                    };
                    if streamed {
                        stream(dst.add(i * lanes), new);
                    } else if !dst.is_null() {
                        real.store(simd, i, dst.add(i * lanes), new);
                    }
                }
            }
            for i in 0..RV {
                real.store(simd, i, self.row(row + i * lanes), v[i]);
            }
        }
    }
}
