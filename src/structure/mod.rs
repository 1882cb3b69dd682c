//! Insertion, removal and reordering of rows and columns.
//!
//! With L cut at row `at` as (L₁₁; L₂₁ L₂₂), and the new rows and columns B₁ above, K on and B₂ below the diagonal, where each
//! transpose is a conjugate transpose for complex numbers:
//!
//! ```text
//! insert     S = L₁₁⁻¹ B₁        C Cᵀ = K − Sᵀ S        X = (B₂ − L₂₁ S) C⁻ᵀ
//!
//!            L₁₁                         L₂₂' L₂₂'ᵀ = L₂₂ L₂₂ᵀ − X Xᵀ      a downdate of rank r
//!            Sᵀ    C
//!            L₂₁   X   L₂₂'
//!
//! remove     V of an update of the rows after the first removed one: the removed columns, without the removed rows
//! replace    both in one sweep: the old columns with a plus sign, X with a minus sign
//!
//! shift      row f to a later row t: column f is V of an update, and a column of zeros takes its place at t. The
//!            sweep computes the new columns between f and t, and the new column t from the residual of V.
//! ```
//!
//! The step that can break down comes first: an insertion is a modification of the existing factor, followed by moves that
//! cannot fail. So the failure contract of `guarded/mod.rs` holds without additions. This module has the geometry;
//! `guarded/change.rs` makes the changes.

mod border;
mod host;
mod rearrangement;
mod scratch;
mod there;

#[cfg(feature = "distributed")]
pub(crate) use border::least_ratio_and_log_det;
pub use border::{Border, schur};
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub(crate) use host::backwards;
pub(crate) use host::{HostColumns, each_column, gather_v, rearrange, write_border};
pub use rearrangement::{Rearrangement, Run};
pub(crate) use rearrangement::{ascending, places, shifts};
pub(crate) use scratch::{Scratch, room};
#[cfg(any(feature = "cuda", feature = "unstable"))]
pub use there::Part;
pub use there::{BorderThere, Parts};

use crate::element::Element;
use crate::sweep::weights::Weights;
use cholupdate_kernels::number::Number;
use faer::MatRef;

/// V of a modification by columns of the current L, with a plus sign, and by other columns, with a minus sign.
pub struct ColumnsAsV<'a, T> {
    /// Columns of L.
    pub columns: &'a [usize],
    /// The rows of V that are rows of L. Other rows are zero, and so are entries above the diagonal of L.
    pub rows: &'a [Run],
    /// Rows of V.
    pub order: usize,
    /// The columns with a minus sign, from this row of V on; earlier rows are zero.
    pub minus: (usize, MatRef<'a, T>),
}

impl<T: Element> ColumnsAsV<'_, T> {
    /// The sign of each column. `signs` is memory that is kept.
    pub fn weights<'w>(&self, signs: &'w mut Vec<T::Part>) -> Weights<'w, T::Part> {
        let (plus, minus) = (self.columns.len(), self.minus.1.ncols());
        match (plus, minus) {
            (_, 0) => Weights::Plus,
            (0, _) => Weights::Minus,
            _ => {
                signs.clear();
                signs.extend((0..plus + minus).map(|r| if r < plus { T::Part::ONE } else { -T::Part::ONE }));
                Weights::Each(signs)
            }
        }
    }
}
