//! Two to four columns of V together, for an L of few rows.
//!
//! A reflection eliminates the row a of V at a column with the pivot l, for the columns of V of one sign σ:
//!
//! ```text
//! α² = l² + σ a aᵀ      q = a aᵀ/(l + α)      g = σ/α      b = a/(l + α)
//! h = V_i aᵀ − q l_i    l'_i = l_i + g h      V_i ← V_i − (l_i + l'_i) b
//! ```
//!
//! That is the reflection of `diagonal`: its x l_i + V_i (σ aᵀ/α) is g h, as x = −g q. In the row a
//! the entries of columns of V with the other sign are zero, and so are their b.
//!
//! Each column waits for the one before it, for a root, a division and its row of V: a longer chain than that of method C1, but one
//! for all columns of V. A column that is to be interchanged, or that breaks down, is left to the coefficients of each column of V.
//!
//! | file | holds |
//! |---|---|
//! | `column` | the reflection of a column, applied to the rows of its block |
//! | `rows` | applies those of a block to rows below |
//! | `panel` | both steps of a panel |

mod column;
mod panel;
mod rows;

pub use self::panel::sets_len;

use super::BLOCK;
use crate::number::Float;
use crate::sweep::entries::Entries;
use crate::sweep::shape::LOW_RANK_AT_SMALL_ORDERS;
use core::ops::Range;

/// The largest number of columns of V.
pub const MOST: usize = LOW_RANK_AT_SMALL_ORDERS;

/// The reflection of a column of L, for columns of V of one sign.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Householder<T> {
    a: [T; MOST],
    b: [T; MOST],
    q: T,
    g: T,
}

/// L and V from the first row and column of a block on, for the columns of V of one sign.
pub struct SignedRows<T> {
    pub l: Entries<T>,
    pub v: *mut T,
    pub v_stride: usize,
    /// Rows that `column` may read.
    pub rows: usize,
    /// The columns of V that have the sign of `column`.
    pub signed: Range<usize>,
}

impl<T: Float> SignedRows<T> {
    #[inline(always)]
    fn src(&self, row: usize, column: usize) -> *const T {
        self.l.src.wrapping_offset(column as isize * self.l.src_stride).wrapping_add(row)
    }

    #[inline(always)]
    fn dst(&self, row: usize, column: usize) -> *mut T {
        self.l.dst.wrapping_offset(column as isize * self.l.dst_stride).wrapping_add(row)
    }

    #[inline(always)]
    fn v(&self, row: usize, r: usize) -> *mut T {
        self.v.wrapping_add(r * self.v_stride + row)
    }
}
