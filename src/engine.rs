//! What an engine is: where L is stored, and which processor modifies it. Code shared by all engines is in `guarded/` and
//! `cholesky/`.

use crate::error::Error;
use crate::host::blocked;
use crate::operand::Operand;
use crate::scalar::Scalar;
use crate::storage::Storage;
use faer::{Mat, Par};

pub(crate) mod sealed {
    /// Engines are the crate's own, because an engine is responsible for the schedule and the failure contract.
    pub trait Sealed {}
}

/// What a factor is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A.
    Matrix,
    /// L.
    Factor,
}

/// An engine: where the factor is stored, and which processor modifies it. [`Cpu`](crate::Cpu) needs no device.
pub trait Engine<T: Scalar>: sealed::Sealed {
    /// The storage of L.
    #[doc(hidden)]
    type Factor: Storage<T>;

    /// Makes a factor of L, whose strict upper triangle is zero and whose diagonal is not negative. (n × n)
    ///
    /// # Errors
    /// `Device`.
    #[doc(hidden)]
    fn adopt(&self, l: Mat<T>) -> Result<Self::Factor, Error>;

    /// Threads that faer's routines may use on the host.
    #[doc(hidden)]
    fn par(&self) -> Par;

    /// Factors A, which is zero above the diagonal, by the engine's own method. (n × n)
    ///
    /// # Errors
    /// `NotPositiveDefinite` at the first pivot that is not positive; `Device`.
    #[doc(hidden)]
    fn factorize(&self, mut a: Mat<T>) -> Result<Self::Factor, Error> {
        blocked::factorize(a.as_mut(), self.par())?;
        self.adopt(a)
    }

    /// Makes a factor of A or L where it is, or while it is copied to the engine's memory. Returns it with the largest entry of
    /// A's diagonal, or with the largest magnitude in L. Returns `None` if making it on the host is as good. Only the shape of
    /// the operand has been checked. (n × n)
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `a` or `l`; `NotPositiveDefinite`; `Device`.
    #[doc(hidden)]
    fn take(&self, _what: Origin, _given: &Operand<'_, T>) -> Result<Option<(Self::Factor, f64)>, Error> {
        Ok(None)
    }
}
