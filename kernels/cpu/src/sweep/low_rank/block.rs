//! The diagonal block of a few columns, for all columns of V.

use super::coefficients::{Kind, Pivots, coefficients_of, one_by_one, solve};
use super::{BLOCK, Coefficients, LowRank};
use crate::health::Health;
use crate::number::{Float, Number};
use crate::sweep::diagonal::{Pivot, pivot};
use crate::sweep::shape::MAX_LANES;
use core::mem::MaybeUninit;
use core::ops::Range;
use pulp::Simd;

const _: () = assert!(BLOCK <= MAX_LANES);

/// The block between one column of V and the next: below the diagonal, one scalar for each row, with space for whole registers.
struct Between<T> {
    now: MaybeUninit<[[T; MAX_LANES]; BLOCK]>,
    /// The sum of the changes by the columns of V so far.
    change: MaybeUninit<[[T; MAX_LANES]; BLOCK]>,
    /// The value to which the changes are added, if columns of V and L have been interchanged.
    base: MaybeUninit<[[T; MAX_LANES]; BLOCK]>,
    /// Whether columns have been interchanged.
    interchanged: bool,
}

impl<T: Number> Between<T> {
    #[inline(always)]
    fn now(&mut self, row: usize, column: usize) -> *mut T {
        self.now.as_mut_ptr().cast::<T>().wrapping_add(column * MAX_LANES + row)
    }

    #[inline(always)]
    fn change(&mut self, row: usize, column: usize) -> *mut T {
        self.change.as_mut_ptr().cast::<T>().wrapping_add(column * MAX_LANES + row)
    }

    #[inline(always)]
    fn base(&mut self, row: usize, column: usize) -> *mut T {
        self.base.as_mut_ptr().cast::<T>().wrapping_add(column * MAX_LANES + row)
    }
}

