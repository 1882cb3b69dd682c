//! The diagonal step on a few columns. It computes the pivots, and is the only step that can break down.

use super::apply::Tile;
use super::compensated::Sums;
use super::interchange::{Interchange, Places};
use super::reflector::Reflector;
use super::shape::MAX_LANES;
use crate::number::{Float, Number};
use pulp::Simd;

/// Independent partial sums of a dot product over the columns of V. They hide the latency of a multiply-add.
const PARTIAL_SUMS: usize = 4;

/// Transforms the `cols` × `cols` lower triangle at `tile` and fills `reflector`, for columns of V of one sign. Writes the new
/// diagonal to `pivots`.
///
/// The lanes of a register are the rows of the block. At column j, the lanes before j of the copy of V contain the finished
/// rows of B, lane j the row a, and the later lanes the rows still to be processed. So one pass over V gives column j of T, the
/// pivot and the products that the later rows need, without a horizontal sum.
///
/// # Errors
/// The column, counted from the tile's first, whose pivot² is not greater than zero.
///
/// # Safety
/// The lower triangle of the tile and its rows of V must be accessible, and no other thread may use them; `cols` ≤ the lanes of
/// a register; the reflector's memory must be writable.
#[cfg_attr(not(unoptimized), inline(always))]
pub unsafe fn diagonal<T: Number, S: Simd>(
    simd: S,
    cols: usize,
    tile: Tile<T>,
    reflector: Reflector<T>,
    minus: bool,
    pivots: &mut [T::Part; MAX_LANES],
) -> Result<(), usize> {
    let rank = reflector.rank;
    let one = T::Part::ONE;
    let sign = if minus { -one } else { one };
    let block = T::mask(simd, 0, cols);
    // SAFETY: all accesses below: the caller guarantees the block's rows and columns of L and V, masks keep every access inside
    // the lower triangle, and a reflector row has one scalar for each lane.
    unsafe {
        // Columns that a narrower block lacks are set to zero: the solve then leaves them as they are.
        for j in cols..T::lanes::<S>() {
            T::store::<S>(reflector.tau(j), T::splat(simd, T::ZERO));
            (*reflector.s().add(j), *reflector.x().add(j)) = (T::ZERO, T::ZERO);
        }
        for r in 0..rank {
            let x = T::load_parts_masked(simd, block, tile.v.add(r * tile.v_stride), tile.apart());
            T::store::<S>(reflector.b(r), x);
        }
        let mut interchanged = false;
        for j in 0..cols {
            let at = tile.src.offset(j as isize * tile.src_stride);
            let old = T::load_masked(simd, T::mask(simd, j, cols), at); // rows j.. of column j
            let l = (*at.add(j)).real();

            let products = dot_with_row(simd, reflector, j);
            let squares = T::lane::<S>(products, j).real();
            if let Some(made) = Interchange::new(l, squares, rank, minus, |r| *reflector.b(r).add(j)) {
                if !interchanged {
                    T::store::<S>(reflector.interchanges(), T::splat(simd, T::ZERO));
                }
                interchanged = true;
                pivots[j] = if minus { made.small } else { made.large };
                let new = change_places(simd, (j, cols), old, &made, reflector, minus);
                let to = tile.dst.offset(j as isize * tile.dst_stride);
                T::store_masked(simd, T::mask(simd, j, cols), to, new);
                *to.add(j) = T::of_real(pivots[j]);
                continue;
            }
            let products = T::vtimes(simd, T::Part::splat(simd, sign), products);
            let q = T::lane::<S>(products, j).real(); // σ a aᵀ
            // Lane j of the first `rank` rows of the reflector holds the row a.
            let part = |i: usize| T::parts(&[*reflector.b(i / T::PARTS).add(j)])[i % T::PARTS];
            let Pivot { alpha, x, new } = pivot(l, q, rank * T::PARTS, minus, part).ok_or(j)?;
            let beta = l + alpha;
            pivots[j] = new;

            // σ V bᵀ / T_jj is σ V aᵀ / α: τ for the finished rows, a part of d for the later rows
            let products = T::vover(simd, products, T::Part::splat(simd, alpha));
            let d = T::times_add(simd, T::Part::splat(simd, x), old, products);
            T::store::<S>(reflector.tau(j), products);
            *reflector.s().add(j) = T::of_real(sign * (beta / alpha));
            *reflector.x().add(j) = T::of_real(x);
            let to = tile.dst.offset(j as isize * tile.dst_stride);
            T::store_masked(simd, T::mask(simd, j, cols), to, T::vadd(simd, old, d));
            *to.add(j) = T::of_real(new);

            // Row j of V becomes row j of B, and the later rows are reduced by it. 1/β would overflow for the smallest numbers,
            // so these are first scaled by a power of two, exactly.
            let magnified = if beta < T::Part::TINY { T::Part::MAGNIFIER } else { one };
            let inv_beta = T::Part::splat(simd, one / (beta * magnified));
            let done = T::mask(simd, 0, j);
            let own = T::mask(simd, j, j + 1);
            let u = T::times_add(simd, T::Part::splat(simd, T::Part::TWO), old, d);
            let u = T::select(simd, done, T::splat(simd, T::ZERO), u);
            let mut row = reflector.b(0);
            for _ in 0..rank {
                let x = T::load::<S>(row);
                let a = T::splat(simd, (*row.add(j)).times(magnified));
                let b = T::vtimes(simd, inv_beta, a);
                let rest = T::neg_mul_add(simd, u, b, x);
                T::store::<S>(row, T::select(simd, own, b, rest));
                row = row.wrapping_add(T::lanes::<S>());
            }
        }
        let s = T::load::<S>(reflector.s());
        for r in 0..rank {
            let b = T::vconj(simd, T::load::<S>(reflector.b(r)));
            T::store::<S>(reflector.g(r), T::vmul(simd, s, b));
        }
        reflector.set_interchanged(interchanged);
    }
    Ok(())
}

