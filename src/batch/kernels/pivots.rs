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
    let mut least = Least::<T, S> { numerator: least, denominator: one, orders };
    let (mut product, mut j) = (one, columns.start);
    let mut at = (old.entry(j, j), new.entry(j, j));
    // SAFETY: the caller guarantees the columns.
    unsafe {
        while j + 1 < columns.end {
            let (o, n) = (T::load::<S>(at.0), T::load::<S>(at.1));
            at = (old.next_pivot(at.0, j), new.next_pivot(at.1, j));
            let (next_o, next_n) = (T::load::<S>(at.0), T::load::<S>(at.1));
            at = (old.next_pivot(at.0, j + 1), new.next_pivot(at.1, j + 1));
            least.add(simd, j, o, n);
            least.add(simd, j + 1, next_o, next_n);
            let ratio = T::vdiv(simd, T::vmul(simd, n, next_n), T::vmul(simd, o, next_o));
            product = T::vmul(simd, product, ratio);
            j += 2;
        }
        if j < columns.end {
            let (o, n) = (T::load::<S>(at.0), T::load::<S>(at.1));
            least.add(simd, j, o, n);
            product = T::vmul(simd, product, T::vdiv(simd, n, o));
        }
    }
    (T::vdiv(simd, least.numerator, least.denominator), product)
}

/// The least ratio so far, as a fraction: divisions take long.
struct Least<T: Float, S: Simd> {
    numerator: T::Vector<S>,
    denominator: T::Vector<S>,
    orders: Option<T::Vector<S>>,
}

impl<T: Float, S: Simd> Least<T, S> {
    #[inline(always)]
    fn add(&mut self, simd: S, column: usize, old: T::Vector<S>, new: T::Vector<S>) {
        let mut new = new;
        if let Some(orders) = self.orders {
            let column = T::splat(simd, T::from_f64(column as f64));
            new = T::where_less(simd, (column, orders), new, T::splat(simd, T::INFINITY));
        }
        let sides = (T::vmul(simd, new, self.denominator), T::vmul(simd, self.numerator, old));
        self.numerator = T::where_less(simd, sides, new, self.numerator);
        self.denominator = T::where_less(simd, sides, old, self.denominator);
    }
}
