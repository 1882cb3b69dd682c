//! I + E = M Δ Mᴴ for a small Hermitian E, by registers and by scalars: M is unit lower triangular, Δ diagonal.

use super::reflector::Reflector;
use crate::number::{Float, Number, RealVector};
use pulp::Simd;

/// The largest permitted condition number of I + E.
const LARGEST_CONDITION: f64 = 6.0;

/// Columns that are eliminated by scalars, with the shortest dependency chain, before registers apply them to the rest.
const FEW: usize = 4;

pub struct Eliminated<T: Number, S: Simd> {
    /// Δ
    pub pivot: RealVector<T, S>,
    /// Δ − I, which is more accurate than Δ if it is small.
    pub change: RealVector<T, S>,
}

/// Factors I + E, with the columns `e` of E, if its condition number is within the limit. With `minus` E has no positive
/// eigenvalue, otherwise no negative one. Writes M Δ to τ of `reflector`, by columns, below the diagonal.
///
/// # Safety
/// The reflector must be writable and have space for C columns, a multiple of `FEW`.
#[cfg_attr(not(unoptimized), inline(always))]
pub unsafe fn eliminate<T: Number, S: Simd, const C: usize>(
    simd: S,
    mut e: [T::Vector<S>; C],
    reflector: Reflector<T>,
    minus: bool,
) -> Option<Eliminated<T, S>> {
    let (zero, one) = (T::Part::ZERO, T::Part::ONE);
    let (mut pivot, mut change) = (T::Part::splat(simd, one), T::Part::splat(simd, zero));
    let (mut trace, mut determinant, mut definite) = (zero, one, true);
    // SAFETY: all accesses: rows and columns below C of τ, which has space for a register for each column.
    unsafe {
        let at = |i: usize, j: usize| *reflector.tau(j).add(i);
        for j in 0..C {
            T::store::<S>(reflector.tau(j), e[j]);
        }
        for j in 0..C {
            trace += at(j, j).real();
        }
        for first in (0..C).step_by(FEW) {
            if first > 0 {
                for j in first..first + FEW {
                    T::store::<S>(reflector.tau(j), e[j]);
                }
            }
            let (mut q, mut d) = ([[T::ZERO; FEW]; FEW], [zero; FEW]);
            for j in 0..FEW {
                for i in j..FEW {
                    q[j][i] = at(first + i, first + j);
                }
                d[j] = one + q[j][j].real();
            }
            let (mut m, mut negative) = ([[T::ZERO; FEW]; FEW], [zero; FEW]);
            for j in 0..FEW {
                definite &= d[j] > zero;
                determinant *= d[j];
                let own = T::Part::mask(simd, first + j, first + j + 1);
                pivot = T::Part::select(simd, own, T::Part::splat(simd, d[j]), pivot);
                change = T::Part::select(simd, own, T::Part::splat(simd, q[j][j].real()), change);
                negative[j] = -one / d[j];
                for h in j + 1..FEW {
                    // The next pivot waits for the reciprocal and one multiply-add.
                    let square = (q[j][h] * q[j][h].conj()).real();
                    d[h] = <T::Part as Number>::fused::<S>(negative[j], square, d[h]);
                    m[j][h] = q[j][h].conj().times(negative[j]);
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
                let m = T::vtimes(simd, T::Part::splat(simd, negative[j - first]), e[j]);
                for h in first + FEW..C {
                    e[h] = T::mul_add(simd, m, T::splat(simd, at(h, j).conj()), e[h]);
                }
            }
        }
    }
    let most = T::Part::from_f64(LARGEST_CONDITION);
    let fits = if minus {
        // The smallest eigenvalue is the determinant over the product of the others, which is at most a power of their mean.
        let share = T::Part::from_f64(C as f64 - 1.0) / (T::Part::from_f64(C as f64) + trace);
        let power = (1..C).fold(one, |power, _| power * share);
        determinant * power * most >= one
    } else {
        one + trace <= most
    };
    (definite && fits).then_some(Eliminated { pivot, change })
}
