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
//! So the failure contract is that of `guarded/mod.rs`, and nothing is added to it.

mod border;
mod host;
mod rearrangement;
mod scratch;
mod there;

pub use border::{Border, schur};
#[cfg(feature = "cuda")]
pub(crate) use host::backwards;
pub(crate) use host::{HostColumns, each_column, gather_v, rearrange, write_border};
pub(crate) use rearrangement::{Rearrangement, Run, ascending, places, shifts};
pub(crate) use scratch::{Scratch, room};
#[cfg(feature = "cuda")]
pub use there::Part;
pub use there::{BorderThere, Parts};

use crate::engine::Factor;
use crate::error::Error;
use crate::guarded::Stop;
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::sweep::outline::Outline;
use crate::sweep::weights::Weights;
use crate::wide::Given;
use core::ops::Range;
use faer::{Mat, MatMut, MatRef};

/// A factor whose rows and columns come and go. Shapes and indices have been checked.
pub trait Resizable<T: Scalar>: Factor<T> + Sized {
    /// The largest order that needs no other memory.
    fn capacity(&self) -> usize;

    /// Makes room for a factor of that order, and for its shadow where the safeguard has one. L stays as it is.
    ///
    /// # Errors
    /// `Device`; L is where it was.
    fn reserve(&mut self, capacity: usize) -> Result<(), Error>;

    /// Takes the leading `columns` of L through the first half of a solve: B₁ ← L₁₁⁻¹ B₁, B₂ ← B₂ − L₂₁ B₁. (n × r)
    ///
    /// # Errors
    /// `Device`.
    fn eliminate(&self, columns: usize, rhs: MatMut<'_, T>) -> Result<(), Error>;

    /// As [`stage`](crate::guarded::Modifiable::stage), with columns of L itself, and others, for V.
    ///
    /// # Errors
    /// `Overflow`, naming `v`; `Device`.
    fn stage_columns(&mut self, v: &LaterV<'_, T>) -> Result<Outline, Error>;

    /// Has other rows and columns. There is room, and nothing in flight.
    ///
    /// # Errors
    /// `Device`, in [`Stop::Device`].
    fn rearrange(&mut self, rearrangement: &Rearrangement) -> Result<(), Stop>;

    /// Has other rows and columns, and of these some made anew with V as it was staged, of this outline; there may be none. It
    /// cannot break down.
    ///
    /// # Errors
    /// `Device`, in [`Stop::Device`].
    fn remake(
        &mut self,
        outline: &Outline,
        rearrangement: &Rearrangement,
        columns: Range<usize>,
    ) -> Result<Modification<T>, Stop> {
        crate::guarded::rearrange_and_sweep(self, outline, rearrangement, columns)
    }

    /// Makes what the last sweep, of one column of V and up to this column, has left of V column `column` of L. Where there is nothing
    /// left on the diagonal, for want of digits, it is `pivot`. (On engines whose sweeps are [`TALL`](crate::guarded::Modifiable::TALL).)
    ///
    /// # Errors
    /// `Device`, in [`Stop::Device`].
    fn close(&mut self, _column: usize, _pivot: T) -> Result<(), Stop> {
        Ok(())
    }

    /// Row and column `from` of A move up before row `to` ≤ `from`, by orthogonal transformations.
    ///
    /// # Errors
    /// `Device`, in [`Stop::Device`].
    fn backwards(&mut self, from: usize, to: usize) -> Result<(), Stop>;

    /// Writes a border over as many rows and columns from `at` on.
    ///
    /// # Errors
    /// `Device`, in [`Stop::Device`].
    fn write(&mut self, at: usize, border: &Border<'_, T>) -> Result<(), Stop>;

    /// Makes the border of new columns of A at row `at`, as [`Border::new`] does, where they are, and keeps it; `None` where the engine
    /// cannot use them there. Shapes are right, and nothing else is known. L stays as it is.
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming the argument; `NotPositiveDefinite` with the row of the new A; `Device`.
    fn border_there(
        &mut self,
        _at: usize,
        _parts: &Parts<'_, T>,
        _skipped: usize,
    ) -> Result<Option<BorderThere<T>>, Error> {
        Ok(None)
    }

    /// As [`stage_columns`](Self::stage_columns), with what that border has below the diagonal for the columns with a minus sign.
    ///
    /// # Errors
    /// As [`stage_columns`](Self::stage_columns).
    fn stage_border(&mut self, v: &LaterV<'_, T>) -> Result<Outline, Error> {
        self.stage_columns(v)
    }

    /// Writes that border, as [`write`](Self::write) does.
    ///
    /// # Errors
    /// `Device`, in [`Stop::Device`].
    fn write_there(&mut self, _at: usize) -> Result<(), Stop> {
        Ok(())
    }
}

/// V of a modification by columns of L, as they stand, with a plus sign, and by others with a minus sign.
pub struct LaterV<'a, T> {
    /// Columns of L.
    pub columns: &'a [usize],
    /// Which rows of L are which rows of V; zeros elsewhere, and above the diagonal of L.
    pub rows: &'a [Run],
    /// Rows of V.
    pub order: usize,
    /// The columns with a minus sign, from this row of V on; zeros before.
    pub minus: (usize, MatRef<'a, T>),
}

impl<T: Scalar> LaterV<'_, T> {
    /// It in host memory, with columns of this L.
    ///
    /// # Errors
    /// `Device`.
    pub(crate) fn given(&self, factor: &impl Factor<T>) -> Result<Given<T>, Error> {
        let (order, [plus, minus]) = (factor.order(), [self.columns.len(), self.minus.1.ncols()]);
        let mut l = Mat::new();
        if plus > 0 {
            l = Mat::zeros(order, order);
            factor.read(l.as_mut())?;
        }
        let v = gather_v(&l, self, (&mut Mat::new(), self.order)).to_owned();
        let weights = (0..plus + minus).map(|r| if r < plus { T::ONE } else { -T::ONE }).collect();
        Ok(Given { v, weights, start: 0, scale: 1.0 })
    }

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
