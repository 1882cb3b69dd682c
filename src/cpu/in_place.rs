//! Modification of an L in memory that the caller owns.

use super::engine::Cpu;
use super::staged::SweepMemory;
use super::sweep::sweep;
use crate::check::{extent, finite_lower};
use crate::error::Error;
use crate::guarded::Guarded;
use crate::history::History;
use crate::host::layout::{copy_lower, zeros};
use crate::host::squares::row_norm;
use crate::operand::Operand;
use crate::real::Real;
use crate::report::Modification;
use crate::storage::{Room, Staged, Swept, Target, Traits};
use crate::sweep::outline::Outline;
use crate::sweep::stop::Stop;
use crate::sweep::weights::Weights;
use crate::wide::{Given, again_here};
use cholupdate_kernels::sweep::entries::Entries;
use core::ops::Range;
use faer::{Mat, MatMut, MatRef};

/// Working memory of [`modify_in_place`](crate::modify_in_place). It grows to the largest size needed so far, and never shrinks.
#[derive(Clone)]
pub struct Workspace<T: Real> {
    pub(super) sweep: SweepMemory<T>,
    /// As large as the largest L that has needed it.
    shadow: Option<Mat<T>>,
}

impl<T: Real> Default for Workspace<T> {
    fn default() -> Self {
        Self { sweep: SweepMemory::default(), shadow: None }
    }
}

impl<T: Real> core::fmt::Debug for Workspace<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Workspace").finish_non_exhaustive()
    }
}

impl<T: Real> Workspace<T> {
    /// Allocates nothing. The first call of a shape allocates, later ones do not.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

/// As [`modify_in_place`](crate::modify_in_place); with `checked`, as
/// [`modify_checked_in_place`](crate::modify_checked_in_place).
pub(super) fn in_place<T: Real>(
    (l, checked): (MatMut<'_, T>, bool),
    v: &Operand<'_, T>,
    weights: Weights<'_, T>,
    engine: &Cpu,
    workspace: &mut Workspace<T>,
) -> Result<Modification, Error> {
    let order = l.nrows();
    extent("l", "columns", order, l.ncols())?;
    weights.check(order, v.shape())?;
    for (column, &pivot) in l.as_ref().diagonal().column_vector().iter().enumerate() {
        if !pivot.is_finite() {
            return Err(Error::NonFinite { argument: "l", row: column, column });
        }
        if pivot < T::ZERO {
            return Err(Error::NotPositiveDefinite { column });
        }
    }
    let singular = (0..order).find(|&j| l[(j, j)] == T::ZERO);
    // The rows of L must be far from overflow; this is not checked.
    let row_norm = 0.0;
    let borrowed = Borrowed { cpu: *engine, l, checked, known: 0, workspace };
    let mut guarded = Guarded::new(borrowed, row_norm, History::default()).with_singular(singular);
    match guarded.modify_once(v, weights) {
        Err(Error::NotPositiveDefinite { column }) if guarded.healthy().is_ok() => {
            let l = guarded.into_factor().l;
            let again = again_here(column, l.as_ref(), &Given::new(v, weights)?);
            let (new, report) = again.map_err(|error| match error {
                Error::NonFinite { .. } if !checked => Error::NotPositiveDefinite { column },
                error => error,
            })?;
            copy_lower(MatRef::from_column_major_slice(&new, order, order), l, 0..order);
            Ok(report)
        }
        Ok(report) => {
            let Borrowed { l, known, .. } = guarded.into_factor();
            if checked && known < order {
                finite_lower("l", l.as_ref())?;
            }
            Ok(report)
        }
        refused => refused,
    }
}

/// Finds why a sweep over an unchecked L stopped. An entry that is not finite makes its row of V not finite, and then the pivot
/// of that row.
pub(super) fn named<T: Real>(stop: Stop, l: MatRef<'_, T>) -> Stop {
    match stop {
        Stop::Breakdown { .. } => finite_lower("l", l).map_or_else(Stop::before, |_| stop),
        stop => stop,
    }
}

/// L in the caller's memory.
struct Borrowed<'a, T: Real> {
    cpu: Cpu,
    l: MatMut<'a, T>,
    /// Entries that are not finite are errors.
    checked: bool,
    /// This number of leading rows and columns has been checked to be finite.
    known: usize,
    workspace: &'a mut Workspace<T>,
}

impl<T: Real> Borrowed<'_, T> {
    fn is_column_major(&self) -> bool {
        self.l.row_stride() == 1 || self.l.nrows() == 1
    }
}

