//! What an engine is: a way to keep L, and a sweep over it. All else is written once: the failure contract in `modify.rs`,
//! the verbs in `cholesky.rs`.

use crate::error::Error;
use crate::factorize::blocked;
use crate::guarded::{Modifiable, Stop};
use crate::input::{Operand, OperandMut};
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::structure::Resizable;
use crate::sweep::outline::Outline;
use crate::sweep::weights::Weights;
use faer::{Mat, MatMut, MatRef, Par};

pub(crate) mod sealed {
    /// Engines are the crate's own: the schedule and the failure contract are theirs to keep.
    pub trait Sealed {}
}

/// An engine: where the factor lives and who does the work. [`Cpu`](crate::Cpu) is the one for everybody.
pub trait Engine<T: Scalar>: sealed::Sealed + EngineCore<T> {}

/// What the front type asks of an engine: factors.
pub trait EngineCore<T: Scalar> {
    /// L as this engine keeps it.
    type Factor: Resizable<T>;

    /// Takes over L, of which the strict upper triangle is zero and the diagonal positive. (n × n)
    ///
    /// # Errors
    /// What a device has to say.
    fn adopt(&self, l: Mat<T>) -> Result<Self::Factor, Error>;

    /// Threads that faer's routines may use on the host.
    fn par(&self) -> Par;

    /// Factors A, which is zero above the diagonal, by the means of the engine. (n × n)
    ///
    /// # Errors
    /// `NotPositiveDefinite` at the first pivot that is not positive; what a device has to say.
    fn factorize(&self, a: Mat<T>) -> Result<Self::Factor, Error> {
        self.factorize_on_host(a)
    }

    /// Factors A where it is, or on its way to where the factor lives, and says what the largest entry of its diagonal is; `None`
    /// where that is no better than by way of the host. Nothing of A but its shape is known. (n × n)
    ///
    /// # Errors
    /// `NonFinite` or `Overflow`, naming `a`; `NotPositiveDefinite`; what a device has to say.
    fn factorize_there(&self, _a: &Operand<'_, T>) -> Result<Option<(Self::Factor, f64)>, Error> {
        Ok(None)
    }

    /// Takes over L from where it is, and says what its largest magnitude is; `None` as above.
    ///
    /// # Errors
    /// `NonFinite`, naming `l`; what a device has to say.
    fn adopt_there(&self, _l: &Operand<'_, T>) -> Result<Option<(Self::Factor, f64)>, Error> {
        Ok(None)
    }

    /// The same as [`factorize`](Self::factorize) by faer.
    ///
    /// # Errors
    /// As [`factorize`](Self::factorize).
    fn factorize_on_host(&self, mut a: Mat<T>) -> Result<Self::Factor, Error> {
        blocked::factorize(a.as_mut(), self.par())?;
        self.adopt(a)
    }
}

/// One of the two triangular systems that A X = B is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// L Y = B.
    L,
    /// Lᵀ X = Y.
    Transpose,
}

/// The outcome of a solve, unless that is yet to be done.
pub type Solved = Option<Result<(), Error>>;

/// L as an engine keeps it.
pub trait Factor<T: Scalar>: Modifiable<T> {
    /// Solves the systems of these sides, one after the other. (n × m) Shapes are right.
    ///
    /// # Errors
    /// `NonFinite`, naming `rhs`, which is untouched then; `Device`.
    fn solve(&self, sides: &[Side], rhs: OperandMut<'_, T>) -> Result<(), Error>;

    /// Waits for the sweep in flight, as [`wait`](Modifiable::wait) does, and solves the systems with what it has written, without the
    /// host in between. `None` where that is yet to be done, if it can be done at all: `rhs` is untouched then.
    ///
    /// # Errors
    /// Those of [`wait`](Modifiable::wait), and of [`solve`](Self::solve) behind it.
    fn wait_and_solve(
        &mut self,
        _sides: &[Side],
        _rhs: &mut OperandMut<'_, T>,
    ) -> (Result<Modification<T>, Stop>, Solved) {
        (self.wait(), None)
    }

    /// B ← L B, or Lᵀ B. (n × m)
    ///
    /// # Errors
    /// `Device`.
    fn multiply(&self, side: Side, rhs: MatMut<'_, T>) -> Result<(), Error>;

    /// Multiplies leading columns of L by a positive number.
    ///
    /// # Errors
    /// `Device`, in [`Stop::Device`].
    fn scale(&mut self, columns: usize, by: T) -> Result<(), Stop>;

    /// Whether rows below L can go through a sweep with it.
    const CARRIES: bool = false;

    /// As [`stage`](Modifiable::stage), with the columns of z (n × m) as rows below L and those of y (k × m) below V, where
    /// [`CARRIES`](Self::CARRIES) says so.
    ///
    /// # Errors
    /// As [`stage`](Modifiable::stage).
    fn stage_carrying(
        &mut self,
        (v, weights): (MatRef<'_, T>, Weights<'_, T>),
        _carried: (MatRef<'_, T>, MatRef<'_, T>),
    ) -> Result<Outline, Error> {
        self.stage(&Operand::Host(v), weights)
    }

    /// The rows from column `start` on as the last sweep has left them, which began there, and for each of them Σ ± y'², where y'
    /// is what was left of y.
    fn carried(
        &mut self,
        (_y, _weights): (MatRef<'_, T>, &[T]),
        _start: usize,
        _z: MatMut<'_, T>,
    ) -> Vec<f64> {
        Vec::new()
    }

    /// The diagonal of L. (n)
    fn diagonal(&self) -> impl Iterator<Item = T> + '_;

    /// Copies L to host memory of zeros. (n × n)
    ///
    /// # Errors
    /// `Device`.
    fn read(&self, to: MatMut<'_, T>) -> Result<(), Error>;
}
