//! L in host memory in panels, and the working memory of modifications.

use super::api::{Api, LockedMemory};
use super::blocking::Blocking;
use super::host_part::HostPart;
use super::panels::Panels;
use super::pipe::Pipe;
use super::schedule::HybridSweep;
use super::tuning::Tuning;
use crate::check::finite;
use crate::cpu::solve::solve;
use crate::error::{Error, other};
use crate::host::layout::zeros;
use crate::host::region::StandBy;
use crate::host::squares::row_norm;
use crate::host::threads::Threads;
use crate::operand::OperandMut;
use crate::real::Real;
use crate::report::Modification;
use crate::storage::{Edit, Op, Room, Safeguard, Side, Staged, Storage, Swept, Target, Traits};
use crate::structure::{HostColumns, backwards, rearrange, write_border};
use crate::sweep::outline::Outline;
use crate::sweep::plan::Plan;
use crate::sweep::signed::Signed;
use crate::sweep::stop::Stop;
use crate::sweep::weights::Weights;
use cholupdate_kernels::buffer::Buffer;
use cholupdate_kernels::health::Health;
use core::ops::Range;
use faer::reborrow::ReborrowMut;
use faer::{Mat, MatMut, MatRef};

/// L as the hybrid engine stores it.
pub(crate) struct HybridFactor<T: Real, A: Api> {
    pub(super) device: A,
    pub(super) tuning: Tuning,
    pub(super) safeguard: Safeguard,
    pub(super) l: Panels<T, A>,
    /// As L, once it has been allocated.
    shadow: Option<Panels<T, A>>,
    signed: Signed<T>,
    /// The device memory, and the rank blocks of the V that was staged last.
    pipe: Option<(Pipe<T, A>, Blocking)>,
    host_part: HostPart<T>,
    /// The new host part of a panel in a dry run.
    scratch: Buffer<T>,
    /// Working memory of insertions, removals and shifts.
    pub(super) columns: Mat<T>,
    /// The report of the last sweep, until it is read.
    report: Option<Modification>,
}

impl<T: Real, A: Api> core::fmt::Debug for HybridFactor<T, A> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("HybridFactor").finish_non_exhaustive()
    }
}

impl<T: Real, A: Api> HybridFactor<T, A> {
    /// # Errors
    /// [`Error::Device`] if the host does not have that much memory that can be locked.
    pub(crate) fn new(device: &A, tuning: Tuning, safeguard: Safeguard, l: Mat<T>) -> Result<Self, Error> {
        let l = Panels::from_factor(device, l.as_ref(), tuning.panel_cols)?;
        Ok(Self {
            device: device.clone(),
            tuning,
            safeguard,
            l,
            shadow: None,
            signed: Signed::default(),
            pipe: None,
            host_part: HostPart::new(),
            scratch: Buffer::default(),
            columns: Mat::new(),
            report: None,
        })
    }

    /// Frees the shadow buffer.
    pub(super) fn drop_shadow(&mut self) {
        self.shadow = None;
    }

    /// Replaces L by a copy in memory with more room.
    pub(super) fn take_over(&mut self, l: Panels<T, A>) {
        self.l = l;
    }

    /// The first column of the panel that contains this one.
    fn panel_start(&self, column: usize) -> usize {
        column / self.l.panel_cols() * self.l.panel_cols()
    }

    /// Allocates device memory for these rank blocks.
    fn ready(&mut self, blocking: Blocking) -> Result<(), Error> {
        let capacity = self.l.capacity();
        let pipe = match self.pipe.take() {
            Some((pipe, _)) if pipe.fits(capacity, &blocking, &self.tuning) => pipe,
            // The old memory is freed first, because both might not fit.
            old => {
                drop(old);
                Pipe::new(&self.device, capacity, &blocking, &self.tuning)?
            }
        };
        self.host_part.prepare(blocking, self.l.panel_cols());
        self.pipe = Some((pipe, blocking));
        Ok(())
    }

    #[cfg(all(test, feature = "cuda", target_os = "linux"))]
    pub(crate) fn drain(&self) {
        if let Some((pipe, _)) = &self.pipe {
            let _ = pipe.drain();
        }
    }

