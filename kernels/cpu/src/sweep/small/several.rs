//! The modification of a small L by several columns of V: the reflections of `low_rank::together`, without panels.
//!
//! A block of as many columns as rows takes these rows along. The rows below it follow in tiles, one after every column of the next
//! block, in the time that the chain of roots and divisions leaves unused.

use super::usual;
use crate::health::Health;
use crate::number::{Float, Number};
use crate::sweep::apply::{Full, Masked};
use crate::sweep::entries::Entries;
use crate::sweep::low_rank::together::{Householder, MOST, SignedRows};
use crate::sweep::shape::{MAX_LANES, SMALL_ORDER};
use core::mem::MaybeUninit;
use core::ops::Range;
use faer::MatRef;
use pulp::{Simd, WithSimd};

/// The distance between columns of V. It is not a power of two: loads from one would be mistaken for loads of what has just been
/// stored to another.
const STRIDE: usize = SMALL_ORDER + 2 * MAX_LANES;

/// A modification of L by 2 to [`MOST`] columns of V.
pub struct Several<'a, T: Number> {
    l: Entries<T>,
    v: MatRef<'a, T>,
    columns: &'a [(usize, T)],
    plus: usize,
    health: &'a mut Health<T::Part>,
}

impl<'a, T: Number> Several<'a, T> {
    /// `columns` are columns of V, each with √|w|; the first `plus` of them have a plus sign.
    ///
    /// # Safety
    /// When this is run: `l` describes two lower triangular matrices with zeros above the diagonal, of as many rows and columns as V
    /// has rows, 1 to [`SMALL_ORDER`], in different memory that no other thread uses; each column of the new one may be written up
    /// to the next multiple of 64 bytes of rows.
    pub unsafe fn new(
        l: Entries<T>,
        v: MatRef<'a, T>,
        (columns, plus): (&'a [(usize, T)], usize),
        health: &'a mut Health<T::Part>,
    ) -> Self {
        debug_assert!((1..=SMALL_ORDER).contains(&v.nrows()) && (2..=MOST).contains(&columns.len()));
        Self { l, v, columns, plus, health }
    }
}

/// V, the reflections of a block and of the one before it, and the pivots of L.
#[repr(C, align(64))]
struct Memory<T> {
    v: [[T; STRIDE]; MOST],
    reflections: [[Householder<T>; MAX_LANES]; 2],
    old: [T; SMALL_ORDER],
    new: [T; SMALL_ORDER],
}

impl<T: Float> WithSimd for Several<'_, T> {
    /// The sum of the squares of the columns of V with a plus sign, or `None` if a sweep has to decide: then only the new L has been
    /// written.
    type Output = Option<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        // SAFETY: `new` requires exactly this.
        unsafe {
            match self.columns.len() {
                2 => self.run::<S, 2>(simd),
                3 => self.run::<S, 3>(simd),
                MOST => self.run::<S, MOST>(simd),
                _ => None,
            }
        }
    }
}

impl<T: Float> Several<'_, T> {
    /// # Safety
    /// As [`new`](Self::new), for K columns of V.
    #[inline(always)]
    unsafe fn run<S: Simd, const K: usize>(self, simd: S) -> Option<f64> {
        let mut memory = MaybeUninit::<Memory<T>>::uninit();
        let (memory, rows) = (memory.as_mut_ptr(), self.v.nrows());
        let mut squares = [0.0; 2];
        let mut l = self.l;
        // SAFETY: `new` requires the rows and columns; each step reads what the steps before it have written.
        unsafe {
            for (r, &column) in self.columns.iter().enumerate() {
                squares[usize::from(r >= self.plus)] +=
                    take(simd, self.v, column, (&raw mut (*memory).v[r]).cast())?;
            }
            for j in 0..rows {
                (*memory).old[j] = *l.src.wrapping_offset(j as isize * l.src_stride).add(j);
            }
            if self.plus > 0 {
                Pass { l, rows, signed: 0..self.plus, memory }.with_lanes::<S, K, false>(simd)?;
                (l.src, l.src_stride) = (l.dst, l.dst_stride);
            }
            if self.plus < K {
                Pass { l, rows, signed: self.plus..K, memory }.with_lanes::<S, K, true>(simd)?;
            }
            let old = core::slice::from_raw_parts((&raw const (*memory).old).cast(), rows);
            let new = core::slice::from_raw_parts((&raw const (*memory).new).cast(), rows);
            self.health.record(old, new);
        }
        usual(T::from_f64(squares[0] + squares[1])).then_some(squares[0])
    }
}

