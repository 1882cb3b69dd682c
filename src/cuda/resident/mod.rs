//! The resident engine: the factor is in the memory of the GPU, and only V or the squares of its rows, right-hand sides, pivots and a
//! status word cross the link.
//!
//! | file | holds |
//! |---|---|
//! | `factor` | L, and the state of its engine |
//! | `begin` | the start of a sweep: where it reads L, and where it writes |
//! | `staging` | the staging of the V that a caller gives |
//! | `v` | V on the device, in rank blocks, and its staging |
//! | `intake` | makes a factor on the device |
//! | `triangle` | the kernels that copy lower triangles to and from the engine's memory, and of L Lᵀ and its diagonal |
//! | `take` | copies columns that are already on the device to and from the engine's memory |
//! | `inverses` | the inverses of the diagonal blocks of L |
//! | `sizes` | the parts into which L is divided |
//! | `share` | which row blocks of L a device has, where several of them have L |
//! | `own_rows` | the same on the device |
//! | `resize` | insertion, removal and reordering of rows and columns |
//! | `border` | computes the border of new rows and columns in device memory |
//! | `device_border` | a border that has been computed, and its memory |
//! | `border_launch` | its kernels, and the functions that launch them |
//! | `places` | which rows and columns a rearrangement moves, and where |
//! | `rearrange` | the kernels of rearrangement, and the functions that launch them |
//! | `products` | products with L, and L times a number |
//! | `queue` | the device memory of a modification, and the work that it enqueues |
//! | `pivots` | the diagonal of the new L in host memory |
//! | `schedule` | the order in which thread blocks take tasks |
//! | `tasks` | the tasks of launches on the device |
//! | `sweep_kernels` | the kernels for the rank blocks of a queue, and the memory of its launches |
//! | `sweep_launch` | the kernel of the sweeps, with the one function that launches it |
//! | `factor_solve` | solves with L, or after a sweep with the new L |
//! | `triangular_solver` | solves triangular systems on the device |
//! | `solve_memory` | its working memory |
//! | `solve_launch` | its kernels, with the one function that launches them |

mod begin;
mod border;
mod border_launch;
mod device_border;
mod factor;
mod factor_solve;
mod intake;
pub(super) mod inverses;
pub(super) mod own_rows;
mod pivots;
mod places;
mod products;
mod queue;
mod rearrange;
mod resize;
pub(super) mod schedule;
pub(super) mod share;
pub(super) mod sizes;
pub(super) mod solve_launch;
pub(super) mod solve_memory;
mod staging;
pub(super) mod sweep_kernels;
pub(super) mod sweep_launch;
pub(super) mod take;
pub(super) mod tasks;
mod triangle;
mod triangular_solver;
pub(super) mod v;

pub use self::factor::ResidentFactor;
use self::intake::Intake;
pub(crate) use self::triangle::DerivedMatrix;
use super::dense::Dense;
use super::device::Device;
use super::stream::Stream;
use crate::error::Error;
use crate::operand::Operand;
use crate::real::Real;
use crate::storage::{Made, Origin};
use faer::Mat;

/// The resident engine: L stays in the memory of the GPU between calls.
///
/// A modification sends V, or receives 2n sums of squares of a V that is there already, and receives n pivots and a status word;
/// [`solve`](crate::Cholesky::solve) sends and receives right-hand sides; [`log_det`](crate::Cholesky::log_det) transfers nothing. V and
/// right-hand sides that are already on the device are used there. L needs n² entries of device memory, and as many again from the first
/// modification on, which writes the new factor there. A factor too large for that is updated in place, more slowly for a single sweep,
/// and cannot be downdated. Working memory: w n entries for each w columns of V, where w is the width of a rank block, and up to n = 70000
/// about (64 + max(172, 86 s) + v) n doubles for w = 16, (64 + max(172, 142 s) + 2 v) n for w = 32, where s sweeps are in one launch,
/// and v is 160 for s = 1, 256 for s = 2 and 3, and 64 s from there on. `solve` processes up to 1024 right-hand sides at a time, which
/// it stores twice, and twice more in double precision.
///
/// V is divided into rank blocks of 16 columns of one sign, or of 32 if one sign has more than 16 and the device has the shared
/// memory (docs/engines.md). Those with a plus sign come first. Each rank block is a sweep over L; up to sixteen sweeps are in
/// one launch. If P = D⁻¹ V_D of a panel of 64 columns is small, the panel is processed by matrix products, with new columns by
/// Bennett's update; if it is large, the panel is eliminated column by column. The device decides, panel by panel; the accuracy
/// contract holds for both.
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
/// A driver error in the middle of a modification that works in place leaves half a factor: from then on every call on it
/// returns [`Error::Poisoned`]. After an error in a modification that writes to the shadow buffer, the factor is as it was. A call may
/// return before the device has written all of the new L: if the device fails then, later calls return its error.
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

impl Resident {
    /// By cuSOLVER if its library is found and works, otherwise by this library's kernels. The factor stays on the device.
    pub(crate) fn made<T: Real>(
        &self,
        what: Origin,
        given: &Operand<'_, T>,
    ) -> Result<Made<ResidentFactor<T>>, Error> {
        match what {
            Origin::Matrix => Intake::new(&self.device, given, "a").map_or(Ok(None), |a| a.factorize()),
            Origin::Factor => Intake::new(&self.device, given, "l").map_or(Ok(None), |l| l.adopt()),
        }
    }

    /// A factor from L. (n × n)
    pub(crate) fn factor<T: Real>(&self, l: Mat<T>) -> Result<ResidentFactor<T>, Error> {
        let on_device = Dense::aligned(&self.device, l.nrows(), l.nrows())?;
        on_device.upload(&Stream::new(&self.device)?, l.as_ref())?;
        let diagonal = l.diagonal().column_vector().iter().copied().collect();
        ResidentFactor::new(&self.device, on_device, diagonal)
    }
}
