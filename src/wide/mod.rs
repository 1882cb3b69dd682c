//! What a modification that has broken down is given to: the same reflections once more, on the host and in twice the precision.
//!
//! In working precision the last pivots are off by about u times the condition number of L, with this method as with LINPACK's. Where
//! next to nothing is left of a direction, or L is badly conditioned, a pivot² that is positive may come out as zero or less. The
//! reflections in twice the precision, from the L and V that there are, tell one from the other, and leave an error of 2 u where A' is
//! positive definite.
//!
//! | file | holds |
//! |---|---|
//! | `certain` | what is refused without them: most of what is not positive definite, for the price of some solves |
//! | `recurrence` | the reflections |
//! | `double` | their arithmetic |
//!
//! A breakdown that has cost the factor (in place, without a safeguard) has nothing to start from and stays one.

mod certain;
mod double;
mod recurrence;
#[cfg(test)]
mod tests;

use self::certain::Triangle;
pub(crate) use self::recurrence::Recurrence;
use crate::check::finite_lower;
use crate::engine::{Factor, Side};
use crate::error::{DeviceErrorKind, Error};
use crate::host::layout::copy_lower;
use crate::host::squares::row_norm;
use crate::input::{Operand, OperandMut};
use crate::modify::Guarded;
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::structure::{Border, Resizable};
use crate::sweep::weights::Weights;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, Mat, MatMut, MatRef, Par};

/// A modification as it was asked for: scale² (L Lᵀ + V diag(w) Vᵀ).
pub(crate) struct Given<T> {
    /// (n × k)
    pub v: Mat<T>,
    /// (k)
    pub weights: Vec<T>,
    /// The column of L that the sweep begins with; rows of V before it are zero.
    pub start: usize,
    /// What new entries of L are multiplied by.
    pub scale: f64,
}

impl<T: Scalar> Given<T> {
    /// V diag(w) Vᵀ, wherever V is.
    ///
    /// # Errors
    /// `Device`.
    pub fn new(v: &Operand<'_, T>, weights: Weights<'_, T>) -> Result<Self, Error> {
        let v = v.clone().on_host()?.as_ref().to_owned();
        let weights = (0..v.ncols()).map(|r| weights.of(r)).collect();
        Ok(Self { v, weights, start: 0, scale: 1.0 })
    }
}

/// L in the memory of an engine.
struct There<'a, F>(&'a F, f64);

impl<T: Scalar, F: Factor<T>> Triangle<T> for There<'_, F> {
    fn solve(&self, side: Side, rhs: MatMut<'_, T>) -> Result<(), Error> {
        self.0.solve(&[side], OperandMut::Host(rhs))
    }

    fn multiply_transposed(&self, rhs: MatMut<'_, T>) -> Result<(), Error> {
        self.0.multiply(Side::Transpose, rhs)
    }

    fn row_norm(&self) -> f64 {
        self.1
    }
}

/// L in host memory; what is above the diagonal is not looked at.
struct Here<'a, T>(MatRef<'a, T>);

impl<T: Scalar> Triangle<T> for Here<'_, T> {
    fn solve(&self, side: Side, rhs: MatMut<'_, T>) -> Result<(), Error> {
        match side {
            Side::L => solve_lower_triangular_in_place(self.0, rhs, Par::Seq),
            Side::Transpose => solve_upper_triangular_in_place(self.0.transpose(), rhs, Par::Seq),
        }
        Ok(())
    }

    fn multiply_transposed(&self, rhs: MatMut<'_, T>) -> Result<(), Error> {
        let (from, all) = (rhs.to_owned(), BlockStructure::Rectangular);
        let (l, upper) = (self.0.transpose(), BlockStructure::TriangularUpper);
        triangular_matmul(rhs, all, Accum::Replace, l, upper, from.as_ref(), all, T::ONE, Par::Seq);
        Ok(())
    }

    fn row_norm(&self) -> f64 {
        row_norm(self.0)
    }
}