impl<T: Real> Swept<T> for Borrowed<'_, T> {
    #[inline(always)]
    fn traits(&self) -> Traits {
        Traits { prefers_shadow: !self.is_column_major(), ..Traits::new(self.cpu.safeguard) }
    }

    fn order(&self) -> usize {
        self.l.nrows()
    }

    fn pivot(&self, column: usize) -> T {
        self.l[(column, column)]
    }

    fn row_norm(&self) -> Result<f64, Error> {
        finite_lower("l", self.l.as_ref())?;
        Ok(row_norm(self.l.as_ref()))
    }

    fn reserve(&mut self, room: Room) -> Result<(), Error> {
        debug_assert!(room == Room::Shadow, "L in the caller's memory keeps its order");
        let (order, shadow) = (self.l.nrows(), &mut self.workspace.shadow);
        if shadow.as_ref().is_none_or(|shadow| shadow.nrows() < order) {
            *shadow = None;
            *shadow = Some(zeros(order));
        }
        Ok(())
    }

    fn stage(&mut self, v: &Staged<'_, T>) -> Result<Outline, Error> {
        let Staged::Given(v, weights) = *v else { unreachable!("only a storage is given another input") };
        self.workspace.sweep.stage(v, weights, self.cpu.threads)
    }

    fn sweep(&mut self, outline: &Outline, columns: Range<usize>, target: Target) -> Result<(), Stop> {
        let (order, column_major) = (self.l.nrows(), self.is_column_major());
        if self.checked && self.known < order {
            finite_lower("l", self.l.as_ref().subcols(0, columns.start)).map_err(Stop::before)?;
            self.known = order;
        }
        let Workspace { sweep: memory, shadow } = &mut *self.workspace;
        let (at, stride) = (self.l.as_ptr_mut(), self.l.col_stride());
        let other = match (target, shadow) {
            (Target::InPlace, _) => (at, stride),
            (Target::Shadow, shadow) => {
                let shadow = shadow.get_or_insert_with(|| zeros(order));
                if !column_major {
                    copy_lower(self.l.as_ref(), shadow.submatrix_mut(0, 0, order, order), columns.clone());
                }
                (shadow.as_ptr_mut(), shadow.col_stride())
            }
            (Target::Discard, _) => (core::ptr::null_mut(), stride),
        };
        let (src, src_stride) = if column_major { (at, stride) } else { other };
        let entries = Entries { src: src.cast_const(), src_stride, dst: other.0, dst_stride: other.1 };
        // SAFETY: L and the shadow are at least n × n, each with its own stride, and borrowed exclusively. If nothing is
        // written, L is column-major, since any other layout prefers the shadow.
        let swept = unsafe { sweep(entries, (order, None), columns, outline, memory, self.cpu.threads) };
        swept.map_err(|stop| match target {
            _ if !self.checked => stop,
            Target::InPlace => named(stop, self.l.as_ref()).after_a_change(),
            Target::Shadow | Target::Discard => named(stop, self.l.as_ref()),
        })
    }

    fn wait(&mut self) -> Result<Modification, Stop> {
        Ok(self.workspace.sweep.take_report())
    }

    fn commit(&mut self, start: usize) {
        let order = self.l.nrows();
        if let Some(shadow) = &self.workspace.shadow {
            copy_lower(shadow.submatrix(0, 0, order, order), self.l.as_mut(), start..order);
        }
    }
}
