//! Applies the reflections of a block to rows below it.

use super::column::transformed;
use super::{Householder, SignedRows};
use crate::number::Float;
use crate::sweep::apply::Rows;
use pulp::Simd;

impl<T: Float> SignedRows<T> {
    /// Applies reflections, for each column of a block one of each sign that occurs, to RV registers of rows from `row` on. V stays
    /// in registers.
    ///
    /// # Safety
    /// The real rows of L, from the first column of the block on, and of K columns of V must be readable, and writable; of L, if
    /// `l.dst` is not null.
    #[inline(always)]
    pub unsafe fn tile<S: Simd, A: Rows<T, S>, const RV: usize, const K: usize>(
        &self,
        simd: S,
        real: A,
        signs: &[&[Householder<T>]],
        row: usize,
    ) {
        let lanes = T::lanes::<S>();
        let zero = T::splat(simd, T::ZERO);
        let columns = signs.first().map_or(0, |first| first.len());
        // SAFETY: the caller guarantees the rows.
        unsafe {
            let (mut v, mut l) = ([[zero; RV]; K], [zero; RV]);
            for r in 0..K {
                for i in 0..RV {
                    v[r][i] = real.load(simd, i, self.v(row + i * lanes, r));
                }
            }
            for j in 0..columns {
                for i in 0..RV {
                    l[i] = real.load(simd, i, self.src(row + i * lanes, j));
                }
                for of in signs {
                    let Householder { a, b, q, g } = &of[j];
                    let coefficients = [T::splat(simd, *q), T::splat(simd, *g)];
                    let (mut products, mut both) = ([[zero; RV]; 2], [zero; RV]);
                    for r in 0..K {
                        let a = T::splat(simd, a[r]);
                        for i in 0..RV {
                            products[r % 2][i] = T::mul_add(simd, v[r][i], a, products[r % 2][i]);
                        }
                    }
                    for i in 0..RV {
                        let products = [products[0][i], products[1][i]];
                        (l[i], both[i]) = transformed::<T, S>(simd, l[i], coefficients, products);
                    }
                    for r in 0..K {
                        let b = T::splat(simd, b[r]);
                        for i in 0..RV {
                            v[r][i] = T::neg_mul_add(simd, both[i], b, v[r][i]);
                        }
                    }
                }
                if !self.l.dst.is_null() {
                    for i in 0..RV {
                        real.store(simd, i, self.dst(row + i * lanes, j), l[i]);
                    }
                }
            }
            for r in 0..K {
                for i in 0..RV {
                    real.store(simd, i, self.v(row + i * lanes, r), v[r][i]);
                }
            }
        }
    }
}
