//! The modification of a small L in blocks of columns, in place.

use super::{MOST_ROWS, Made, Small, usual};
use crate::cpu::kernels::diagonal::SMALL_CHANGE;
use crate::cpu::kernels::low_rank::{BLOCK, within_limits};
use crate::cpu::kernels::shape::MAX_LANES;
use crate::float::Float;
use core::mem::MaybeUninit;
use pulp::{Simd, WithSimd};

/// The distance between columns of the old L, with space for a whole register from the start of any block on.
const STRIDE: usize = MOST_ROWS + MAX_LANES - BLOCK;

/// The distance between columns of the last block.
const LAST: usize = MAX_LANES;

/// A scalar for each column of a block, with space for whole registers.
type Each<T> = [T; MAX_LANES];

/// The numbers that transform rows below a block.
struct Coefficients<T> {
    p: Each<T>,
    x: Each<T>,
    g: Each<T>,
}

impl<T: Float> Coefficients<T> {
    /// Applies those of column `j` to entries of the column and of V. Returns both.
    #[inline(always)]
    fn apply<S: Simd>(
        &self,
        simd: S,
        j: usize,
        l: T::Vector<S>,
        v: T::Vector<S>,
    ) -> (T::Vector<S>, T::Vector<S>) {
        let [p, x, g] = [T::splat(simd, self.p[j]), T::splat(simd, self.x[j]), T::splat(simd, self.g[j])];
        let d = T::mul_add(simd, g, v, T::vmul(simd, x, l));
        let both = T::mul_add(simd, T::splat(simd, T::TWO), l, d);
        (T::vadd(simd, l, d), T::neg_mul_add(simd, p, both, v))
    }
}

/// What a modification keeps between its blocks.
#[repr(C, align(64))]
struct Memory<T> {
    /// The columns of L that have been replaced.
    old: [[T; STRIDE]; MOST_ROWS],
    /// The last block, if it is not whole: zeros above the diagonal, and columns of the identity after it.
    last: [[T; LAST]; BLOCK],
    /// V, with space for whole registers after its last row.
    v: [T; MOST_ROWS + MAX_LANES],
}

/// Pointers to [`Memory`].
#[derive(Clone, Copy)]
struct At<T> {
    old: *mut T,
    last: *mut T,
    v: *mut T,
}

/// A block of columns: where its square is, and where the old one is kept.
#[derive(Clone, Copy)]
struct Block<T> {
    first: usize,
    l: *mut T,
    stride: isize,
    old: *mut T,
}

impl<T> Block<T> {
    #[inline(always)]
    fn column(&self, j: usize) -> *mut T {
        self.l.wrapping_offset(j as isize * self.stride)
    }

    #[inline(always)]
    fn old(&self, j: usize) -> *mut T {
        self.old.wrapping_add(j * STRIDE)
    }
}

/// Ratios of new and old pivots so far, in as many lanes as [`Health`](crate::report::Health) has, with the same results.
struct Ratios<T> {
    least: [T; BLOCK],
    products: [f64; BLOCK],
}

impl<T: Float> Ratios<T> {
    #[inline(always)]
    fn record(&mut self, old: &Each<T>, new: &Each<T>, width: usize) {
        let mut ratios = [T::ONE; BLOCK];
        for j in 0..BLOCK {
            ratios[j] = new[j] / old[j];
            self.products[j] *= ratios[j].to_f64();
        }
        for j in width..BLOCK {
            ratios[j] = T::INFINITY;
        }
        for j in 0..BLOCK {
            self.least[j] = if ratios[j] < self.least[j] { ratios[j] } else { self.least[j] };
        }
    }

    #[inline(always)]
    fn made(&self, square: T) -> Made {
        let (mut least, mut product) = (self.least[0], self.products[0]);
        for j in 1..BLOCK {
            least = if self.least[j] < least { self.least[j] } else { least };
            product *= self.products[j];
        }
        Made { least: least.to_f64(), product, square: square.to_f64() }
    }
}

/// A [`Small`] in blocks of columns. By reference, as [`Few`](super::Few).
pub(crate) struct Blocks<'a, T>(pub &'a Small<T>);

impl<T: Float> WithSimd for Blocks<'_, T> {
    type Output = Option<Made>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        // SAFETY: `Small::new` requires exactly this.
        unsafe { self.0.in_blocks(simd) }
    }
}