impl<T: Number> LowRank<T> {
    /// Applies all columns of V to the diagonal block of a few columns, and computes the coefficients.
    ///
    /// # Errors
    /// The first column whose pivot² is not greater than zero.
    ///
    /// # Safety
    /// As [`Diagonal::new`](super::Diagonal::new), for these columns.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub unsafe fn diagonal_block<S: Simd, const K: usize>(
        &self,
        simd: S,
        block: Range<usize>,
        coefficients: &mut [Coefficients<T>; K],
        health: &mut Health<T::Part>,
    ) -> Result<(), usize> {
        // SAFETY: the caller guarantees the contract of `diagonal_block_of`, which is the same.
        unsafe {
            match block.len() {
                BLOCK => self.diagonal_block_of::<S, K, true>(simd, block, coefficients, health),
                _ => self.diagonal_block_of::<S, K, false>(simd, block, coefficients, health),
            }
        }
    }

    /// `WHOLE`: the block has [`BLOCK`] columns.
    ///
    /// # Errors
    /// As `diagonal_block`.
    ///
    /// # Safety
    /// As `diagonal_block`.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn diagonal_block_of<S: Simd, const K: usize, const WHOLE: bool>(
        &self,
        simd: S,
        block: Range<usize>,
        coefficients: &mut [Coefficients<T>; K],
        health: &mut Health<T::Part>,
    ) -> Result<(), usize> {
        let (first, width) = (block.start, if WHOLE { BLOCK } else { block.len() });
        let mut between = Between::<T> {
            now: MaybeUninit::uninit(),
            change: MaybeUninit::uninit(),
            base: MaybeUninit::uninit(),
            interchanged: false,
        };
        let mut old = [T::Part::ONE; MAX_LANES];
        for j in 0..width {
            // SAFETY: an entry of the block.
            old[j] = unsafe { *self.src(first + j, first + j) }.real();
        }
        let mut pivots = Pivots::new(old);
        for r in 0..K {
            let (kind, out) = (self.kind(r), &mut coefficients[r]);
            // SAFETY: the caller guarantees the rows of L and V. After the first column of V, the entries below the diagonal
            // are in `between`, where the previous column has stored them.
            unsafe {
                let (l, stride) = match r {
                    0 => (self.src(first, first), self.l.src_stride),
                    _ => (between.now(0, 0).cast_const(), MAX_LANES as isize),
                };
                let (at, v) = ((l, stride), (self.v(first, r).cast_const(), self.apart()));
                match solve::<T, S>(at, v, width, kind.is_minus(), &pivots.now) {
                    Some(solution) => coefficients_of(simd, (kind, width), &solution, &mut pivots, out),
                    None => match one_by_one::<T, S>(simd, at, v, (width, K), kind, &mut pivots, out) {
                        Ok(()) => {}
                        Err(column) if K == 1 => return Err(first + column),
                        Err(column) => return Err(first + self.first_breakdown(first, column)),
                    },
                }
                if between.interchanged || out.interchanged() {
                    self.apply::<S, K, true>(simd, (first, width), r, out, &mut between);
                    between.interchanged = true;
                } else {
                    self.apply::<S, K, false>(simd, (first, width), r, out, &mut between);
                }
            }
        }
        for j in 0..width {
            if !self.l.dst.is_null() {
                // SAFETY: as above.
                unsafe { *self.dst(first + j, first + j) = T::of_real(pivots.now[j]) };
            }
        }
        health.record(&old[..width], &pivots.now[..width]);
        Ok(())
    }

    /// One column of V has broken down after `width` columns of a block. Another may break down earlier. Returns the first
    /// column, counted from the block's first, at which one of them breaks down.
    ///
    /// # Safety
    /// As `diagonal_block`, of which nothing has been written.
    #[cold]
    unsafe fn first_breakdown(&self, first: usize, mut width: usize) -> usize {
        let mut l = [[T::ZERO; BLOCK]; BLOCK];
        for j in 0..width {
            for i in j..width {
                // SAFETY: an entry of the block.
                l[j][i] = unsafe { *self.src(first + i, first + j) };
            }
        }
        for r in 0..self.rank {
            let sign = if r < self.plus { T::Part::ONE } else { -T::Part::ONE };
            let mut v = [T::ZERO; BLOCK];
            for (i, v) in v[..width].iter_mut().enumerate() {
                // SAFETY: rows of the block.
                *v = unsafe { T::read_parts(self.v(first + i, r), self.apart()) };
            }
            for j in 0..width {
                let (old, a) = (l[j][j].real(), v[j]);
                let parts = T::parts(core::slice::from_ref(&a));
                let square = parts.iter().fold(T::Part::ZERO, |sum, &part| sum + part * part);
                let made = pivot(old, sign * square, T::PARTS, r >= self.plus, |part| parts[part]);
                let Some(Pivot { alpha, .. }) = made else {
                    width = j;
                    break;
                };
                l[j][j] = T::of_real(alpha);
                let g = a.conj().times(sign).over(alpha);
                for i in j + 1..width {
                    let new = l[j][i].times(old / alpha) + g * v[i];
                    v[i] = v[i] - a.over(old + alpha) * (l[j][i] + new);
                    l[j][i] = new;
                }
            }
        }
        width
    }

    /// Applies the coefficients for column `r` of V to the entries below the diagonal of the block of `width` columns. After
    /// the last column of V they are written. `INTERCHANGED`: this column or an earlier one is interchanged with columns of L.
    ///
    /// # Safety
    /// As `diagonal_block`.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn apply<S: Simd, const K: usize, const INTERCHANGED: bool>(
        &self,
        simd: S,
        (first, width): (usize, usize),
        r: usize,
        coefficients: &Coefficients<T>,
        between: &mut Between<T>,
    ) {
        let lanes = T::lanes::<S>();
        for row in (0..width).step_by(lanes) {
            let end = width.min(row + lanes);
            // SAFETY: masks restrict accesses to entries below the diagonal and inside the block. Of `between`, only registers
            // are loaded that the previous column of V has stored, and row + lanes ≤ MAX_LANES. Rows of a column of L are read
            // before they are written, and no column of L is read after the last column of V has been applied to it: L may move
            // up and left during the sweep.
            unsafe {
                let at = self.v(first + row, r);
                let mut v = T::load_parts_masked(simd, T::mask(simd, 0, end - row), at, self.apart());
                for j in 0..end - 1 {
                    let below = T::mask(simd, (j + 1).max(row) - row, end - row);
                    let mut old = T::load_masked(simd, below, self.src(first + row, first + j));
                    let l = if r == 0 { old } else { T::load::<S>(between.now(row, j)) };
                    if INTERCHANGED && between.interchanged {
                        old = T::load::<S>(between.base(row, j));
                    }
                    let mut change = T::splat(simd, T::ZERO);
                    let new;
                    if INTERCHANGED && coefficients.interchanges[j] != T::ZERO {
                        let minus = r >= self.plus;
                        let (places, column) = coefficients.change_places(simd, j, l, v, minus);
                        // Finished rows keep their V, which is not used any more.
                        v = T::select(simd, below, column, v);
                        old = T::select(simd, below, places, old);
                        new = old;
                    } else {
                        let Coefficients { p, x, g, .. } = coefficients;
                        let (p, g) = (T::splat(simd, p[j]), T::splat(simd, g[j]));
                        let x = T::Part::splat(simd, x[j].real());
                        let d = T::mul_add(simd, g, v, T::vtimes(simd, x, l));
                        change =
                            if r == 0 { d } else { T::vadd(simd, T::load::<S>(between.change(row, j)), d) };
                        new = T::vadd(simd, old, change);
                        let both = if (K == 1 && T::PARTS == 1) || self.kind(r) == Kind::AfterPlus {
                            T::times_add(simd, T::Part::splat(simd, T::Part::TWO), l, d)
                        } else {
                            T::vadd(simd, l, new)
                        };
                        v = T::neg_mul_add(simd, p, both, v);
                    }
                    if INTERCHANGED {
                        T::store::<S>(between.base(row, j), old);
                    }
                    if r + 1 < K {
                        T::store::<S>(between.change(row, j), change);
                        T::store::<S>(between.now(row, j), new);
                    } else if !self.l.dst.is_null() {
                        T::store_masked(simd, below, self.dst(first + row, first + j), new);
                    }
                }
            }
        }
    }
}
