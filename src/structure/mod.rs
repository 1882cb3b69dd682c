//! Rows and columns that come and go, together, or change places.
//!
//! With L cut at row `at` as (L₁₁; L₂₁ L₂₂), and the new rows and columns B₁ above, K on and B₂ below the diagonal:
//!
//! ```text
//! insert     S = L₁₁⁻¹ B₁        C Cᵀ = K − Sᵀ S        X = (B₂ − L₂₁ S) C⁻ᵀ
//!
//!            L₁₁                         L₂₂' L₂₂'ᵀ = L₂₂ L₂₂ᵀ − X Xᵀ      a downdate of rank r
//!            Sᵀ    C
//!            L₂₁   X   L₂₂'
//!
//! remove     the removed columns, without the removed rows, are V of an update of what is behind the first
//! replace    both in one sweep: the old columns with a plus sign, X with a minus sign
//!
//! shift      row f behind row t: its column is V of an update, and a column of zeros takes the place it goes to. The sweep makes
//!            its new entries between f and t, and its new column of what is left of V at t.
//! ```
//!
//! What can break down is done first: an insertion is a modification of the factor as it stands, and then moves that cannot fail.
//! So the failure contract is that of `guarded/mod.rs`, and nothing is added to it. Here is the geometry alone; `guarded/change.rs` makes the
//! changes.

mod border;
mod host;
mod rearrangement;
mod scratch;
mod there;

pub use border::{Border, schur};
#[cfg(feature = "cuda")]
pub(crate) use host::backwards;
pub(crate) use host::{HostColumns, each_column, gather_v, rearrange, write_border};
pub use rearrangement::{Rearrangement, Run};
pub(crate) use rearrangement::{ascending, places, shifts};
pub(crate) use scratch::{Scratch, room};
#[cfg(any(feature = "cuda", feature = "unstable"))]
pub use there::Part;
pub use there::{BorderThere, Parts};

use crate::scalar::Scalar;
use crate::sweep::weights::Weights;
use faer::MatRef;

/// V of a modification by columns of L, as they stand, with a plus sign, and by others with a minus sign.
pub struct ColumnsAsV<'a, T> {
    /// Columns of L.
    pub columns: &'a [usize],
    /// Which rows of L are which rows of V; zeros elsewhere, and above the diagonal of L.
    pub rows: &'a [Run],
    /// Rows of V.
    pub order: usize,
    /// The columns with a minus sign, from this row of V on; zeros before.
    pub minus: (usize, MatRef<'a, T>),
}

impl<T: Scalar> ColumnsAsV<'_, T> {
    /// The sign of each column, in memory that is kept.
    pub fn weights<'w>(&self, signs: &'w mut Vec<T>) -> Weights<'w, T> {
        let (plus, minus) = (self.columns.len(), self.minus.1.ncols());
        match (plus, minus) {
            (_, 0) => Weights::Plus,
            (0, _) => Weights::Minus,
            _ => {
                signs.clear();
                signs.extend((0..plus + minus).map(|r| if r < plus { T::ONE } else { -T::ONE }));
                Weights::Each(signs)
            }
        }
    }
}