/// Applies an interchange to column `j` of the block and its rows of V: writes b, s and x to the reflector, and returns the new
/// column.
///
/// # Safety
/// As [`diagonal`], with the rows of V in the reflector and the interchanges of earlier columns set.
#[cfg_attr(not(unoptimized), inline(always))]
unsafe fn change_places<T: Number, S: Simd>(
    simd: S,
    (j, cols): (usize, usize),
    l: T::Vector<S>,
    made: &Interchange<T>,
    reflector: Reflector<T>,
    minus: bool,
) -> T::Vector<S> {
    let &Interchange { column: p, turn, small, beta, s, x, .. } = made;
    // SAFETY: j is a column of the reflector, and p and r are less than its rank.
    unsafe {
        *reflector.interchanges().add(j) = T::of_real(T::Part::from_f64((p + 1) as f64));
        *reflector.turns().add(j) = turn;
        (*reflector.s().add(j), *reflector.x().add(j)) = (T::of_real(s), T::of_real(x));
        let b_p = small / beta;
        let b = |r: usize| if r == p { T::of_real(b_p) } else { (*reflector.b(r).add(j)).over(beta) };
        let size = T::turn_size(turn);
        let other = Sums::zero(simd).plus_product(simd, T::splat(simd, turn), T::load::<S>(reflector.b(p)));
        let mut sum = Sums::<T, S>::zero(simd);
        for r in (0..reflector.rank).filter(|&r| r != p) {
            sum = sum.plus_product(simd, T::load::<S>(reflector.b(r)), T::splat(simd, b(r).conj()));
        }
        let new = Places { other, size, sum, s, x, b: b_p }.through(simd, l, minus);
        let (before, behind) = if minus { (new, l) } else { (l, new) };
        let other = T::vover(simd, other.rounded(simd), T::Part::splat(simd, size));
        let u = T::vadd(simd, other, behind);
        let (own, from_own) = (T::mask(simd, j, j + 1), T::mask(simd, j, cols));
        for r in 0..reflector.rank {
            let (row, b) = (T::load::<S>(reflector.b(r)), T::splat(simd, b(r)));
            let v = T::neg_mul_add(simd, u, b, if r == p { before } else { row });
            let row = T::select(simd, own, b, T::select(simd, from_own, v, row));
            T::store::<S>(reflector.b(r), row);
        }
        new
    }
}

