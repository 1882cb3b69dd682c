//! The hybrid engine: L in host memory, diagonal blocks on the CPU, everything below them streamed through
//! the GPU.
//!
//! | room | holds |
//! |---|---|
//! | `panels` | how L lies in host memory |
//! | `reflectors` | the orders in which the device takes what the CPU has made |
//! | `host_part` | what the CPU does of a panel |
//! | `pipe` | what is on the device: slots, V, streams, events |
//! | `enqueue` | what is asked of the driver for a panel |
//! | `schedule` | the work on a panel: who does what, and who waits for whom |

mod enqueue;
mod host_part;
pub(super) mod kernels;
mod panels;
pub(super) mod passes;
mod pipe;
mod reflectors;
mod schedule;
pub(super) mod tuning;

#[cfg(test)]
mod tests;

use self::host_part::Tops;
use self::panels::{Panels, top_rows};
use self::passes::Passes;
use self::pipe::{Pipe, device_bytes};
use self::schedule::{Sink, Streaming};
pub use self::tuning::Tuning;
use super::device::Device;
use super::factorize;
use crate::cpu::Safeguard;
use crate::engine::{Engine, EngineCore, sealed::Sealed};
use crate::error::Error;
use crate::factorize::blocked;
use crate::host::buffer::Buffer;
use crate::host::layout::stride;
use crate::host::pool::Crew;
use crate::host::threads::Threads;
use crate::report::{Health, Modification};
use crate::scalar::Scalar;
use crate::sweep::plan::{Panel, Plan};
use crate::sweep::signed::Change;
use crate::sweep::sweep;
use faer::{Mat, MatMut, Par};

/// The hybrid engine, after Walder's gpucholmod: L stays in host memory, which may be more than the GPU has;
/// the CPU works on diagonal blocks, and what is below them is streamed through the GPU.
///
/// What is below the diagonal blocks and their heads crosses the link once up and once down a call, whatever
/// the rank (twice up with a rehearsal), and lies in page-locked memory, packed. Of the device it takes
/// memory for `slots` panels, V and some coefficients: [`device_bytes`](Self::device_bytes), O(n) for a given
/// rank. The factor takes n²/2 entries, and as many again from the first modification with a minus sign on,
/// if its safeguard is the second buffer. From 33 columns of V on, threads of the current rayon pool stand
/// by, spinning, for the CPU's part while a modification lasts.
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
/// A driver error in the middle of a modification that works in place leaves half a factor: from then on
/// every call on it is [`Error::Poisoned`]. One that writes to the second buffer, or comes before anything is
/// written, leaves the factor as it was. Either way the device's memory is given back.
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
    /// [`Error::Tuning`] with the field of `tuning` that breaks its rule.
    pub fn new(device: &Device, tuning: Tuning) -> Result<Self, Error> {
        tuning.validate()?;
        Ok(Self { device: device.clone(), tuning, safeguard: Safeguard::default() })
    }

    /// The same engine with another safeguard. With the second buffer a downdate costs no time, with the
    /// rehearsal twice the time and no memory.
    #[must_use]
    pub fn with_safeguard(self, safeguard: Safeguard) -> Self {
        Self { safeguard, ..self }
    }

    /// The parameters.
    #[must_use]
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// Bytes of device memory for modifications of rank k of a factor of order n: with b `panel_cols` and k'
    /// columns of V, `slots` · (n − 2 b) b for the panels, n k' for V, and 2 b k' for the reflectors, which
    /// are padded by at most as much again, with columns rounded up to lines of 128 bytes.
    ///
    /// k' is k rounded up to whole passes: to a multiple of e, which is `elements_per_thread` or, for small
    /// k, 4, 8 or 16, and of the threads that share a row. That is for columns of one sign. With both each sign's are
    /// rounded up apart, which is one pass more at most.
    ///
    /// `usize::MAX` for a tuning that is not valid, and for n or k beyond 2²⁸.
    #[must_use]
    pub fn device_bytes<T: Scalar>(n: usize, k: usize, tuning: &Tuning) -> usize {
        const MOST: usize = 1 << 28;
        if n > MOST || k > MOST || tuning.validate().is_err() {
            return usize::MAX;
        }
        device_bytes::<T>(n, &Passes::new::<T>(k, 0, tuning.elements_per_thread), tuning)
    }
}

