//! The hybrid engine on OpenCL. What is not OpenCL is in [`crate::hybrid`].
//!
//! | file | holds |
//! |---|---|
//! | `kernels` | the kernels, each with the one function that launches it |
//! | `api` | the calls of OpenCL that the engine makes |

mod api;
mod kernels;

#[cfg(test)]
mod tests;

use super::device::Device;
use crate::error::Error;
use crate::hybrid::api::Api;
use crate::hybrid::factor;
use crate::hybrid::pipe::device_bytes;
use crate::hybrid::tuning::Tuning;
use crate::real::Real;
use crate::storage::Safeguard;
use faer::Mat;

/// The hybrid engine on an OpenCL device, after Walder's gpucholmod: the engine of `cuda::Hybrid` for devices of any vendor. L is
/// in host memory. The CPU transforms diagonal blocks, and the rows below them are streamed through the device, by the same
/// schedule; the kernels have one work-item for each row, and use no tensor cores.
///
/// The device holds `slots` panels, V and some coefficients: [`device_bytes`](Self::device_bytes), O(n) for a given rank. The
/// factor uses host memory for n²/2 entries, and for as many again from the first modification with a minus sign on, if its
/// safeguard is the shadow buffer. Initial factors are computed by faer on the CPU. From 49 columns of V on, threads of the
/// current rayon pool spin on standby for the CPU's part during a modification.
///
/// ```
/// use cholupdate::opencl::{Device, DeviceKind, Hybrid};
/// use cholupdate::{Cholesky, Error, faer::mat};
///
/// fn on_the_gpu() -> Result<(), Error> {
///     let device = Device::first(DeviceKind::Gpu)?;
///     let mut factor = Cholesky::new_in(&mat![[4.0, 2.0], [2.0, 5.0]], Hybrid::on(&device))?;
///     factor.update(&[1.0, 2.0])?;
///     Ok(())
/// }
/// # match on_the_gpu() { Ok(()) | Err(Error::Device { .. }) => {} Err(error) => panic!("{error}") }
/// ```
///
/// A driver error in the middle of a modification that works in place leaves half a factor: from then on every call on it
/// returns [`Error::Poisoned`]. After an error in a modification that writes to the shadow buffer, or before anything is
/// written, the factor is as it was.
///
/// Source: C. Walder, *Rank k Cholesky Up/Down-dating on the GPU: gpucholmodV0.2*, 2010, section 4.
#[derive(Clone, Debug)]
pub struct Hybrid {
    device: Device,
    tuning: Tuning,
    safeguard: Safeguard,
}

impl Hybrid {
    /// With parameters for the device.
    #[must_use]
    pub fn on(device: &Device) -> Self {
        /// Enough work-groups to fill a compute unit.
        const GROUPS_PER_UNIT: usize = 16;
        let tuning = Tuning {
            blocks_per_kernel: (GROUPS_PER_UNIT * device.compute_units()).clamp(1, 65_535),
            threads_per_block: 128,
            elements_per_thread: 16,
            panel_cols: 96,
            slots: 3,
        };
        Self { device: device.clone(), tuning, safeguard: Safeguard::default() }
    }

    /// With parameters of the caller: `blocks_per_kernel` and `threads_per_block` count work-groups and their work-items, of
    /// which the device may permit fewer.
    ///
    /// # Errors
    /// [`Error::Tuning`] with the field of `tuning` that violates its rule.
    pub fn new(device: &Device, tuning: Tuning) -> Result<Self, Error> {
        tuning.validate()?;
        Ok(Self { tuning, ..Self::on(device) })
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
    /// at most as much again; columns are rounded up to lines of 128 bytes. k' is k rounded up to a multiple of 4, 8, 16 or 32,
    /// at most `elements_per_thread`; with both signs each is rounded up separately.
    ///
    /// `usize::MAX` for a tuning that is not valid, and for n or k greater than 2²⁸.
    #[must_use]
    pub fn device_bytes<T: Real>(n: usize, k: usize, tuning: &Tuning) -> usize {
        device_bytes::<T>(n, k, tuning, <Device as Api>::FORMS)
    }

    /// A factor from L. (n × n)
    pub(crate) fn factor<T: Real>(&self, l: Mat<T>) -> Result<HybridFactor<T>, Error> {
        self.device.supports::<T>()?;
        factor::HybridFactor::new(&self.device, self.tuning, self.safeguard, l)
    }
}

/// L as the engine stores it.
pub(crate) type HybridFactor<T> = factor::HybridFactor<T, Device>;

const _: () = {
    const fn goes_anywhere<T: Send + Sync>() {}
    goes_anywhere::<HybridFactor<f64>>();
    goes_anywhere::<HybridFactor<f32>>();
};