/// Σ_r x_r ā_r over the columns of V, where x are all rows of the block and a is row `j`.
///
/// # Safety
/// The reflector must hold a block's rows of V.
#[inline(always)]
unsafe fn dot_with_row<T: Number, S: Simd>(simd: S, reflector: Reflector<T>, j: usize) -> T::Vector<S> {
    let (rank, lanes) = (reflector.rank, T::lanes::<S>());
    let mut sums = [T::splat(simd, T::ZERO); PARTIAL_SUMS];
    let mut row = reflector.b(0).cast_const();
    // The last group may have fewer rows than there are sums.
    for first in (0..rank).step_by(PARTIAL_SUMS) {
        for (i, sum) in sums.iter_mut().enumerate() {
            if first + PARTIAL_SUMS <= rank || first + i < rank {
                // SAFETY: `rank` rows of the reflector contain V, consecutively, each with a scalar for every lane.
                let (x, a) = unsafe { (T::load::<S>(row), T::splat(simd, (*row.add(j)).conj())) };
                *sum = T::mul_add(simd, x, a, *sum);
                row = row.wrapping_add(lanes);
            }
        }
    }
    let [s0, s1, s2, s3] = sums;
    T::vadd(simd, T::vadd(simd, s0, s1), T::vadd(simd, s2, s3))
}

/// Relative change of a pivot up to which the pivot is corrected by the change; beyond it the new pivot is computed as a root.
pub const SMALL_CHANGE: f64 = 0.25;

/// A column's new pivot.
pub struct Pivot<T> {
    /// α, as used by the reflector.
    pub alpha: T,
    /// (l − α) / α
    pub x: T,
    /// α, as stored in L: l plus a correction if that is small, since its rounding errors are then negligible, otherwise the
    /// root itself, from which the reflector is computed. No later computation waits for it.
    pub new: T,
}

/// α = √(l² + q) with q = ± a aᵀ for `rank` entries a, or `None` if its square is not positive or not finite. `minus` is the
/// sign of q.
#[inline(always)]
pub fn pivot<T: Float>(l: T, q: T, rank: usize, minus: bool, a: impl Fn(usize) -> T) -> Option<Pivot<T>> {
    // If most of l² remains, cancellation is too small to justify a root.
    let square = if minus && l * l < T::TWO * -q {
        let norm = (-q).sqrt();
        (l - norm) * (l + norm)
    } else {
        l * l + q
    };
    if !(square > T::SMALL_SQUARE && square < T::INFINITY) {
        return scaled_pivot(l, rank, minus, a);
    }
    let alpha = square.sqrt();
    let beta = l + alpha;
    let change = q / beta; // α − l
    let small = change.abs() < T::from_f64(SMALL_CHANGE) * l;
    let new = if small { l + change } else { alpha };
    // One division on the critical path, which does not wait for that of the change, unless the product overflows.
    let product = beta * alpha;
    let share = if product < T::INFINITY { q / product } else { change / alpha };
    Some(Pivot { alpha, x: -share, new })
}

/// The same from scaled terms, for squares that may have underflowed.
#[cold]
fn scaled_pivot<T: Float>(l: T, rank: usize, minus: bool, a: impl Fn(usize) -> T) -> Option<Pivot<T>> {
    let scale = (0..rank).fold(l, |m, r| m.max(a(r).abs()));
    if scale == T::ZERO && !minus && (0..rank).all(|r| a(r) == T::ZERO) {
        // A column of a singular factor that V does not change: the identity, with an α by which one can divide.
        return Some(Pivot { alpha: T::ONE, x: T::ZERO, new: T::ZERO });
    }
    let scaled = l / scale;
    let sum = (0..rank).fold(T::ZERO, |sum, r| sum + (a(r) / scale) * (a(r) / scale));
    let square = if minus {
        let norm = sum.sqrt();
        (scaled - norm) * (scaled + norm)
    } else {
        scaled * scaled + sum
    };
    (square > T::ZERO && square < T::INFINITY).then(|| {
        let alpha = scale * square.sqrt();
        Pivot { alpha, x: (l - alpha) / alpha, new: alpha }
    })
}
