//! Modifications of a small L in one call of a kernel, without a plan, panels and tiles. If digits would be lost, or if anything is
//! not finite, L is what it was, and a sweep decides.
//!
//! | file | holds |
//! |---|---|
//! | `few` | one column of V, and an L of so few rows that its entries stay in registers: in place |
//! | `blocks` | one column of V, and a larger L, in blocks of columns: in place |
//! | `several` | several columns of V, and an L of up to 128 rows: to the shadow buffer |
//!
//! The formulas are those of [`low_rank`](super::low_rank), and so are the bits of the result.

mod blocks;
mod few;
mod several;

pub use self::blocks::Blocks;
pub use self::few::{FEW, Few};
pub use self::several::Several;

use crate::compiled;
use crate::isa::Isa;
use crate::number::{Float, Number};
use faer::{c32, c64};

/// The largest order for one column of V.
pub const MOST_ROWS: usize = 32;

/// A modification by one column of V.
pub struct Small<T> {
    l: *mut T,
    stride: isize,
    v: *const T,
    v_stride: isize,
    rows: usize,
    /// √|w|.
    scale: T,
    /// σ.
    sign: T,
}

/// What has been made, by ratios of new and old pivots.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    /// The least ratio.
    pub least: f64,
    /// The product of the ratios.
    pub product: f64,
    /// ‖√|w| v‖².
    pub square: f64,
}

impl<T: Number> Small<T> {
    /// # Safety
    /// When this is run: `l` is L, lower triangular with zeros above the diagonal, of `rows` rows and columns with this stride, in
    /// memory that no other thread uses; each column may be written up to the next multiple of 64 bytes of rows. `v` has `rows`
    /// entries with this stride. There are 1 to [`MOST_ROWS`] rows.
    pub unsafe fn new(
        (l, stride): (*mut T, isize),
        (v, v_stride): (*const T, isize),
        rows: usize,
        (scale, sign): (T, T),
    ) -> Self {
        debug_assert!((1..=MOST_ROWS).contains(&rows));
        Self { l, stride, v, v_stride, rows, scale, sign }
    }

    /// Column `j` of L.
    #[inline(always)]
    fn column(&self, j: usize) -> *mut T {
        self.l.wrapping_offset(j as isize * self.stride)
    }
}

/// Modifications of a small L, or `None` if the numbers are complex: then a sweep makes them.
#[allow(private_interfaces, reason = "public in name only: the module is not exported")]
pub trait SmallKernel: Number {
    #[doc(hidden)]
    fn modify_small(_: Isa, _: Blocks<'_, Self>) -> Option<Made> {
        None
    }
    #[doc(hidden)]
    fn modify_few(_: Isa, _: Few<'_, Self>) -> Option<Made> {
        None
    }
    #[doc(hidden)]
    fn modify_by_several(_: Isa, _: Several<'_, Self>) -> Option<f64> {
        None
    }
}

macro_rules! of_real_numbers {
    ($($scalar:ident)*) => {$(
        compiled!($scalar: SmallKernel {
            modify_small: Blocks<'_, Self> => Option<Made>,
            modify_few: Few<'_, Self> => Option<Made>,
            modify_by_several: Several<'_, Self> => Option<f64>,
        });
    )*};
}

of_real_numbers!(f32 f64);
impl SmallKernel for c32 {}
impl SmallKernel for c64 {}

/// Whether V, with this sum of squares, is finite, not zero and far from overflow.
#[inline(always)]
fn usual<T: Float>(square: T) -> bool {
    // The comparisons are false for NaN.
    square > T::ZERO && square <= T::LARGE_SQUARE * T::UNIT
}
