//! The modification of an L of a few rows, whose entries stay in registers.

use super::{Made, Small, usual};
use crate::number::Float;
use crate::sweep::diagonal::SMALL_CHANGE;
use crate::sweep::low_rank::within_limits;
use pulp::{Simd, WithSimd};

/// The largest number of rows.
pub const FEW: usize = 6;

/// A [`Small`] with at most [`FEW`] rows. By reference: what has just been written to memory in parts would be read as a whole, which
/// takes long.
pub struct Few<'a, T>(pub &'a Small<T>);

impl<T: Float> WithSimd for Few<'_, T> {
    type Output = Option<Made>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        let small = self.0;
        // SAFETY: `Small::new` requires exactly this.
        unsafe {
            match small.rows {
                1 => small.few::<S, 1>(),
                2 => small.few::<S, 2>(),
                3 => small.few::<S, 3>(),
                4 => small.few::<S, 4>(),
                5 => small.few::<S, 5>(),
                FEW => small.few::<S, FEW>(),
                _ => None,
            }
        }
    }
}

impl<T: Float> Small<T> {
    /// # Safety
    /// As [`new`](Self::new), for N rows.
    #[inline(always)]
    unsafe fn few<S: Simd, const N: usize>(&self) -> Option<Made> {
        let (zero, one) = (T::ZERO, T::ONE);
        // SAFETY: N rows and columns, which the caller guarantees.
        unsafe {
            let (mut v, mut square) = ([zero; N], zero);
            for i in 0..N {
                v[i] = self.scale * *self.v.offset(i as isize * self.v_stride);
                square = T::fused::<S>(v[i], v[i], square);
            }
            let mut l = [[zero; N]; N];
            for j in 0..N {
                for i in j..N {
                    l[j][i] = *self.column(j).add(i);
                }
            }
            // p̂, and t after each column.
            let (mut x, mut p, mut after, mut t) = (v, [zero; N], [one; N], one);
            for j in 0..N {
                let inverse = one / l[j][j];
                let near = x[j] * inverse;
                // The quotient to its last digit. The next column does not wait for it.
                p[j] = T::fused::<S>(T::fused::<S>(-near, l[j][j], x[j]), inverse, near);
                t = T::fused::<S>(self.sign * p[j], p[j], t);
                after[j] = t;
                for i in j + 1..N {
                    x[i] = T::fused::<S>(-near, l[j][i], x[i]);
                }
            }
            if !(usual(square) && within_limits(t)) {
                return None;
            }
            let (mut before, mut least, mut product) = (one, T::INFINITY, 1.0);
            for j in 0..N {
                let (old, root) = (l[j][j], after[j].sqrt());
                let signed = self.sign * p[j];
                let g = signed / root;
                let new_p = p[j] / (before + root);
                let x = T::fused::<S>(-g, new_p, zero);
                let change = signed / before * new_p * old;
                let small = change.abs() < T::from_f64(SMALL_CHANGE) * old;
                let new = if small { old + change } else { root / before * old };
                *self.column(j).add(j) = new;
                let ratio = new / old;
                least = if ratio < least { ratio } else { least };
                product *= ratio.to_f64();
                for i in j + 1..N {
                    let l = l[j][i];
                    let d = T::fused::<S>(g, v[i], x * l);
                    *self.column(j).add(i) = l + d;
                    v[i] = T::fused::<S>(-new_p, T::fused::<S>(T::TWO, l, d), v[i]);
                }
                before = root;
            }
            Some(Made { least: least.to_f64(), product, square: square.to_f64() })
        }
    }
}
