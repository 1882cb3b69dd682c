//! The two steps of a panel for V of one to four columns, where there is so little arithmetic that its latency decides.
//! Each column of V is a modification of its own, one behind the other at every few columns of L.
//!
//! | file | holds |
//! |---|---|
//! | `coefficients` | those of a few columns, without a square root on the way from column to column |
//! | `block` | the diagonal block of a few columns |
//! | `diagonal` | the diagonal step: the blocks of a panel, one after the other, each with the rows below it |
//! | `rows` | the coefficients of a block for all columns of V applied to rows of L and V, in registers |
//!
//! With the old and new pivot l and α and the entry a of V there, one column of V (sign σ) goes through column j of L by the
//! hyperbolic reflection in its mixed form:
//!
//! ```text
//! d_i = x l_ij + g v_i       l'_ij = l_ij + d_i       v_i ← v_i − p (l_ij + l'_ij)
//! p = a/(l + α)              g = σ a/α                x = l/α − 1 = −g p
//! ```
//!
//! Here α and l' are the rounded numbers that L has afterwards: what rounds them is in V then, and a downdate by the same V, which
//! begins with these numbers, takes it back.
//!
//! All columns of V that pass add up their d_i before l_ij is rounded. An entry times a number near 1, or rounded once a column of
//! V, would move by the same rounding in every call, and after a thousand calls by a thousand of them.
//!
//! Where a outweighs l, the column of V and that of L [change places](super::interchange) before, or for a minus sign behind:
//!
//! ```text
//! o = σ_a v_i      l'_ij = o + (x o + g l_ij)  or  l'_ij = ((l_ij − o) − x o) / g        v_i ← l_ij − p (o + l'_ij), of both on the side of L
//! p = l/(|a| + R)  g = l/R                x = −g p
//! ```

mod block;
mod coefficients;
mod diagonal;
mod rows;

pub(crate) use self::diagonal::Diagonal;
pub(crate) use self::rows::Trailing;

use super::entries::Entries;
use crate::scalar::Scalar;
use pulp::Simd;

/// Columns of L whose coefficients are made together: a chain of multiply-adds that is about as long as that of the roots.
pub(crate) const BLOCK: usize = 8;

/// Columns of the widest panel.
pub(crate) const PANEL_COLS: usize = 64;

/// What the rows below need of one block of columns and one column of V; all that a panel has of them are in the place of the
/// block reflectors of higher rank.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Coefficients<T> {
    p: [T; BLOCK],
    x: [T; BLOCK],
    g: [T; BLOCK],
    /// σ_a where the column of V and that of L change places, else 0.
    interchanges: [T; BLOCK],
}

impl<T> Coefficients<T> {
    /// Scalars that they take.
    pub const LEN: usize = size_of::<Self>() / size_of::<T>();
}

impl<T: Scalar> Coefficients<T> {
    /// Whether columns change places.
    #[inline(always)]
    fn interchanged(&self) -> bool {
        self.interchanges != [T::ZERO; BLOCK]
    }

    /// An entry of column `j` of L, and that of V, through an interchange.
    #[inline(always)]
    fn change_places<S: Simd>(&self, j: usize, l: T, v: T, minus: bool) -> (T, T) {
        let Self { p, x, g, interchanges } = self;
        let (other, p, x, g) = (interchanges[j] * v, p[j], x[j], g[j]);
        let (new, before, behind) = if minus {
            let new = T::fused::<S>(-x, other, l - other) / g;
            (new, new, l)
        } else {
            let new = other + T::fused::<S>(g, l, x * other);
            (new, l, new)
        };
        (new, T::fused::<S>(-p, other + behind, before))
    }

    /// The same for registers.
    #[inline(always)]
    fn registers_change_places<S: Simd>(
        &self,
        simd: S,
        j: usize,
        l: T::Vector<S>,
        v: T::Vector<S>,
        minus: bool,
    ) -> (T::Vector<S>, T::Vector<S>) {
        let [p, x, g, sign] =
            [&self.p, &self.x, &self.g, &self.interchanges].map(|all| T::splat(simd, all[j]));
        let other = T::vmul(simd, sign, v);
        let (new, before, behind) = if minus {
            let new = T::vdiv(simd, T::neg_mul_add(simd, x, other, T::vsub(simd, l, other)), g);
            (new, new, l)
        } else {
            let new = T::vadd(simd, other, T::mul_add(simd, g, l, T::vmul(simd, x, other)));
            (new, l, new)
        };
        (new, T::neg_mul_add(simd, p, T::vadd(simd, other, behind), before))
    }
}

/// Where the steps find L, and the columns of V by absolute row: one to three of them, each with all rows from the first of the sweep
/// on, `v_stride` apart, which is not less than their rows. A panel has at most [`PANEL_COLS`] columns, and `rank` coefficients for
/// each block of them. `stream` goes with an L of whole cache lines.
#[derive(Clone, Copy)]
pub(crate) struct LowRank<T> {
    pub l: Entries<T>,
    pub v: *mut T,
    /// From one column of V to the next.
    pub v_stride: usize,
    /// Columns of V, and how many of them, the first, have a plus sign.
    pub rank: usize,
    pub plus: usize,
    /// Write whole cache lines of the new L past the caches.
    pub stream: bool,
    /// L is larger than the caches.
    pub large: bool,
}

impl<T: Scalar> LowRank<T> {
    /// The entry of old L. The base pointer may lie outside the memory, as that of a panel in a slot does.
    #[inline(always)]
    fn src(&self, row: usize, column: usize) -> *const T {
        self.l.src.wrapping_offset(column as isize * self.l.src_stride).wrapping_add(row)
    }

    /// The entry of new L, or null where nothing is to be written.
    #[inline(always)]
    fn dst(&self, row: usize, column: usize) -> *mut T {
        match self.l.dst.is_null() {
            true => self.l.dst,
            false => self.l.dst.wrapping_offset(column as isize * self.l.dst_stride).wrapping_add(row),
        }
    }

    /// The entry of column `r` of V.
    #[inline(always)]
    fn v(&self, row: usize, r: usize) -> *mut T {
        self.v.wrapping_add(r * self.v_stride + row)
    }
}
