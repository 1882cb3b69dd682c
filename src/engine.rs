//! Where a factor lives and who does the work.

use crate::error::Error;
use crate::factorize::blocked;
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::sweep::signed::{Change, Weights};
use faer::{Mat, MatMut, MatRef, Par};

pub(crate) mod sealed {
    /// Engines are the crate's own: the schedule and the failure contract are theirs to keep.
    pub trait Sealed {}
}

/// An engine: where the factor lives and who does the work. [`Cpu`](crate::Cpu) is the one for everybody.
pub trait Engine<T: Scalar>: sealed::Sealed + EngineCore<T> {}

/// What the front type asks of an engine. But for V and w, arguments have been checked by then.
pub trait EngineCore<T: Scalar> {
    /// The factor and the working memory that goes with it.
    type Factor;

    /// Factors A, which is zero above the diagonal. (n × n)
    ///
    /// # Errors
    /// `NotPositiveDefinite` at the first pivot that is not positive.
    fn factorize(&self, mut a: Mat<T>) -> Result<Self::Factor, Error> {
        blocked::factorize(a.as_mut(), self.par())?;
        self.adopt(a)
    }

    /// Takes over L, of which the strict upper triangle is zero and the diagonal positive. (n × n)
    fn adopt(&self, l: Mat<T>) -> Result<Self::Factor, Error>;

    /// Threads that faer's routines may use on the host.
    fn par(&self) -> Par;

    /// Rows of A.
    fn order(&self, factor: &Self::Factor) -> usize;

    /// V diag(w) Vᵀ as `modify` and `rehearse` take it, which come next if at all. (n × k, k)
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`, naming `v` or `weights`; what a device has to say.
    fn check<'a>(
        &self,
        factor: &mut Self::Factor,
        v: MatRef<'a, T>,
        weights: Weights<'a, T>,
    ) -> Result<Change<'a, T>, Error> {
        Change::new(v, weights, self.order(factor), self.par())
    }

    /// L Lᵀ ← L Lᵀ + V diag(w) Vᵀ; the factor is untouched on any error, but for one that poisons
    /// it.
    fn modify(&self, factor: &mut Self::Factor, change: &Change<'_, T>) -> Result<Modification<T>, Error>;

    /// The outcome that `modify` would have, without touching the factor.
    fn rehearse(&self, factor: &mut Self::Factor, change: &Change<'_, T>) -> Result<Modification<T>, Error>;

    /// B ← A⁻¹ B. (n × m)
    fn solve_in_place(&self, factor: &Self::Factor, rhs: MatMut<'_, T>) -> Result<(), Error>;

    /// log det A.
    fn log_det(&self, factor: &Self::Factor) -> Result<T, Error>;

    /// An upper bound of the 2-norm of any row of L.
    fn row_norm(&self, factor: &Self::Factor) -> Result<f64, Error>;

    /// A copy of L in host memory, zero above the diagonal. (n × n)
    fn to_factor(&self, factor: &Self::Factor) -> Result<Mat<T>, Error>;
}
