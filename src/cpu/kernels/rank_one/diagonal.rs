//! The diagonal step for V with one column: the coefficients of a panel and the new diagonal block.

use super::{Coefficients, PANEL_COLS, RankOne};
use crate::cpu::kernels::diagonal::{Pivot, pivot};
use crate::cpu::kernels::shape::MAX_LANES;
use crate::report::Health;
use crate::scalar::Scalar;
use core::ops::Range;
use pulp::{Simd, WithSimd};

/// Columns whose chain is worked on in scalar registers. The rows below get them all at once.
const BLOCK: usize = 8;

/// Rows of the diagonal block that are finished together.
const FINISHED_ROWS: usize = 16;

/// Largest factor by which t may grow or shrink in a panel that method C1 is used for. Its errors grow with the root of
/// either: up to here they are those of the mixed form, at 16 they reach 10 u and at 256 22 u.
const LARGEST_CHANGE: f64 = 1.75;

/// A forward substitution's results: p and t for each column.
struct Solution<T> {
    p: [T; PANEL_COLS + MAX_LANES],
    /// t before the first column, then after each.
    t: [T; PANEL_COLS + 1],
}

/// The diagonal step: see [`RankOne::diagonal`].
pub(crate) struct Diagonal<'a, T> {
    rank_one: RankOne<T>,
    columns: Range<usize>,
    coefficients: &'a mut Coefficients<T>,
    t: &'a mut T,
    health: &'a mut Health<T>,
}

impl<T: Scalar> WithSimd for Diagonal<'_, T> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Self { rank_one, ref columns, .. } = self;
        let (cols, t) = (columns.len(), *self.t);
        // SAFETY: `RankOne::diagonal` demands exactly this.
        unsafe {
            let solution = rank_one.solve(simd, columns.clone(), t);
            let end = solution.t[cols];
            let most = T::from_f64(LARGEST_CHANGE);
            // t goes up or down all the way, so all that is between has a root. Not so where t is not a number.
            if !(end <= t * most && end * most >= t) {
                return simd.vectorize(Mixed(self));
            }
            rank_one.coefficients(simd, cols, &solution, self.coefficients);
            self.coefficients.c[..cols].iter().for_each(|&ratio| self.health.record(T::ONE, ratio));
            *self.t = end;
            rank_one.triangle::<S>(simd, columns.clone(), self.coefficients);
        }
        Ok(())
    }
}

/// The whole diagonal step in the mixed form, a column at a time.
struct Mixed<'a, T>(Diagonal<'a, T>);

impl<T: Scalar> WithSimd for Mixed<'_, T> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Diagonal { rank_one, columns, coefficients, t, health } = self.0;
        (coefficients.scale, coefficients.mixed) = (T::ONE / t.sqrt(), T::ONE);
        *t = T::ONE;
        let (sign, minus) = (rank_one.sign, rank_one.sign < T::ZERO);
        for j in columns.clone() {
            // SAFETY: all accesses: entries of the diagonal block and its rows of v.
            unsafe {
                let scale = if j == columns.start { coefficients.scale } else { T::ONE };
                let (l, a) = (*rank_one.src(j, j), *rank_one.row(j) * scale);
                let Pivot { alpha, .. } = pivot(l, sign * a * a, 1, minus, |_| a).ok_or(j)?;
                health.record(l, alpha);
                let (p, g) = (a / (l + alpha), sign * a / alpha);
                let place = j - columns.start;
                (coefficients.p[place], coefficients.x[place], coefficients.g[place]) = (p, -(g * p), g);
                rank_one.rows(simd, columns.start, j..j + 1, coefficients, j + 1..columns.end);
                if !rank_one.l.dst.is_null() {
                    *rank_one.dst(j, j) = alpha;
                }
            }
        }
        Ok(())
    }
}

