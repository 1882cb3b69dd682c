//! Interchanges, for columns of L whose pivot is small compared with V.
//!
//! If the largest entry a_p of a plus sign's row a of V is far above the pivot l, V ← V − u b cancels: the remaining V is of
//! the size of L, but its error is of the size of V. The same happens in Householder's QR factorization of (Lᵀ; Vᵀ) without row
//! interchanges, whose pivot row is the smallest one. With interchanges the error of each row is relative to its own size
//! (Powell and Reid 1969; Cox and Higham 1998). Column j of L and column p of V are interchanged, with the σ of magnitude 1 that
//! makes the pivot positive, which leaves L Lᵀ + V Vᵀ as it is, and are then eliminated. With a_p ← l, A = |a_p| before that, R
//! the new pivot, and q = a aᵀ after it:
//!
//! ```text
//! R² = A² + q      b = a / (A + R)      s = (A + R) / R      x = −q / (R (A + R))
//! o = σ V_p        V_p ← L_j            L'_j = o + (x o + s V bᵀ)          V ← V − (o + L'_j) b
//! ```
//!
//! For complex numbers σ = ā_p / A, and V_p is multiplied by ā_p and by no rounded σ: then o, A and R are those of one V_p to twice
//! the precision, that of the caller up to a factor 1 + u.
//!
//! A downdate by the same V inverts this, if a_p is far above the remaining pivot: from L'_j and the current V it solves for
//! L_j, with the same b, s and x. Both compute their sums as if in twice the precision. Then the column of L returns to its old
//! value, to within a few roundings, however often V is added and removed.

use super::apply::{Rows, Tile};
use super::compensated::{Sum, Sums};
use super::reflector::{MOST_INTERCHANGED, Reflector};
use crate::number::{Float, Number};
use pulp::Simd;

/// The ratio |a_p| / l from which on columns are interchanged. A block with such a column is beyond the conditions for
/// processing [at once](super::at_once) and for method C1, except in the narrowest cases.
pub const OUTWEIGHS: f64 = 2.0;

/// Whether a row of V with this sum of squares may be such that a column with the pivot `l` is to be interchanged, with a margin for
/// rounding errors.
#[inline(always)]
pub fn outweighs<T: Float>(l: T, squares: T, minus: bool) -> bool {
    let most = if minus { l * l - squares } else { l * l };
    // The comparisons are false for NaN.
    squares * T::from_f64(1.01) > T::from_f64(OUTWEIGHS * OUTWEIGHS) * most && squares > T::SMALL_SQUARE
}

/// The numbers of a column's interchange, except b.
pub struct Interchange<T: Number> {
    /// p, and σ before its division by [`turn_size`](Number::turn_size).
    pub column: usize,
    pub turn: T,
    /// The pivot of L, and that of L'.
    pub small: T::Part,
    pub large: T::Part,
    /// A + R
    pub beta: T::Part,
    pub s: T::Part,
    pub x: T::Part,
}

impl<T: Number> Interchange<T> {
    /// Returns the interchange of a column with the pivot `l`, which is that of L, or for a minus sign of L', and a row with
    /// entries a, if the column is to be interchanged. `squares` is approximately the sum of the squares of a.
    #[inline(always)]
    pub fn new(
        l: T::Part,
        squares: T::Part,
        rank: usize,
        minus: bool,
        a: impl Fn(usize) -> T,
    ) -> Option<Self> {
        if outweighs(l, squares, minus) { Self::made(l, rank, minus, a) } else { None }
    }

    #[cold]
    fn made(l: T::Part, rank: usize, minus: bool, a: impl Fn(usize) -> T) -> Option<Self> {
        let candidates = 0..rank.min(MOST_INTERCHANGED);
        let column = candidates.reduce(|p, r| if a(r).abs() > a(p).abs() { r } else { p })?;
        let turn = a(column).turn();
        let (largest, beyond) = magnitude(a(column), turn);
        let square = |sum: Sum<T::Part>, sign: T::Part| {
            sum.plus_product(sign * largest, largest).plus_product(sign * T::Part::TWO * largest, beyond)
        };
        let others = |sum: Sum<T::Part>, sign: T::Part| {
            let others = (0..rank).filter(|&r| r != column).map(&a);
            others.fold(sum, |sum, a| {
                T::parts(&[a]).iter().fold(sum, |sum, &part| sum.plus_product(sign * part, part))
            })
        };
        let (one, zero) = (T::Part::ONE, T::Part::ZERO);
        let small = match minus {
            true => others(square(Sum::ZERO.plus_product(l, l), -one), -one).root(),
            false => l,
        };
        let rest = others(Sum::ZERO, one).plus_product(small, small);
        let large = if minus { l } else { square(rest, one).root() };
        let outweighs = largest > T::Part::from_f64(OUTWEIGHS) * small && (small > zero || !minus);
        let within = large * large > T::Part::SMALL_SQUARE && large * large < T::Part::INFINITY;
        let beta = largest + large;
        // The product of the two might overflow, so it is not formed.
        let (s, x) = (beta / large, -(rest.rounded() / large / beta));
        (outweighs && within).then_some(Self { column, turn, small, large, beta, s, x })
    }
}

