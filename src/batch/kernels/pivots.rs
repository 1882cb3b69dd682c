//! The ratios of the pivots of a new L to those of the old one.

use super::packed::Packed;
use crate::float::Float;
use pulp::Simd;

/// Columns whose ratios are multiplied at a time. In a good lane a ratio is between 1/√5 and √5, since V does not outweigh L, so that
/// the product does not overflow, with either sign.
pub(super) const TOGETHER: usize = 48;

/// The least ratio over `columns`, or `least` if that is smaller, and the product of these at most [`TOGETHER`] ratios. A ratio is that
/// of rounded pivots, and at least 1 if the new one is not smaller. If `orders` says how many columns each
/// lane has, its others, which are those of the identity, do not count.
///
/// # Safety
/// Both L have these columns in memory of the whole registers of `S`.
#[inline(always)]
pub(super) unsafe fn ratios<T: Float, S: Simd>(
    simd: S,
    (old, new): (Packed<T>, Packed<T>),
    columns: core::ops::Range<usize>,
    orders: Option<T::Vector<S>>,
    least: T::Vector<S>,
) -> (T::Vector<S>, T::Vector<S>) {
    debug_assert!(columns.len() <= TOGETHER);
    let one = T::splat(simd, T::ONE);
    // The least ratio as a fraction: divisions take long.
    let (mut numerator, mut denominator, mut product) = (least, one, one);
    let mut at = (old.entry(columns.start, columns.start), new.entry(columns.start, columns.start));
    let mut next = |j: usize| {
        // SAFETY: the caller guarantees the column.
        let both = unsafe { (T::load::<S>(at.0), T::load::<S>(at.1)) };
        at = (old.next_pivot(at.0, j), new.next_pivot(at.1, j));
        both
    };
    let mut add = |j: usize, old: T::Vector<S>, new: T::Vector<S>| {
        let column = T::splat(simd, T::from_f64(j as f64));
        let infinity = T::splat(simd, T::INFINITY);
        let new = orders.map_or(new, |orders| T::where_less(simd, (column, orders), new, infinity));
        let sides = (T::vmul(simd, new, denominator), T::vmul(simd, numerator, old));
        let less = |x, y| T::where_less(simd, sides, x, y);
        (numerator, denominator) = (less(new, numerator), less(old, denominator));
    };
    let mut j = columns.start;
    while j + 1 < columns.end {
        let ((o0, n0), (o1, n1)) = (next(j), next(j + 1));
        add(j, o0, n0);
        add(j + 1, o1, n1);
        let ratio = T::vdiv(simd, T::vmul(simd, n0, n1), T::vmul(simd, o0, o1));
        product = T::vmul(simd, product, ratio);
        j += 2;
    }
    if j < columns.end {
        let (o, n) = next(j);
        add(j, o, n);
        product = T::vmul(simd, product, T::vdiv(simd, n, o));
    }
    (T::vdiv(simd, numerator, denominator), product)
}