impl<T: Float> Small<T> {
    /// # Safety
    /// As [`new`](Self::new).
    #[inline(always)]
    unsafe fn in_blocks<S: Simd>(&self, simd: S) -> Option<Made> {
        let mut memory = MaybeUninit::<Memory<T>>::uninit();
        let memory = memory.as_mut_ptr();
        let mut ratios = Ratios { least: [T::INFINITY; BLOCK], products: [1.0; BLOCK] };
        // SAFETY: `new` requires what each step does; each reads what the steps before it have written.
        unsafe {
            let at = At {
                old: (&raw mut (*memory).old).cast(),
                last: (&raw mut (*memory).last).cast(),
                v: (&raw mut (*memory).v).cast(),
            };
            let square = self.take_v(simd, at.v);
            if !usual(square) {
                return None;
            }
            let mut first = 0;
            while first < self.rows {
                let whole = self.rows - first >= BLOCK;
                let width = if whole { BLOCK } else { self.rows - first };
                let old = at.old.add(first * (STRIDE + 1));
                let block = match whole {
                    true => {
                        Block { first, l: self.column(first).wrapping_add(first), stride: self.stride, old }
                    }
                    false => {
                        self.fill_last(simd, (first, width), at);
                        Block { first, l: at.last, stride: LAST as isize, old }
                    }
                };
                let Some(new) = self.block(simd, block, width, at.v, &mut ratios) else {
                    self.restore(first, at);
                    return None;
                };
                // The pivots come last: a register of which a part has just been written cannot be loaded at once.
                if whole {
                    for j in 0..BLOCK {
                        *block.column(j).add(j) = new[j];
                    }
                } else {
                    self.take_last(simd, (first, width), at);
                    for j in 0..width {
                        *self.column(first + j).add(first + j) = new[j];
                    }
                }
                first += BLOCK;
            }
            Some(ratios.made(square))
        }
    }

    /// The entries from `row` on of a column, zeros after the last row.
    ///
    /// # Safety
    /// The column has `self.rows` entries.
    #[inline(always)]
    unsafe fn load<S: Simd>(&self, simd: S, column: *const T, row: usize) -> T::Vector<S> {
        let (lanes, from) = (T::lanes::<S>(), column.wrapping_add(row));
        // SAFETY: these rows of the column exist, and the mask restricts the load to them.
        unsafe {
            match self.rows - row >= lanes {
                true => T::load::<S>(from),
                false => T::load_masked(simd, T::mask(simd, 0, self.rows - row), from),
            }
        }
    }

    /// Writes entries from `row` on of a column, and what follows the last row up to a multiple of a register, or of a block if that
    /// is smaller.
    ///
    /// # Safety
    /// As [`new`](Self::new). `row` is a multiple of a register or of a block, whichever is smaller.
    #[inline(always)]
    unsafe fn store<S: Simd>(&self, simd: S, column: *mut T, row: usize, x: T::Vector<S>) {
        let (lanes, to) = (T::lanes::<S>(), column.wrapping_add(row));
        // SAFETY: a register that is larger than a block is masked; what others write after the last row is space that may be
        // written.
        unsafe {
            match lanes > BLOCK && self.rows - row < lanes {
                true => T::store_masked(simd, T::mask(simd, 0, self.rows - row), to, x),
                false => T::store::<S>(to, x),
            }
        }
    }

    /// Copies V, scaled, with zeros after it. Returns the sum of its squares.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    #[inline(always)]
    unsafe fn take_v<S: Simd>(&self, simd: S, to: *mut T) -> T {
        let lanes = T::lanes::<S>();
        let zero = T::splat(simd, T::ZERO);
        let contiguous = self.v_stride == 1;
        let (scale, mut sums, mut row) = (T::splat(simd, self.scale), zero, 0);
        let mut each = [T::ZERO; MAX_LANES];
        // SAFETY: there is space for a whole register after the last row.
        unsafe {
            T::store::<S>(to.add(self.rows), zero);
            if !contiguous {
                for i in 0..self.rows {
                    *to.add(i) = *self.v.offset(i as isize * self.v_stride);
                }
            }
            while row < self.rows {
                let v = match contiguous {
                    true => self.load(simd, self.v, row),
                    false => T::load::<S>(to.add(row)),
                };
                let v = T::vmul(simd, scale, v);
                T::store::<S>(to.add(row), v);
                sums = T::mul_add(simd, v, v, sums);
                row += lanes;
            }
            T::store::<S>(each.as_mut_ptr(), sums);
        }
        let mut sum = each[0];
        for i in 1..lanes {
            sum += each[i];
        }
        sum
    }

    /// Copies the last block, of `width` columns, and adds columns of the identity. Those change nothing, and the code for whole
    /// blocks is fast.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    #[inline(always)]
    unsafe fn fill_last<S: Simd>(&self, simd: S, (first, width): (usize, usize), at: At<T>) {
        let (lanes, zero) = (T::lanes::<S>(), T::splat(simd, T::ZERO));
        // SAFETY: rows of columns of L; `last` and V have space for whole registers.
        unsafe {
            for j in 0..BLOCK {
                let mut row = 0;
                while row < BLOCK {
                    let l = match j < width && row < width {
                        true => self.load(simd, self.column(first + j), first + row),
                        false => zero,
                    };
                    T::store::<S>(at.last.add(j * LAST + row), l);
                    row += lanes;
                }
                if j >= width {
                    *at.last.add(j * LAST + j) = T::ONE;
                }
            }
            // V up to the end of the block; a register of zeros has been written from the last row on.
            for row in self.rows + lanes..first + BLOCK {
                *at.v.add(row) = T::ZERO;
            }
        }
    }

