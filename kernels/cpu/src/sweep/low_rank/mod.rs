//! The two steps of a panel for a V of one to four columns, which is so little arithmetic that its latency is the limit. Each
//! column of V is a separate modification. The modifications follow each other in every block of columns of L. For an L of few rows
//! several columns of V are applied together (`together/`), where that is accurate.
//!
//! | file | holds |
//! |---|---|
//! | `coefficients` | the coefficients of a few columns, without a square root on the dependency chain |
//! | `stored` | the coefficients as they are stored for the rows below |
//! | `block` | the diagonal block of a few columns |
//! | `diagonal` | the diagonal step: the blocks of a panel, one after the other, each with the rows below it |
//! | `rows` | applies the coefficients of a block for all columns of V to rows of L and V, in registers |
//! | `together/` | both steps for several columns of V together, one reflection for each column of L |
//!
//! With the old and new pivot l and α and the entry a of V, one column of V (sign σ) is applied to column j of L by the
//! hyperbolic reflection in its mixed form:
//!
//! ```text
//! d_i = x l_ij + g v_i       l'_ij = l_ij + d_i       v_i ← v_i − p (l_ij + l'_ij)
//! p = a/(l + α)              g = σ ā/α                x = l/α − 1 = −g p
//! ```
//!
//! With two columns and more l' is rounded here as it is stored in L, and α so in any case where the coefficients are made one after
//! the other. V then compensates their rounding errors, and a downdate by the same V, which begins with the stored numbers, restores
//! L. (Not so for a minus sign after a plus sign, where l between the two may be much larger than before and after: there, and with
//! one column, where it brings nothing, l_ij + l'_ij is 2 l_ij + d_i.)
//!
//! The changes d_i of all columns of V are summed before l_ij is rounded. If an entry were multiplied by a number near 1, or
//! rounded for every column of V, every call would add the same rounding error, and a thousand calls a thousand of them.
//!
//! If a is large compared with l, the column of V and that of L are interchanged (`interchange`) before, or for a minus
//! sign after:
//!
//! ```text
//! o = σ_a v_i      p = l/(|a| + R)                   g = l/R          x = −g p
//! plus sign        l'_ij = o + (x o + g l_ij)        v_i ← l_ij − p (o + l'_ij)
//! minus sign       l'_ij = ((l_ij − o) − x o) / g    v_i ← l'_ij − p (o + l_ij)      l is then the new pivot
//! ```

mod block;
mod coefficients;
mod diagonal;
mod rows;
mod stored;
pub mod together;

pub use self::coefficients::within_limits;
pub use self::diagonal::Diagonal;
pub use self::rows::Trailing;

use self::coefficients::Kind;
pub use self::stored::{BLOCK, Coefficients};
use super::entries::Entries;
use crate::number::Number;

/// Columns of the widest panel.
pub const PANEL_COLS: usize = 64;

/// L, and the columns of V by absolute row: one to four columns, each with all rows from the first of the sweep on, `v_stride`
/// apart, which is at least the number of rows. A panel has at most [`PANEL_COLS`] columns, and `rank` sets of coefficients for
/// each block of them, or what `together` stores. `stream` requires an L of whole cache lines.
#[derive(Clone, Copy)]
pub struct LowRank<T: Number> {
    pub l: Entries<T>,
    pub v: *mut T::Part,
    /// Distance in real numbers from one column of V to the next.
    pub v_stride: usize,
    /// Number of columns of V, and of those with a plus sign, which come first.
    pub rank: usize,
    pub plus: usize,
    /// Several columns of V are applied together, where that is accurate; for real numbers alone.
    pub together: bool,
    /// Write whole cache lines of the new L past the caches.
    pub stream: bool,
    /// L is larger than the caches.
    pub large: bool,
}

impl<T: Number> LowRank<T> {
    /// The same, if the numbers are real.
    #[inline(always)]
    fn real(&self) -> Option<LowRank<T::Part>> {
        let Self { l, v, v_stride, rank, plus, together, stream, large } = *self;
        let Entries { src, src_stride, dst, dst_stride } = l;
        let l = Entries { src: src.cast(), src_stride, dst: dst.cast(), dst_stride };
        (T::PARTS == 1).then_some(LowRank { l, v, v_stride, rank, plus, together, stream, large })
    }

    /// The entry of the old L. The base pointer may lie outside the memory, as for a panel in a slot.
    #[inline(always)]
    fn src(&self, row: usize, column: usize) -> *const T {
        self.l.src.wrapping_offset(column as isize * self.l.src_stride).wrapping_add(row)
    }

    /// The entry of the new L, or null if nothing is written.
    #[inline(always)]
    fn dst(&self, row: usize, column: usize) -> *mut T {
        match self.l.dst.is_null() {
            true => self.l.dst,
            false => self.l.dst.wrapping_offset(column as isize * self.l.dst_stride).wrapping_add(row),
        }
    }

    #[inline(always)]
    fn kind(&self, r: usize) -> Kind {
        match r >= self.plus {
            false => Kind::Plus,
            true if self.plus == 0 => Kind::Minus,
            true => Kind::AfterPlus,
        }
    }

    /// The entry of column `r` of V.
    #[inline(always)]
    fn v(&self, row: usize, r: usize) -> *mut T::Part {
        self.v.wrapping_add(r * self.v_stride + row)
    }

    /// Distance from the real to the imaginary parts of a column of V.
    #[inline(always)]
    fn apart(&self) -> usize {
        self.v_stride / T::PARTS
    }
}
