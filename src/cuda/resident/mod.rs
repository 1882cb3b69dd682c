//! The resident engine: the factor lives on the GPU, and only V, right-hand sides, pivots and a status word
//! cross the link.
//!
//! | file | holds |
//! |---|---|
//! | `factor` | L, and what goes with it |
//! | `v` | V on the device, in rank blocks, and its way there |
//! | `intake` | how a factor comes to be on the device |
//! | `triangle` | the kernels of lower triangles on their way there and back |
//! | `take` | columns that are on the device already, on their way into the engine's memory |
//! | `inverses` | the inverses of the diagonal blocks of L |
//! | `resize` | rows and columns of L that come and go |
//! | `border` | those that come from the device |
//! | `borders` | their kernels, and the functions that launch them |
//! | `rearrange` | their kernels, and the functions that launch them |
//! | `products` | products with L, and L times a number |
//! | `queue` | what a modification has on the device beside L, and what it enqueues |
//! | `schedule` | the order in which blocks of threads take up their tasks |
//! | `tasks` | the tasks of launches on the device |
//! | `steps` | the kernel of the sweeps, and the one function that launches it |
//! | `solving` | when the factor has them worked on |
//! | `systems` | triangular systems on the device |
//! | `working` | what they take beside L and right-hand sides |
//! | `solves` | their kernels, and the one function that launches them |

mod border;
mod borders;
mod factor;
mod intake;
mod inverses;
mod products;
mod queue;
mod rearrange;
mod resize;
mod schedule;
mod solves;
mod solving;
mod steps;
mod systems;
mod take;
mod tasks;
mod triangle;
mod v;
mod working;

pub use self::factor::ResidentFactor;
use self::intake::Intake;
pub(super) use self::triangle::Made;
use super::dense::Dense;
use super::device::Device;
use super::stream::Stream;
use crate::engine::{Engine, Origin, sealed::Sealed};
use crate::error::Error;
use crate::host::threads::Threads;
use crate::input::Operand;
use crate::scalar::Scalar;
use faer::{Mat, Par};

/// The resident engine: L stays in the memory of the GPU from call to call.
///
/// A modification sends V and gets back n pivots and a status word; [`solve`](crate::Cholesky::solve) sends and
/// gets back right-hand sides; [`log_det`](crate::Cholesky::log_det) needs nothing. V and right-hand sides that are on the device already are taken
/// from there and solved there. L takes n² entries of device
/// memory, and as many again from the first modification on, which writes the new factor there: a factor too large
/// for that is updated in place, more slowly for a single sweep, and not downdated. Working memory: w n
/// entries for each w columns of V, w being what a sweep takes, and up to n = 70000 about (64 + 77 s + max(160, 48 s)) n doubles for w = 16,
/// (64 + max(153, 133 s) + max(320, 96 s)) n for w = 32, where s sweeps go together. `solve` takes up to 1024 right-hand sides at a time, twice and once more in double precision.
///
/// V is taken 16 columns of one sign at a time, or 32 where one sign has more than 16 and the device has the shared memory (docs/engines.md); those with
/// a plus sign first, each in a sweep over L, up to sixteen sweeps in one launch. Where P = D⁻¹ V_D of a panel of 64 columns is small, the panel is matrix products, with
/// new columns by Bennett's update; where it is large, it is eliminated column by column. The device decides, panel
/// by panel; the accuracy contract holds for either.
///
/// ```
/// use cholupdate::cuda::{Device, Resident};
/// use cholupdate::{Cholesky, Error, faer::mat};
///
/// fn on_the_gpu() -> Result<(), Error> {
///     let engine = Resident::new(&Device::new(0)?);
///     let mut factor = Cholesky::new_in(&mat![[4.0, 2.0], [2.0, 5.0]], engine)?;
///     factor.update(&[1.0, 2.0])?;
///     let _x = factor.solve(&[1.0, 0.0])?;
///     Ok(())
/// }
/// # match on_the_gpu() { Ok(()) | Err(Error::Device { .. }) => {} Err(error) => panic!("{error}") }
/// ```
///
/// A driver error in the middle of a modification that works in place leaves half a factor: from then on every
/// call on it is [`Error::Poisoned`]. One that writes elsewhere leaves the factor as it was.
#[derive(Clone, Debug)]
pub struct Resident {
    device: Device,
}

impl Resident {
    /// An engine on this device.
    #[must_use]
    pub fn new(device: &Device) -> Self {
        Self { device: device.clone() }
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }
}

impl Sealed for Resident {}

impl<T: Scalar> Engine<T> for Resident {
    type Factor = ResidentFactor<T>;

    /// By cuSOLVER where its library is found and works, else by kernels of our own; it stays there.
    fn take(&self, what: Origin, given: &Operand<'_, T>) -> Result<Option<(ResidentFactor<T>, f64)>, Error> {
        match what {
            Origin::Matrix => Intake::new(&self.device, given, "a").map_or(Ok(None), |a| a.factorize()),
            Origin::Factor => Intake::new(&self.device, given, "l").map_or(Ok(None), |l| l.adopt()),
        }
    }

    fn adopt(&self, l: Mat<T>) -> Result<ResidentFactor<T>, Error> {
        let on_device = Dense::aligned(&self.device, l.nrows(), l.nrows())?;
        on_device.upload(&Stream::new(&self.device)?, l.as_ref())?;
        let diagonal = l.diagonal().column_vector().iter().copied().collect();
        ResidentFactor::new(&self.device, on_device, diagonal)
    }

    fn par(&self) -> Par {
        Threads::Pool.par()
    }
}
