//! L in host memory in panels, and what a modification needs beside it.

use super::blocking::Blocking;
use super::host_part::HostPart;
use super::panels::{Panels, host_rows};
use super::pipe::Pipe;
use super::schedule::Sweep;
use super::tuning::Tuning;
use crate::check::finite;
use crate::cuda::device::Device;
use crate::cuda::error::other;
use crate::engine::{Factor, Side};
use crate::error::Error;
use crate::host::buffer::Buffer;
use crate::host::layout::stride;
use crate::host::region::StandBy;
use crate::host::threads::Threads;
use crate::input::{Operand, OperandMut};
use crate::modify::{Modifiable, Safeguard, Stop, Target};
use crate::report::{Health, Modification};
use crate::scalar::Scalar;
use crate::sweep::outline::Outline;
use crate::sweep::plan::{Panel, Plan};
use crate::sweep::signed::Signed;
use crate::sweep::weights::Weights;
use core::ops::Range;
use faer::MatMut;
use faer::reborrow::ReborrowMut;

/// L as the hybrid engine keeps it.
pub struct HybridFactor<T> {
    device: Device,
    tuning: Tuning,
    safeguard: Safeguard,
    l: Panels<T>,
    /// As L, once it is there.
    shadow: Option<Panels<T>>,
    signed: Signed<T>,
    /// What is on the device, and how V is cut up that was staged last.
    pipe: Option<(Pipe<T>, Blocking)>,
    host_part: HostPart<T>,
    /// The new host part of a panel in a dry run.
    scratch: Buffer<T>,
    /// Of the sweep that ended last, until it is taken.
    report: Option<Modification<T>>,
}

impl<T> core::fmt::Debug for HybridFactor<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("HybridFactor").finish_non_exhaustive()
    }
}

const _: () = {
    const fn goes_anywhere<T: Send + Sync>() {}
    goes_anywhere::<HybridFactor<f64>>();
    goes_anywhere::<HybridFactor<f32>>();
};

impl<T: Scalar> HybridFactor<T> {
    pub(super) fn new(device: Device, tuning: Tuning, safeguard: Safeguard, l: Panels<T>) -> Self {
        Self {
            device,
            tuning,
            safeguard,
            l,
            shadow: None,
            signed: Signed::default(),
            pipe: None,
            host_part: HostPart::new(),
            scratch: Buffer::default(),
            report: None,
        }
    }

    /// The column that begins the panel of this one.
    fn panel_start(&self, column: usize) -> usize {
        column / self.l.panel_cols() * self.l.panel_cols()
    }

    /// Makes room on the device for these rank blocks.
    fn ready(&mut self, blocking: Blocking) -> Result<(), Error> {
        let order = self.l.order();
        let pipe = match self.pipe.take() {
            Some((pipe, _)) if pipe.fits(order, &blocking, &self.tuning) => pipe,
            // The old one is gone first: both might not fit.
            old => {
                drop(old);
                Pipe::new(&self.device, order, &blocking, &self.tuning)?
            }
        };
        self.host_part.prepare(blocking, self.l.panel_cols());
        self.pipe = Some((pipe, blocking));
        Ok(())
    }

    #[cfg(all(test, feature = "fake-cuda"))]
    pub(super) fn drain(&self) {
        if let Some((pipe, _)) = &self.pipe {
            let _ = pipe.drain();
        }
    }
}

impl<T: Scalar> Modifiable<T> for HybridFactor<T> {
    fn order(&self) -> usize {
        self.l.order()
    }

    fn largest(&self) -> Result<T, Error> {
        Ok(self.l.norm_max())
    }

    fn safeguard(&self) -> Safeguard {
        self.safeguard
    }

    fn reserve_shadow(&mut self) -> Result<(), Error> {
        if self.shadow.is_none() {
            self.shadow = Some(Panels::zeros(&self.device, self.l.order(), self.l.panel_cols())?);
        }
        Ok(())
    }

