//! The hybrid engine on CUDA. What is not CUDA is in [`crate::hybrid`].
//!
//! | file | holds |
//! |---|---|
//! | `tuning` | parameters for a device |
//! | `kernels` | the kernels, each with the one function that launches it |
//! | `api` | the calls of CUDA that the engine makes |

mod api;
pub(super) mod kernels;
mod tuning;

#[cfg(all(test, target_os = "linux"))]
mod tests;

use super::device::Device;
use super::factorize;
use crate::error::Error;
use crate::factorize::check;
use crate::history::diagonal_of;
use crate::host::blocked;
use crate::host::layout::lower;
use crate::host::threads::Threads;
use crate::hybrid::api::Api;
use crate::hybrid::factor;
use crate::hybrid::pipe::device_bytes;
pub use crate::hybrid::tuning::Tuning;
use crate::operand::Operand;
use crate::real::Real;
use crate::storage::{Made, Origin, Safeguard};
use faer::Mat;

/// The hybrid engine, after Walder's gpucholmod. L is in host memory and may be larger than the memory of the GPU. The CPU
/// transforms diagonal blocks, and the rows below them are streamed through the GPU.
///
/// The rows below the diagonal blocks and the next diagonal rows cross the link once up and once down in a call, for any rank
/// (twice up with a dry run). They are stored in page-locked memory, packed. On the device the engine uses memory for `slots`
/// panels, V and some coefficients: [`device_bytes`](Self::device_bytes), O(n) for a given rank. The factor uses memory for
/// n²/2 entries, and for as many again from the first modification with a minus sign on, if its safeguard is the shadow buffer.
/// From 33 columns of V on, threads of the current rayon pool spin on standby for the CPU's part during a modification.
///
/// ```
/// use cholupdate::cuda::{Device, Hybrid, Tuning};
/// use cholupdate::{Cholesky, Error, faer::mat};
///
/// fn on_the_gpu() -> Result<(), Error> {
///     let device = Device::new(0)?;
///     let engine = Hybrid::new(&device, Tuning::for_device(&device))?;
///     let mut factor = Cholesky::new_in(&mat![[4.0, 2.0], [2.0, 5.0]], engine)?;
///     factor.update(&[1.0, 2.0])?;
///     Ok(())
/// }
/// # match on_the_gpu() { Ok(()) | Err(Error::Device { .. }) => {} Err(error) => panic!("{error}") }
/// ```
///
/// A driver error in the middle of a modification that works in place leaves half a factor: from then on every call on it
/// returns [`Error::Poisoned`]. After an error in a modification that writes to the shadow buffer, or before anything is
/// written, the factor is as it was. In either case the device's memory is freed.
///
/// Source: C. Walder, *Rank k Cholesky Up/Down-dating on the GPU: gpucholmodV0.2*, 2010, section 4.
#[derive(Clone, Debug)]
pub struct Hybrid {
    device: Device,
    tuning: Tuning,
    safeguard: Safeguard,
}

impl Hybrid {
    /// # Errors
    /// [`Error::Tuning`] with the field of `tuning` that violates its rule.
    pub fn new(device: &Device, tuning: Tuning) -> Result<Self, Error> {
        tuning.validate()?;
        Ok(Self { device: device.clone(), tuning, safeguard: Safeguard::default() })
    }

    /// The same engine with another safeguard. With the shadow buffer a downdate costs memory and no time, with a dry run twice
    /// the time and no memory, and without a safeguard neither.
    #[must_use]
    pub fn with_safeguard(self, safeguard: Safeguard) -> Self {
        Self { safeguard, ..self }
    }

    /// The parameters of launches and panels.
    #[must_use]
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// Bytes of device memory for modifications of rank k of a factor of order n. With b `panel_cols` and k' columns of V,
    /// these are `slots` · (n − 2 b) b scalars for the panels, n k' for V, and 2 b k' for the reflectors, which are padded by
    /// at most as much again; columns are rounded up to lines of 128 bytes.
    ///
    /// k' is k rounded up to whole rank blocks: to a multiple of e, which is `elements_per_thread` or, for small k, 4, 8 or 16,
    /// and of the number of threads that share a row. That is for columns of one sign. With both signs each is rounded up
    /// separately, to at most one rank block more.
    ///
    /// `usize::MAX` for a tuning that is not valid, and for n or k greater than 2²⁸.
    #[must_use]
    pub fn device_bytes<T: Real>(n: usize, k: usize, tuning: &Tuning) -> usize {
        device_bytes::<T>(n, k, tuning, <Device as Api>::FORMS)
    }
}

/// L as the engine stores it.
pub(crate) type HybridFactor<T> = factor::HybridFactor<T, Device>;

const _: () = {
    const fn goes_anywhere<T: Send + Sync>() {}
    goes_anywhere::<HybridFactor<f64>>();
    goes_anywhere::<HybridFactor<f32>>();
};

impl Hybrid {
    /// On the GPU, if A fits and is large enough: by cuSOLVER if its library is found and works, otherwise by this library's
    /// kernels. Otherwise by faer on the CPU.
    pub(crate) fn made<T: Real>(
        &self,
        what: Origin,
        given: &Operand<'_, T>,
    ) -> Result<Made<HybridFactor<T>>, Error> {
        // A copy of a matrix on a device is left to the caller, which keeps its diagonal.
        let Operand::Host(a) = given else { return Ok(None) };
        if what == Origin::Factor || a.nrows() < factorize::WORTH_STARTING {
            return Ok(None);
        }
        check(*a)?;
        let mut l = lower(*a);
        match factorize::where_it_pays(&self.device, l.as_ref())? {
            Some(factored) => factored.fetch(l.as_mut())?,
            None => blocked::factorize(l.as_mut(), Threads::Pool.par())?,
        }
        Ok(Some((self.factor(l)?, diagonal_of(*a))))
    }

    /// A factor from L. (n × n)
    pub(crate) fn factor<T: Real>(&self, l: Mat<T>) -> Result<HybridFactor<T>, Error> {
        factor::HybridFactor::new(&self.device, self.tuning, self.safeguard, l)
    }
}
