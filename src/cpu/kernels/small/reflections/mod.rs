//! A modification of a small L by several columns of V, one column of L after the other.
//!
//! A reflection eliminates the row a of V at a column with the pivot l, for columns of V of one sign σ:
//!
//! ```text
//! α² = l² + σ a aᵀ      q = a aᵀ/(l + α)      g = σ/α      b = a/(l + α)
//! h = V_i aᵀ − q l_i    l'_i = l_i + g h      V_i ← V_i − (l_i + l'_i) b
//! ```
//!
//! That is [`diagonal`](crate::cpu::kernels::diagonal) with x l_i + V_i (σ aᵀ/α) factored, since x = −g q. Each column waits for the
//! one before it: for a root, a division, and its first row of V, which is computed apart from the others. A block of as many columns
//! as rows takes these rows along. The rows below it follow in squares, one after every column of the next block, in the time that
//! the chain leaves unused.
//!
//! | file | holds |
//! |---|---|
//! | `column` | a column of a block |
//! | `rows` | the rows below a block |

mod column;
mod rows;

use super::usual;
use crate::cpu::kernels::entries::Entries;
use crate::cpu::kernels::shape::MAX_LANES;
use crate::float::Float;
use crate::report::Health;
use core::mem::MaybeUninit;
use faer::MatRef;
use pulp::{Simd, WithSimd};

/// The largest order.
pub(crate) const MOST_ROWS: usize = 128;

/// The largest number of columns of V.
pub(crate) const MOST_COLUMNS: usize = 8;

/// The distance between columns of V. It is not a power of two: loads from one would be mistaken for loads of what has just been
/// stored to another.
const STRIDE: usize = MOST_ROWS + 2 * MAX_LANES;

/// A modification of L by columns of V.
pub(crate) struct Reflections<'a, T> {
    l: Entries<T>,
    v: MatRef<'a, T>,
    columns: &'a [(usize, T)],
    plus: usize,
    health: &'a mut Health<T>,
}

impl<'a, T: Float> Reflections<'a, T> {
    /// `columns` are columns of V, each with √|w|; the first `plus` of them have a plus sign.
    ///
    /// # Safety
    /// When this is run: `l` describes two lower triangular matrices with zeros above the diagonal, of as many rows and columns as V
    /// has rows, 1 to [`MOST_ROWS`], in memory that no other thread uses; each column of the new one may be written up to the next
    /// multiple of 64 bytes of rows. There are 1 to [`MOST_COLUMNS`] columns.
    pub unsafe fn new(
        l: Entries<T>,
        v: MatRef<'a, T>,
        (columns, plus): (&'a [(usize, T)], usize),
        health: &'a mut Health<T>,
    ) -> Self {
        debug_assert!((1..=MOST_ROWS).contains(&v.nrows()) && (1..=MOST_COLUMNS).contains(&columns.len()));
        Self { l, v, columns, plus, health }
    }
}

/// V, the coefficients of a block and of the one before it, and the pivots of L.
#[repr(C, align(64))]
struct Memory<T> {
    v: [[T; STRIDE]; MOST_COLUMNS],
    coefficients: [[Coefficients<T>; MAX_LANES]; 2],
    old: [T; MOST_ROWS],
    new: [T; MOST_ROWS],
}

/// The coefficients of a column of L.
#[repr(C)]
struct Coefficients<T> {
    a: [T; MOST_COLUMNS],
    b: [T; MOST_COLUMNS],
    q: T,
    g: T,
}

impl<T: Float> WithSimd for Reflections<'_, T> {
    /// The sum of the squares of the columns of V with a plus sign, or `None` if a sweep has to decide: then only the new L has been
    /// written.
    type Output = Option<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let mut memory = MaybeUninit::<Memory<T>>::uninit();
        let (memory, rows) = (memory.as_mut_ptr(), self.v.nrows());
        let mut squares = [0.0; 2];
        let mut l = self.l;
        let (plus, minus) = self.columns.split_at(self.plus);
        // SAFETY: `new` requires exactly this; each step reads what the steps before it have written.
        unsafe {
            for j in 0..rows {
                (*memory).old[j] = *l.src.wrapping_offset(j as isize * l.src_stride).add(j);
            }
            for (columns, minus) in [(plus, false), (minus, true)] {
                if columns.is_empty() {
                    continue;
                }
                for (r, &column) in columns.iter().enumerate() {
                    squares[usize::from(minus)] += take(self.v, column, (&raw mut (*memory).v[r]).cast())?;
                }
                let some = OneSign { l, rows, rank: columns.len(), memory };
                match minus {
                    false => some.run::<S, false>(simd)?,
                    true => some.run::<S, true>(simd)?,
                }
                (l.src, l.src_stride) = (l.dst, l.dst_stride);
            }
            let Memory { old, new, .. } = &*memory;
            self.health.record(&old[..rows], &new[..rows]);
        }
        usual(T::from_f64(squares[0] + squares[1])).then_some(squares[0])
    }
}

