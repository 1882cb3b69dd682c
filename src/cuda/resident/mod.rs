//! The resident engine: the factor lives on the GPU, and only V, right-hand sides, pivots and a status word
//! cross the link.
//!
//! | room | holds |
//! |---|---|
//! | `steps` | the kernels of a modification, and for each the one function that launches it |
//! | `columns` | the columns of V, on their way to the device and there |
//! | `rank_blocks` | how the columns of V are cut up |
//! | `schedule` | the order in which blocks of threads take up their tasks |
//! | `tasks` | the tasks of a launch on the device |
//! | `queue` | what a modification has on the device beside L, and what it asks for |
//! | `take` | columns that are on the device already, on their way into the engine's memory |
//! | `modify` | a modification: what begins it, and what its outcome is |
//! | `pending` | a modification that goes on while the host does something else |
//! | `on_device` | V and right-hand sides in device memory |
//! | `solves` | the kernels of triangular systems, and for each the one function that launches it |
//! | `systems` | triangular systems on the device |

mod columns;
mod modify;
mod on_device;
mod pending;
mod queue;
mod rank_blocks;
mod schedule;
mod solves;
mod steps;
mod systems;
mod take;
mod tasks;

use self::modify::{Begun, To, V};
pub use self::pending::Pending;
use self::queue::Queue;
use self::systems::Systems;
use self::take::Intake;
use super::dense::Dense;
use super::device::Device;
use super::factorize;
use super::matrix::DeviceViewMut;
use super::memory::DeviceBuffer;
use super::stream::Stream;
use crate::engine::{Engine, EngineCore, sealed::Sealed};
use crate::error::Error;
use crate::factorize::blocked;
use crate::host::threads::Threads;
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::sweep::signed::{Change, Weights};
use faer::{Mat, MatMut, MatRef, Par};
use std::sync::{Mutex, PoisonError};

/// The resident engine: L stays in the memory of the GPU from call to call.
///
/// A modification sends V and gets back n pivots and a status word; [`solve`](crate::Cholesky::solve) sends and
/// gets back right-hand sides; [`log_det`](crate::Cholesky::log_det) needs nothing. What is on the device already is taken
/// from there: [`update_on_device`](crate::Cholesky::update_on_device). L takes n² entries of device
/// memory, and as many again from the first modification on, which writes the new factor there: a factor too large
/// for that is updated in place, more slowly for up to sixteen columns, and not downdated. Working memory: 16 n
/// entries for each sixteen columns of V, and about (64 + 77 s + max(160, 48 s)) n doubles up to n = 70000, s being the number of sweeps that
/// go together. From the first `solve` on 64 n doubles more, and up to 4096 right-hand sides twice.
///
/// V is taken sixteen columns of one sign at a time, those with a plus sign first, each in a sweep over L, up to sixteen
/// of them in one launch. Where P = D⁻¹ V_D of a panel of 64 columns is small, the panel is matrix products, with
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

/// L in device memory, and what goes with it.
pub struct ResidentFactor<T> {
    /// Dropped first: it waits for what is under way in the memory of the others.
    queue: Option<Queue<T>>,
    l: Dense<T>,
    /// Where the next modification works.
    spare: Option<DeviceBuffer<T>>,
    /// The diagonal of L, in host memory.
    pivots: Vec<T>,
    /// For V that is on the device already.
    intake: Option<Intake<T>>,
    under_way: Option<Begun>,
    systems: Mutex<Systems<T>>,
    poisoned: bool,
}

impl<T> core::fmt::Debug for ResidentFactor<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ResidentFactor").field("poisoned", &self.poisoned).finish_non_exhaustive()
    }
}

impl<T: Scalar> ResidentFactor<T> {
    fn healthy(&self) -> Result<&Self, Error> {
        if self.poisoned { Err(Error::Poisoned) } else { Ok(self) }
    }
}

const _: () = {
    const fn goes_anywhere<T: Send + Sync>() {}
    goes_anywhere::<ResidentFactor<f64>>();
    goes_anywhere::<ResidentFactor<f32>>();
};

impl Sealed for Resident {}
impl<T: Scalar> Engine<T> for Resident {}

