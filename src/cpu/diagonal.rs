//! The diagonal step on a few columns: where the pivots are made, and the only place a sweep can break down.

use super::reflector::Reflector;
use super::trailing::Tile;
use crate::report::Health;
use crate::scalar::Scalar;
use core::ops::Range;
use pulp::Simd;

/// Independent partial sums of a dot product over the columns of V, to hide the latency of a multiply-add.
const PARTIAL_SUMS: usize = 4;

/// Transforms the `cols` × `cols` lower triangle at `tile` and fills `reflector`.
///
/// The lanes of a register are the rows of the block. While column j is worked on, lanes below j of the
/// copy of V hold the finished rows of B, lane j the row a, and the lanes above the rows still to come: one
/// pass over V gives column j of T, the pivot and the products that the later rows need, all without a
/// horizontal sum.
///
/// # Errors
/// The column, counted from the tile's first, whose pivot² is not greater than zero.
///
/// # Safety
/// The lower triangle of the tile and its rows of V must be accessible and nobody else's; `cols` ≤ the
/// lanes of a register; the reflector's memory must be writable.
#[inline(always)]
pub(crate) unsafe fn diagonal<T: Scalar, S: Simd>(
    simd: S,
    cols: usize,
    tile: Tile<T>,
    reflector: Reflector<T>,
    health: &mut Health<T>,
) -> Result<(), usize> {
    let rank = reflector.rank();
    let block = T::mask(simd, 0, cols);
    // SAFETY (all accesses below): the caller vouches for the block's rows and columns of L and V, masks
    // keep every access inside the lower triangle, and a reflector row has one scalar for each lane.
    unsafe {
        // Columns that a ragged block lacks: the solve leaves them as they are.
        for j in cols..T::lanes::<S>() {
            T::store::<S>(reflector.tau(j), T::splat(simd, T::ZERO));
            *reflector.rho().add(j) = T::ONE;
        }
        for r in 0..rank {
            let x = T::load_masked(simd, block, tile.v.add(r * tile.v_stride));
            T::store::<S>(reflector.b(r), x);
        }
        for j in 0..cols {
            let at = tile.src.offset(j as isize * tile.src_stride);
            let old = T::load_masked(simd, T::mask(simd, j, cols), at); // rows j.. of column j
            let l = *at.add(j);

            let products = T::vsub(
                simd,
                dot_with_row(simd, reflector, 0, reflector.plus, j),
                dot_with_row(simd, reflector, reflector.plus, rank, j),
            );
            let q = lane::<T, S>(products, j); // a S aᵀ
            let alpha = match pivot(l, q, reflector.plus == 0) {
                Some(alpha) => alpha,
                // Lane j of the first `rank` rows of the reflector holds the row a.
                None => {
                    scaled_pivot(l, reflector.plus, reflector.minus, |r| *reflector.b(r).add(j)).ok_or(j)?
                }
            };
            let beta = l + alpha;
            let rho = beta / alpha; // exactly 2 where V is zero, and then P stays exactly as it is
            health.record(l, alpha);

            // V S bᵀ ρ is V S aᵀ / α: for the rows done τ, for the rows to come a part of u
            let products = T::vdiv(simd, products, T::splat(simd, alpha));
            let u = T::mul_add(simd, old, T::splat(simd, rho), products);
            T::store::<S>(reflector.tau(j), products);
            *reflector.rho().add(j) = rho;
            if !tile.dst.is_null() {
                let to = tile.dst.offset(j as isize * tile.dst_stride);
                T::store_masked(simd, T::mask(simd, j, cols), to, T::vsub(simd, u, old));
                *to.add(j) = alpha;
            }

            // row j of V becomes row j of B; the rows to come lose their part along it
            // 1/β would overflow for the very smallest numbers: they are magnified first, exactly.
            let magnified = if beta < T::TINY { T::MAGNIFIER } else { T::ONE };
            let inv_beta = T::splat(simd, T::ONE / (beta * magnified));
            let done = T::mask(simd, 0, j);
            let own = T::mask(simd, j, j + 1);
            let u = T::select(simd, done, T::splat(simd, T::ZERO), u);
            for r in 0..rank {
                let x = T::load::<S>(reflector.b(r));
                let a = T::splat(simd, *reflector.b(r).add(j) * magnified);
                let b = T::vmul(simd, a, inv_beta);
                let rest = T::neg_mul_add(simd, u, b, x);
                T::store::<S>(reflector.b(r), T::select(simd, own, b, rest));
            }
        }
    }
    Ok(())
}

/// Σ_r x_r a_r over the columns `from..to` of V, where x is every row of the block at once and a is row `j`.
///
/// # Safety
/// The reflector must hold a block's rows of V in its first `to` rows.
#[inline(always)]
unsafe fn dot_with_row<T: Scalar, S: Simd>(
    simd: S,
    reflector: Reflector<T>,
    from: usize,
    to: usize,
    j: usize,
) -> T::Vector<S> {
    let mut sums = [T::splat(simd, T::ZERO); PARTIAL_SUMS];
    let mut r = from;
    while r < to {
        for (i, sum) in sums.iter_mut().enumerate() {
            if r + i < to {
                // SAFETY: r + i < to rows of the reflector hold V, each with a scalar for every lane.
                unsafe {
                    let x = T::load::<S>(reflector.b(r + i));
                    let a = T::splat(simd, *reflector.b(r + i).add(j));
                    *sum = T::mul_add(simd, x, a, *sum);
                }
            }
        }
        r += PARTIAL_SUMS;
    }
    let [s0, s1, s2, s3] = sums;
    T::vadd(simd, T::vadd(simd, s0, s1), T::vadd(simd, s2, s3))
}

/// One lane of a register.
#[inline(always)]
fn lane<T: Scalar, S: Simd>(x: T::Vector<S>, i: usize) -> T {
    debug_assert!(i < T::lanes::<S>());
    let x = [x];
    // SAFETY: a register is `lanes` scalars, and i is one of them.
    unsafe { *x.as_ptr().cast::<T>().add(i) }
}

/// The new pivot α = √(l² + q), or `None` where that square is small, not positive or not finite. `minus`
/// says that q is a sum of negative squares.
#[inline(always)]
pub(crate) fn pivot<T: Scalar>(l: T, q: T, minus: bool) -> Option<T> {
    let square = if minus {
        let norm = (-q).sqrt();
        (l - norm) * (l + norm)
    } else {
        l * l + q
    };
    (square > T::SMALL_SQUARE && square < T::INFINITY).then(|| square.sqrt())
}

/// The same pivot from scaled terms, where the squares themselves may have vanished; `None` if it is not
/// positive.
///
/// `a` gives the row of V, `plus` entries with a plus sign and then `minus` ones with a minus.
#[cold]
pub(crate) fn scaled_pivot<T: Scalar>(l: T, plus: usize, minus: usize, a: impl Fn(usize) -> T) -> Option<T> {
    let scale = (0..plus + minus).fold(l, |m, r| m.max(a(r).abs()));
    let squares = |range: Range<usize>| range.fold(T::ZERO, |sum, r| sum + (a(r) / scale) * (a(r) / scale));
    let (l, plus_sum, minus_sum) = (l / scale, squares(0..plus), squares(plus..plus + minus));
    let square = if plus == 0 {
        let norm = minus_sum.sqrt();
        (l - norm) * (l + norm)
    } else {
        l * l + (plus_sum - minus_sum)
    };
    (square > T::ZERO && square < T::INFINITY).then(|| scale * square.sqrt())
}
