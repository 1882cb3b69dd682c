//! The diagonal step on all columns of a block at the same time.
//!
//! Column by column, a pivot waits for the square root of the previous one. With P = D⁻¹ V for the old block D (Bennett 1965;
//! method C1 of Gill, Golub, Murray and Saunders 1974 for several columns of V), all roots are computed together:
//!
//! ```text
//! E = σ P Pᴴ      C Cᴴ = I + E      D ← D + D (C − I)
//! Z = (I + C)⁻¹   B = Z P           T = I − Zᴴ
//! ```
//!
//! B and T are those of the block reflector that a computation column by column would give. If D or I + E is too badly
//! conditioned, the columns are processed one by one.

use super::apply::Tile;
use super::diagonal::SMALL_CHANGE;
use super::elimination::{Eliminated, eliminate};
use super::reflector::Reflector;
use super::shape::MAX_LANES;
use crate::number::{Float, Number, RealVector};
use pulp::Simd;

/// An upper limit for the sum of squares, below the diagonal, of D with its rows scaled to a unit diagonal and of the inverse
/// of that. It bounds the digits that P = D⁻¹ V loses compared with a triangular solve.
const LARGEST_COUPLING: f64 = 4.0;

/// Scalars for each column of a block, with space for whole registers.
#[repr(align(64))]
struct Each<T, const N: usize>([[T; MAX_LANES]; N]);

impl<T: Number, const N: usize> Each<T, N> {
    #[inline(always)]
    fn of<S: Simd>(registers: [T::Vector<S>; N]) -> Self {
        let mut each = Self([[T::ZERO; MAX_LANES]; N]);
        for (scalars, register) in each.0.iter_mut().zip(registers) {
            // SAFETY: each row has space for the widest register.
            unsafe { T::store::<S>(scalars.as_mut_ptr(), register) };
        }
        each
    }
}

/// Transforms the C × C lower triangle at `tile` and fills `reflector`, for columns of V of one sign, if D and I + E are
/// sufficiently well conditioned. Otherwise returns `false`, and has changed only the reflector. Writes the new diagonal to
/// `pivots`.
///
/// # Safety
/// As [`diagonal`](super::diagonal::diagonal), for C columns, at most the lanes of a register.
#[cfg_attr(not(unoptimized), inline(always))]
pub unsafe fn at_once<T: Number, S: Simd, const C: usize>(
    simd: S,
    tile: Tile<T>,
    reflector: Reflector<T>,
    minus: bool,
    pivots: &mut [T::Part; MAX_LANES],
) -> bool {
    let (zero, one) = (T::splat(simd, T::ZERO), T::Part::splat(simd, T::Part::ONE));
    let sign = T::Part::splat(simd, if minus { -T::Part::ONE } else { T::Part::ONE });
    // SAFETY: all accesses below: the caller guarantees the block's rows and columns of L and V, masks keep every access inside
    // the lower triangle, and a reflector row has one scalar for each lane.
    unsafe {
        // P = D⁻¹ V                                                 (C, k)
        let (d, diagonal) = triangle::<T, S, C>(simd, tile);
        let Some(x) = inverse::<T, S, C>(simd, &d, diagonal) else {
            return false;
        };
        let mut v = tile.v.cast_const();
        for r in 0..reflector.rank {
            T::store::<S>(
                reflector.b(r),
                product::<T, S, C>(simd, &x, |j| T::read_parts(v.add(j), tile.apart())),
            );
            v = v.wrapping_add(tile.v_stride);
        }

        let mut e = [zero; C];
        for r in 0..reflector.rank {
            let p = reflector.b(r).cast_const();
            let column = T::load::<S>(p);
            for j in 0..C {
                e[j] = T::mul_add(simd, column, T::splat(simd, (*p.add(j)).conj()), e[j]);
            }
        }
        for j in 0..C {
            e[j] = T::vtimes(simd, sign, e[j]);
        }
        // C = M √Δ, where I + E = M Δ Mᴴ
        let Some(Eliminated { pivot, change }) = eliminate::<T, S, C>(simd, e, reflector, minus) else {
            return false;
        };

        // For the diagonal of C: 1 / (C (1 + C)), 1 / (1 + C), 1 / C, C − I
        let root = T::Part::vsqrt(simd, pivot);
        let w = T::Part::vdiv(simd, one, T::Part::vadd(simd, root, pivot));
        let z = T::Part::vmul(simd, root, w);
        let reciprocal = T::Part::vadd(simd, w, z);
        let growth = T::Part::vmul(simd, change, z);
        let s = <T::Part as Number>::mul_add(simd, sign, reciprocal, sign);
        T::store::<S>(reflector.s(), T::vreal(simd, s));
        let none = T::Part::splat(simd, T::Part::ZERO);
        let x = <T::Part as Number>::neg_mul_add(simd, growth, reciprocal, none);
        T::store::<S>(reflector.x(), T::vreal(simd, x));
        let Each([w, reciprocal, growth, root]) = Each::<T::Part, 4>::of::<S>([w, reciprocal, growth, root]);

        // Y = Z divided by its diagonal: the inverse of a unit lower triangle, which is τ below the diagonal. B = Z P
        for j in 0..C {
            let column = T::vtimes(simd, T::Part::splat(simd, w[j]), T::load::<S>(reflector.tau(j)));
            T::store::<S>(reflector.tau(j), column);
        }
        let mut y = [zero; C];
        for j in (0..C).rev() {
            y[j] = unit::<T, S>(simd, j);
            for i in (j + 1..C).rev() {
                y[j] = T::neg_mul_add(simd, y[i], T::splat(simd, *reflector.tau(j).add(i)), y[j]);
            }
        }
        for r in 0..reflector.rank {
            let p = reflector.b(r).cast_const();
            let b = T::vtimes(simd, z, product::<T, S, C>(simd, &y, |j| *p.add(j)));
            T::store::<S>(reflector.b(r), b);
            T::store::<S>(reflector.g(r), T::vtimes(simd, s, T::vconj(simd, b)));
        }

        // D ← D + D (C − I); below the diagonal, τ is C divided by 1 + C of the column
        for j in 0..C {
            let l = (*tile.src.offset(j as isize * tile.src_stride).add(j)).real();
            let small = growth[j].abs() < T::Part::from_f64(SMALL_CHANGE);
            pivots[j] = if small { l + l * growth[j] } else { l * root[j] };
        }
        for j in 0..C {
            let mut sum = zero;
            for i in j + 1..C {
                sum = T::mul_add(simd, d[i], T::splat(simd, *reflector.tau(j).add(i)), sum);
            }
            let own = T::vtimes(simd, T::Part::splat(simd, growth[j]), d[j]);
            let change = T::times_add(simd, T::Part::splat(simd, T::Part::ONE + root[j]), sum, own);
            let to = tile.dst.offset(j as isize * tile.dst_stride);
            T::store_masked(simd, T::mask(simd, j, C), to, T::vadd(simd, d[j], change));
            *to.add(j) = T::of_real(pivots[j]);
        }

        // T_ij / T_jj is −Ȳ_ji / C_jj. Y is computed again, by rows
        for i in 0..C {
            y[i] = unit::<T, S>(simd, i);
            for j in 0..i {
                y[i] = T::neg_mul_add(simd, y[j], T::splat(simd, *reflector.tau(j).add(i)), y[i]);
            }
        }
        for i in 0..C {
            let row = T::vtimes(simd, T::Part::splat(simd, reciprocal[i]), T::vconj(simd, y[i]));
            let row = T::vsub(simd, zero, row);
            T::store::<S>(reflector.tau(i), row);
        }
        reflector.set_interchanged(false);
    }
    true
}

