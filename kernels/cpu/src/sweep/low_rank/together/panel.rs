//! Both steps of a panel. A block whose columns cannot be processed so is left to the coefficients of each column of V.

use super::super::{Coefficients, LowRank, PANEL_COLS};
use super::{BLOCK, Householder, MOST, SignedRows};
use crate::health::Health;
use crate::number::Float;
use crate::sweep::apply::{Full, Masked};
use crate::sweep::entries::Entries;
use crate::sweep::shape::MAX_LANES;
use core::ops::Range;
use pulp::Simd;

/// What transforms rows below a block: a reflection of each sign for each column, or the coefficients for each column of V.
#[repr(C)]
struct Set<T, const K: usize> {
    /// Not zero if there are reflections.
    together: T,
    reflections: [[Householder<T>; BLOCK]; 2],
    each: [Coefficients<T>; K],
}

/// Scalars of the sets of a panel, for a V with `rank` columns.
pub fn sets_len<T>(rank: usize) -> usize {
    let set = size_of::<Set<T, 0>>() / size_of::<T>() + rank * Coefficients::<T>::LEN;
    PANEL_COLS / BLOCK * set
}

/// A block of L and its rows of V, with space for whole registers.
#[repr(C, align(64))]
struct BlockCopy<T> {
    l: [[T; MAX_LANES]; BLOCK],
    v: [[T; MAX_LANES]; MOST],
}

