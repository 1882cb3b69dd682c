//! What an engine is: where L is kept and who works on it. What is written once for all engines is in `guarded/` and `cholesky/`.

use crate::error::Error;
use crate::factorize::blocked;
use crate::input::Operand;
use crate::scalar::Scalar;
use crate::storage::Storage;
use faer::{Mat, Par};

pub(crate) mod sealed {
    /// Engines are the crate's own: the schedule and the failure contract are theirs to keep.
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

/// An engine: where the factor lives and who does the work. [`Cpu`](crate::Cpu) is the one that needs no device.
pub trait Engine<T: Scalar>: sealed::Sealed {
    /// L as this engine keeps it.
    #[doc(hidden)]
    type Factor: Storage<T>;

    /// Takes over L, of which the strict upper triangle is zero and the diagonal positive. (n × n)
    ///
    /// # Errors
    /// `Device`.
    #[doc(hidden)]
    fn adopt(&self, l: Mat<T>) -> Result<Self::Factor, Error>;

    /// Threads that faer's routines may use on the host.
    #[doc(hidden)]
    fn par(&self) -> Par;

    /// Factors A, which is zero above the diagonal, by the means of the engine. (n × n)
    ///
    /// # Errors
    /// `NotPositiveDefinite` at the first pivot that is not positive; `Device`.
    #[doc(hidden)]
    fn factorize(&self, mut a: Mat<T>) -> Result<Self::Factor, Error> {
        blocked::factorize(a.as_mut(), self.par())?;
        self.adopt(a)
    }

    /// Makes a factor of A or L where it is, or on its way to where the factor lives, and says what the largest entry of A's
    /// diagonal is, or the largest magnitude in L; `None` where that is no better than by way of the host. Nothing but the shape of
    /// what is given is known. (n × n)
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `a` or `l`; `NotPositiveDefinite`; `Device`.
    #[doc(hidden)]
    fn take(&self, _what: Origin, _given: &Operand<'_, T>) -> Result<Option<(Self::Factor, f64)>, Error> {
        Ok(None)
    }
}
