//! The trailing step for V of a few columns, whose rows stay in registers from the first column of a panel
//! to the last.
//!
//! Columns of L are gone through one at a time, so there is no triangular solve, which for a V as narrow as
//! this would cost as much as the products:
//!
//! ```text
//! u = ρ p + V (ρ S bᵀ)        p ← u − p        V ← V − u b
//! ```
//!
//! It takes 32 registers to have enough rows at work at once to hide the latency of a column.

use super::reflector::Reflector;
use super::simd::{prefetch, stream};
use super::trailing::{Rows, Tile};
use crate::scalar::Scalar;
use pulp::Simd;

/// Most columns of V that this is for.
pub(crate) const MAX_RANK: usize = 4;

/// Columns of L in a panel.
pub(crate) const PANEL_COLS: usize = 24;

/// Registers of rows in a tile for V with `rank` columns. With what a column of L takes they just fit.
pub(crate) const fn row_registers(rank: usize) -> usize {
    match rank {
        0..=2 => 6,
        3 => 5,
        _ => 4,
    }
}

/// What rows below need of one column of L.
#[derive(Clone, Copy)]
pub(crate) struct Column<T, const K: usize> {
    /// ρ S bᵀ
    products: [T; K],
    b: [T; K],
    rho: T,
}

impl<T: Scalar, const K: usize> Column<T, K> {
    /// That of the identity.
    pub const IDENTITY: Self = Self { products: [T::ZERO; K], b: [T::ZERO; K], rho: T::ONE };

    /// Column `j` of a micro reflector.
    ///
    /// # Safety
    /// The reflector must have been made, for K columns of V.
    #[inline(always)]
    pub unsafe fn of(reflector: Reflector<T>, j: usize) -> Self {
        // SAFETY: j is one of the reflector's columns, which the caller vouches for.
        let (b, rho) = unsafe { (core::array::from_fn(|r| *reflector.b(r).add(j)), *reflector.rho().add(j)) };
        let sign = |r| if r < reflector.plus { rho } else { -rho };
        Self { products: core::array::from_fn(|r: usize| sign(r) * b[r]), b, rho }
    }
}

/// What becomes of the new L.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Write {
    Nowhere,
    Memory,
    /// Past the caches.
    Stream,
}

/// Applies consecutive columns to RV registers of rows of L, from `tile` on, and of the K columns of V.
///
/// # Safety
/// The real rows of `tile`, over these columns of L and K of V, must be readable and writable as `write`
/// says, and nobody else may use them meanwhile.
#[inline(always)]
pub(crate) unsafe fn apply<T: Scalar, S: Simd, A: Rows<T, S>, const RV: usize, const K: usize>(
    simd: S,
    rows: A,
    columns: &[Column<T, K>],
    tile: Tile<T>,
    write: Write,
) {
    let lanes = T::lanes::<S>();
    let (mut src, mut dst) = (tile.src, tile.dst);
    // SAFETY (all pointer arithmetic and accesses below): each column of L, column r < K of V and register
    // i < RV stay inside the tile that the caller vouches for.
    unsafe {
        let mut v = [[T::splat(simd, T::ZERO); RV]; K];
        for r in 0..K {
            for i in 0..RV {
                v[r][i] = rows.load(simd, i, tile.v.add(r * tile.v_stride + i * lanes));
            }
        }
        for column in columns {
            prefetch::<1, T>(src.wrapping_add(RV * lanes), RV * lanes);
            if tile.ahead > 0 {
                prefetch::<2, T>(src.wrapping_add(tile.ahead), RV * lanes);
            }
            let rho = T::splat(simd, column.rho);
            let mut u = [rho; RV];
            for i in 0..RV {
                u[i] = T::vmul(simd, rho, rows.load(simd, i, src.add(i * lanes)));
            }
            for r in 0..K {
                let product = T::splat(simd, column.products[r]);
                for i in 0..RV {
                    u[i] = T::mul_add(simd, v[r][i], product, u[i]);
                }
            }
            for r in 0..K {
                let b = T::splat(simd, column.b[r]);
                for i in 0..RV {
                    v[r][i] = T::neg_mul_add(simd, u[i], b, v[r][i]);
                }
            }
            for i in 0..RV {
                let new = T::vsub(simd, u[i], rows.load(simd, i, src.add(i * lanes)));
                match write {
                    Write::Nowhere => {}
                    Write::Memory => rows.store(simd, i, dst.add(i * lanes), new),
                    Write::Stream => stream(dst.add(i * lanes), new),
                }
            }
            src = src.wrapping_offset(tile.src_stride);
            dst = dst.wrapping_offset(tile.dst_stride);
        }
        for r in 0..K {
            for i in 0..RV {
                rows.store(simd, i, tile.v.add(r * tile.v_stride + i * lanes), v[r][i]);
            }
        }
    }
}