    /// Stages V and w from host memory.
    pub(super) fn stage_on_host(
        &mut self,
        v: MatRef<'_, T>,
        weights: Weights<'_, T>,
    ) -> Result<Outline, Error> {
        let order = v.nrows();
        let outline = self.signed.check(v, weights, Threads::Pool.par())?;
        let Some(first) = outline.first_column::<T>(order) else { return Ok(outline) };
        self.signed.order(weights, v.ncols());
        let limit = self.tuning.elements_per_thread;
        let blocking = Blocking::new::<T>(outline.plus, outline.minus, limit, A::FORMS);
        let rows = self.panel_start(first)..order;
        self.ready(blocking)?;
        if let Some((pipe, _)) = &mut self.pipe {
            let (stride, to) = (pipe.v_stride, pipe.v_host.as_mut_slice()?);
            for zeros in blocking.blocks.places_of_zeros().into_iter().flatten() {
                to[zeros * stride..][rows.clone()].fill(T::ZERO);
            }
            self.signed.pack(v, &blocking.blocks, rows, (to, stride));
        }
        Ok(outline)
    }
}

impl<T: Real, A: Api> Swept<T> for HybridFactor<T, A> {
    fn traits(&self) -> Traits {
        Traits::new(self.safeguard)
    }

    fn order(&self) -> usize {
        self.l.order()
    }

    fn pivot(&self, column: usize) -> T {
        self.l.pivot(column)
    }

    fn row_norm(&self) -> Result<f64, Error> {
        let mut l = zeros(self.l.order());
        self.l.read(l.as_mut());
        Ok(row_norm(l.as_ref()))
    }

    fn reserve(&mut self, room: Room) -> Result<(), Error> {
        if let Room::Capacity(capacity) = room {
            return self.make_room(capacity);
        }
        let (order, capacity) = (self.l.order(), self.l.capacity());
        let shadow = match &mut self.shadow {
            Some(shadow) => shadow,
            none => none.insert(Panels::zeros(&self.device, order, capacity, self.l.panel_cols())?),
        };
        shadow.set_order(order);
        Ok(())
    }

    fn stage(&mut self, v: &Staged<'_, T>) -> Result<Outline, Error> {
        match *v {
            Staged::Given(v, weights) => self.stage_on_host(v.on_host()?.as_ref(), weights),
            Staged::Carrying { v, weights, .. } => self.stage_on_host(v, weights),
            Staged::Columns(v) | Staged::Border(v) => self.stage_columns(v),
        }
    }

    fn sweep(&mut self, _: &Outline, columns: Range<usize>, target: Target) -> Result<(), Stop> {
        let (order, panel_cols) = (self.l.order(), self.l.panel_cols());
        debug_assert!(columns.end == order, "the host part takes all columns");
        let start = self.panel_start(columns.start);
        let plan = Plan { rows: order, cols: columns.end, start, panel_cols };
        if target == Target::Discard {
            self.scratch.reserve(self.l.host_len());
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
            let sweep = HybridSweep {
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
            // The memory is freed, since other code may need it.
            self.pipe = None;
        }
        self.report = Some(Modification::of_sweep(&outcome?, start));
        Ok(())
    }

    fn wait(&mut self) -> Result<Modification, Stop> {
        Ok(self.report.take().unwrap_or_else(Modification::identity))
    }

    fn commit(&mut self, start: usize) {
        let start = self.panel_start(start);
        if let Some(shadow) = &mut self.shadow {
            self.l.exchange(shadow, start);
        }
    }
}

impl<T: Real, A: Api> Storage<T> for HybridFactor<T, A> {
    fn capacity(&self) -> usize {
        self.l.capacity()
    }

    fn read(&self, to: MatMut<'_, T>) -> Result<(), Error> {
        self.l.read(to);
        Ok(())
    }

    fn apply(&self, op: Op<'_>, rhs: OperandMut<'_, T>) -> Result<(), Error> {
        rhs.change_on_host(|mut rhs| {
            match op {
                Op::Solve(sides) => {
                    finite("rhs", rhs.as_ref())?;
                    let l = self.l.leading(self.l.order());
                    sides.iter().for_each(|&side| solve(&l, side, rhs.rb_mut(), Threads::Pool));
                }
                Op::Multiply(side) => self.l.multiply(side, rhs, Threads::Pool.par()),
                Op::Eliminate(columns) => solve(&self.l.leading(columns), Side::L, rhs, Threads::Pool),
            }
            Ok(())
        })
    }

    fn edit(&mut self, edit: Edit<'_, T>) -> Result<(), Stop> {
        let par = Threads::Pool.par();
        let Self { l, columns: scratch, .. } = self;
        match edit {
            Edit::Scale { columns, by } => l.scale(columns, by, par),
            Edit::Rearrange(new) => rearrange(l, new, scratch, par),
            Edit::MoveUp { from, to } => backwards(l, (from, to), scratch, par),
            Edit::Write { at, border } => write_border(l, at, border, par),
            Edit::Close { .. } | Edit::WriteThere { .. } => {}
        }
        Ok(())
    }
}