    fn stage(&mut self, v: &Operand<'_, T>, weights: Weights<'_, T>) -> Result<Outline, Error> {
        let v = v.clone().on_host()?;
        let (v, order) = (v.as_ref(), self.l.order());
        let outline = self.signed.look(v, weights, Threads::Pool.par())?;
        let Some(first) = outline.first_column::<T>(order) else { return Ok(outline) };
        self.signed.order(weights, v.ncols());
        let limit = self.tuning.elements_per_thread;
        let blocking = Blocking::new::<T>(outline.plus, outline.minus, limit);
        let rows = self.panel_start(first)..order;
        self.ready(blocking)?;
        if let Some((pipe, _)) = &mut self.pipe {
            let (stride, to) = (pipe.v_stride, pipe.v_host.as_mut_slice());
            for zeros in blocking.blocks.places_of_zeros().into_iter().flatten() {
                to[zeros * stride..][rows.clone()].fill(T::ZERO);
            }
            self.signed.pack(v, &blocking.blocks, rows, (to, stride));
        }
        Ok(outline)
    }

    fn sweep(&mut self, _: &Outline, columns: Range<usize>, target: Target) -> Result<(), Stop> {
        let (order, panel_cols) = (self.l.order(), self.l.panel_cols());
        debug_assert!(columns.end == order, "the host part takes all columns");
        let start = self.panel_start(columns.start);
        let plan = Plan { rows: order, cols: columns.end, start, panel_cols };
        if target == Target::Discard {
            let widest = Panel { index: 0, first: 0, cols: panel_cols.min(order) };
            let rows = host_rows(widest, order).len();
            self.scratch.reserve(stride::<T>(rows) as usize * widest.cols);
        }
        let Self { l, shadow, pipe, host_part, scratch, tuning, .. } = self;
        let Some((pipe, blocking)) = pipe else {
            return Err(Stop::Device { error: other("no V has been staged"), written: false });
        };
        if target == Target::Shadow && shadow.is_none() {
            return Err(Stop::Device { error: other("there is no shadow"), written: false });
        }
        let (blocking, plan) = (*blocking, &plan);
        let outcome = StandBy::with(host_part.workers(), |caller| {
            let sweep = Sweep {
                pipe,
                host_part,
                l,
                shadow: shadow.as_mut(),
                scratch,
                target,
                caller,
                blocking,
                tuning,
                plan,
                health: Health::default(),
                written: false,
            };
            sweep.run()
        });
        if let Err(Stop::Device { .. }) = outcome {
            // Whatever is there still, somebody else may need the room.
            self.pipe = None;
        }
        self.report = Some(outcome?.report(start));
        Ok(())
    }

    fn wait(&mut self) -> Result<Modification<T>, Stop> {
        Ok(self.report.take().unwrap_or_else(Modification::identity))
    }

    fn commit(&mut self, start: usize) {
        let start = self.panel_start(start);
        if let Some(shadow) = &mut self.shadow {
            self.l.exchange(shadow, start);
        }
    }
}

impl<T: Scalar> Factor<T> for HybridFactor<T> {
    fn solve(&self, sides: &[Side], rhs: OperandMut<'_, T>) -> Result<(), Error> {
        rhs.change_on_host(|mut rhs| {
            finite("rhs", rhs.as_ref())?;
            for side in sides {
                match side {
                    Side::L => self.l.solve_lower(rhs.rb_mut(), Threads::Pool.par()),
                    Side::Transpose => self.l.solve_transpose(rhs.rb_mut(), Threads::Pool.par()),
                }
            }
            Ok(())
        })
    }

    fn diagonal(&self) -> impl Iterator<Item = T> + '_ {
        self.l.diagonal()
    }

    fn read(&self, to: MatMut<'_, T>) -> Result<(), Error> {
        self.l.read(to);
        Ok(())
    }
}