/// Copies a column of V, scaled, with zeros after it. Returns the sum of its squares, or `None` if a sweep would leave the column
/// out, since it is zero, or refuse it.
///
/// # Safety
/// `to` has `STRIDE` entries, and V at most `MOST_ROWS` rows.
#[inline(always)]
unsafe fn take<T: Float>(v: MatRef<'_, T>, (column, scale): (usize, T), to: *mut T) -> Option<f64> {
    let (rows, stride) = (v.nrows(), v.row_stride());
    let from = v.col(column).as_ptr();
    let mut squares = [T::ZERO; 4];
    // SAFETY: the caller guarantees the space; the rows of V exist.
    unsafe {
        for i in rows..rows.next_multiple_of(MAX_LANES) {
            *to.add(i) = T::ZERO;
        }
        let to = core::slice::from_raw_parts_mut(to, rows.next_multiple_of(4));
        if stride == 1 {
            for (to, &from) in to.iter_mut().zip(core::slice::from_raw_parts(from, rows)) {
                *to = scale * from;
            }
        } else {
            for i in 0..rows {
                to[i] = scale * *from.offset(i as isize * stride);
            }
        }
        for some in to.chunks_exact(4) {
            for i in 0..4 {
                squares[i] += some[i] * some[i];
            }
        }
    }
    let square = (squares[0] + squares[1]) + (squares[2] + squares[3]);
    // False for NaN.
    (square > T::ZERO).then_some(square.to_f64())
}

/// A modification by columns of V of one sign, which are in memory.
struct OneSign<T> {
    l: Entries<T>,
    rows: usize,
    rank: usize,
    memory: *mut Memory<T>,
}

/// A block of columns: the first of L, and where its coefficients are.
#[derive(Clone, Copy)]
struct Block {
    first: usize,
    parity: usize,
}

impl<T: Float> OneSign<T> {
    /// An entry of column `r` of V.
    #[inline(always)]
    fn v(&self, row: usize, r: usize) -> *mut T {
        // SAFETY: no entry is read.
        let v: *mut T = unsafe { (&raw mut (*self.memory).v).cast() };
        v.wrapping_add(r * STRIDE + row)
    }

    #[inline(always)]
    fn coefficients(&self, block: Block, j: usize) -> *mut Coefficients<T> {
        // SAFETY: no entry is read.
        let all: *mut Coefficients<T> = unsafe { (&raw mut (*self.memory).coefficients).cast() };
        all.wrapping_add(block.parity * MAX_LANES + j)
    }

    #[inline(always)]
    fn src(&self, row: usize, column: usize) -> *const T {
        self.l.src.wrapping_offset(column as isize * self.l.src_stride).wrapping_add(row)
    }

    #[inline(always)]
    fn dst(&self, row: usize, column: usize) -> *mut T {
        self.l.dst.wrapping_offset(column as isize * self.l.dst_stride).wrapping_add(row)
    }

    /// Returns `None` if a column loses digits or breaks down.
    ///
    /// # Safety
    /// As [`Reflections::new`], with at most `MOST_COLUMNS` columns of V.
    #[inline(always)]
    unsafe fn run<S: Simd, const MINUS: bool>(&self, simd: S) -> Option<()> {
        // SAFETY: the caller guarantees the contract of `in_blocks`, which is the same.
        unsafe {
            match T::lanes::<S>() < 8 {
                true => self.with_rank::<S, 2, MINUS>(simd),
                false => self.with_rank::<S, 1, MINUS>(simd),
            }
        }
    }

    /// # Safety
    /// As `run`.
    #[inline(always)]
    unsafe fn with_rank<S: Simd, const RV: usize, const MINUS: bool>(&self, simd: S) -> Option<()> {
        // SAFETY: as above.
        unsafe {
            match self.rank {
                1 => self.in_blocks::<S, RV, 1, MINUS>(simd),
                2 => self.in_blocks::<S, RV, 2, MINUS>(simd),
                3 => self.in_blocks::<S, RV, 3, MINUS>(simd),
                4 => self.in_blocks::<S, RV, 4, MINUS>(simd),
                _ => self.in_blocks::<S, RV, MOST_COLUMNS, MINUS>(simd),
            }
        }
    }

    /// In blocks of as many columns as RV registers have lanes, for up to K columns of V.
    ///
    /// # Safety
    /// As `run`.
    #[inline(always)]
    unsafe fn in_blocks<S: Simd, const RV: usize, const K: usize, const MINUS: bool>(
        &self,
        simd: S,
    ) -> Option<()> {
        let (rows, block) = (self.rows, RV * T::lanes::<S>());
        // SAFETY: rows of L and V. In a block, the rows below the one before it are transformed by that one before they are used.
        unsafe {
            for r in self.rank..K {
                for row in (0..rows.next_multiple_of(MAX_LANES)).step_by(T::lanes::<S>()) {
                    T::store::<S>(self.v(row, r), T::splat(simd, T::ZERO));
                }
            }
            let (mut before, mut waiting) = (Block { first: 0, parity: 0 }, rows);
            for (at, first) in (0..rows).step_by(block).enumerate() {
                let (this, end) = (Block { first, parity: at % 2 }, rows.min(first + block));
                let mut a = self.row::<S, K>(simd, first);
                for j in 0..end - first {
                    self.column::<S, RV, K, MINUS>(simd, this, j, &mut a)?;
                    if waiting < rows {
                        self.square::<S, RV, K>(simd, before, waiting);
                        waiting += block;
                    }
                }
                while waiting < rows {
                    self.square::<S, RV, K>(simd, before, waiting);
                    waiting += block;
                }
                // The pivots come last: a register of which a part has just been written cannot be loaded at once.
                for j in first..end {
                    *self.dst(j, j) = (*self.memory).new[j];
                }
                (before, waiting) = (this, end);
                if waiting < rows {
                    self.square::<S, RV, K>(simd, before, waiting);
                    waiting += block;
                }
            }
        }
        Some(())
    }
}
