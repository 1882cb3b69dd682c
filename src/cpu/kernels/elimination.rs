//! I + E = M Δ Mᵀ for a small symmetric E, by registers and by scalars: M is unit lower triangular, Δ diagonal.

use super::reflector::Reflector;
use crate::float::Float;
use pulp::Simd;

/// The largest permitted condition number of I + E.
const LARGEST_CONDITION: f64 = 6.0;

/// Columns that are eliminated by scalars, with the shortest dependency chain, before registers apply them to the rest.
const FEW: usize = 4;

pub(super) struct Eliminated<T: Float, S: Simd> {
    /// Δ
    pub pivot: T::Vector<S>,
    /// Δ − I, which is more accurate than Δ if it is small.
    pub change: T::Vector<S>,
}

/// Factors I + E, with the columns `e` of E, if its condition number is within the limit. With `minus` E has no positive
/// eigenvalue, otherwise no negative one. Writes M Δ to τ of `reflector`, by columns, below the diagonal.
///
/// # Safety
/// The reflector must be writable and have space for C columns, a multiple of [`FEW`].
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) unsafe fn eliminate<T: Float, S: Simd, const C: usize>(
    simd: S,
    mut e: [T::Vector<S>; C],
    reflector: Reflector<T>,
    minus: bool,
) -> Option<Eliminated<T, S>> {
    let (mut pivot, mut change) = (T::splat(simd, T::ONE), T::splat(simd, T::ZERO));
    let (mut trace, mut determinant, mut definite) = (T::ZERO, T::ONE, true);
    // SAFETY: all accesses: rows and columns below C of τ, which has space for a register for each column.
    unsafe {
        let at = |i: usize, j: usize| *reflector.tau(j).add(i);
        for j in 0..C {
            T::store::<S>(reflector.tau(j), e[j]);
        }
        for j in 0..C {
            trace += at(j, j);
        }
        for first in (0..C).step_by(FEW) {
            if first > 0 {
                for j in first..first + FEW {
                    T::store::<S>(reflector.tau(j), e[j]);
                }
            }
            let (mut q, mut d) = ([[T::ZERO; FEW]; FEW], [T::ZERO; FEW]);
            for j in 0..FEW {
                for i in j..FEW {
                    q[j][i] = at(first + i, first + j);
                }
                d[j] = T::ONE + q[j][j];
            }
            let (mut m, mut negative) = ([[T::ZERO; FEW]; FEW], [T::ZERO; FEW]);
            for j in 0..FEW {
                definite &= d[j] > T::ZERO;
                determinant *= d[j];
                let own = T::mask(simd, first + j, first + j + 1);
                pivot = T::select(simd, own, T::splat(simd, d[j]), pivot);
                change = T::select(simd, own, T::splat(simd, q[j][j]), change);
                negative[j] = -T::ONE / d[j];
                for h in j + 1..FEW {
                    // The next pivot waits for the reciprocal and one multiply-add.
                    d[h] = T::fused::<S>(negative[j], q[j][h] * q[j][h], d[h]);
                    m[j][h] = q[j][h] * negative[j];
                    for i in h..FEW {
                        q[h][i] = T::fused::<S>(m[j][h], q[j][i], q[h][i]);
                    }
                }
            }
            for j in 0..FEW {
                for h in j + 1..FEW {
                    let m = T::splat(simd, m[j][h]);
                    e[first + h] = T::mul_add(simd, e[first + j], m, e[first + h]);
                }
                T::store::<S>(reflector.tau(first + j), e[first + j]);
            }
            for j in first..first + FEW {
                let m = T::vmul(simd, e[j], T::splat(simd, negative[j - first]));
                for h in first + FEW..C {
                    e[h] = T::mul_add(simd, m, T::splat(simd, at(h, j)), e[h]);
                }
            }
        }
    }
    let most = T::from_f64(LARGEST_CONDITION);
    let fits = if minus {
        // The smallest eigenvalue is the determinant over the product of the others, which is at most a power of their mean.
        let share = T::from_f64(C as f64 - 1.0) / (T::from_f64(C as f64) + trace);
        let power = (1..C).fold(T::ONE, |power, _| power * share);
        determinant * power * most >= T::ONE
    } else {
        T::ONE + trace <= most
    };
    (definite && fits).then_some(Eliminated { pivot, change })
}
