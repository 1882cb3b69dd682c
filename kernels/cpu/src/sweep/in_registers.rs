//! The trailing step for a V of three or four columns. Rows of V stay in registers from the first column of a panel to the
//! last.
//!
//! Columns of L are processed one at a time. So there is no triangular solve, which for so narrow a V would cost as much as the
//! products:
//!
//! ```text
//! d = x p + V (s bᵀ)        u = 2 p + d        p ← p + d        V ← V − u b
//! ```
//!
//! If V has both signs, the part of the plus columns is applied to a column of L before that of the minus columns.
//!
//! 32 registers are needed to process enough rows at the same time to hide the latency of a column.

use super::apply::{Rows, Tile};
use super::reflector::Reflector;
use crate::isa::prefetch;
use crate::number::{Float, Number};
use core::ops::Range;
use pulp::Simd;

/// The numbers that transform rows below one column of L, for a V of K columns, of which the first P have one sign.
#[derive(Clone, Copy)]
pub struct Column<T: Number, const K: usize, const P: usize> {
    /// s bᵀ
    products: [T; K],
    b: [T; K],
    /// For the first P columns, and for the others.
    x: [T::Part; 2],
}

impl<T: Number, const K: usize, const P: usize> Column<T, K, P> {
    /// The identity.
    pub const IDENTITY: Self = Self { products: [T::ZERO; K], b: [T::ZERO; K], x: [T::Part::ZERO; 2] };

    /// Reads column `j` of a micro reflector, for the columns of V from `first` on.
    ///
    /// # Safety
    /// The reflector must have been computed.
    #[inline(always)]
    pub unsafe fn read(&mut self, reflector: Reflector<T>, first: usize, j: usize) {
        // SAFETY: j is a column of the reflector, which the caller guarantees.
        unsafe {
            for r in 0..reflector.rank.min(K - first) {
                (self.b[first + r], self.products[first + r]) =
                    (*reflector.b(r).add(j), *reflector.g(r).add(j));
            }
            self.x[usize::from(first > 0)] = (*reflector.x().add(j)).real();
        }
    }

    /// Applies these columns of V, of one sign, at this column of L to RV registers of rows: p of L and v of V.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn reflect<S: Simd, const RV: usize>(
        &self,
        simd: S,
        columns: Range<usize>,
        p: &mut [T::Vector<S>; RV],
        v: &mut [[T::Vector<S>; RV]; K],
    ) {
        let x = T::Part::splat(simd, self.x[usize::from(columns.start > 0)]);
        let mut d = *p;
        for i in 0..RV {
            d[i] = T::vtimes(simd, x, p[i]);
        }
        for r in columns.clone() {
            let product = T::splat(simd, self.products[r]);
            for i in 0..RV {
                d[i] = T::mul_add(simd, v[r][i], product, d[i]);
            }
        }
        let two = T::Part::splat(simd, T::Part::TWO);
        for i in 0..RV {
            let u = T::times_add(simd, two, p[i], d[i]);
            p[i] = T::vadd(simd, p[i], d[i]);
            d[i] = u;
        }
        for r in columns {
            let b = T::splat(simd, self.b[r]);
            for i in 0..RV {
                v[r][i] = T::neg_mul_add(simd, d[i], b, v[r][i]);
            }
        }
    }
}

/// Destination of the new L.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Store {
    Skip,
    Memory,
    /// Past the caches.
    Stream,
}

/// Applies consecutive columns to RV registers of rows of L, from `tile` on, and of the K columns of V.
///
/// # Safety
/// The real rows of `tile`, over these columns of L and K of V, must be readable, and writable as `store` requires. No other
/// thread may use them during the call.
#[cfg_attr(not(unoptimized), inline(always))]
pub unsafe fn apply<T: Number, S: Simd, A: Rows<T, S>, const RV: usize, const K: usize, const P: usize>(
    simd: S,
    rows: A,
    columns: &[Column<T, K, P>],
    tile: Tile<T>,
    store: Store,
) {
    let lanes = T::lanes::<S>();
    let (mut src, mut dst) = (tile.src, tile.dst);
    // SAFETY: all pointer arithmetic and accesses below: each column of L, column r < K of V and register i < RV are inside the
    // tile that the caller guarantees.
    unsafe {
        let mut v = [[T::splat(simd, T::ZERO); RV]; K];
        for r in 0..K {
            for i in 0..RV {
                v[r][i] = rows.load_v(simd, i, tile.v.add(r * tile.v_stride + i * lanes), tile.apart());
            }
        }
        for column in columns {
            prefetch::<1, T>(src.wrapping_add(RV * lanes), RV * lanes);
            if tile.ahead > 0 {
                prefetch::<2, T>(src.wrapping_add(tile.ahead), RV * lanes);
            }
            let mut p = [T::splat(simd, T::ZERO); RV];
            for i in 0..RV {
                p[i] = rows.load(simd, i, src.add(i * lanes));
            }
            column.reflect(simd, 0..P, &mut p, &mut v);
            if P < K {
                column.reflect(simd, P..K, &mut p, &mut v);
            }
            for i in 0..RV {
                match store {
                    Store::Skip => {}
                    Store::Memory => rows.store(simd, i, dst.add(i * lanes), p[i]),
                    Store::Stream => T::stream::<S>(dst.add(i * lanes), p[i]),
                }
            }
            src = src.wrapping_offset(tile.src_stride);
            dst = dst.wrapping_offset(tile.dst_stride);
        }
        for r in 0..K {
            for i in 0..RV {
                rows.store_v(simd, i, tile.v.add(r * tile.v_stride + i * lanes), tile.apart(), v[r][i]);
            }
        }
    }
}