/// The magnitude of a number by its [`turn`](Number::turn), as a sum of two.
fn magnitude<T: Number>(x: T, turn: T) -> (T::Part, T::Part) {
    if T::PARTS == 1 {
        return (x.abs(), T::Part::ZERO);
    }
    let size = T::turn_size(turn);
    let square = T::parts(&[x]).iter().fold(Sum::ZERO, |sum, &part| sum.plus_product(part, part));
    let whole = square.rounded() / size;
    (whole, square.plus_product(-whole, size).rounded() / size)
}

/// A column of L and the columns of V in an interchange: from L to L', or back.
pub struct Places<T: Number, S: Simd> {
    /// o times `size`.
    pub other: Sums<T, S>,
    /// The divisor of σ.
    pub size: T::Part,
    /// Σ V_r b_r over the columns of V other than p.
    pub sum: Sums<T, S>,
    pub s: T::Part,
    pub x: T::Part,
    /// b_p
    pub b: T::Part,
}

impl<T: Number, S: Simd> Places<T, S> {
    /// Column j of L' from that of L, or for a minus sign of L from that of L'.
    #[inline(always)]
    pub fn through(self, simd: S, l: T::Vector<S>, minus: bool) -> T::Vector<S> {
        let Self { other, size, sum, s, x, b } = self;
        let (s, x) = (s * size, T::splat(simd, T::of_real(x)));
        if minus {
            let (negative, whole) = (other.negated(simd), T::splat(simd, T::of_real(size)));
            let taken = Sums::zero(simd).plus_product(simd, l, whole).plus_sum(simd, negative);
            let taken = taken.plus_times(simd, x, negative);
            let taken = taken.plus_times(simd, T::splat(simd, T::of_real(-s)), sum);
            T::vover(simd, taken.rounded(simd), T::Part::splat(simd, s * b))
        } else {
            let sum = sum.plus_product(simd, l, T::splat(simd, T::of_real(b)));
            let new = other.plus_times(simd, x, other);
            let new = new.plus_times(simd, T::splat(simd, T::of_real(s)), sum);
            T::vover(simd, new.rounded(simd), T::Part::splat(simd, size))
        }
    }
}

/// Applies a reflector with interchanges, of `cols` columns, to RV registers of rows, one column of L at a time: with
/// interchanges the effect of a block on V is not a matrix product. V is in the first-level cache, and is read and written for
/// every column.
///
/// # Safety
/// As [`apply`](super::apply::apply).
#[cfg_attr(not(unoptimized), inline(always))]
pub unsafe fn apply_by_column<T: Number, S: Simd, A: Rows<T, S>, const RV: usize>(
    simd: S,
    rows: A,
    (cols, minus): (usize, bool),
    tile: Tile<T>,
    reflector: Reflector<T>,
) {
    let (lanes, zero) = (T::lanes::<S>(), T::splat(simd, T::ZERO));
    // SAFETY: all pointer arithmetic and accesses below: column j < cols of L, columns p and r < rank of V and register i < RV
    // are inside the tile that the caller guarantees, and b, s, x and interchanges inside the reflector.
    unsafe {
        for j in 0..cols {
            let src = tile.src.offset(j as isize * tile.src_stride);
            let dst = tile.dst.offset(j as isize * tile.dst_stride);
            let (s, x) = ((*reflector.s().add(j)).real(), (*reflector.x().add(j)).real());
            let interchange = reflector.interchange(j);
            for i in 0..RV {
                let at = |r: usize| tile.v.add(r * tile.v_stride + i * lanes);
                let apart = tile.apart();
                let l = rows.load(simd, i, src.add(i * lanes));
                let (new, u) = if let Some((p, turn)) = interchange {
                    let size = T::turn_size(turn);
                    let other = Sums::zero(simd).plus_product(
                        simd,
                        T::splat(simd, turn),
                        rows.load_v(simd, i, at(p), apart),
                    );
                    let mut sum = Sums::<T, S>::zero(simd);
                    for r in (0..reflector.rank).filter(|&r| r != p) {
                        let b = T::splat(simd, (*reflector.b(r).add(j)).conj());
                        sum = sum.plus_product(simd, rows.load_v(simd, i, at(r), apart), b);
                    }
                    let places = Places { other, size, sum, s, x, b: (*reflector.b(p).add(j)).real() };
                    let new = places.through(simd, l, minus);
                    let (before, behind) = if minus { (new, l) } else { (l, new) };
                    rows.store_v(simd, i, at(p), apart, before);
                    let other = T::vover(simd, other.rounded(simd), T::Part::splat(simd, size));
                    (new, T::vadd(simd, other, behind))
                } else {
                    let mut w = zero;
                    for r in 0..reflector.rank {
                        let b = T::splat(simd, (*reflector.b(r).add(j)).conj());
                        w = T::mul_add(simd, rows.load_v(simd, i, at(r), apart), b, w);
                    }
                    let (s, x) = (T::Part::splat(simd, s), T::Part::splat(simd, x));
                    let two = T::Part::splat(simd, T::Part::TWO);
                    let d = T::times_add(simd, s, w, T::vtimes(simd, x, l));
                    (T::vadd(simd, l, d), T::times_add(simd, two, l, d))
                };
                rows.store(simd, i, dst.add(i * lanes), new);
                for r in 0..reflector.rank {
                    let b = T::splat(simd, *reflector.b(r).add(j));
                    let v = rows.load_v(simd, i, at(r), apart);
                    rows.store_v(simd, i, at(r), apart, T::neg_mul_add(simd, u, b, v));
                }
            }
        }
    }
}
