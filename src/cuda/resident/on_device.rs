//! V and right-hand sides in device memory.

use super::Resident;
use super::modify::{To, V};
use super::pending::Pending;
use super::rank_blocks::Cut;
use super::take::Intake;
use crate::check::extent;
use crate::cholesky::Cholesky;
use crate::cuda::matrix::{DeviceView, DeviceViewMut};
use crate::error::Error;
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::sweep::signed::{Outline, Weights};

/// Modifications and systems with what is in device memory already: nothing of it crosses the link. The device checks it,
/// before anything is touched.
///
/// ```
/// use cholupdate::cuda::{Device, DeviceMatrix, Resident};
/// use cholupdate::{Cholesky, Error, faer::mat};
///
/// fn on_the_gpu() -> Result<(), Error> {
///     let device = Device::new(0)?;
///     let mut factor = Cholesky::new_in(&mat![[4.0, 2.0], [2.0, 5.0]], Resident::new(&device))?;
///     let v = DeviceMatrix::from_host(&device, &[1.0, 2.0])?;
///     factor.update_on_device(&v.view())?;
///     let mut b = DeviceMatrix::from_host(&device, &[1.0, 0.0])?;
///     factor.solve_on_device(&mut b.view_mut())?; // b ← A⁻¹ b
///     Ok(())
/// }
/// # match on_the_gpu() { Ok(()) | Err(Error::Device { .. }) => {} Err(error) => panic!("{error}") }
/// ```
impl<T: Scalar> Cholesky<T, Resident> {
    /// As [`update`](Self::update). V (n × k)
    ///
    /// # Errors
    /// As [`update`](Self::update), and `Device` where V is on another device.
    pub fn update_on_device(&mut self, v: &DeviceView<'_, T>) -> Result<Modification<T>, Error> {
        self.begin_on_device(v, Weights::Plus)?.wait()
    }

    /// As [`downdate`](Self::downdate). V (n × k)
    ///
    /// # Errors
    /// As [`downdate`](Self::downdate), and `Device` where V is on another device.
    pub fn downdate_on_device(&mut self, v: &DeviceView<'_, T>) -> Result<Modification<T>, Error> {
        self.begin_on_device(v, Weights::Minus)?.wait()
    }

    /// As [`modify`](Self::modify). V (n × k), w (k)
    ///
    /// # Errors
    /// As [`modify`](Self::modify), and `Device` where V is on another device.
    pub fn modify_on_device(
        &mut self,
        v: &DeviceView<'_, T>,
        weights: &[T],
    ) -> Result<Modification<T>, Error> {
        self.begin_modify_on_device(v, weights)?.wait()
    }

    /// As [`modify_on_device`](Self::modify_on_device), waiting until V has been looked at and copied, and not for the
    /// modification.
    ///
    /// # Errors
    /// As [`modify_on_device`](Self::modify_on_device); `NotPositiveDefinite` comes with [`Pending::wait`].
    pub fn begin_modify_on_device(
        &mut self,
        v: &DeviceView<'_, T>,
        weights: &[T],
    ) -> Result<Pending<'_, T>, Error> {
        self.begin_on_device(v, Weights::Each(weights))
    }

    /// As [`update_on_device`](Self::update_on_device), waiting until V has been looked at and copied, and not for the
    /// update.
    ///
    /// # Errors
    /// As [`update_on_device`](Self::update_on_device).
    pub fn begin_update_on_device(&mut self, v: &DeviceView<'_, T>) -> Result<Pending<'_, T>, Error> {
        self.begin_on_device(v, Weights::Plus)
    }

    /// As [`downdate_on_device`](Self::downdate_on_device), waiting until V has been looked at and copied, and not for the
    /// downdate.
    ///
    /// # Errors
    /// As [`downdate_on_device`](Self::downdate_on_device); `NotPositiveDefinite` comes with [`Pending::wait`].
    pub fn begin_downdate_on_device(&mut self, v: &DeviceView<'_, T>) -> Result<Pending<'_, T>, Error> {
        self.begin_on_device(v, Weights::Minus)
    }

    /// B ← A⁻¹ B. (n × m)
    ///
    /// # Errors
    /// `Shape` or `NonFinite`, `Device` where B is on another device, or `Poisoned`: B is untouched. `Device` where the
    /// driver fails: of more than 4096 right-hand sides some may be solved.
    pub fn solve_on_device(&self, rhs: &mut DeviceViewMut<'_, T>) -> Result<(), Error> {
        extent("rhs", "rows", self.order(), rhs.as_view().shape().0)?;
        self.engine().solve_there(self.inner(), rhs)
    }

    fn begin_on_device(
        &mut self,
        v: &DeviceView<'_, T>,
        weights: Weights<'_, T>,
    ) -> Result<Pending<'_, T>, Error> {
        weights.check(self.order(), v.shape())?;
        let outline = self.take(v, weights)?;
        let row_norm = self.row_norm_after(&outline)?;
        let (engine, factor, _) = self.parts_mut();
        engine.begin(factor, outline, V::Taken, To::Spare)?;
        Ok(Pending::new(self, row_norm))
    }

    /// V diag(√|w|) in the queue's own memory, and what it is.
    fn take(&mut self, v: &DeviceView<'_, T>, weights: Weights<'_, T>) -> Result<Outline, Error> {
        let (engine, factor, _) = self.parts_mut();
        v.is_on(&engine.device, "v")?;
        let (order, (_, cols)) = (factor.l.order(), v.shape());
        let (plus, minus) = weights.signs(cols);
        let cut = Cut::new(plus, minus);
        engine.ready(factor, cut)?;
        let intake = Intake::ready(&mut factor.intake, &engine.device, cols)?;
        let Some(queue) = &mut factor.queue else { return Err(Error::Poisoned) };
        let (stream, to, stride) = queue.v(cut)?;
        let targets = weights.places(cols).map(|place| place.map(|(at, scale)| (cut.place(at), scale)));
        // SAFETY: the view's memory lives and is not written to while it is borrowed; the other is the queue's own, and
        // `ready` has waited for what was under way.
        let found = unsafe { intake.take(stream, v.slice(), (to, stride), (order, cols), targets)? };
        let mut outline = Outline::new(order);
        for (column, found) in found.iter().enumerate() {
            if let Some(row) = found.not_finite {
                return Err(Error::NonFinite { argument: "v", row, column });
            }
            outline.add((weights.of(column), found.largest), cols, |end| {
                found.not_zero.filter(|&row| row < end)
            })?;
        }
        Ok(outline)
    }
}
