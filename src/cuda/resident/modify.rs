//! A modification: what begins it, and what its outcome is.

use super::queue::Queue;
use super::rank_blocks::Cut;
use super::steps::PANEL_COLS;
use super::{Resident, ResidentFactor};
use crate::cuda::memory::DeviceBuffer;
use crate::error::Error;
use crate::host::threads::Threads;
use crate::report::{Health, Modification};
use crate::scalar::Scalar;
use crate::sweep::plan::Plan;
use crate::sweep::signed::{Change, Outline, Weights};
use faer::MatRef;

/// Where the new factor goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    Itself,
    Spare,
    Nowhere,
}

/// Where V is.
#[derive(Clone, Copy)]
pub(super) enum V<'a, 'b, T> {
    /// As [`look`](Resident::look) has left it.
    OfHost(&'a Change<'b, T>),
    /// In the queue already.
    Taken,
}

/// What is under way: columns from `start` on.
#[derive(Clone, Copy)]
pub(super) struct Begun {
    start: usize,
    pub to: To,
    /// By how much rows of L may grow.
    pub row_norm: f64,
}

impl Resident {
    /// Makes room for a modification, and ends what somebody has forgotten.
    pub(super) fn ready<T: Scalar>(&self, factor: &mut ResidentFactor<T>, cut: Cut) -> Result<(), Error> {
        // Its outcome has nobody to go to.
        let _ = self.settle(factor);
        let order = factor.healthy()?.l.order();
        if !factor.queue.as_ref().is_some_and(|queue| queue.fits(order, cut)) {
            // The old one first: both might not fit.
            factor.queue = None;
            factor.queue = Some(Queue::new(&self.device, order, cut)?);
        }
        Ok(())
    }

    /// V and w, of the host, checked; and V packed on the way.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`, naming `v` or `weights`; `Device`; `Poisoned`.
    pub(super) fn look<'a, T: Scalar>(
        &self,
        factor: &mut ResidentFactor<T>,
        v: MatRef<'a, T>,
        weights: Weights<'a, T>,
    ) -> Result<Change<'a, T>, Error> {
        weights.check(factor.l.order(), v.shape())?;
        let (plus, minus) = weights.signs(v.ncols());
        if v.nrows() == 0 || plus + minus == 0 {
            return Change::new(v, weights, v.nrows(), Threads::Pool.par());
        }
        self.ready(factor, Cut::new(plus, minus))?;
        let Some(queue) = &mut factor.queue else { return Err(Error::Poisoned) };
        queue.look(v, weights)
    }

    /// Asks for L Lᵀ ← L Lᵀ + V diag(w) Vᵀ; [`settle`](Self::settle) waits for it.
    ///
    /// # Errors
    /// `Device` or `Poisoned`; nothing is under way then.
    pub(super) fn begin<T: Scalar>(
        &self,
        factor: &mut ResidentFactor<T>,
        outline: Outline,
        v: V<'_, '_, T>,
        mut to: To,
    ) -> Result<(), Error> {
        // What somebody has forgotten; its outcome has nobody to go to.
        let _ = self.settle(factor);
        let order = factor.l.order();
        let Some(first) = outline.first_column::<T>(order) else {
            return factor.healthy().map(|_| ());
        };
        // Rows of zeros before it leave their columns as they are.
        let start = first / PANEL_COLS * PANEL_COLS;
        let plan = Plan { rows: order, cols: order, start, panel_cols: PANEL_COLS };
        let cut = Cut::new(outline.plus, outline.minus);
        self.ready(factor, cut)?;
        if factor.spare.is_none() {
            match DeviceBuffer::new(&self.device, order * factor.l.stride()) {
                Ok(spare) => factor.spare = Some(spare),
                // Slower, but nothing is at risk; unless it is not for want of room.
                Err(_) if outline.minus == 0 && to == To::Spare => {
                    self.device.memory_bytes()?;
                    to = To::Itself;
                }
                Err(error) => return Err(error),
            }
        }
        let ResidentFactor { l, spare, queue: Some(queue), .. } = &mut *factor else {
            return Err(Error::Poisoned);
        };
        let target = spare.as_ref().filter(|_| to != To::Itself);
        let target = target.map_or(l.slice(), |spare| spare.slice(0..spare.len()));
        // SAFETY: L and the spare matrix are the factor's own, which drops its queue first; they change hands, and the queue
        // begins again, only when `settle` has waited: exactly when nothing broke down. Where something fails the queue goes.
        if let Err(error) = unsafe { queue.begin(&plan, cut, v, l, (to, target)) } {
            return Err(lost(factor, to, error));
        }
        factor.under_way = Some(Begun { start, to, row_norm: outline.row_norm });
        Ok(())
    }

    /// The outcome of what is under way.
    ///
    /// # Errors
    /// `NotPositiveDefinite`, and the factor is as it was; `Device`; `Poisoned`.
    pub(super) fn settle<T: Scalar>(&self, factor: &mut ResidentFactor<T>) -> Result<Modification<T>, Error> {
        let Some(Begun { start, to, .. }) = factor.under_way.take() else {
            return factor.healthy().map(|_| Modification::identity());
        };
        let Some(queue) = &mut factor.queue else { return Err(Error::Poisoned) };
        match queue.wait() {
            Ok(None) => {}
            Ok(Some(column)) => {
                // An update has none; but if it had, it would have been in the middle of L.
                factor.poisoned = to == To::Itself;
                return Err(Error::NotPositiveDefinite { column });
            }
            Err(error) => return Err(lost(factor, to, error)),
        }
        let new = &queue.pivots()[start..];
        let mut health = Health::default();
        factor.pivots[start..].iter().zip(new).for_each(|(&old, &new)| health.record(old, new));
        if to != To::Nowhere {
            factor.pivots[start..].copy_from_slice(new);
        }
        if let (To::Spare, Some(spare)) = (to, &mut factor.spare) {
            factor.l.exchange(spare);
        }
        Ok(health.report(start))
    }
}

/// What a driver error leaves.
fn lost<T>(factor: &mut ResidentFactor<T>, to: To, error: Error) -> Error {
    factor.poisoned = to == To::Itself;
    factor.queue = None;
    error
}
