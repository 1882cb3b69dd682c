//! The two steps of a panel for V with one column, where the arithmetic is so little that its latency decides.
//!
//! With p = D⁻¹ v for the diagonal block D of a few columns, known from a short chain of multiply-adds, everything else
//! follows without one: t_j = 1 + σ (p_1² + … + p_j²), and for every row i below (method C1 of Gill, Golub, Murray and Saunders,
//! *Methods for modifying matrix factorizations*, 1974)
//!
//! ```text
//! v_i ← v_i − p_j l_ij          l'_ij = c_j l_ij + g_j v_i,     c_j² = t_j / t_{j−1},  g_j = σ p_j / √(t_{j−1} t_j)
//! ```
//!
//! The true residual is v / √t; the root is taken out of v only now and then. This form loses accuracy in proportion to t
//! where t is large, that is, where V dominates. t is known before anything is written, so blocks that would bring
//! it above [`LARGEST_GROWTH`] are done by the hyperbolic reflection in its mixed form instead:
//!
//! ```text
//! l'_ij = c_j l_ij + g_j v_i    v_i ← v_i − p_j (l_ij + l'_ij),     c_j = l/α, g_j = σ a/α, p_j = a/(l + α)
//! ```

use super::diagonal::{pivot, scaled_pivot};
use super::trailing::{Full, Masked, Rows};
use super::worker::Columns;
use crate::report::Health;
use crate::scalar::Scalar;
use core::ops::Range;
use pulp::Simd;

/// Columns whose coefficients are made together: a cache line of f64.
pub(crate) const BLOCK: usize = 8;

/// Largest t / t_0 within a block, and largest t before its root is taken out. Measured backward errors are those of the mixed form
/// up to 256; without a limit they are 10² times as large.
const LARGEST_GROWTH: f64 = 64.0;

/// Registers of rows that are worked on together, so that the chain through a row has company.
const ROW_VECTORS: usize = 4;

/// The coefficients of BLOCK columns, in one piece of memory shared with the block reflectors of higher rank.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Coefficients<T> {
    p: [T; BLOCK],
    c: [T; BLOCK],
    g: [T; BLOCK],
    /// What v is multiplied by before the block.
    scale: T,
    /// 1 for the mixed form, 0 for method C1.
    mixed: T,
}

impl<T> Coefficients<T> {
    /// Scalars that the coefficients of a panel take.
    pub fn len(panel_cols: usize) -> usize {
        panel_cols.div_ceil(BLOCK) * size_of::<Self>() / size_of::<T>()
    }
}

/// What the steps work on: L, the one column of V by absolute row, and its sign.
#[derive(Clone, Copy)]
pub(crate) struct RankOne<T> {
    pub l: Columns<T>,
    pub v: *mut T,
    pub sign: T,
}

impl<T: Scalar> RankOne<T> {
    /// # Safety
    /// Row and column must lie inside L.
    #[inline(always)]
    unsafe fn src(&self, row: usize, column: usize) -> *const T {
        // SAFETY: the caller vouches for the entry.
        unsafe { self.l.src.offset(column as isize * self.l.src_stride).add(row) }
    }

    /// Null where nothing is to be written.
    ///
    /// # Safety
    /// Row and column must lie inside L.
    #[inline(always)]
    unsafe fn dst(&self, row: usize, column: usize) -> *mut T {
        if self.l.dst.is_null() {
            return self.l.dst;
        }
        // SAFETY: the caller vouches for the entry.
        unsafe { self.l.dst.offset(column as isize * self.l.dst_stride).add(row) }
    }

    /// The diagonal step on the block of `columns`; `t` is carried from one block to the next.
    ///
    /// # Errors
    /// The column whose pivot² is not greater than zero.
    ///
    /// # Safety
    /// As [`Job::diagonal`](super::worker::Job::diagonal); `coefficients` has room for the blocks of `columns`.
    #[inline(always)]
    pub unsafe fn diagonal<S: Simd>(
        &self,
        simd: S,
        columns: Range<usize>,
        coefficients: *mut Coefficients<T>,
        t: &mut T,
        health: &mut Health<T>,
    ) -> Result<(), usize> {
        for (s, first) in columns.clone().step_by(BLOCK).enumerate() {
            let cols = BLOCK.min(columns.end - first);
            // SAFETY: forwarded to the caller: block s is one of the panel's, its rows lie inside it.
            unsafe {
                let coefficients = coefficients.add(s);
                *coefficients = self.block(simd, first, cols, t, health)?;
                self.rows(simd, first..first + cols, coefficients, first + cols..columns.end);
            }
        }
        Ok(())
    }

