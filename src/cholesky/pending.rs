//! A modification in flight while the host does other work.

use crate::cpu::Cpu;
use crate::engine::Engine;
use crate::error::Error;
use crate::factor::Factor;
use crate::factor::verbs::Verbs;
use crate::operand::OperandMut;
use crate::report::Modification;
use crate::scalar::Scalar;

/// A modification in flight, from [`Cholesky::submit`](crate::Cholesky::submit).
///
/// It borrows the factor until its outcome is known. Dropping it waits as well, and discards the outcome: the factor is either
/// the new one or, bit for bit, the old one, or lost if it broke down with [no safeguard](crate::Safeguard::None). At most one
/// is in flight. After [`core::mem::forget`], [`Cholesky::pending`](crate::Cholesky::pending) returns it again, and the next
/// modification or `can_downdate` waits for it and discards its outcome; until then `cuda::Resident` still has the old factor.
/// The other engines finish within `submit`.
///
/// ```
/// use cholupdate::{Cholesky, Error, Weights, faer::mat};
///
/// # fn main() -> Result<(), Error> {
/// let mut factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
/// let mut v = [1.0, 2.0];
/// for _ in 0..3 {
///     let pending = factor.submit(&v, Weights::Plus)?;
///     v[0] += 1.0; // other work of the host
///     pending.wait()?;
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "whether the factor has been modified is not known before `wait`"]
pub struct Pending<'a, T: Scalar, E: Engine<T> = Cpu> {
    factor: &'a mut Factor<T, E::Factor>,
}

impl<'a, T: Scalar, E: Engine<T>> Pending<'a, T, E> {
    /// A modification that has been submitted to this factor.
    pub(crate) fn new(factor: &'a mut Factor<T, E::Factor>) -> Self {
        Self { factor }
    }

    /// Waits for the outcome.
    ///
    /// # Errors
    /// `NotPositiveDefinite`, with the factor as its [`Safeguard`](crate::Safeguard) leaves it; `Device`; `Poisoned`.
    pub fn wait(self) -> Result<Modification, Error> {
        E::Factor::wait(self.factor)
    }

    /// Waits for the outcome, and B ← A⁻¹ B in place, with the A that results: the new one if the modification has succeeded,
    /// otherwise the old one. On `cuda::Resident` the solve is queued after the modification, and the host waits once for both;
    /// after a breakdown the solve is repeated with the old factor. The other engines do one after the other, and return a
    /// breakdown from `submit`, so that nothing is solved then.
    ///
    /// # Shapes
    /// B (n × m), any layout; a slice, array or vector for m = 1.
    ///
    /// # Errors
    /// The first result is the outcome of the modification, as from [`wait`](Self::wait); the second that of the solve, as from
    /// [`solve_in_place`](crate::Cholesky::solve_in_place). Both are always reported.
    ///
    /// # Cost
    /// That of the modification, and 2 m n² flops.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, Weights, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// let mut b = [5.0_f64, 6.0];
    /// let (modified, solved) = factor.submit(&[1.0, 0.0], Weights::Plus)?.solve_in_place(&mut b);
    /// assert!(modified?.min_pivot_ratio > 1.0);
    /// solved?; // of (5 2; 2 5)
    /// assert!((b[0] - 13.0 / 21.0).abs() < 1e-15 && (b[1] - 20.0 / 21.0).abs() < 1e-15);
    /// # Ok(())
    /// # }
    /// ```
    pub fn solve_in_place<'b>(
        self,
        rhs: impl Into<OperandMut<'b, T>>,
    ) -> (Result<Modification, Error>, Result<(), Error>) {
        E::Factor::wait_and_solve(self.factor, rhs.into())
    }
}

impl<T: Scalar, E: Engine<T>> Drop for Pending<'_, T, E> {
    fn drop(&mut self) {
        // The outcome is discarded, as documented; after `wait` nothing is in flight.
        let _ = E::Factor::wait(self.factor);
    }
}

impl<T: Scalar, E: Engine<T>> core::fmt::Debug for Pending<'_, T, E> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Pending").finish_non_exhaustive()
    }
}
