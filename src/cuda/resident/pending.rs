//! A modification that goes on while the host does something else.

use super::Resident;
use super::modify::{To, V};
use crate::cholesky::Cholesky;
use crate::error::Error;
use crate::input::AsMatrix;
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::sweep::signed::Weights;

/// A modification that is under way on the GPU, from [`Cholesky::begin_update`] and its kin.
///
/// It holds the factor until its outcome is known. Dropping it waits as well, and the outcome is lost: the factor is
/// either the new one or, bit for bit, the old one. One is under way at most. (Where it is forgotten, by
/// [`core::mem::forget`], the factor is the old one until the next modification or `can_downdate`, before which the
/// forgotten one is brought to its end.) Where there is no room for a second matrix, it is waited for in the call that
/// begins it.
#[must_use = "whether the factor has been modified is not known before `wait`"]
pub struct Pending<'a, T: Scalar> {
    factor: &'a mut Cholesky<T, Resident>,
    row_norms: [f64; 2],
    /// What is known at once.
    outcome: Option<Result<Modification<T>, Error>>,
}

impl<'a, T: Scalar> Pending<'a, T> {
    /// Of what has begun on this factor; with bounds of its rows before and after.
    pub(super) fn new(factor: &'a mut Cholesky<T, Resident>, row_norm_after: f64) -> Self {
        let (engine, inner, row_norm) = factor.parts_mut();
        let row_norms = [*row_norm, row_norm_after];
        // Good for either outcome.
        *row_norm = row_norm_after;
        // What works in place must not be forgotten.
        let in_place = inner.under_way.is_some_and(|begun| begun.to == To::Itself);
        let outcome = in_place.then(|| engine.settle(inner));
        Self { factor, row_norms, outcome }
    }

    /// Waits for the outcome.
    ///
    /// # Errors
    /// `NotPositiveDefinite`, with the factor as it was; `Device`; `Poisoned`.
    pub fn wait(mut self) -> Result<Modification<T>, Error> {
        self.finish()
    }

    fn finish(&mut self) -> Result<Modification<T>, Error> {
        let (engine, factor, row_norm) = self.factor.parts_mut();
        let outcome = self.outcome.take().unwrap_or_else(|| engine.settle(factor));
        if outcome.is_err() {
            *row_norm = self.row_norms[0];
        }
        outcome
    }
}

impl<T: Scalar> Drop for Pending<'_, T> {
    fn drop(&mut self) {
        let (_, factor, _) = self.factor.parts_mut();
        if self.outcome.is_some() || factor.under_way.is_some() {
            // Lost, as the type says.
            let _ = self.finish();
        }
    }
}

impl<T: Scalar> core::fmt::Debug for Pending<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Pending").finish_non_exhaustive()
    }
}

/// Modifications that go on after the call. V is taken over in the call and may change afterwards.
///
/// ```
/// use cholupdate::cuda::{Device, Resident};
/// use cholupdate::{Cholesky, Error, faer::mat};
///
/// fn on_the_gpu() -> Result<(), Error> {
///     let engine = Resident::new(&Device::new(0)?);
///     let mut factor = Cholesky::new_in(&mat![[4.0, 2.0], [2.0, 5.0]], engine)?;
///     let mut v = [1.0, 2.0];
///     for _ in 0..3 {
///         let pending = factor.begin_update(&v)?;
///         v[0] += 1.0; // whatever the host has to do meanwhile
///         pending.wait()?;
///     }
///     Ok(())
/// }
/// # match on_the_gpu() { Ok(()) | Err(Error::Device { .. }) => {} Err(error) => panic!("{error}") }
/// ```
impl<T: Scalar> Cholesky<T, Resident> {
    /// As [`update`](Self::update), without waiting for the GPU.
    ///
    /// # Errors
    /// As [`update`](Self::update); what the GPU finds out comes with [`Pending::wait`].
    pub fn begin_update(&mut self, v: &(impl AsMatrix<T> + ?Sized)) -> Result<Pending<'_, T>, Error> {
        self.begin(v, Weights::Plus)
    }

    /// As [`downdate`](Self::downdate), without waiting for the GPU.
    ///
    /// # Errors
    /// As [`downdate`](Self::downdate); `NotPositiveDefinite` comes with [`Pending::wait`].
    pub fn begin_downdate(&mut self, v: &(impl AsMatrix<T> + ?Sized)) -> Result<Pending<'_, T>, Error> {
        self.begin(v, Weights::Minus)
    }

    /// As [`modify`](Self::modify), without waiting for the GPU.
    ///
    /// # Errors
    /// As [`modify`](Self::modify); `NotPositiveDefinite` comes with [`Pending::wait`].
    pub fn begin_modify(
        &mut self,
        v: &(impl AsMatrix<T> + ?Sized),
        weights: &[T],
    ) -> Result<Pending<'_, T>, Error> {
        self.begin(v, Weights::Each(weights))
    }

    fn begin(
        &mut self,
        v: &(impl AsMatrix<T> + ?Sized),
        weights: Weights<'_, T>,
    ) -> Result<Pending<'_, T>, Error> {
        let (change, row_norm) = self.check(v.as_matrix(), weights)?;
        let (engine, factor, _) = self.parts_mut();
        engine.begin(factor, change.outline, V::OfHost(&change), To::Spare)?;
        Ok(Pending::new(self, row_norm))
    }
}