/// L in host memory, and what a modification needs beside it.
pub struct HybridFactor<T> {
    l: Panels<T>,
    /// Where the next risky modification is written to.
    spare: Option<Panels<T>>,
    pipe: Option<Pipe<T>>,
    tops: Tops<T>,
    /// The new top of a panel in a rehearsal.
    scratch: Buffer<T>,
    poisoned: bool,
}

impl<T> core::fmt::Debug for HybridFactor<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("HybridFactor").field("poisoned", &self.poisoned).finish_non_exhaustive()
    }
}

impl<T: Scalar> HybridFactor<T> {
    fn healthy(&self) -> Result<&Panels<T>, Error> {
        if self.poisoned { Err(Error::Poisoned) } else { Ok(&self.l) }
    }
}

const _: () = {
    const fn goes_anywhere<T: Send + Sync>() {}
    goes_anywhere::<HybridFactor<f64>>();
    goes_anywhere::<HybridFactor<f32>>();
};

impl Sealed for Hybrid {}
impl<T: Scalar> Engine<T> for Hybrid {}

impl<T: Scalar> EngineCore<T> for Hybrid {
    type Factor = HybridFactor<T>;

    /// On the GPU, where A fits and is large enough to be worth the start: by cuSOLVER where its library is found and works,
    /// else by kernels of our own. Else by faer on the CPU.
    fn factorize(&self, mut a: Mat<T>) -> Result<HybridFactor<T>, Error> {
        match factorize::where_it_pays(&self.device, a.as_ref())? {
            Some(factored) => factored.fetch(a.as_mut())?,
            None => blocked::factorize(a.as_mut(), Threads::Pool.par())?,
        }
        self.adopt(a)
    }

    fn adopt(&self, l: Mat<T>) -> Result<HybridFactor<T>, Error> {
        let l = Panels::from_factor(&self.device, l.as_ref(), self.tuning.panel_cols)?;
        let (tops, scratch) = (Tops::new(), Buffer::default());
        Ok(HybridFactor { l, spare: None, pipe: None, tops, scratch, poisoned: false })
    }

    fn par(&self) -> Par {
        Threads::Pool.par()
    }

    fn order(&self, factor: &HybridFactor<T>) -> usize {
        factor.l.order()
    }

    fn modify(&self, factor: &mut HybridFactor<T>, change: &Change<'_, T>) -> Result<Modification<T>, Error> {
        if change.outline.minus == 0 {
            return self.sweep_factor(factor, change, To::Itself);
        }
        match self.safeguard {
            Safeguard::SecondBuffer => self.sweep_factor(factor, change, To::Spare),
            Safeguard::Rehearsal => {
                self.sweep_factor(factor, change, To::Nowhere)?;
                self.sweep_factor(factor, change, To::Itself)
            }
        }
    }

    fn rehearse(
        &self,
        factor: &mut HybridFactor<T>,
        change: &Change<'_, T>,
    ) -> Result<Modification<T>, Error> {
        self.sweep_factor(factor, change, To::Nowhere)
    }

    fn solve_in_place(&self, factor: &HybridFactor<T>, rhs: MatMut<'_, T>) -> Result<(), Error> {
        factor.healthy()?.solve_in_place(rhs, Threads::Pool.par());
        Ok(())
    }

    fn log_det(&self, factor: &HybridFactor<T>) -> Result<T, Error> {
        Ok(T::from_f64(0.0 + 2.0 * factor.healthy()?.pivots().map(|l| l.to_f64().ln()).sum::<f64>()))
    }

