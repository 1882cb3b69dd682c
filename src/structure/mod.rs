//! Rows and columns that come and go, together: append, insert, remove and replace.
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
//! ```
//!
//! What can fail is done first: an insertion is a modification of the factor as it stands, and then moves that cannot fail. So the
//! failure contract is that of `modify.rs`, and nothing is added to it.

mod border;
mod extension;
mod removal;
mod verbs;

pub use border::Border;
pub use extension::Extension;
pub(crate) use removal::kept;

use crate::engine::Factor;
use crate::error::Error;
use crate::scalar::Scalar;
use faer::MatMut;

/// A factor whose rows and columns come and go. Orders are those of A, indices those of rows of A. What is called here has been
/// checked: nothing of it fails, but for want of memory in [`reserve`](Self::reserve).
pub trait Resizable<T: Scalar>: Factor<T> {
    /// The largest order that needs no other memory.
    fn capacity(&self) -> usize;

    /// Makes room for a factor of that order, and for its shadow where the safeguard has one. L stays as it is.
    ///
    /// # Errors
    /// `Device`.
    fn reserve(&mut self, capacity: usize) -> Result<(), Error>;

    /// Takes the leading `columns` of L through the first half of a solve: B₁ ← L₁₁⁻¹ B₁, B₂ ← B₂ − L₂₁ B₁. (n × r)
    fn eliminate(&self, columns: usize, rhs: MatMut<'_, T>);

    /// Writes the columns `removed` of L, in ascending order, to V, without those rows. ((n − r) × r)
    fn removed_columns(&self, removed: &[usize], v: MatMut<'_, T>);

    /// Takes these rows and columns out, in ascending order. What is left are rows and columns of the old L.
    fn remove(&mut self, removed: &[usize]);

    /// Moves rows and columns from `at` on by those of the border, and writes it between. There is room.
    fn insert(&mut self, at: usize, border: &Border<T>);

    /// Writes the border over as many rows and columns from `at` on.
    fn write(&mut self, at: usize, border: &Border<T>);
}
