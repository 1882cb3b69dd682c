//! Repeats a modification that broke down, in twice the precision.

use super::Guarded;
use crate::element::Element;
use crate::error::Error;
use crate::host::squares::row_norm;
use crate::operand::{Operand, OperandMut};
use crate::report::Modification;
use crate::storage::{Edit, Op, Side, Storage};
use crate::structure::Border;
use crate::sweep::weights::Weights;
use crate::wide::{Given, Triangle, again};
use faer::{MatMut, MatRef};

/// L in the memory of an engine, and the bound on its rows.
struct There<'a, F>(&'a F, f64);

impl<T: Element, F: Storage<T>> Triangle<T> for There<'_, F> {
    fn solve(&self, side: Side, rhs: MatMut<'_, T>) -> Result<(), Error> {
        self.0.apply(Op::Solve(&[side]), OperandMut::Host(rhs))
    }

    fn multiply_transposed(&self, rhs: MatMut<'_, T>) -> Result<(), Error> {
        self.0.apply(Op::Multiply(Side::Transpose), OperandMut::Host(rhs))
    }

    fn row_norm(&self) -> f64 {
        self.1
    }
}

impl<T: Element, F: Storage<T>> Guarded<T, F> {
    /// L Lᴴ ← L Lᴴ + V diag(w) Vᴴ.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow` of V or w; `NotPositiveDefinite`, `Device` or `Poisoned`.
    #[inline(always)]
    pub fn modify(
        &mut self,
        v: &Operand<'_, T>,
        weights: Weights<'_, T::Part>,
    ) -> Result<Modification, Error> {
        if let Some(report) = self.modify_directly(v, weights) {
            return Ok(report);
        }
        let outcome = self.modify_once(v, weights);
        self.or_again(outcome, |_| Given::new(v, weights))
    }

    /// Starts a modification. It may still be in flight after the call. V has been copied by then and is not kept, so a
    /// breakdown that is found after the call cannot be repeated in twice the precision.
    ///
    /// # Errors
    /// As [`modify`](Self::modify), as far as they are found within the call. After an error nothing is in flight.
    pub fn submit(&mut self, v: &Operand<'_, T>, weights: Weights<'_, T::Part>) -> Result<(), Error> {
        self.submit_once(v, weights).or_else(|error| {
            let report = self.or_again(Err(error), |_| Given::new(v, weights))?;
            self.has_landed(report);
            Ok(())
        })
    }

    /// Returns the outcome that [`modify`](Self::modify) would have. The factor is not changed.
    ///
    /// # Errors
    /// As [`modify`](Self::modify).
    pub fn dry_run(
        &mut self,
        v: &Operand<'_, T>,
        weights: Weights<'_, T::Part>,
    ) -> Result<Modification, Error> {
        match self.dry_run_once(v, weights) {
            Err(Error::NotPositiveDefinite { column }) => {
                self.again(column, &Given::new(v, weights)?).map(|(_, report)| report)
            }
            outcome => outcome,
        }
    }

    /// Returns the outcome of a modification. If it broke down and left the factor as it was, repeats the modification `given`.
    ///
    /// # Errors
    /// As [`modify`](Self::modify).
    #[inline(always)]
    pub fn or_again(
        &mut self,
        outcome: Result<Modification, Error>,
        given: impl FnOnce(&F) -> Result<Given<T>, Error>,
    ) -> Result<Modification, Error> {
        match outcome {
            Err(Error::NotPositiveDefinite { column }) if self.healthy().is_ok() => {
                self.take_again(column, given)
            }
            outcome => outcome,
        }
    }

    #[cold]
    fn take_again(
        &mut self,
        column: usize,
        given: impl FnOnce(&F) -> Result<Given<T>, Error>,
    ) -> Result<Modification, Error> {
        let given = given(self.healthy()?)?;
        let (l, report) = self.again(column, &given)?;
        let l = MatRef::from_column_major_slice(&l, self.order(), self.order());
        self.in_place(|factor| factor.edit(Edit::Write { at: 0, border: &Border::whole(l) }))?;
        // The caller scales the bound, as after any other modification.
        self.note(row_norm(l) / given.scale);
        Ok(report)
    }

    /// Computes the new L and its report. The factor is not changed.
    fn again(&self, column: usize, given: &Given<T>) -> Result<(Vec<T>, Modification), Error> {
        let factor = self.healthy()?;
        again(column, &There(factor, self.row_norm()), given, |to| factor.read(to))
    }
}
