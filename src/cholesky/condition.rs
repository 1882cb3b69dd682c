//! The condition number of A, and when to factor it again.

use crate::cholesky::Cholesky;
use crate::engine::Engine;
use crate::error::Error;
use crate::factor::verbs::Verbs;
use crate::scalar::Scalar;
use cholupdate_kernels::number::Float;

/// When to factor A again: [`Cholesky::needs_refactor`].
///
/// ```
/// use cholupdate::{Cholesky, Error, RefactorPolicy, faer::mat};
///
/// # fn main() -> Result<(), Error> {
/// let mut factor = Cholesky::new(&mat![[1.0, 0.0], [0.0, 1.0]])?;
/// let policy = RefactorPolicy { max_error: Some(1e-10), ..RefactorPolicy::default() };
/// factor.downdate(&[0.5, 0.0])?;
/// assert!(!factor.needs_refactor(&policy));
/// factor.downdate(&[(0.75_f64 - 1e-8).sqrt(), 0.0])?; // leaves 1e-8 of a pivot
/// assert!(factor.needs_refactor(&policy));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefactorPolicy {
    /// The largest acceptable [`error_estimate`](Cholesky::error_estimate); `None` for half of the digits, √u.
    pub max_error: Option<f64>,
    /// The largest number of modifications: calls that change A, and of `permute` each of the shifts of which it consists.
    pub max_modifications: usize,
}

impl Default for RefactorPolicy {
    /// Half of the digits, any number of modifications.
    fn default() -> Self {
        Self { max_error: None, max_modifications: usize::MAX }
    }
}

impl<T: Scalar, E: Engine<T>> Cholesky<T, E> {
    /// An estimate of the condition number of A in the 1-norm, ‖A‖₁ ‖A⁻¹‖₁; 1 for order 0. Apart from rounding it is a lower
    /// bound, and seldom less than a third of the condition number.
    ///
    /// # Errors
    /// `Device` on an engine with a device, `Poisoned`.
    ///
    /// # Cost
    /// At most ten products with L Lᵀ and as many solves, of 2 n² flops each.
    ///
    /// # Source
    /// N. J. Higham, *FORTRAN codes for estimating the one-norm of a real or complex matrix, with applications to condition
    /// estimation*, ACM Trans. Math. Softw. 14 (1988), algorithm 4.1: LAPACK's `dlacon`.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let factor = Cholesky::new(&mat![[4.0_f64, 0.0], [0.0, 0.5]])?;
    /// assert!((factor.condition()? - 8.0).abs() < 1e-12);
    /// # Ok(())
    /// # }
    /// ```
    pub fn condition(&self) -> Result<T::Part, Error> {
        E::Factor::condition(&self.factor)
    }

    /// An estimate of max |(L Lᵀ − A)_ij| / √(a_ii a_jj), where A is the exact matrix: the errors that all modifications since
    /// L was computed have added; 0 before the first one. A modification of rank k adds √k u times a_ii and what it adds to
    /// a_ii to the error of row i. If a_ii shrinks to a fraction f, earlier errors of row i count 1/f times as much, also where
    /// other rows grow; if it grows, correspondingly less.
    ///
    /// Infinite for a factor that has been lost ([`Error::Poisoned`]).
    ///
    /// # Cost
    /// None. A modification makes a few passes over V for it, in the memory where V is.
    #[must_use]
    pub fn error_estimate(&self) -> f64 {
        if self.factor.guarded.is_poisoned() {
            return f64::INFINITY;
        }
        self.factor.guarded.history().error() * T::Part::UNIT.to_f64()
    }

    /// Whether A should be factored again, by `Cholesky::new(&a)`. True if the factor has been lost.
    #[must_use]
    pub fn needs_refactor(&self, policy: &RefactorPolicy) -> bool {
        let most = policy.max_error.unwrap_or_else(|| T::Part::UNIT.to_f64().sqrt());
        self.factor.guarded.is_poisoned()
            || self.error_estimate() > most
            || self.factor.guarded.history().modifications > policy.max_modifications
    }
}
