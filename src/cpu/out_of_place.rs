//! L' in other memory than L, both the caller's, in one pass. L is read where it is, or copied when the sweep reaches it.

use super::engine::Cpu;
use super::in_place::{Workspace, in_place, named};
use super::sweep::{sweep, sweep_by};
use crate::check::{extent, finite_lower};
use crate::compiled::functions;
use crate::error::Error;
use crate::guarded::Guarded;
use crate::history::History;
use crate::host::layout::copy_lower;
use crate::host::squares::row_norm;
use crate::operand::Operand;
use crate::real::Real;
use crate::report::Modification;
use crate::storage::{Room, Safeguard, Staged, Swept, Target, Traits};
use crate::sweep::outline::Outline;
use crate::sweep::stop::Stop;
use crate::sweep::weights::Weights;
use crate::wide::{Given, again_here};
use cholupdate_kernels::health::Health;
use cholupdate_kernels::isa::Isa;
use cholupdate_kernels::panel::Panel;
use cholupdate_kernels::steps::{Breakdown, Steps};
use cholupdate_kernels::sweep::copy::copy;
use cholupdate_kernels::sweep::entries::Entries;
use cholupdate_kernels::sweep::job::Job;
use core::ops::Range;
use faer::{Mat, MatMut, MatRef};

/// As [`modify_into`](crate::modify_into).
pub(super) fn out_of_place<T: Real>(
    l: MatRef<'_, T>,
    v: &Operand<'_, T>,
    weights: Weights<'_, T>,
    to: MatMut<'_, T>,
    engine: &Cpu,
    workspace: &mut Workspace<T>,
) -> Result<Modification, Error> {
    let order = l.nrows();
    extent("l", "columns", order, l.ncols())?;
    extent("to", "rows", order, to.nrows())?;
    extent("to", "columns", order, to.ncols())?;
    if order > 1 && to.row_stride() != 1 {
        return Err(Error::OutOfRange { argument: "to", rule: "column-major" });
    }
    weights.check(order, v.shape())?;
    let (mut negative, mut singular) = (false, None);
    for (column, &pivot) in l.diagonal().column_vector().iter().enumerate() {
        if !pivot.is_finite() {
            return finite_lower("l", l).map(|_| Modification::identity());
        }
        negative |= pivot < T::ZERO;
        if pivot == T::ZERO && singular.is_none() {
            singular = Some(column);
        }
    }
    let copied = negative || !(l.row_stride() == 1 || order <= 1);
    let out_of_place = OutOfPlace { cpu: *engine, l, copied, negative, to, workspace, swept: false };
    let mut guarded = Guarded::new(out_of_place, 0.0, History::default()).with_singular(singular);
    match guarded.modify_once(v, weights) {
        Err(Error::NotPositiveDefinite { column }) => {
            let OutOfPlace { l, to, .. } = guarded.into_factor();
            let given = Given::new(v, weights)?;
            let (new, report) = match negative {
                true => again_here(column, with_positive_pivots(l).as_ref(), &given)?,
                false => again_here(column, l, &given)?,
            };
            copy_lower(MatRef::from_column_major_slice(&new, order, order), to, 0..order);
            Ok(report)
        }
        Ok(report) => {
            let mut out_of_place = guarded.into_factor();
            if !out_of_place.swept {
                out_of_place.copy(0..order)?;
            }
            Ok(report)
        }
        refused => refused,
    }
}

functions! {
    /// Modifications of an L in the caller's memory.
    InPlace {
        modify_in_place(
            l: (MatMut<'_, Self>, bool),
            v: &Operand<'_, Self>,
            weights: Weights<'_, Self>,
            engine: &Cpu,
            workspace: &mut Workspace<Self>,
        ) -> Result<Modification, Error> = in_place;
        modify_into(
            l: MatRef<'_, Self>,
            v: &Operand<'_, Self>,
            weights: Weights<'_, Self>,
            to: MatMut<'_, Self>,
            engine: &Cpu,
            workspace: &mut Workspace<Self>,
        ) -> Result<Modification, Error> = out_of_place;
    }
}

/// L with columns negated where the diagonal entry is negative. (n × n, the lower triangle)
fn with_positive_pivots<T: Real>(l: MatRef<'_, T>) -> Mat<T> {
    let sign = |column| if l[(column, column)] < T::ZERO { -T::ONE } else { T::ONE };
    Mat::from_fn(l.nrows(), l.ncols(), |i, j| if i < j { T::ZERO } else { sign(j) * l[(i, j)] })
}

/// L and L' in the caller's memory.
struct OutOfPlace<'a, T: Real> {
    cpu: Cpu,
    l: MatRef<'a, T>,
    /// L is copied to `to`, and the sweep works there.
    copied: bool,
    /// Some of its diagonal entries are negative.
    negative: bool,
    to: MatMut<'a, T>,
    workspace: &'a mut Workspace<T>,
    /// A sweep has been done.
    swept: bool,
}