/// A modification of L in host memory that broke down at `column` of it: the new L, zero above the diagonal. (n × n, by columns)
///
/// # Errors
/// `NonFinite`, naming `l`; `NotPositiveDefinite` where there is none, or no memory for it.
#[cold]
pub(crate) fn again_here<T: Scalar>(
    column: usize,
    l: MatRef<'_, T>,
    given: &Given<T>,
) -> Result<(Vec<T>, Modification<T>), Error> {
    finite_lower("l", l)?;
    again(column, &Here(l), given, |to| {
        copy_lower(l, to, 0..l.ncols());
        Ok(())
    })
}

/// The same of L that `read` copies to a matrix of zeros.
fn again<T: Scalar>(
    column: usize,
    l: &impl Triangle<T>,
    given: &Given<T>,
    read: impl FnOnce(MatMut<'_, T>) -> Result<(), Error>,
) -> Result<(Vec<T>, Modification<T>), Error> {
    let order = given.v.nrows();
    let mut memory = Vec::new();
    match certain::indefinite(l, given) {
        Ok(false) if memory.try_reserve_exact(order.saturating_mul(order)).is_ok() => {}
        Ok(_) | Err(Error::Device { kind: DeviceErrorKind::OutOfMemory, .. }) => {
            return Err(Error::NotPositiveDefinite { column });
        }
        Err(error) => return Err(error),
    }
    memory.resize(order * order, T::ZERO);
    let mut l = MatMut::from_column_major_slice_mut(&mut memory, order, order);
    read(l.as_mut())?;
    let report = recurrence::modify(l, given)?;
    Ok((memory, report))
}

impl<T: Scalar, F: Resizable<T>> Guarded<T, F> {
    /// L Lᵀ ← L Lᵀ + V diag(w) Vᵀ.
    ///
    /// # Errors
    /// What is wrong with V or w; `NotPositiveDefinite`, `Device` or `Poisoned`.
    #[inline(always)]
    pub fn modify(&mut self, v: &Operand<'_, T>, weights: Weights<'_, T>) -> Result<Modification<T>, Error> {
        let outcome = self.modify_once(v, weights);
        self.or_again(outcome, |_| Given::new(v, weights))
    }

    /// Begins a modification. It may go on after the call; V has been taken over by then, and is not kept: a
    /// breakdown that is found after the call cannot be retried in twice the precision.
    ///
    /// # Errors
    /// As [`modify`](Self::modify), as far as is known by then. Nothing is in flight then.
    pub fn submit(&mut self, v: &Operand<'_, T>, weights: Weights<'_, T>) -> Result<(), Error> {
        self.submit_once(v, weights).or_else(|error| {
            let report = self.or_again(Err(error), |_| Given::new(v, weights))?;
            self.has_landed(report);
            Ok(())
        })
    }

    /// The outcome that [`modify`](Self::modify) would have. The factor is untouched.
    ///
    /// # Errors
    /// As [`modify`](Self::modify).
    pub fn dry_run(&mut self, v: &Operand<'_, T>, weights: Weights<'_, T>) -> Result<Modification<T>, Error> {
        match self.dry_run_once(v, weights) {
            Err(Error::NotPositiveDefinite { column }) => {
                self.again(column, &Given::new(v, weights)?).map(|(_, report)| report)
            }
            outcome => outcome,
        }
    }

    /// The outcome of a modification; what broke down, and left the factor as it was, is done again as it was `given`.
    ///
    /// # Errors
    /// As [`modify`](Self::modify).
    #[inline(always)]
    pub fn or_again(
        &mut self,
        outcome: Result<Modification<T>, Error>,
        given: impl FnOnce(&F) -> Result<Given<T>, Error>,
    ) -> Result<Modification<T>, Error> {
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
    ) -> Result<Modification<T>, Error> {
        let given = given(self.healthy()?)?;
        let (l, report) = self.again(column, &given)?;
        let l = MatRef::from_column_major_slice(&l, self.order(), self.order());
        self.in_place(|factor| factor.write(0, &Border::whole(l)))?;
        // The bound is scaled by the caller, as behind any other modification.
        self.note(row_norm(l) / given.scale);
        Ok(report)
    }

    /// The new L and its report, where L stays as it is.
    fn again(&self, column: usize, given: &Given<T>) -> Result<(Vec<T>, Modification<T>), Error> {
        let factor = self.healthy()?;
        again(column, &There(factor, self.row_norm()), given, |to| factor.read(to))
    }
}