    /// Transforms the triangle of `cols` ≤ BLOCK columns from `first` on and returns their coefficients.
    ///
    /// # Safety
    /// As `diagonal`, for these columns.
    #[inline(always)]
    unsafe fn block<S: Simd>(
        &self,
        simd: S,
        first: usize,
        cols: usize,
        t: &mut T,
        health: &mut Health<T>,
    ) -> Result<Coefficients<T>, usize> {
        // Missing columns are those of the identity, and v is zero there.
        let mut d = [[T::ZERO; BLOCK]; BLOCK]; // d[j][i] = l_ij
        let mut v = [T::ZERO; BLOCK];
        let mut diagonal = [T::ONE; BLOCK];
        for j in 0..cols {
            // SAFETY: rows j..cols of the column lie in the block's lower triangle, which is the caller's.
            unsafe {
                let column = self.src(first, first + j);
                for i in j..cols {
                    d[j][i] = *column.add(i);
                }
                v[j] = *self.v.add(first + j);
            }
            diagonal[j] = d[j][j];
        }
        let scale = if *t > T::from_f64(LARGEST_GROWTH) { T::ONE / t.sqrt() } else { T::ONE };
        if scale != T::ONE {
            *t = T::ONE;
            v.iter_mut().for_each(|x| *x *= scale);
        }

        // p = D⁻¹ v: rows are divided by their pivots first, off the chain.
        let mut inverse = [T::ZERO; BLOCK];
        let mut p = [T::ZERO; BLOCK];
        for i in 0..BLOCK {
            inverse[i] = T::ONE / diagonal[i];
        }
        for i in 0..BLOCK {
            p[i] = v[i] * inverse[i];
        }
        for j in 0..BLOCK {
            for i in j + 1..BLOCK {
                p[i] = T::fused::<S>(-p[j], d[j][i] * inverse[i], p[i]);
            }
        }
        let mut before = [*t; BLOCK];
        let mut after = [T::ZERO; BLOCK];
        let mut sum = *t;
        for j in 0..BLOCK {
            before[j] = sum;
            sum = T::fused::<S>(self.sign * p[j], p[j], sum);
            after[j] = sum;
        }
        if !(sum <= *t * T::from_f64(LARGEST_GROWTH)) {
            // SAFETY: forwarded to the caller.
            return unsafe { self.mixed_block(first, cols, scale, v, &mut d, t, health) };
        }
        for j in 0..cols {
            if !(after[j] > T::ZERO) {
                return Err(first + j);
            }
        }

        let mut c = [T::ZERO; BLOCK];
        let mut g = [T::ZERO; BLOCK];
        for j in 0..BLOCK {
            c[j] = (after[j] / before[j]).sqrt();
        }
        for j in 0..BLOCK {
            g[j] = self.sign * p[j] / (before[j] * c[j]);
        }
        c[..cols].iter().for_each(|&ratio| health.record(ratio));
        *t = sum;
        for j in 0..BLOCK {
            for i in j + 1..BLOCK {
                v[i] = T::fused::<S>(-p[j], d[j][i], v[i]);
                d[j][i] = T::fused::<S>(g[j], v[i], c[j] * d[j][i]);
            }
            d[j][j] = c[j] * d[j][j];
        }
        // SAFETY: forwarded to the caller.
        unsafe { self.store_block(first, cols, &d) };
        let _ = simd;
        Ok(Coefficients { p, c, g, scale, mixed: T::ZERO })
    }

    /// The same block by hyperbolic reflections in their mixed form.
    ///
    /// # Safety
    /// As `block`.
    #[cold]
    #[inline(never)]
    #[allow(clippy::too_many_arguments)]
    unsafe fn mixed_block(
        &self,
        first: usize,
        cols: usize,
        scale: T,
        mut v: [T; BLOCK],
        d: &mut [[T; BLOCK]; BLOCK],
        t: &mut T,
        health: &mut Health<T>,
    ) -> Result<Coefficients<T>, usize> {
        let root = T::ONE / t.sqrt();
        v.iter_mut().for_each(|x| *x *= root);
        *t = T::ONE;
        let (mut p, mut c, mut g) = ([T::ZERO; BLOCK], [T::ZERO; BLOCK], [T::ZERO; BLOCK]);
        for j in 0..cols {
            let (l, a) = (d[j][j], v[j]);
            let minus = self.sign < T::ZERO;
            let alpha = pivot(l, self.sign * a * a, minus)
                .or_else(|| scaled_pivot(l, usize::from(!minus), usize::from(minus), |_| a))
                .ok_or(first + j)?;
            health.record(alpha / l);
            c[j] = l / alpha;
            g[j] = self.sign * a / alpha;
            p[j] = a / (l + alpha);
            d[j][j] = alpha;
            for i in j + 1..cols {
                let old = d[j][i];
                d[j][i] = c[j] * old + g[j] * v[i];
                v[i] = v[i] - p[j] * (old + d[j][i]);
            }
        }
        // SAFETY: forwarded to the caller.
        unsafe { self.store_block(first, cols, d) };
        Ok(Coefficients { p, c, g, scale: scale * root, mixed: T::ONE })
    }

