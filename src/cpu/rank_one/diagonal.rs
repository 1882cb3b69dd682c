//! The diagonal step for V with one column: the coefficients of a panel and the new diagonal block.

use super::{Coefficients, PANEL_COLS, RankOne};
use crate::cpu::diagonal::{pivot, scaled_pivot};
use crate::report::Health;
use crate::scalar::Scalar;
use core::ops::Range;
use pulp::Simd;

/// Columns whose chain is worked on in scalar registers. The rows below get them all at once.
const BLOCK: usize = 8;

/// Scalars in the widest register.
const REGISTER: usize = 16;

/// Rows of the diagonal block that are finished together.
const GROUP: usize = 16;

/// Largest growth of t in a panel that method C1 is used for. Measured backward errors are those of the
/// mixed form up to there; without a limit they are 10² times as large.
const LARGEST_GROWTH: f64 = 256.0;

/// A forward substitution's results: p and t for each column.
struct Solution<T> {
    p: [T; PANEL_COLS + REGISTER],
    /// t before the first column, then after each.
    t: [T; PANEL_COLS + 1],
}

impl<T: Scalar> RankOne<T> {
    /// Transforms the diagonal block of `columns` and returns their coefficients; `t` goes from panel to
    /// panel.
    ///
    /// # Errors
    /// The column whose pivot² is not greater than zero.
    ///
    /// # Safety
    /// As [`Job::diagonal`](crate::cpu::job::Job::diagonal).
    #[inline(always)]
    pub unsafe fn diagonal<S: Simd>(
        &self,
        simd: S,
        columns: Range<usize>,
        coefficients: &mut Coefficients<T>,
        t: &mut T,
        health: &mut Health<T>,
    ) -> Result<(), usize> {
        let cols = columns.len();
        // SAFETY: forwarded to the caller.
        unsafe {
            let solution = self.solve(simd, columns.clone(), *t);
            let end = solution.t[cols];
            // Also where t is not a number.
            if !(end.abs() <= *t * T::from_f64(LARGEST_GROWTH)) {
                return self.mixed(simd, columns, coefficients, t, health);
            }
            if let Some(j) = solution.t[1..=cols].iter().position(|t| !(*t > T::ZERO)) {
                return Err(columns.start + j);
            }
            self.coefficients(simd, cols, &solution, coefficients);
            coefficients.c[..cols].iter().for_each(|&ratio| health.record(T::ONE, ratio));
            *t = end;
            self.triangle::<S>(simd, columns, coefficients);
        }
        Ok(())
    }

    /// p = D⁻¹ v and the sums t, without writing anything.
    ///
    /// # Safety
    /// As `diagonal`.
    #[inline(always)]
    unsafe fn solve<S: Simd>(&self, simd: S, columns: Range<usize>, t: T) -> Solution<T> {
        let cols = columns.len();
        let mut solution = Solution { p: [T::ZERO; PANEL_COLS + REGISTER], t: [t; PANEL_COLS + 1] };
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
    /// Rows are divided by their pivots first, which leaves one multiply-add a column on the chain.
    ///
    /// # Safety
    /// As `diagonal`.
    #[inline(always)]
    unsafe fn solve_block<S: Simd>(&self, block: usize, width: usize, x: &mut [T]) {
        let mut inverse = [T::ZERO; BLOCK];
        for i in 0..width {
            // SAFETY: the diagonal entry of a column of the panel.
            inverse[i] = T::ONE / unsafe { *self.src(block + i, block + i) };
            x[i] *= inverse[i];
        }
        for j in 0..width {
            for i in j + 1..width {
                // SAFETY: an entry below the diagonal of the block.
                let scaled = unsafe { *self.src(block + i, block + j) } * inverse[i];
                x[i] = T::fused::<S>(-x[j], scaled, x[i]);
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

    /// c and g from p and t, a register at a time: g = σ p c / t_j, since t_{j−1} c² = t_j.
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
                let g = T::vdiv(simd, T::vmul(simd, T::vmul(simd, sign, p), c), after);
                T::store::<S>(out.p.as_mut_ptr().add(j), p);
                T::store::<S>(out.c.as_mut_ptr().add(j), c);
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
        for group in columns.clone().step_by(GROUP) {
            let end = columns.end.min(group + GROUP);
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
        // SAFETY (all accesses): rows and columns of the block.
        unsafe {
            let mut v = [T::ZERO; BLOCK];
            (0..width).for_each(|i| v[i] = *self.row(block + i));
            for j in 0..width {
                let (p, c, g) =
                    (coefficients.p[place + j], coefficients.c[place + j], coefficients.g[place + j]);
                // v_j is zero by now but for rounding.
                *self.dst(block + j, block + j) = c * *self.src(block + j, block + j);
                for i in j + 1..width {
                    let old = *self.src(block + i, block + j);
                    v[i] = T::fused::<S>(-p, old, v[i]);
                    *self.dst(block + i, block + j) = T::fused::<S>(g, v[i], c * old);
                }
            }
        }
    }

    /// The whole diagonal step in the mixed form, a column at a time.
    ///
    /// # Safety
    /// As `diagonal`.
    #[cold]
    #[inline(never)]
    unsafe fn mixed<S: Simd>(
        &self,
        simd: S,
        columns: Range<usize>,
        out: &mut Coefficients<T>,
        t: &mut T,
        health: &mut Health<T>,
    ) -> Result<(), usize> {
        (out.scale, out.mixed) = (T::ONE / t.sqrt(), T::ONE);
        *t = T::ONE;
        let minus = self.sign < T::ZERO;
        for j in columns.clone() {
            // SAFETY (all accesses): entries of the diagonal block and its rows of v.
            unsafe {
                let scale = if j == columns.start { out.scale } else { T::ONE };
                let (l, a) = (*self.src(j, j), *self.row(j) * scale);
                let alpha = pivot(l, self.sign * a * a, minus)
                    .or_else(|| scaled_pivot(l, usize::from(!minus), usize::from(minus), |_| a))
                    .ok_or(j)?;
                health.record(l, alpha);
                let place = j - columns.start;
                (out.p[place], out.c[place], out.g[place]) =
                    (a / (l + alpha), l / alpha, self.sign * a / alpha);
                self.rows(simd, columns.start, j..j + 1, out, j + 1..columns.end);
                if !self.l.dst.is_null() {
                    *self.dst(j, j) = alpha;
                }
            }
        }
        Ok(())
    }
}
