//! Solves triangular systems with the current L, or after a sweep with the new one.

use super::factor::ResidentFactor;
use super::triangular_solver::{Triangle, TriangularSolver, Work, go_together};
use crate::cuda::operands::{on_device, on_device_mut};
use crate::error::Error;
use crate::operand::{Operand, OperandMut};
use crate::real::Real;
use crate::report::Modification;
use crate::storage::{Side, Solved, Swept, Target};
use crate::sweep::stop::Stop;
use std::sync::PoisonError;

impl<T: Real> ResidentFactor<T> {
    /// Calls `work` with the triangle and the solver.
    pub(super) fn with_solver(
        &self,
        work: impl FnOnce(Triangle<'_, T>, &mut TriangularSolver<T>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut solving = self.solving.lock().unwrap_or_else(PoisonError::into_inner);
        let (inverses, solver) = &mut *solving;
        inverses.make_room(&self.device)?;
        // A forgotten modification in flight computes the inverses of another L.
        let forgotten = self.queue.as_ref().filter(|_| self.flight.is_some());
        if let Some(queue) = forgotten {
            queue.stream().synchronize()?;
            inverses.forget();
        }
        if let Some(rearranger) = &self.resizing {
            rearranger.order_before(solver.stream())?;
        }
        let (l, stride, order) = (self.l.slice(), self.l.stride(), self.l.order());
        let outcome = work(Triangle { l, stride, order, inverses }, solver);
        if matches!(outcome, Err(Error::Device { .. })) || forgotten.is_some() {
            inverses.forget();
        }
        outcome
    }

    /// As [`Storage::apply`](crate::storage::Storage::apply) for a solve.
    ///
    /// # Errors
    /// As [`Storage::apply`](crate::storage::Storage::apply).
    pub(super) fn solve_systems(&self, sides: &[Side], mut rhs: OperandMut<'_, T>) -> Result<(), Error> {
        let (order, columns) = rhs.shape();
        if let Some(mut rhs) = on_device_mut(&mut rhs) {
            rhs.as_view().is_on(&self.device, "rhs")?;
            if order * columns == 0 {
                return Ok(());
            }
            return self
                .with_solver(|triangle, solver| solver.solve_there(triangle, Work::Solve(sides), &mut rhs));
        }
        rhs.change_on_host(|rhs| {
            if order * columns == 0 {
                return Ok(());
            }
            self.with_solver(|triangle, solver| solver.solve(triangle, Work::Solve(sides), rhs))
        })
    }

    /// As [`Storage::wait_and_solve`](crate::storage::Storage::wait_and_solve).
    ///
    /// # Errors
    /// As [`Storage::wait_and_solve`](crate::storage::Storage::wait_and_solve).
    pub(super) fn solve_behind(
        &mut self,
        sides: &[Side],
        rhs: &mut OperandMut<'_, T>,
    ) -> (Result<Modification, Stop>, Solved) {
        // SAFETY: the solver's stream is waited for in the next lines, and until then L, the inverses, the status of the queue
        // and `rhs`, all borrowed exclusively, exist.
        let begun = unsafe { self.begin_behind(sides, rhs) };
        // This also waits for the sweep. It comes first, because a queue that fails frees the status.
        self.solving.get_mut().unwrap_or_else(PoisonError::into_inner).1.quiet();
        let ended = self.wait();
        let (inverses, solver) = self.solving.get_mut().unwrap_or_else(PoisonError::into_inner);
        let solved = match (begun, &ended) {
            (Some(begun), Ok(_)) => match rhs {
                OperandMut::Host(rhs) => solver.end(begun, rhs.as_mut()),
                OperandMut::Remote(_) => match on_device_mut(rhs) {
                    Some(rhs) => solver.end_there(begun, &rhs.as_view()),
                    None => return (ended, None),
                },
            },
            // The contents of right-hand sides on the device are unknown.
            (Some(_), Err(Stop::Device { error, .. })) => Err(error.clone()),
            (Some(_), Err(Stop::Breakdown { .. } | Stop::Interrupted)) | (None, _) => return (ended, None),
        };
        if matches!(solved, Err(Error::Device { .. })) {
            inverses.forget();
        }
        (ended, Some(solved))
    }

    /// Starts a solve with the L that the sweep in flight writes to the shadow. `None` if there is no such sweep, or if there
    /// are too many right-hand sides for one solve.
    ///
    /// # Safety
    /// `rhs` and the factor do not change until the solver's stream has been waited for.
    unsafe fn begin_behind(&mut self, sides: &[Side], rhs: &OperandMut<'_, T>) -> Solved {
        let Self { queue, shadow, flight, solving, l, device, .. } = self;
        let (Some(queue), Some(shadow), Some((Target::Shadow, _))) = (queue, shadow, flight) else {
            return None;
        };
        let (order, columns) = rhs.shape();
        if order * columns == 0 || !go_together(columns) {
            return None;
        }
        let (inverses, solver) = solving.get_mut().unwrap_or_else(PoisonError::into_inner);
        let triangle = Triangle { l: shadow.slice(0..shadow.len()), stride: l.stride(), order, inverses };
        // SAFETY: the caller guarantees `rhs` and the factor. The work that writes the shadow and the inverses comes before the
        // event of `inverses`.
        unsafe {
            match &Operand::from(rhs) {
                Operand::Host(rhs) => Some(solver.begin(triangle, Work::Solve(sides), *rhs)),
                rhs => on_device(rhs).map(|rhs| {
                    rhs.is_on(device, "rhs").and_then(|()| {
                        solver.begin_there(triangle, Work::Solve(sides), rhs, Some(queue.status()))
                    })
                }),
            }
        }
    }
}