/// Copies a column of V, scaled, with zeros after it. Returns the sum of its squares, or `None` if a sweep would leave the column
/// out, since it is zero, or refuse it.
///
/// # Safety
/// `to` has `STRIDE` entries, and V at most [`SMALL_ORDER`] rows.
#[inline(always)]
unsafe fn take<T: Float, S: Simd>(
    simd: S,
    v: MatRef<'_, T>,
    (column, scale): (usize, T),
    to: *mut T,
) -> Option<f64> {
    let (rows, stride, lanes) = (v.nrows(), v.row_stride(), T::lanes::<S>());
    let (mut from, zero, scale) = (v.col(column).as_ptr(), T::splat(simd, T::ZERO), T::splat(simd, scale));
    let (mut sums, mut each) = (zero, [T::ZERO; MAX_LANES]);
    // SAFETY: the caller guarantees the space, for whole registers; the rows of V exist, and the mask restricts loads to them.
    unsafe {
        if stride != 1 {
            for i in 0..rows {
                *to.add(i) = *from.offset(i as isize * stride);
            }
            from = to;
        }
        for row in (0..rows).step_by(lanes) {
            let real = T::mask(simd, 0, (rows - row).min(lanes));
            let x = T::vmul(simd, scale, T::load_masked(simd, real, from.add(row)));
            T::store::<S>(to.add(row), x);
            sums = T::mul_add(simd, x, x, sums);
        }
        for row in (rows.next_multiple_of(lanes)..rows.next_multiple_of(MAX_LANES)).step_by(lanes) {
            T::store::<S>(to.add(row), zero);
        }
        T::store::<S>(each.as_mut_ptr(), sums);
    }
    let square = each[..lanes].iter().fold(T::ZERO, |sum, &lane| sum + lane);
    // False for NaN.
    (square > T::ZERO).then_some(square.to_f64())
}

/// The pass over L for those columns of V that have one sign.
struct Pass<T> {
    l: Entries<T>,
    rows: usize,
    signed: Range<usize>,
    memory: *mut Memory<T>,
}

impl<T: Float> Pass<T> {
    /// Returns `None` if a column cannot be processed.
    ///
    /// # Safety
    /// As [`Several::new`], for K columns of V.
    #[inline(always)]
    unsafe fn with_lanes<S: Simd, const K: usize, const MINUS: bool>(self, simd: S) -> Option<()> {
        // SAFETY: the caller guarantees the contract of `in_blocks`, which is the same.
        unsafe {
            match T::lanes::<S>() < 8 {
                true => self.in_blocks::<S, 2, K, MINUS>(simd),
                false => self.in_blocks::<S, 1, K, MINUS>(simd),
            }
        }
    }

    /// In blocks of as many columns as RV registers have lanes.
    ///
    /// # Safety
    /// As `with_lanes`.
    #[inline(always)]
    unsafe fn in_blocks<S: Simd, const RV: usize, const K: usize, const MINUS: bool>(
        self,
        simd: S,
    ) -> Option<()> {
        let (rows, block) = (self.rows, RV * T::lanes::<S>());
        debug_assert!(block <= MAX_LANES, "a set of reflections is for a block");
        // SAFETY: rows of L and V. In a block, the rows below the one before it are transformed by that one before they are used.
        unsafe {
            let (mut before, mut waiting) = (0, rows);
            for (at, first) in (0..rows).step_by(block).enumerate() {
                let end = rows.min(first + block);
                let this = self.from(first);
                let [set, set_before] = [at % 2, (at + 1) % 2];
                let mut a = this.row::<S, K>(simd, 0);
                for j in 0..end - first {
                    let out = &mut (*self.memory).reflections[set][j];
                    (*self.memory).new[first + j] = this.column::<S, RV, K, MINUS>(simd, j, &mut a, out)?;
                    if waiting < rows {
                        waiting = self.rows_below::<S, RV, K>(simd, (before, set_before), waiting);
                    }
                }
                while waiting < rows {
                    waiting = self.rows_below::<S, RV, K>(simd, (before, set_before), waiting);
                }
                // The pivots come last: a register of which a part has just been written cannot be loaded at once.
                for j in first..end {
                    let column = self.l.dst.wrapping_offset(j as isize * self.l.dst_stride);
                    *column.add(j) = (*self.memory).new[j];
                }
                (before, waiting) = (first, end);
                if waiting < rows {
                    waiting = self.rows_below::<S, RV, K>(simd, (first, set), waiting);
                }
            }
        }
        Some(())
    }

    /// The rows and columns from one on.
    #[inline(always)]
    fn from(&self, first: usize) -> SignedRows<T> {
        let Entries { src, src_stride, dst, dst_stride } = self.l;
        let at = |stride: isize| first as isize * (stride + 1);
        let l = Entries {
            src: src.wrapping_offset(at(src_stride)),
            dst: dst.wrapping_offset(at(dst_stride)),
            ..self.l
        };
        // SAFETY: no entry is read.
        let v: *mut T = unsafe { (&raw mut (*self.memory).v).cast() };
        let (v, rows) = (v.wrapping_add(first), self.rows - first);
        SignedRows { l, v, v_stride: STRIDE, rows, signed: self.signed.clone() }
    }

    /// Applies a block of columns to as many rows, from `row` on. Returns the next row.
    ///
    /// # Safety
    /// As `with_lanes`, after the block of columns.
    #[inline(always)]
    unsafe fn rows_below<S: Simd, const RV: usize, const K: usize>(
        &self,
        simd: S,
        (first, set): (usize, usize),
        row: usize,
    ) -> usize {
        let lanes = T::lanes::<S>();
        let end = row + RV * lanes;
        // SAFETY: rows of L and V, to which the mask restricts accesses.
        unsafe {
            let (from, all) = (self.from(first), &(*self.memory).reflections[set]);
            let signs = [&all[..RV * lanes]];
            if end <= self.rows {
                from.tile::<S, _, RV, K>(simd, Full, &signs, row - first);
                return end;
            }
            for row in (row..self.rows).step_by(lanes) {
                let mask = Masked([T::mask(simd, 0, (self.rows - row).min(lanes))]);
                from.tile::<S, _, 1, K>(simd, mask, &signs, row - first);
            }
        }
        end
    }
}
