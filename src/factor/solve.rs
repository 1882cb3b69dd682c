//! Solves with the current factor.

use super::Factor;
use crate::check::{extent, room_for_copy};
use crate::element::Element;
use crate::error::Error;
use crate::host::empty::without_rows;
use crate::operand::{Operand, OperandMut};
use crate::report::Modification;
use crate::storage::{Op, Side, Storage};
use faer::Mat;

impl<T: Element, F: Storage<T>> Factor<T, F> {
    /// Solves the systems of these sides, one after the other.
    pub(super) fn solve(&self, sides: &[Side], rhs: &Operand<'_, T>) -> Result<Mat<T>, Error> {
        let factor = self.guarded.regular()?;
        extent("rhs", "rows", self.order(), rhs.shape().0)?;
        if self.order() == 0 {
            return Ok(without_rows(rhs.shape().1));
        }
        room_for_copy::<T>("rhs", rhs.shape())?;
        let mut x = rhs.on_host()?.into_owned();
        factor.apply(Op::Solve(sides), OperandMut::Host(x.as_mut()))?;
        Ok(x)
    }

    pub(super) fn solve_in_place(&self, sides: &[Side], rhs: OperandMut<'_, T>) -> Result<(), Error> {
        let factor = self.guarded.regular()?;
        extent("rhs", "rows", self.order(), rhs.shape().0)?;
        if self.order() == 0 { Ok(()) } else { factor.apply(Op::Solve(sides), rhs) }
    }

    /// Waits for the modification in flight, and solves with the factor that results.
    pub(super) fn wait_and_solve(
        &mut self,
        rhs: OperandMut<'_, T>,
    ) -> (Result<Modification, Error>, Result<(), Error>) {
        match extent("rhs", "rows", self.order(), rhs.shape().0) {
            Ok(()) if self.order() == 0 => (self.guarded.wait(), Ok(())),
            Ok(()) => self.guarded.wait_and_solve(&[Side::L, Side::Transpose], rhs),
            Err(error) => (self.guarded.wait(), Err(error)),
        }
    }
}