impl<T: Float> LowRank<T> {
    /// The diagonal step of the panel `columns`.
    ///
    /// # Errors
    /// The first column whose pivot² is not greater than zero.
    ///
    /// # Safety
    /// As [`Diagonal::new`](super::super::Diagonal::new), for K columns of V; `sets` has [`sets_len`] scalars.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(in super::super) unsafe fn panel_together<S: Simd, const K: usize>(
        &self,
        simd: S,
        columns: Range<usize>,
        sets: *mut T,
        health: &mut Health<T>,
    ) -> Result<(), usize> {
        for (at, first) in columns.clone().step_by(BLOCK).enumerate() {
            let block = first..columns.end.min(first + BLOCK);
            // SAFETY: the caller guarantees the rows of the panel, and a set for each block.
            unsafe {
                let set = &mut *sets.cast::<Set<T, K>>().add(at);
                let made = match T::lanes::<S>() < BLOCK {
                    true => self.block_together::<S, 2, K>(simd, block.clone(), &mut set.reflections, health),
                    false => {
                        self.block_together::<S, 1, K>(simd, block.clone(), &mut set.reflections, health)
                    }
                };
                set.together = if made { T::ONE } else { T::ZERO };
                if !made {
                    self.diagonal_block(simd, block.clone(), &mut set.each, health)?;
                }
                let below = block.end..columns.end;
                self.rows_of_set(simd, block, set, below);
            }
        }
        Ok(())
    }

    /// The trailing step of the panel `columns`.
    ///
    /// # Safety
    /// As [`Trailing::new`](super::super::Trailing::new), for K columns of V, after `panel_together`.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(in super::super) unsafe fn rows_together<S: Simd, const K: usize>(
        &self,
        simd: S,
        columns: Range<usize>,
        sets: *const T,
        rows: Range<usize>,
    ) {
        for (at, first) in columns.clone().step_by(BLOCK).enumerate() {
            // SAFETY: the caller guarantees the rows, and a set for each block.
            unsafe {
                let set = &*sets.cast::<Set<T, K>>().add(at);
                self.rows_of_set(simd, first..columns.end.min(first + BLOCK), set, rows.clone());
            }
        }
    }

    /// Whether there are columns of V of each sign.
    fn occur(&self) -> [bool; 2] {
        [self.plus > 0, self.plus < self.rank]
    }

    /// L and V from this row and column of L on. No row is for `SignedRows::column`.
    fn from(&self, row: usize, column: usize, minus: bool) -> SignedRows<T> {
        let Self { l, plus, rank, v_stride, .. } = *self;
        let l = Entries { src: self.src(row, column), dst: self.dst(row, column), ..l };
        let signed = if minus { plus..rank } else { 0..plus };
        SignedRows { l, v: self.v(row, 0), v_stride, rows: 0, signed }
    }

    /// Transforms a diagonal block, and computes its reflections. Returns `false`, with nothing written but those, if some column
    /// cannot be processed so.
    ///
    /// # Safety
    /// As `panel_together`.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn block_together<S: Simd, const RV: usize, const K: usize>(
        &self,
        simd: S,
        block: Range<usize>,
        reflections: &mut [[Householder<T>; BLOCK]; 2],
        health: &mut Health<T>,
    ) -> bool {
        let (first, width, lanes) = (block.start, block.len(), T::lanes::<S>());
        debug_assert!(RV * lanes >= BLOCK && RV * lanes <= MAX_LANES, "the registers hold a block");
        let mut copy = BlockCopy { l: [[T::ZERO; MAX_LANES]; BLOCK], v: [[T::ZERO; MAX_LANES]; MOST] };
        let (mut old, mut new) = ([T::ONE; BLOCK], [T::ONE; BLOCK]);
        // SAFETY: entries of the lower triangle of the block, and its rows of V. The copy has whole registers.
        unsafe {
            for row in (0..width).step_by(lanes) {
                let end = width.min(row + lanes);
                for j in 0..end {
                    let below = T::mask(simd, j.max(row) - row, end - row);
                    let l = T::load_masked(simd, below, self.src(first + row, first + j));
                    T::store::<S>((&raw mut copy.l[j]).cast::<T>().add(row), l);
                }
                for r in 0..K {
                    let v = T::load_masked(simd, T::mask(simd, 0, end - row), self.v(first + row, r));
                    T::store::<S>((&raw mut copy.v[r]).cast::<T>().add(row), v);
                }
            }
            for j in 0..width {
                old[j] = *self.src(first + j, first + j);
            }
            let dst: *mut T = (&raw mut copy.l).cast();
            let stride = MAX_LANES as isize;
            let l = Entries { src: dst.cast_const(), src_stride: stride, dst, dst_stride: stride };
            for (minus, _) in self.occur().into_iter().enumerate().filter(|(_, occurs)| *occurs) {
                let rows = SignedRows {
                    l,
                    v: (&raw mut copy.v).cast(),
                    v_stride: MAX_LANES,
                    rows: width,
                    ..self.from(first, first, minus == 1)
                };
                let mut a = rows.row::<S, K>(simd, 0);
                for j in 0..width {
                    let out = &mut reflections[minus][j];
                    let made = match minus {
                        0 => rows.column::<S, RV, K, false>(simd, j, &mut a, out),
                        _ => rows.column::<S, RV, K, true>(simd, j, &mut a, out),
                    };
                    let Some(pivot) = made else { return false };
                    new[j] = pivot;
                }
                if minus == 0 && self.plus < K {
                    for j in 0..width {
                        *dst.add(j * (MAX_LANES + 1)) = new[j];
                    }
                }
            }
            if !self.l.dst.is_null() {
                for row in (0..width).step_by(lanes) {
                    let end = width.min(row + lanes);
                    for j in 0..end {
                        let below = T::mask(simd, j.max(row) - row, end - row);
                        let l = T::load::<S>(dst.add(j * MAX_LANES + row));
                        T::store_masked(simd, below, self.dst(first + row, first + j), l);
                    }
                }
                for j in 0..width {
                    *self.dst(first + j, first + j) = new[j];
                }
            }
        }
        health.record(&old[..width], &new[..width]);
        true
    }

    /// # Safety
    /// As `rows_together`, for the set of this block.
    #[cfg_attr(not(unoptimized), inline(always))]
    unsafe fn rows_of_set<S: Simd, const K: usize>(
        &self,
        simd: S,
        block: Range<usize>,
        set: &Set<T, K>,
        rows: Range<usize>,
    ) {
        if set.together == T::ZERO {
            // SAFETY: the caller guarantees the rows, and there are coefficients.
            return unsafe { self.rows(simd, block, core::slice::from_ref(&set.each), rows) };
        }
        let [plus, minus] = [&set.reflections[0][..block.len()], &set.reflections[1][..block.len()]];
        let both = [plus, minus];
        let signs = match self.occur() {
            [true, true] => &both[..],
            [true, false] => &both[..1],
            _ => &both[1..],
        };
        let (lanes, all) = (T::lanes::<S>(), self.from(0, block.start, false));
        let mut row = rows.start;
        // SAFETY: the caller guarantees the rows; the mask restricts accesses to the remaining ones.
        unsafe {
            while row + 2 * lanes <= rows.end {
                all.tile::<S, _, 2, K>(simd, Full, signs, row);
                row += 2 * lanes;
            }
            while row < rows.end {
                let mask = Masked([T::mask(simd, 0, (rows.end - row).min(lanes))]);
                all.tile::<S, _, 1, K>(simd, mask, signs, row);
                row += lanes;
            }
        }
    }
}