    fn row_norm(&self, factor: &HybridFactor<T>) -> Result<f64, Error> {
        let l = factor.healthy()?;
        Ok(l.norm_max().to_f64() * (l.order() as f64).sqrt())
    }

    fn to_factor(&self, factor: &HybridFactor<T>) -> Result<Mat<T>, Error> {
        Ok(factor.healthy()?.to_factor())
    }
}

/// Where the new columns of L go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    Itself,
    Spare,
    Nowhere,
}

impl Hybrid {
    fn sweep_factor<T: Scalar>(
        &self,
        factor: &mut HybridFactor<T>,
        change: &Change<'_, T>,
        to: To,
    ) -> Result<Modification<T>, Error> {
        let order = factor.healthy()?.order();
        let Some(first) = change.first_column(order) else { return Ok(Modification::identity()) };
        let panel_cols = factor.l.panel_cols();
        let start = first / panel_cols * panel_cols;
        let plan = Plan { rows: order, cols: order, start, panel_cols };
        let passes =
            Passes::new::<T>(change.outline.plus, change.outline.minus, self.tuning.elements_per_thread);
        self.prepare(factor, &plan, &passes, to)?;

        let HybridFactor { l, spare, pipe: Some(pipe), tops, scratch, .. } = factor else {
            return Err(Error::Poisoned);
        };
        let stride = pipe.v_stride;
        passes.fill(pipe.v_host.as_mut_slice(), stride, change, plan.start..plan.rows);
        let sink = match (to, spare) {
            (To::Spare, Some(spare)) => Sink::Other(spare),
            (To::Nowhere, _) => Sink::Nowhere(scratch),
            _ => Sink::InPlace,
        };
        let helpers = tops.helpers();
        // Until the sweep says otherwise, also if it should not come back.
        factor.poisoned = to == To::Itself;
        let (outcome, written) = Crew::with(helpers, |crew| {
            let (tuning, health) = (&self.tuning, Health::default());
            let plan = &plan;
            let mut streaming = Streaming {
                pipe,
                tops,
                l,
                sink,
                crew,
                passes,
                tuning,
                plan,
                health,
                coming: None,
                written: false,
            };
            let outcome = streaming.start().and_then(|()| sweep(&mut streaming, plan));
            (outcome.map(|()| streaming.health.report(plan.start)), streaming.written)
        });
        factor.poisoned = to == To::Itself && written && outcome.is_err();
        match outcome {
            Ok(report) => {
                if let (To::Spare, Some(spare)) = (to, &mut factor.spare) {
                    factor.l.exchange(spare, start);
                }
                Ok(report)
            }
            Err(error @ Error::NotPositiveDefinite { .. }) if to != To::Itself => Err(error),
            Err(error) => {
                factor.pipe = None;
                Err(error)
            }
        }
    }

    /// Allocates what the sweep needs and is not there.
    fn prepare<T: Scalar>(
        &self,
        factor: &mut HybridFactor<T>,
        plan: &Plan,
        passes: &Passes,
        to: To,
    ) -> Result<(), Error> {
        let order = plan.rows;
        if !factor.pipe.as_ref().is_some_and(|pipe| pipe.fits(order, passes, &self.tuning)) {
            // The old one first: both might not fit.
            factor.pipe = None;
            factor.pipe = Some(Pipe::new(&self.device, order, passes, &self.tuning)?);
        }
        if to == To::Spare && factor.spare.is_none() {
            factor.spare = Some(Panels::zeros(&self.device, order, plan.panel_cols)?);
        }
        if to == To::Nowhere {
            let widest = Panel { index: 0, first: 0, cols: plan.panel_cols.min(order) };
            let rows = top_rows(widest, order).len();
            factor.scratch.reserve(stride::<T>(rows) as usize * widest.cols);
        }
        factor.tops.prepare(*passes, plan.panel_cols);
        Ok(())
    }
}
