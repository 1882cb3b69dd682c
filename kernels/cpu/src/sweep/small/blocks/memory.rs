//! What a modification keeps between its blocks: the old L, the last block if it is not whole, and V; and where a block
//! is in it.

use super::super::{MOST_ROWS, Small};
use crate::number::Float;
use crate::sweep::low_rank::BLOCK;
use crate::sweep::shape::MAX_LANES;
use pulp::Simd;

/// The distance between columns of the old L, with space for a whole register from the start of any block on.
pub const STRIDE: usize = MOST_ROWS + MAX_LANES - BLOCK;

/// The distance between columns of the last block.
pub const LAST: usize = MAX_LANES;

/// What a modification keeps between its blocks.
#[repr(C, align(64))]
pub struct Memory<T> {
    /// The columns of L that have been replaced.
    old: [[T; STRIDE]; MOST_ROWS],
    /// The last block, if it is not whole: zeros above the diagonal, and columns of the identity after it.
    last: [[T; LAST]; BLOCK],
    /// V, with space for whole registers after its last row.
    v: [T; MOST_ROWS + MAX_LANES],
}

/// Pointers to [`Memory`].
#[derive(Clone, Copy)]
pub struct At<T> {
    pub old: *mut T,
    pub last: *mut T,
    pub v: *mut T,
}

impl<T> Memory<T> {
    /// # Safety
    /// `this` points to a `Memory`, which need not be initialized.
    #[inline(always)]
    pub unsafe fn parts(this: *mut Self) -> At<T> {
        // SAFETY: fields of what the caller has; none is read.
        unsafe {
            At {
                old: (&raw mut (*this).old).cast(),
                last: (&raw mut (*this).last).cast(),
                v: (&raw mut (*this).v).cast(),
            }
        }
    }
}

/// A block of columns: where its square is, and where the old one is kept.
#[derive(Clone, Copy)]
pub struct Block<T> {
    pub first: usize,
    pub l: *mut T,
    pub stride: isize,
    pub old: *mut T,
}

impl<T> Block<T> {
    #[inline(always)]
    pub fn column(&self, j: usize) -> *mut T {
        self.l.wrapping_offset(j as isize * self.stride)
    }

    #[inline(always)]
    pub fn old(&self, j: usize) -> *mut T {
        self.old.wrapping_add(j * STRIDE)
    }
}

impl<T: Float> Small<T> {
    /// The entries from `row` on of a column, zeros after the last row.
    ///
    /// # Safety
    /// The column has `self.rows` entries.
    #[inline(always)]
    pub unsafe fn load<S: Simd>(&self, simd: S, column: *const T, row: usize) -> T::Vector<S> {
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
    pub unsafe fn store<S: Simd>(&self, simd: S, column: *mut T, row: usize, x: T::Vector<S>) {
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
    pub unsafe fn take_v<S: Simd>(&self, simd: S, to: *mut T) -> T {
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
    pub unsafe fn fill_last<S: Simd>(&self, simd: S, (first, width): (usize, usize), at: At<T>) {
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
    pub unsafe fn take_last<S: Simd>(&self, simd: S, (first, width): (usize, usize), at: At<T>) {
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
    pub unsafe fn restore(&self, end: usize, at: At<T>) {
        for j in 0..end {
            for row in j..self.rows {
                // SAFETY: entries of a column of L, which have been copied.
                unsafe { *self.column(j).add(row) = *at.old.add(j * STRIDE + row) };
            }
        }
    }
}
