//! The pivots of a new L, against those of the old one.

use super::packed::{MAX_LANES, Packed};
use crate::number::Float;
use pulp::Simd;

/// If the squares of a row of V exceed this multiple of the squared pivot of the L without V, columns of L and V are to be
/// interchanged.
const OUTWEIGHS: f64 = 4.0 / 1.01;

/// Columns whose ratios are multiplied at a time. In a good lane a ratio is between 1/√5 and √5, since V does not outweigh L, so that
/// the product does not overflow.
const BOUNDED: usize = 48;

/// The largest ratio of a pivot of L to that without V, or with it.
fn most<T: Float>() -> T {
    T::from_f64(1.0 + OUTWEIGHS).sqrt()
}

/// What an elimination has found in each lane.
#[derive(Clone, Copy)]
pub struct Found<T: Float, S: Simd> {
    /// The product of the ratios of old pivots to new ones; not a number if something was not.
    pub product: T::Vector<S>,
    /// The largest of these ratios, and the least one.
    ratios: (T::Vector<S>, T::Vector<S>),
    /// The least squared new pivot, and the largest one.
    squares: (T::Vector<S>, T::Vector<S>),
}

impl<T: Float, S: Simd> Found<T, S> {
    /// Before the first column.
    #[inline(always)]
    pub fn nothing(simd: S) -> Self {
        let splat = |x: T| T::splat(simd, x);
        let one = splat(T::ONE);
        Self { product: one, ratios: (splat(T::ZERO), one), squares: (splat(T::INFINITY), splat(T::ZERO)) }
    }

    /// Adds a column: its squared new pivot, and the ratio of the old one to it, which counts as one if there is no `change`.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub fn add<const MINUS: bool>(
        &mut self,
        simd: S,
        square: T::Vector<S>,
        change: T::Vector<S>,
        ratio: T::Vector<S>,
    ) {
        let one = T::splat(simd, T::ONE);
        // A NaN counts.
        let ratio = T::where_less(simd, (change, T::splat(simd, T::TINY)), one, ratio);
        self.product = T::vmul(simd, self.product, ratio);
        self.ratios.0 = T::where_less(simd, (self.ratios.0, ratio), ratio, self.ratios.0);
        if !MINUS {
            self.ratios.1 = T::where_less(simd, (ratio, self.ratios.1), ratio, self.ratios.1);
        }
        self.squares.0 = T::where_less(simd, (square, self.squares.0), square, self.squares.0);
        self.squares.1 = T::where_less(simd, (self.squares.1, square), square, self.squares.1);
    }

    /// Keeps the products from overflow before column j: moves those of lanes that have this column to `log`.
    ///
    /// # Safety
    /// There is a number and an order for each lane.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub unsafe fn before_column(&mut self, j: usize, (log, orders): (*mut f64, *const u32)) {
        if j == 0 || !j.is_multiple_of(BOUNDED) {
            return;
        }
        let mut product = [T::ZERO; MAX_LANES];
        // SAFETY: a register has at most so many lanes; the caller guarantees those of `log`.
        unsafe {
            T::store::<S>(product.as_mut_ptr(), self.product);
            for (lane, product) in product.iter_mut().enumerate().take(T::lanes::<S>()) {
                // A result does not depend on the orders of other matrices.
                if *orders.add(lane) as usize <= j {
                    continue;
                }
                *log.add(lane) -= product.to_f64().ln();
                // A NaN stays.
                *product = *product * T::ZERO + T::ONE;
            }
            self.product = T::load::<S>(product.as_ptr());
        }
    }

    /// One in each lane where V did not outweigh L and the new pivots are numbers far from overflow and underflow.
    #[inline(always)]
    pub fn good(&self, simd: S) -> T::Vector<S> {
        let splat = |x: T| T::splat(simd, x);
        let (zero, most) = (splat(T::ZERO), most::<T>());
        // The comparisons are false for NaN.
        let mut good = T::where_less(simd, (zero, self.product), splat(T::ONE), zero);
        good = T::where_less(simd, (self.ratios.0, splat(most)), good, zero);
        good = T::where_less(simd, (splat(T::ONE / most), self.ratios.1), good, zero);
        good = T::where_less(simd, (splat(T::SMALL_SQUARE), self.squares.0), good, zero);
        T::where_less(simd, (self.squares.1, splat(T::LARGE_SQUARE * T::UNIT)), good, zero)
    }
}

/// The largest ratio of an old pivot to a new one, of which only some columns count in each lane: as many as `orders` says.
///
/// # Safety
/// Both L have these columns in memory of the whole registers of `S`.
#[cfg_attr(not(unoptimized), inline(always))]
pub unsafe fn largest_ratio<T: Float, S: Simd>(
    simd: S,
    (old, new): (Packed<T>, Packed<T>),
    rows: usize,
    orders: T::Vector<S>,
) -> T::Vector<S> {
    let mut largest = T::splat(simd, T::ZERO);
    let mut at = (old.first(), new.first());
    for j in 0..rows {
        // SAFETY: the caller guarantees the columns.
        let ratio = unsafe { T::vdiv(simd, T::load::<S>(at.0), T::load::<S>(at.1)) };
        at = (old.next_pivot(at.0, j), new.next_pivot(at.1, j));
        let ratio = T::where_less(simd, (T::splat(simd, T::from_f64(j as f64)), orders), ratio, largest);
        largest = T::where_less(simd, (largest, ratio), ratio, largest);
    }
    largest
}
