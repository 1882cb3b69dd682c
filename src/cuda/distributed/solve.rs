//! Triangular systems with L on several devices, for right-hand sides in host memory or on one of the devices.

use super::factor::DistributedFactor;
use super::solver::{Solver, Work, pinned};
use super::solving::Solving;
use super::stop::WrittenByAll;
use crate::check::finite;
use crate::cuda::matrix::DeviceViewMut;
use crate::cuda::operands::on_device_mut;
use crate::cuda::resident::take::Take;
use crate::error::Error;
use crate::operand::OperandMut;
use crate::real::Real;
use crate::storage::Side;
use faer::MatMut;
use std::sync::PoisonError;

/// Right-hand sides that are solved together, as on one device.
const RHS_AT_ONCE: usize = 1024;

impl<T: Real> DistributedFactor<T> {
    /// As [`Storage::apply`](crate::storage::Storage::apply) for a solve.
    ///
    /// # Errors
    /// As [`Storage::apply`](crate::storage::Storage::apply).
    pub(super) fn solve_systems(&self, sides: &[Side], mut rhs: OperandMut<'_, T>) -> Result<(), Error> {
        let (order, columns) = rhs.shape();
        let work = Work { sides, end: order };
        if let Some(mut rhs) = on_device_mut(&mut rhs).filter(|_| columns <= RHS_AT_ONCE) {
            let home = rhs.as_view().is_on_one_of(&self.devices, "rhs")?;
            return if order * columns == 0 { Ok(()) } else { self.solve_there(work, home, &mut rhs) };
        }
        rhs.change_on_host(|rhs| {
            finite("rhs", rhs.as_ref())?;
            self.solve_copies(work, rhs)
        })
    }

    pub(super) fn eliminate(&self, columns: usize, rhs: MatMut<'_, T>) -> Result<(), Error> {
        if columns == 0 {
            return Ok(());
        }
        self.solve_copies(Work { sides: &[Side::L], end: columns }, rhs)
    }

    /// After an error the right-hand sides are unchanged.
    fn solve_copies(&self, work: Work<'_>, mut rhs: MatMut<'_, T>) -> Result<(), Error> {
        let (order, count) = rhs.shape();
        if order * count == 0 {
            return Ok(());
        }
        let mut solutions = rhs.to_owned();
        for first in (0..count).step_by(RHS_AT_ONCE) {
            let some = solutions.as_mut().subcols_mut(first, RHS_AT_ONCE.min(count - first));
            self.with_solving(|solving, factor| solving.solve_copy(factor, work, some))?;
        }
        rhs.copy_from(solutions);
        Ok(())
    }

    fn solve_there(&self, work: Work<'_>, home: usize, rhs: &mut DeviceViewMut<'_, T>) -> Result<(), Error> {
        self.with_solving(|solving, factor| solving.solve_at(factor, work, home, rhs))
    }

    /// Calls `work` with all that a solve needs.
    fn with_solving(
        &self,
        work: impl FnOnce(&mut Solving<T>, &Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut solving = self.solving.lock().unwrap_or_else(PoisonError::into_inner);
        for (inverses, device) in solving.inverses.iter_mut().zip(&self.devices) {
            inverses.make_room(device)?;
        }
        // A forgotten modification in flight computes the inverses of another L.
        let forgotten = self.flight.is_some();
        if forgotten {
            self.quiet()?;
            solving.forget();
        }
        let outcome = work(&mut solving, self);
        if matches!(outcome, Err(Error::Device { .. })) {
            // Work that could not be waited for may still use its memory.
            solving.solver = None;
        }
        if outcome.is_err() || forgotten {
            solving.forget();
        }
        outcome
    }
}

impl<T: Real> Solving<T> {
    fn solve_copy(
        &mut self,
        factor: &DistributedFactor<T>,
        work: Work<'_>,
        mut rhs: MatMut<'_, T>,
    ) -> Result<(), Error> {
        let Self { inverses, solver, host, .. } = self;
        let (shape @ (order, count), devices) = (rhs.shape(), &factor.devices);
        let len = order * count;
        let solver = match solver {
            Some(solver) => solver,
            none => none.insert(WrittenByAll::new(Solver::new(devices)?, devices)),
        };
        let host = pinned(host, &devices[0], len)?;
        for (to, from) in host.as_mut_slice()?.chunks_exact_mut(order).zip(rhs.as_ref().col_iter()) {
            to.iter_mut().zip(from.iter()).for_each(|(to, from)| *to = *from);
        }
        let (stream, there) = solver.at_home((0, &devices[0]), len)?;
        // SAFETY: only this stream uses the memory until it has been waited for, by the solve or after it has failed.
        let sent = unsafe { stream.upload(host, 0..len, there) };
        sent.inspect_err(|_| drop(stream.synchronize()))?;
        let (solution, stream) = solver.solve((&factor.parts, inverses), work, shape)?;
        // SAFETY: as above.
        let received = unsafe { stream.download(solution, host, 0..len) };
        stream.synchronize().and(received)?;
        for (to, from) in rhs.as_mut().col_iter_mut().zip(host.as_slice().chunks_exact(order)) {
            to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
        Ok(())
    }

    /// Right-hand sides on a device are overwritten if they are finite and the solve has succeeded.
    fn solve_at(
        &mut self,
        factor: &DistributedFactor<T>,
        work: Work<'_>,
        home: usize,
        rhs: &mut DeviceViewMut<'_, T>,
    ) -> Result<(), Error> {
        let Self { inverses, solver, take, .. } = self;
        let (rhs, device) = (rhs.as_view(), &factor.devices[home]);
        let shape @ (order, count) = rhs.shape();
        let solver = match solver {
            Some(solver) => solver,
            none => none.insert(WrittenByAll::new(Solver::new(&factor.devices)?, &factor.devices)),
        };
        if take.as_ref().is_none_or(|&(of, _)| of != home) {
            *take = Some((home, None));
        }
        let Some((_, take)) = take else { return Ok(()) };
        let take = Take::ready(take, device, count)?;
        let (stream, there) = solver.at_home((home, device), order * count)?;
        let from = rhs.slice_on(stream)?;
        let targets = (0..count).map(|column| Some((column, T::ONE)));
        // SAFETY: the caller has borrowed the right-hand sides; only this stream uses the copy until it has been waited for.
        let found = unsafe { take.copy_and_check(stream, from, (there, order), shape, targets)? };
        let refused = found.iter().enumerate().find_map(|(column, found)| Some((column, found.not_finite?)));
        if let Some((column, row)) = refused {
            return Err(Error::NonFinite { argument: "rhs", row, column });
        }
        let (solution, stream) = solver.solve((&factor.parts, inverses), work, shape)?;
        // SAFETY: the caller has borrowed the right-hand sides for writing.
        let written = unsafe { stream.move_columns((solution, order), shape, from) };
        stream.synchronize().and(written)
    }
}