    /// Copies the last block to L.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    #[inline(always)]
    unsafe fn take_last<S: Simd>(&self, simd: S, (first, width): (usize, usize), at: At<T>) {
        let lanes = T::lanes::<S>();
        for j in 0..width {
            let mut row = 0;
            while row < width {
                // SAFETY: rows of columns of L, of which `last` has whole registers.
                unsafe {
                    let l = T::load::<S>(at.last.add(j * LAST + row));
                    self.store(simd, self.column(first + j), first + row, l);
                }
                row += lanes;
            }
        }
    }

    /// Makes the columns before `end`, which have been replaced, what they were.
    ///
    /// # Safety
    /// As [`new`](Self::new), after the blocks before this column.
    #[cold]
    unsafe fn restore(&self, end: usize, at: At<T>) {
        for j in 0..end {
            for row in j..self.rows {
                // SAFETY: entries of a column of L, which have been copied.
                unsafe { *self.column(j).add(row) = *at.old.add(j * STRIDE + row) };
            }
        }
    }

    /// Transforms the columns of a block, of which `width` are columns of L, and all rows from there on, but for the pivots, which
    /// are returned. If that would not be accurate, nothing has been written.
    ///
    /// # Safety
    /// As [`new`](Self::new), after the blocks before.
    #[inline(always)]
    unsafe fn block<S: Simd>(
        &self,
        simd: S,
        block: Block<T>,
        width: usize,
        v: *mut T,
        ratios: &mut Ratios<T>,
    ) -> Option<Each<T>> {
        let (lanes, mut pivots) = (T::lanes::<S>(), [T::ONE; MAX_LANES]);
        // SAFETY: the caller guarantees the rows and columns.
        unsafe {
            for j in 0..BLOCK {
                pivots[j] = *block.column(j).add(j);
            }
            let (coefficients, new) = self.coefficients(simd, block, &pivots, v)?;
            // First the rows that the next block waits for.
            let mut row = block.first + BLOCK;
            while row < self.rows {
                match self.rows - row > lanes {
                    true => self.rows_below::<S, 2>(simd, block, row, &coefficients, v),
                    false => self.rows_below::<S, 1>(simd, block, row, &coefficients, v),
                }
                row += 2 * lanes;
            }
            self.own_rows(simd, block, &coefficients, v);
            ratios.record(&pivots, &new, width);
            Some(new)
        }
    }

    /// Computes the coefficients of a block and its new pivots, if method C1 is accurate.
    ///
    /// # Safety
    /// As `block`.
    #[inline(always)]
    unsafe fn coefficients<S: Simd>(
        &self,
        simd: S,
        block: Block<T>,
        pivots: &Each<T>,
        v: *const T,
    ) -> Option<(Coefficients<T>, Each<T>)> {
        let (ones, zeros) = ([T::ONE; MAX_LANES], [T::ZERO; MAX_LANES]);
        let (mut p, mut before, mut after) = (zeros, ones, ones);
        let (mut t, mut chain) = (T::ONE, [T::ZERO; BLOCK]);
        for i in 0..BLOCK {
            // SAFETY: rows and columns of the block.
            let mut x = unsafe { *v.add(block.first + i) };
            for j in 0..i {
                // SAFETY: as above.
                x = T::fused::<S>(-chain[j], unsafe { *block.column(j).add(i) }, x);
            }
            let inverse = T::ONE / pivots[i];
            chain[i] = x * inverse;
            // The quotient to its last digit. The chain does not wait for it.
            p[i] = T::fused::<S>(T::fused::<S>(-chain[i], pivots[i], x), inverse, chain[i]);
            before[i] = t;
            t = T::fused::<S>(self.sign * p[i], p[i], t);
            after[i] = t;
        }
        if !within_limits(t) {
            return None;
        }
        let change = T::from_f64(SMALL_CHANGE);
        // If t changes by less in all, every pivot does.
        let all_small = t < T::ONE + change && t > T::ONE - change;
        let (zero, sign, change) =
            (T::splat(simd, T::ZERO), T::splat(simd, self.sign), T::splat(simd, change));
        let (mut out, mut new) = (Coefficients { p: zeros, x: zeros, g: zeros }, ones);
        let (lanes, mut j) = (T::lanes::<S>(), 0);
        while j < BLOCK {
            // SAFETY: the arrays have space for whole registers.
            unsafe {
                let before = T::vsqrt(simd, T::load::<S>(before.as_ptr().add(j)));
                let after = T::vsqrt(simd, T::load::<S>(after.as_ptr().add(j)));
                let p = T::load::<S>(p.as_ptr().add(j));
                let signed = T::vmul(simd, sign, p);
                let g = T::vdiv(simd, signed, after);
                let new_p = T::vdiv(simd, p, T::vadd(simd, before, after));
                T::store::<S>(out.p.as_mut_ptr().add(j), new_p);
                T::store::<S>(out.g.as_mut_ptr().add(j), g);
                T::store::<S>(out.x.as_mut_ptr().add(j), T::neg_mul_add(simd, g, new_p, zero));
                let growth = T::vmul(simd, T::vdiv(simd, signed, before), new_p);
                let l = T::load::<S>(pivots.as_ptr().add(j));
                let step = T::vmul(simd, growth, l);
                let mut changed = T::vadd(simd, l, step);
                if !all_small {
                    // If the change is small, it is more accurate than the new pivot; if it is large, less.
                    let limit = T::vmul(simd, change, l);
                    let large = T::vmul(simd, T::vdiv(simd, after, before), l);
                    changed = T::where_less(simd, (step, limit), changed, large);
                    changed = T::where_less(simd, (T::vsub(simd, zero, limit), step), changed, large);
                }
                T::store::<S>(new.as_mut_ptr().add(j), changed);
            }
            j += lanes;
        }
        Some((out, new))
    }

