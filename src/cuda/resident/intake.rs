//! Makes a factor on the device from a matrix that is already there, or that is copied there at the link's rate. It is checked
//! and factored there, and only status and the diagonals of A and L are copied back.

use super::factor::ResidentFactor;
use super::triangle::{TakeLower, To, diagonal_of_product};
use crate::cuda::dense::Dense;
use crate::cuda::device::Device;
use crate::cuda::factorize::{By, Means};
use crate::cuda::operands::on_device;
use crate::cuda::stream::Stream;
use crate::error::{DeviceErrorKind, Error};
use crate::host::squares::largest_of;
use crate::operand::Operand;
use crate::real::Real;
use crate::storage::Made;

/// Orders from which on a matrix in host memory is factored on the device. For smaller ones, page-locking memory and starting
/// cuSOLVER take longer than faer.
const WORTH_SENDING: usize = 2048;
/// Orders from which on cuSOLVER factors a matrix on the device. For smaller ones its start and its launches take longer than
/// this library's kernels.
const WORTH_STARTING: usize = 256;

/// A or L, a square matrix in host memory or on this device, for a factor on the device.
pub(super) struct Intake<'a, T: Real> {
    device: &'a Device,
    from: &'a Operand<'a, T>,
    argument: &'static str,
}

impl<'a, T: Real> Intake<'a, T> {
    /// For a matrix for which this path is faster; otherwise `None`.
    pub fn new(device: &'a Device, from: &'a Operand<'a, T>, argument: &'static str) -> Option<Self> {
        let takes = match (from, on_device(from)) {
            (Operand::Host(a), _) => a.nrows() >= WORTH_SENDING,
            (_, Some(a)) => a.shape().0 > 0 && a.is_on(device, argument).is_ok(),
            (Operand::Remote(_), None) => false,
        };
        takes.then_some(Self { device, from, argument })
    }

    fn order(&self) -> usize {
        self.from.shape().0
    }

    /// Copies the lower triangle to memory of the engine, and checks it.
    ///
    /// # Errors
    /// `NonFinite`; [`Error::Device`].
    fn copy_and_check(&self, stream: &Stream, as_factor: bool) -> Result<Dense<T>, Error> {
        let order = self.order();
        let l = Dense::aligned(self.device, order, order)?;
        let take = TakeLower::load::<T>(self.device)?;
        let there = (l.slice(), l.stride());
        let (from, to) = match on_device(self.from) {
            Some(a) => (a.slice_on(stream)?, Some(there)),
            None => {
                l.upload(stream, self.from.on_host()?.as_ref())?;
                (there, None)
            }
        };
        // SAFETY: the source has been waited for, or is borrowed and comes first on the stream; the destination belongs to this
        // call.
        let not_finite = unsafe { take.copy_and_check(stream, from, To { columns: to, as_factor }, order)? };
        match not_finite {
            Some((row, column)) => Err(Error::NonFinite { argument: self.argument, row, column }),
            None => Ok(l),
        }
    }

    /// Returns the factor of A, and the diagonal of A.
    ///
    /// # Errors
    /// `NonFinite`, `Overflow` or `NotPositiveDefinite`; [`Error::Device`].
    pub fn factorize(&self) -> Result<Made<ResidentFactor<T>>, Error> {
        let mut last = None;
        for by in self.means() {
            let outcome = self.factorize_by(by);
            match &outcome {
                // The library may be for another driver, or another program may have allocated the memory. The next
                // implementation needs no library and less memory.
                Err(Error::Device { kind, .. }) if *kind != DeviceErrorKind::Lost => last = outcome.err(),
                _ => return outcome.map(Some),
            }
        }
        match last {
            // For a matrix in host memory faer can do it, without device memory.
            Some(error) if on_device(self.from).is_some() => Err(error),
            _ => Ok(None),
        }
    }

    /// The implementations that may factor it, the fastest first.
    fn means(&self) -> impl Iterator<Item = By> {
        let order = self.order();
        let pays = order >= WORTH_STARTING;
        let fits = |by: By| by.fits::<T>(self.device, order).unwrap_or(false);
        let library = (pays && fits(By::CuSolver)).then_some(By::CuSolver);
        // A matrix on the device is tried even if memory seems too small, because there is no other way.
        let there = on_device(self.from).is_some();
        let own = (there || fits(By::Blocked)).then_some(By::Blocked);
        library.into_iter().chain(own)
    }

    fn factorize_by(&self, by: By) -> Result<(ResidentFactor<T>, Vec<f64>), Error> {
        let means = Means::new(self.device, by)?;
        let l = self.copy_and_check(means.stream(), false)?;
        let of_a: Vec<_> = l.diagonal(means.stream())?.into_iter().map(T::to_f64).collect();
        if largest_of(&of_a) > T::LARGE_SQUARE.to_f64() {
            return Err(Error::Overflow { argument: self.argument });
        }
        means.factorize(&l)?;
        let diagonal = l.diagonal(means.stream())?;
        Ok((ResidentFactor::new(self.device, l, diagonal)?, of_a))
    }

    /// Returns L with positive diagonal, and the diagonal of L Lᵀ.
    ///
    /// # Errors
    /// `NonFinite`; [`Error::Device`].
    pub fn adopt(&self) -> Result<Made<ResidentFactor<T>>, Error> {
        if on_device(self.from).is_none() {
            return Ok(None);
        }
        let stream = Stream::new(self.device)?;
        let l = self.copy_and_check(&stream, true)?;
        // SAFETY: L belongs to this call, and what has written it has been waited for.
        let of_a = unsafe { diagonal_of_product(self.device, (l.slice(), l.stride()), l.order())? };
        let diagonal = l.diagonal(&stream)?;
        Ok(Some((ResidentFactor::new(self.device, l, diagonal)?, of_a)))
    }
}