impl<T: Real> OutOfPlace<'_, T> {
    /// Copies columns that no sweep processes.
    ///
    /// # Errors
    /// `NonFinite`.
    fn copy(&mut self, columns: Range<usize>) -> Result<(), Error> {
        /// Columns and rows of a block that is copied at a time.
        const TOGETHER: (usize, usize) = (16, 256);
        let (isa, order) = (Isa::detect(), self.to.nrows());
        let to = (self.to.as_ptr_mut(), self.to.col_stride());
        let mut finite = true;
        for first in columns.clone().step_by(TOGETHER.0) {
            let some = first..columns.end.min(first + TOGETHER.0);
            for top in (some.start..order).step_by(TOGETHER.1) {
                let part = (some.clone(), top..order.min(top + TOGETHER.1));
                // SAFETY: `to` is n × n, column-major and borrowed exclusively.
                finite &= unsafe { copy(isa, self.l, self.negative, part, to) };
            }
        }
        if finite { Ok(()) } else { finite_lower("l", self.l).map(|_| ()) }
    }
}

impl<T: Real> Swept<T> for OutOfPlace<'_, T> {
    /// `to` is the shadow buffer.
    fn traits(&self) -> Traits {
        Traits { prefers_shadow: true, ..Traits::new(Safeguard::ShadowBuffer) }
    }

    fn order(&self) -> usize {
        self.to.nrows()
    }

    fn pivot(&self, column: usize) -> T {
        self.to[(column, column)]
    }

    fn row_norm(&self) -> Result<f64, Error> {
        finite_lower("l", self.l)?;
        Ok(row_norm(self.l))
    }

    fn reserve(&mut self, room: Room) -> Result<(), Error> {
        debug_assert!(room == Room::Shadow, "L in the caller's memory keeps its order");
        Ok(())
    }

    fn stage(&mut self, v: &Staged<'_, T>) -> Result<Outline, Error> {
        let Staged::Given(v, weights) = *v else { unreachable!("only a storage is given another input") };
        self.workspace.sweep.stage(v, weights, self.cpu.threads)
    }

    fn sweep(&mut self, outline: &Outline, columns: Range<usize>, _: Target) -> Result<(), Stop> {
        self.swept = true;
        self.copy(0..columns.start).map_err(Stop::before)?;
        let (dst, dst_stride) = (self.to.as_ptr_mut(), self.to.col_stride());
        let (order, memory, threads) = (self.to.nrows(), &mut self.workspace.sweep, self.cpu.threads);
        let swept = if self.copied {
            let entries = Entries { src: dst.cast_const(), src_stride: dst_stride, dst, dst_stride };
            let (l, negative) = (self.l, self.negative);
            let steps = |job| Copied { job, l, negative };
            // SAFETY: `to` is n × n, column-major and borrowed exclusively; the steps copy an entry before they use it.
            unsafe { sweep_by(entries, order, columns, outline, (memory, threads), steps) }
        } else {
            let (src, src_stride) = (self.l.as_ptr(), self.l.col_stride());
            let entries = Entries { src, src_stride, dst, dst_stride };
            // SAFETY: L is n × n and column-major; so is `to`, which is borrowed exclusively.
            unsafe { sweep(entries, (order, None), columns, outline, memory, threads) }
        };
        swept.map_err(|stop| named(stop, self.l))
    }

    fn wait(&mut self) -> Result<Modification, Stop> {
        Ok(self.workspace.sweep.take_report())
    }

    fn commit(&mut self, _: usize) {}
}

/// The steps of a job in place whose L is elsewhere: each part of L is copied immediately before it is used.
struct Copied<'a, T: Real> {
    job: Job<T>,
    l: MatRef<'a, T>,
    negative: bool,
}

impl<T: Real> Copied<'_, T> {
    /// # Safety
    /// As [`Steps::trailing`], for rows from the first column on.
    #[inline(always)]
    unsafe fn copy_block(&self, columns: Range<usize>, rows: Range<usize>) {
        let Self { job, l, negative } = self;
        // SAFETY: the caller guarantees that no other thread uses these rows of these columns.
        unsafe { copy(job.isa, *l, *negative, (columns, rows), (job.l.dst, job.l.dst_stride)) };
    }
}

impl<T: Real> Steps for Copied<'_, T> {
    type Report = Health<T>;

    unsafe fn diagonal(&self, panel: Panel, health: &mut Health<T>) -> Result<(), Breakdown> {
        // SAFETY: the caller guarantees the contract of the steps.
        unsafe {
            self.copy_block(panel.block(), panel.block());
            self.job.diagonal(panel, health)
        }
    }

    unsafe fn trailing(&self, panel: Panel, rows: Range<usize>) {
        /// Bytes copied at a time, so that they are still in the first-level cache when they are used.
        const FIRST_CACHE: usize = 24 << 10;
        let panel_cols = self.job.panel_cols;
        let together = (FIRST_CACHE / size_of::<T>() / panel_cols).max(1).next_multiple_of(panel_cols);
        for first in rows.clone().step_by(together) {
            let some = first..rows.end.min(first + together);
            // SAFETY: the caller guarantees the contract of the steps.
            unsafe {
                self.copy_block(panel.block(), some.clone());
                self.job.trailing(panel, some);
            }
        }
    }

    fn prefetch(&self, panel: Panel, next: Range<usize>) {
        self.job.prefetch(panel, next);
    }
}