/// Loads the columns of the C × C lower triangle at `tile`, and its diagonal.
///
/// # Safety
/// The triangle must be readable, and a register have C lanes.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn triangle<T: Number, S: Simd, const C: usize>(
    simd: S,
    tile: Tile<T>,
) -> ([T::Vector<S>; C], RealVector<T, S>) {
    let mut d = [T::splat(simd, T::ZERO); C];
    let mut diagonal = T::Part::splat(simd, T::Part::ONE);
    for j in 0..C {
        let at = tile.src.wrapping_offset(j as isize * tile.src_stride);
        // SAFETY: rows j.. of column j of the triangle.
        d[j] = unsafe { T::load_masked(simd, T::mask(simd, j, C), at) };
        let own = T::Part::mask(simd, j, j + 1);
        diagonal = T::Part::select(simd, own, T::reals(d[j]), diagonal);
    }
    (d, diagonal)
}

/// Returns the inverse, by columns, of the lower triangle with these columns and this diagonal, if it is sufficiently well
/// conditioned. It does not depend on V, so it overlaps with the preceding work and costs almost no time.
#[cfg_attr(not(unoptimized), inline(always))]
fn inverse<T: Number, S: Simd, const C: usize>(
    simd: S,
    d: &[T::Vector<S>; C],
    diagonal: RealVector<T, S>,
) -> Option<[T::Vector<S>; C]> {
    let zero = T::splat(simd, T::ZERO);
    let reciprocal = T::Part::vdiv(simd, T::Part::splat(simd, T::Part::ONE), diagonal);
    let (mut rows, mut sums) = ([zero; C], [T::Part::splat(simd, T::Part::ZERO); 2]);
    for j in 0..C {
        rows[j] = T::vtimes(simd, reciprocal, d[j]); // with a unit diagonal
        sums[0] = T::plus_squares(simd, rows[j], sums[0]);
    }
    let rows = Each::<T, C>::of::<S>(rows);
    let mut x = [zero; C];
    for j in (0..C).rev() {
        x[j] = unit::<T, S>(simd, j);
        for i in (j + 1..C).rev() {
            x[j] = T::neg_mul_add(simd, x[i], T::splat(simd, rows.0[j][i]), x[j]);
        }
        sums[1] = T::plus_squares(simd, x[j], sums[1]);
    }
    let Each([reciprocal, sums]) =
        Each::<T::Part, 2>::of::<S>([reciprocal, T::Part::vadd(simd, sums[0], sums[1])]);
    for j in 0..C {
        x[j] = T::vtimes(simd, T::Part::splat(simd, reciprocal[j]), x[j]);
    }
    let sum = sums[..C].iter().fold(T::Part::ZERO, |sum, &x| sum + x);
    (sum <= T::Part::from_f64(2.0 * C as f64 + LARGEST_COUPLING)).then_some(x)
}

/// Column `j` of the identity.
#[inline(always)]
fn unit<T: Number, S: Simd>(simd: S, j: usize) -> T::Vector<S> {
    let own = T::mask(simd, j, j + 1);
    T::select(simd, own, T::splat(simd, T::ONE), T::splat(simd, T::ZERO))
}

/// A square matrix, by columns, times the vector with these entries, in two sums that hide the latency of a multiply-add.
#[cfg_attr(not(unoptimized), inline(always))]
fn product<T: Number, S: Simd, const C: usize>(
    simd: S,
    square: &[T::Vector<S>; C],
    v: impl Fn(usize) -> T,
) -> T::Vector<S> {
    let mut sums = [T::splat(simd, T::ZERO); 2];
    for j in 0..C {
        let entry = T::splat(simd, v(j));
        sums[j % 2] = T::mul_add(simd, square[j], entry, sums[j % 2]);
    }
    T::vadd(simd, sums[0], sums[1])
}
