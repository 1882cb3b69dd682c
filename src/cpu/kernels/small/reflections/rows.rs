//! The rows below a block of columns.

use super::{Block, OneSign};
use crate::float::Float;
use pulp::Simd;

impl<T: Float> OneSign<T> {
    /// A register of rows of a column of L, zeros after the last row.
    ///
    /// # Safety
    /// As [`run`](Self::run).
    #[inline(always)]
    pub(super) unsafe fn load<S: Simd>(&self, simd: S, row: usize, column: usize) -> T::Vector<S> {
        let (lanes, from) = (T::lanes::<S>(), self.src(row, column));
        // SAFETY: the column has these rows, and the mask restricts the load to them.
        unsafe {
            match row + lanes <= self.rows {
                true => T::load::<S>(from),
                false => T::load_masked(simd, T::mask(simd, 0, self.rows.saturating_sub(row)), from),
            }
        }
    }

    /// Applies the coefficients of a block of columns to as many rows, from `row` on. V stays in registers.
    ///
    /// # Safety
    /// As [`run`](Self::run), after the columns of the block.
    #[inline(always)]
    pub(super) unsafe fn square<S: Simd, const RV: usize, const K: usize>(
        &self,
        simd: S,
        block: Block,
        row: usize,
    ) {
        let (lanes, mut v) = (T::lanes::<S>(), [[T::splat(simd, T::ZERO); RV]; K]);
        // SAFETY: rows of V and of the columns. Rows of a register after the last one of L have space.
        unsafe {
            for r in 0..K {
                for i in 0..RV {
                    v[r][i] = T::load::<S>(self.v(row + i * lanes, r));
                }
            }
            for j in 0..RV * lanes {
                let coefficients = &*self.coefficients(block, j);
                let (q, g) = (T::splat(simd, coefficients.q), T::splat(simd, coefficients.g));
                let mut l = [T::splat(simd, T::ZERO); RV];
                let mut h = [[T::splat(simd, T::ZERO); RV]; 2];
                for i in 0..RV {
                    l[i] = self.load(simd, row + i * lanes, block.first + j);
                }
                for r in 0..K {
                    let a = T::splat(simd, coefficients.a[r]);
                    for i in 0..RV {
                        h[r % 2][i] = match r < 2 {
                            true => T::vmul(simd, v[r][i], a),
                            false => T::mul_add(simd, v[r][i], a, h[r % 2][i]),
                        };
                    }
                }
                for i in 0..RV {
                    let h = T::vadd(simd, T::neg_mul_add(simd, q, l[i], h[0][i]), h[1][i]);
                    let new = T::mul_add(simd, g, h, l[i]);
                    T::store::<S>(self.dst(row + i * lanes, block.first + j), new);
                    l[i] = T::vadd(simd, l[i], new);
                }
                for r in 0..K {
                    let b = T::splat(simd, coefficients.b[r]);
                    for i in 0..RV {
                        v[r][i] = T::neg_mul_add(simd, l[i], b, v[r][i]);
                    }
                }
            }
            for r in 0..K {
                for i in 0..RV {
                    T::store::<S>(self.v(row + i * lanes, r), v[r][i]);
                }
            }
        }
    }
}