    /// # Safety
    /// As `block`.
    #[inline(always)]
    unsafe fn store_block(&self, first: usize, cols: usize, d: &[[T; BLOCK]; BLOCK]) {
        if self.l.dst.is_null() {
            return;
        }
        for j in 0..cols {
            for i in j..cols {
                // SAFETY: the entry lies in the block's lower triangle, which is the caller's.
                unsafe { *self.dst(first + i, first + j) = d[j][i] };
            }
        }
    }

    /// Applies the coefficients of `columns` to `rows` of L and V, all below those columns.
    ///
    /// # Safety
    /// As [`Job::trailing`](super::worker::Job::trailing); `coefficients` are those of the blocks of `columns`.
    #[inline(always)]
    pub unsafe fn rows<S: Simd>(
        &self,
        simd: S,
        columns: Range<usize>,
        coefficients: *const Coefficients<T>,
        rows: Range<usize>,
    ) {
        let lanes = T::lanes::<S>();
        let mut row = rows.start;
        // SAFETY: forwarded to the caller; the mask keeps to what is left of `rows`.
        unsafe {
            while row + ROW_VECTORS * lanes <= rows.end {
                self.tile::<S, _, ROW_VECTORS>(simd, Full, columns.clone(), coefficients, row);
                row += ROW_VECTORS * lanes;
            }
            while row + lanes <= rows.end {
                self.tile::<S, _, 1>(simd, Full, columns.clone(), coefficients, row);
                row += lanes;
            }
            if row < rows.end {
                let mask = Masked([T::mask(simd, 0, rows.end - row)]);
                self.tile::<S, _, 1>(simd, mask, columns, coefficients, row);
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
        columns: Range<usize>,
        coefficients: *const Coefficients<T>,
        row: usize,
    ) {
        let lanes = T::lanes::<S>();
        // SAFETY (all accesses): the rows and columns are the caller's, the coefficients one block for each BLOCK columns.
        unsafe {
            let mut v = [T::splat(simd, T::ZERO); RV];
            for i in 0..RV {
                v[i] = real.load(simd, i, self.v.add(row + i * lanes));
            }
            for (s, first) in columns.clone().step_by(BLOCK).enumerate() {
                let block = &*coefficients.add(s);
                if block.scale != T::ONE {
                    let scale = T::splat(simd, block.scale);
                    v.iter_mut().for_each(|x| *x = T::vmul(simd, *x, scale));
                }
                let mixed = block.mixed != T::ZERO;
                for j in 0..BLOCK.min(columns.end - first) {
                    let (src, dst) = (self.src(row, first + j), self.dst(row, first + j));
                    super::simd::prefetch(src.wrapping_add(RV * lanes), RV * lanes);
                    let p = T::splat(simd, block.p[j]);
                    let c = T::splat(simd, block.c[j]);
                    let g = T::splat(simd, block.g[j]);
                    for i in 0..RV {
                        let old = real.load(simd, i, src.add(i * lanes));
                        let kept = T::vmul(simd, c, old);
                        let new = if mixed {
                            let new = T::mul_add(simd, g, v[i], kept);
                            v[i] = T::neg_mul_add(simd, p, T::vadd(simd, old, new), v[i]);
                            new
                        } else {
                            v[i] = T::neg_mul_add(simd, p, old, v[i]);
                            T::mul_add(simd, g, v[i], kept)
                        };
                        if !dst.is_null() {
                            real.store(simd, i, dst.add(i * lanes), new);
                        }
                    }
                }
            }
            for i in 0..RV {
                real.store(simd, i, self.v.add(row + i * lanes), v[i]);
            }
        }
    }
}