impl<T: Scalar> EngineCore<T> for Resident {
    type Factor = ResidentFactor<T>;

    /// As the hybrid engine does; what the GPU makes stays where it is.
    fn factorize(&self, mut a: Mat<T>) -> Result<ResidentFactor<T>, Error> {
        if let Some(factored) = factorize::where_it_pays(&self.device, a.as_ref())? {
            let l = factored.into_l();
            let pivots = l.diagonal(&Stream::new(&self.device)?)?;
            return self.hold(l, pivots);
        }
        blocked::factorize(a.as_mut(), Threads::Pool.par())?;
        self.adopt(a)
    }

    fn adopt(&self, l: Mat<T>) -> Result<ResidentFactor<T>, Error> {
        let on_device = Dense::aligned(&self.device, l.nrows())?;
        on_device.upload(&Stream::new(&self.device)?, l.as_ref())?;
        self.hold(on_device, l.diagonal().column_vector().iter().copied().collect())
    }

    fn par(&self) -> Par {
        Threads::Pool.par()
    }

    fn order(&self, factor: &ResidentFactor<T>) -> usize {
        factor.l.order()
    }

    fn check<'a>(
        &self,
        factor: &mut ResidentFactor<T>,
        v: MatRef<'a, T>,
        weights: Weights<'a, T>,
    ) -> Result<Change<'a, T>, Error> {
        self.look(factor, v, weights)
    }

    fn modify(
        &self,
        factor: &mut ResidentFactor<T>,
        change: &Change<'_, T>,
    ) -> Result<Modification<T>, Error> {
        self.begin(factor, change.outline, V::OfHost(change), To::Spare)?;
        self.settle(factor)
    }

    fn rehearse(
        &self,
        factor: &mut ResidentFactor<T>,
        change: &Change<'_, T>,
    ) -> Result<Modification<T>, Error> {
        self.begin(factor, change.outline, V::OfHost(change), To::Nowhere)?;
        self.settle(factor)
    }

    fn solve_in_place(&self, factor: &ResidentFactor<T>, rhs: MatMut<'_, T>) -> Result<(), Error> {
        let l = &factor.healthy()?.l;
        factor.systems.lock().unwrap_or_else(PoisonError::into_inner).solve(&self.device, l, rhs)
    }

    fn log_det(&self, factor: &ResidentFactor<T>) -> Result<T, Error> {
        Ok(T::from_f64(0.0 + 2.0 * factor.healthy()?.pivots.iter().map(|l| l.to_f64().ln()).sum::<f64>()))
    }

    fn row_norm(&self, factor: &ResidentFactor<T>) -> Result<f64, Error> {
        let l = self.to_factor(factor)?;
        let row_norm = l.norm_max().to_f64() * (l.nrows() as f64).sqrt();
        // With what may become of it.
        Ok(row_norm.hypot(factor.under_way.map_or(0.0, |begun| begun.row_norm)))
    }

    fn to_factor(&self, factor: &ResidentFactor<T>) -> Result<Mat<T>, Error> {
        let l = &factor.healthy()?.l;
        let mut home = Mat::zeros(l.order(), l.order());
        l.download(&Stream::new(&self.device)?, home.as_mut(), l.order())?;
        Ok(home)
    }
}

impl Resident {
    /// B ← A⁻¹ B, with B (n × m) on the device.
    fn solve_there<T: Scalar>(
        &self,
        factor: &ResidentFactor<T>,
        rhs: &mut DeviceViewMut<'_, T>,
    ) -> Result<(), Error> {
        rhs.as_view().is_on(&self.device, "rhs")?;
        let l = &factor.healthy()?.l;
        factor.systems.lock().unwrap_or_else(PoisonError::into_inner).solve_there(&self.device, l, rhs)
    }

    fn hold<T: Scalar>(&self, l: Dense<T>, pivots: Vec<T>) -> Result<ResidentFactor<T>, Error> {
        let systems = Mutex::new(Systems::new(&self.device)?);
        let (spare, queue, intake, under_way) = (None, None, None, None);
        Ok(ResidentFactor { l, spare, pivots, queue, intake, under_way, systems, poisoned: false })
    }
}