impl<T: Scalar> RankOne<T> {
    /// The diagonal step: transforms the diagonal block of `columns` and fills their coefficients; t goes from panel to
    /// panel.
    ///
    /// # Errors
    /// Where it is run: the column whose pivot² is not greater than zero.
    ///
    /// # Safety
    /// As [`Job::diagonal`](crate::cpu::kernels::job::Job::diagonal), when it is run.
    pub unsafe fn diagonal<'a>(
        self,
        columns: Range<usize>,
        coefficients: &'a mut Coefficients<T>,
        t: &'a mut T,
        health: &'a mut Health<T>,
    ) -> Diagonal<'a, T> {
        Diagonal { rank_one: self, columns, coefficients, t, health }
    }

    /// p = D⁻¹ v and the sums t, without writing anything.
    ///
    /// # Safety
    /// As `diagonal`.
    #[inline(always)]
    unsafe fn solve<S: Simd>(&self, simd: S, columns: Range<usize>, t: T) -> Solution<T> {
        let cols = columns.len();
        let mut solution = Solution { p: [T::ZERO; PANEL_COLS + MAX_LANES], t: [t; PANEL_COLS + 1] };
        let x = &mut solution.p;
        // SAFETY: the panel's rows of v are the caller's.
        unsafe { core::ptr::copy_nonoverlapping(self.row(columns.start), x.as_mut_ptr(), cols) };
        let mut sum = t;
        for first in (0..cols).step_by(BLOCK) {
            let width = BLOCK.min(cols - first);
            // SAFETY: rows and columns first.. of the diagonal block, which is the caller's.
            unsafe {
                let block = columns.start + first;
                if width == BLOCK {
                    self.solve_block::<S>(block, BLOCK, &mut x[first..first + BLOCK]);
                } else {
                    self.solve_block::<S>(block, width, &mut x[first..cols]);
                }
                for j in first..first + width {
                    sum = T::fused::<S>(self.sign * x[j], x[j], sum);
                    solution.t[j + 1] = sum;
                }
                if width == BLOCK {
                    let p = core::array::from_fn(|j| x[first + j]);
                    let below = block + BLOCK..columns.end;
                    self.eliminate(simd, block, &p, below, x.as_mut_ptr().add(first + BLOCK));
                }
            }
        }
        solution
    }

    /// x ← D⁻¹ x for a diagonal block of `width` columns from `block` on.
    ///
    /// These are the operations that the rows of the block go through when they are transformed, in the same
    /// order, so that x_j − p_j l_jj, which is dropped there, is a rounding of p_j. To divide rows by their pivots
    /// first would be a multiplication less on the chain; what is dropped would then be roundings of all p_i l_ji,
    /// magnified by 1/√t.
    ///
    /// # Safety
    /// As `diagonal`.
    #[inline(always)]
    unsafe fn solve_block<S: Simd>(&self, block: usize, width: usize, x: &mut [T]) {
        let mut inverse = [T::ZERO; BLOCK];
        for i in 0..width {
            // SAFETY: the diagonal entry of a column of the panel.
            inverse[i] = T::ONE / unsafe { *self.src(block + i, block + i) };
        }
        for j in 0..width {
            x[j] *= inverse[j];
            for i in j + 1..width {
                // SAFETY: an entry below the diagonal of the block.
                x[i] = T::fused::<S>(-x[j], unsafe { *self.src(block + i, block + j) }, x[i]);
            }
        }
    }

    /// x ← x − L p over the `rows` of the panel below a block, of which x holds the first.
    ///
    /// # Safety
    /// As `diagonal`; x has room for whole registers.
    #[inline(always)]
    unsafe fn eliminate<S: Simd>(
        &self,
        simd: S,
        block: usize,
        p: &[T; BLOCK],
        rows: Range<usize>,
        x: *mut T,
    ) {
        let lanes = T::lanes::<S>();
        for i in (0..rows.len()).step_by(lanes) {
            // SAFETY: the loads keep to `rows`, the caller gives x room.
            unsafe {
                let mut sum = T::load::<S>(x.add(i));
                for (j, &p) in p.iter().enumerate() {
                    let at = self.src(rows.start + i, block + j);
                    let l = match rows.len() - i {
                        rest if rest < lanes => T::load_masked(simd, T::mask(simd, 0, rest), at),
                        _ => T::load::<S>(at),
                    };
                    sum = T::neg_mul_add(simd, T::splat(simd, p), l, sum);
                }
                T::store::<S>(x.add(i), sum);
            }
        }
    }

    /// c, x and g from p and t, a register at a time: g = σ p c / t_j, since t_{j−1} c² = t_j, and
    /// x = (c² − 1) / (c + 1) with c² − 1 = σ p² / t_{j−1}.
    #[inline(always)]
    fn coefficients<S: Simd>(&self, simd: S, cols: usize, solution: &Solution<T>, out: &mut Coefficients<T>) {
        let lanes = T::lanes::<S>();
        (out.scale, out.mixed) = (T::ONE, T::ZERO);
        let sign = T::splat(simd, self.sign);
        for j in (0..cols).step_by(lanes) {
            // SAFETY: PANEL_COLS is a multiple of the lanes of every register, so each access stays in its
            // array.
            unsafe {
                let before = T::load::<S>(solution.t.as_ptr().add(j));
                let after = T::load::<S>(solution.t.as_ptr().add(j + 1));
                let p = T::load::<S>(solution.p.as_ptr().add(j));
                let c = T::vsqrt(simd, T::vdiv(simd, after, before));
                let signed = T::vmul(simd, sign, p);
                let growth = T::vdiv(simd, T::vmul(simd, signed, p), before);
                let x = T::vdiv(simd, growth, T::vadd(simd, T::splat(simd, T::ONE), c));
                let g = T::vdiv(simd, T::vmul(simd, signed, c), after);
                T::store::<S>(out.p.as_mut_ptr().add(j), p);
                T::store::<S>(out.c.as_mut_ptr().add(j), c);
                T::store::<S>(out.x.as_mut_ptr().add(j), x);
                T::store::<S>(out.g.as_mut_ptr().add(j), g);
            }
        }
    }

    /// Applies the coefficients to the rows of the diagonal block, group by group: by now no group waits
    /// for another.
    ///
    /// # Safety
    /// As `diagonal`.
    #[inline(always)]
    unsafe fn triangle<S: Simd>(&self, simd: S, columns: Range<usize>, coefficients: &Coefficients<T>) {
        if self.l.dst.is_null() {
            return;
        }
        let panel = columns.start;
        for group in columns.clone().step_by(FINISHED_ROWS) {
            let end = columns.end.min(group + FINISHED_ROWS);
            // SAFETY: rows of the diagonal block, below the columns they are combined with.
            unsafe {
                self.rows(simd, panel, panel..group, coefficients, group..end);
                for block in (group..end).step_by(BLOCK) {
                    let width = BLOCK.min(end - block);
                    if width == BLOCK {
                        self.corner::<S>(panel, block, BLOCK, coefficients);
                    } else {
                        self.corner::<S>(panel, block, width, coefficients);
                    }
                    self.rows(simd, panel, block..block + width, coefficients, block + width..end);
                }
            }
        }
    }

    /// The lower triangle of `width` columns from `block` on.
    ///
    /// # Safety
    /// As `diagonal`.
    #[inline(always)]
    unsafe fn corner<S: Simd>(
        &self,
        panel: usize,
        block: usize,
        width: usize,
        coefficients: &Coefficients<T>,
    ) {
        let place = block - panel;
        // SAFETY: all accesses: rows and columns of the block.
        unsafe {
            let mut v = [T::ZERO; BLOCK];
            (0..width).for_each(|i| v[i] = *self.row(block + i));
            for j in 0..width {
                let at = place + j;
                let (p, x, g) = (coefficients.p[at], coefficients.x[at], coefficients.g[at]);
                // v_j is zero by now but for rounding, and most of the pivot is left: t changes by little.
                let old = *self.src(block + j, block + j);
                *self.dst(block + j, block + j) = T::fused::<S>(x, old, old);
                for i in j + 1..width {
                    let old = *self.src(block + i, block + j);
                    v[i] = T::fused::<S>(-p, old, v[i]);
                    *self.dst(block + i, block + j) = old + T::fused::<S>(g, v[i], x * old);
                }
            }
        }
    }
}
