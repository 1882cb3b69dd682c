//! The two steps of a panel for V with one column, where there is so little arithmetic that its latency
//! decides.
//!
//! With p = D⁻¹ v for the diagonal block D, which a chain of multiply-adds gives, everything else follows
//! without one: t_j = t_{j−1} + σ p_j², and for every row i below (method C1 of Gill, Golub, Murray and
//! Saunders, *Methods for modifying matrix factorizations*, Math. Comp. 28, 1974)
//!
//! ```text
//! v_i ← v_i − p_j l_ij          l'_ij = c_j l_ij + g_j v_i,     c_j² = t_j / t_{j−1},  g_j = σ p_j / √(t_{j−1} t_j)
//! ```
//!
//! The residual proper is v / √t; t starts at 1 and the root is not taken out. This form loses accuracy
//! where t grows much within a panel, that is, where V dominates L there. t is known before anything is
//! written, so such a panel is done by the hyperbolic reflection in its mixed form, which does not mind:
//!
//! ```text
//! l'_ij = c_j l_ij + g_j v_i    v_i ← v_i − p_j (l_ij + l'_ij),     c_j = l/α,  g_j = σ a/α,  p_j = a/(l + α)
//! ```
//!
//! Either way c_j l_ij is formed as l_ij + x_j l_ij with x_j = c_j − 1, which is known to all its digits: σ p_j² / t_{j−1}
//! over c_j + 1, or −g_j p_j. An entry times a rounded number near 1 would move by the same rounding in every call, and
//! after a thousand calls by a thousand of them.

mod diagonal;
mod trailing;

use super::entries::Entries;
use crate::scalar::Scalar;

/// Columns of the widest panel.
pub(crate) const PANEL_COLS: usize = 64;

/// What the rows below need of one panel; its place is that of the block reflectors of higher rank.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Coefficients<T> {
    p: [T; PANEL_COLS],
    /// Of method C1.
    c: [T; PANEL_COLS],
    /// c − 1.
    x: [T; PANEL_COLS],
    g: [T; PANEL_COLS],
    /// What v is multiplied by first: 1, or 1/√t where the mixed form begins.
    scale: T,
    /// 1 for the mixed form, 0 for method C1.
    mixed: T,
}

impl<T> Coefficients<T> {
    /// Scalars that they take.
    pub const LEN: usize = size_of::<Self>() / size_of::<T>();
}

/// What the steps work on: L, the one column of V by absolute row, and its sign.
#[derive(Clone, Copy)]
pub(crate) struct RankOne<T> {
    pub l: Entries<T>,
    pub v: *mut T,
    pub sign: T,
    /// Write whole cache lines of the new L past the caches.
    pub stream: bool,
    /// L is larger than the caches.
    pub large: bool,
}

impl<T: Scalar> RankOne<T> {
    /// The entry of old L. The base pointer may lie outside the memory, as that of a panel in a slot does.
    #[inline(always)]
    fn src(&self, row: usize, column: usize) -> *const T {
        self.l.src.wrapping_offset(column as isize * self.l.src_stride).wrapping_add(row)
    }

    /// The entry of new L, or null where nothing is to be written.
    #[inline(always)]
    fn dst(&self, row: usize, column: usize) -> *mut T {
        if self.l.dst.is_null() {
            return self.l.dst;
        }
        self.l.dst.wrapping_offset(column as isize * self.l.dst_stride).wrapping_add(row)
    }

    /// Row `row` of V. The base pointer is that of row 0, which may not be there.
    #[inline(always)]
    fn row(&self, row: usize) -> *mut T {
        self.v.wrapping_add(row)
    }
}