    /// Applies the coefficients of a block to RV registers of rows below it, from `row` on.
    ///
    /// # Safety
    /// As `block`.
    #[inline(always)]
    unsafe fn rows_below<S: Simd, const RV: usize>(
        &self,
        simd: S,
        block: Block<T>,
        row: usize,
        coefficients: &Coefficients<T>,
        of_v: *mut T,
    ) {
        let (lanes, first) = (T::lanes::<S>(), block.first);
        let mut v = [T::splat(simd, T::ZERO); RV];
        // SAFETY: rows of V and of the columns of the block; only the last register may reach beyond the last row.
        unsafe {
            for i in 0..RV {
                v[i] = T::load::<S>(of_v.add(row + i * lanes));
            }
            for j in 0..BLOCK {
                let (column, old) = (self.column(first + j), block.old(j).add(row - first));
                for i in 0..RV {
                    let row = row + i * lanes;
                    let l = match i + 1 < RV {
                        true => T::load::<S>(column.add(row)),
                        false => self.load(simd, column, row),
                    };
                    T::store::<S>(old.add(i * lanes), l);
                    let new;
                    (new, v[i]) = coefficients.apply(simd, j, l, v[i]);
                    match i + 1 < RV {
                        true => T::store::<S>(column.add(row), new),
                        false => self.store(simd, column, row, new),
                    }
                }
            }
            for i in 0..RV {
                T::store::<S>(of_v.add(row + i * lanes), v[i]);
            }
        }
    }

    /// Applies the coefficients of a block to its own rows, below the diagonal.
    ///
    /// # Safety
    /// As `block`.
    #[inline(always)]
    unsafe fn own_rows<S: Simd>(
        &self,
        simd: S,
        block: Block<T>,
        coefficients: &Coefficients<T>,
        v: *const T,
    ) {
        let (lanes, zero) = (T::lanes::<S>(), T::splat(simd, T::ZERO));
        let mut above = 0;
        while above < BLOCK {
            let end = if lanes < BLOCK { above + lanes } else { BLOCK };
            // SAFETY: rows of V and of the columns of the block. Of a register that is larger than a block, the rest are rows below
            // it, or space after them.
            unsafe {
                let mut v = T::load::<S>(v.add(block.first + above));
                let all = T::mask(simd, 0, BLOCK.min(lanes));
                for j in 0..end {
                    if j >= above {
                        // Above the diagonal the entries of L are zero, and so remain with zeros in V. The pivot is written later.
                        v = T::select(simd, T::mask(simd, 0, j + 1 - above), zero, v);
                    }
                    let (l, old) = (block.column(j).add(above), block.old(j).add(above));
                    let entries = match lanes > BLOCK {
                        true => T::load_masked(simd, all, l),
                        false => T::load::<S>(l),
                    };
                    let new;
                    (new, v) = coefficients.apply(simd, j, entries, v);
                    match lanes > BLOCK {
                        true => {
                            T::store_masked(simd, all, old, entries);
                            T::store_masked(simd, all, l, new);
                        }
                        false => {
                            T::store::<S>(old, entries);
                            T::store::<S>(l, new);
                        }
                    }
                }
            }
            above += lanes;
        }
    }
}
