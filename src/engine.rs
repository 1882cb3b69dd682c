//! What an engine is: where L is stored, and which processor modifies it. Code shared by all engines is in `guarded/` and
//! `factor/`.

use crate::error::Error;
use crate::factor::verbs::Verbs;
use crate::operand::Operand;
use crate::scalar::Scalar;
use crate::storage::{Made, Origin, Storage};
use faer::{Mat, Par};

pub(crate) mod sealed {
    /// Engines are the crate's own unless the feature `unstable` is on, because an engine is responsible for the schedule and the
    /// failure contract.
    pub trait Sealed {}
}

/// An engine: where the factor is stored, and which processor modifies it. [`Cpu`](crate::Cpu) needs no device.
pub trait Engine<T: Scalar>: sealed::Sealed {
    /// The storage of L.
    #[doc(hidden)]
    type Factor: Storage<T> + Verbs<T>;

    /// Makes a factor of L, whose strict upper triangle is zero and whose diagonal is not negative. (n × n)
    ///
    /// # Errors
    /// `Device`.
    #[doc(hidden)]
    fn adopt(&self, l: Mat<T>) -> Result<Self::Factor, Error>;

    /// Threads that faer's routines may use on the host.
    #[doc(hidden)]
    fn par(&self) -> Par;

    /// Makes a factor of A or L by the engine's own method, or in the engine's memory. Returns it with the diagonal of A.
    /// Returns `None` if faer's LLᵀ on the host and [`adopt`](Self::adopt) are as good. Only the shape of the operand has been
    /// checked. (n × n)
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `a` or `l`; `NotPositiveDefinite`; `Device`.
    #[doc(hidden)]
    fn make(&self, _what: Origin, _given: &Operand<'_, T>) -> Result<Made<Self::Factor>, Error> {
        Ok(None)
    }
}
