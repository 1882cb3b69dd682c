//! A C program's batch in host memory, of any numbers.

use crate::batches::Results;
use crate::changing::Sides;
use crate::held::{Failures, Given, by_reference};
use crate::options::cpu_alone;
use crate::status::Refused;
use cholupdate::faer::{Mat, c64};
use cholupdate::{
    BatchMut, BatchOutcome, BatchRef, BatchWeights, CholeskyBatch, Cpu, EngineSpec, Error, Operand, Scalar,
};

/// A batch in host memory: the only one of complex numbers.
pub struct OnHost<T: Scalar>(CholeskyBatch<T>);

const fn goes_anywhere<T: Send + Sync>() {}
const _: () = goes_anywhere::<OnHost<c64>>();

impl<T: Scalar> OnHost<T> {
    /// A batch of complex numbers, with these settings.
    pub fn new(given: Given<'_, T>, settings: &EngineSpec) -> Result<Self, Refused> {
        Ok(Self::with(given, cpu_alone(settings, "complex numbers")?)?)
    }

    /// Factors matrices, or takes factors.
    pub fn with(given: Given<'_, T>, engine: Cpu) -> Result<Self, Error> {
        let made = match given {
            Given::A(a, None) => CholeskyBatch::new_in(a, engine),
            Given::A(a, Some(orders)) => CholeskyBatch::with_orders(a, &orders, engine),
            Given::L(l) => CholeskyBatch::from_factors_in(l, engine),
        };
        made.map(Self)
    }

    /// The number of matrices, and n.
    pub fn extents(&self) -> Result<(usize, usize), Refused> {
        Ok((self.0.count(), self.0.order()))
    }

    /// A copy of the batch.
    pub fn copied(&self) -> Result<Self, Refused> {
        Ok(Self(self.0.clone()))
    }

    /// Copies of some matrices.
    pub fn select(&self, indices: &[usize]) -> Result<Self, Refused> {
        Ok(self.0.select(indices).map(Self).map_err(|error| error.with_argument("indices"))?)
    }

    /// Factors another matrix in place of one.
    pub fn replace(&mut self, matrix: usize, a: Operand<'_, T>) -> Result<(), Refused> {
        Ok(self.0.replace(matrix, a)?)
    }

    /// Makes room for matrices of this order.
    pub fn reserve(&mut self, n: usize) -> Result<(), Refused> {
        Ok(self.0.reserve(n).map_err(|error| error.with_argument("n"))?)
    }

    /// The matrices that have no factor, and why.
    pub fn missing(&self) -> Result<Failures, Refused> {
        let reason = |matrix: usize| self.0.status(matrix).err().map(|error| (matrix, error));
        Ok(self.0.missing().into_iter().filter_map(reason).collect())
    }

    /// The order of each matrix, 0 for one without a factor.
    pub fn orders(&self) -> Result<Vec<usize>, Refused> {
        Ok((0..self.0.count()).map(|matrix| self.0.order_of(matrix).unwrap_or(0)).collect())
    }

    /// A copy of the factor of a matrix.
    pub fn factor(&self, matrix: usize) -> Result<Mat<T>, Refused> {
        Ok(self.0.factor(matrix)?)
    }

    /// Copies all factors.
    pub fn copy_factors(&self, l: BatchMut<'_, T>) -> Result<(), Refused> {
        Ok(self.0.copy_factors(l)?)
    }

    /// log det A of each matrix, NaN where there is none, and why.
    pub fn log_dets(&self) -> Result<(Vec<f64>, Failures), Refused> {
        let mut failures = Failures::new();
        let number = |matrix| {
            self.0.log_det(matrix).unwrap_or_else(|error| {
                failures.push((matrix, error));
                f64::NAN
            })
        };
        Ok(((0..self.0.count()).map(number).collect(), failures))
    }

    /// Modifies all matrices, and writes the outcome.
    ///
    /// # Safety
    /// As for [`Results::tell`].
    pub unsafe fn modify(
        &mut self,
        v: BatchRef<'_, T>,
        weights: BatchWeights<'_, T::Part>,
        mask: Option<&[bool]>,
        results: &Results,
    ) -> Result<(), Refused> {
        let outcome = match mask {
            Some(mask) => self.0.modify_where(mask, v, weights)?,
            None => self.0.modify(v, weights)?,
        };
        // SAFETY: forwarded to the caller.
        unsafe { tell(&outcome, results) }
    }

    /// Appends a row and column to each matrix, and writes the outcome.
    ///
    /// # Safety
    /// As for [`Results::tell`].
    pub unsafe fn append(
        &mut self,
        a: BatchRef<'_, T>,
        mask: Option<&[bool]>,
        results: &Results,
    ) -> Result<(), Refused> {
        let outcome = match mask {
            Some(mask) => self.0.append_where(mask, a)?,
            None => self.0.append(a)?,
        };
        // SAFETY: forwarded to the caller.
        unsafe { tell(&outcome, results) }
    }

    /// Removes a row and column of each matrix, and writes the outcome.
    ///
    /// # Safety
    /// As for [`Results::tell`].
    pub unsafe fn remove(
        &mut self,
        indices: &[usize],
        mask: Option<&[bool]>,
        results: &Results,
    ) -> Result<(), Refused> {
        let outcome = match mask {
            Some(mask) => self.0.remove_where(mask, indices)?,
            None => self.0.remove(indices)?,
        };
        // SAFETY: forwarded to the caller.
        unsafe { tell(&outcome, results) }
    }

    /// Solves with each matrix, and writes what has failed.
    ///
    /// # Safety
    /// As for [`Results::tell_failures`].
    pub unsafe fn solve(&self, sides: Sides, b: BatchMut<'_, T>, results: &Results) -> Result<(), Refused> {
        let failures = match sides {
            Sides::Both => self.0.solve_in_place(b)?,
            Sides::L => self.0.solve_l_in_place(b)?,
            Sides::Transposed => self.0.solve_lt_in_place(b)?,
        };
        // SAFETY: forwarded to the caller.
        unsafe { results.tell_failures(by_reference(&failures)) }
    }
}

/// Writes an outcome.
///
/// # Safety
/// As for [`Results::tell`].
unsafe fn tell<T: Scalar>(outcome: &BatchOutcome<'_, T>, results: &Results) -> Result<(), Refused> {
    // SAFETY: forwarded to the caller.
    unsafe { results.tell(outcome.failures(), |matrix| outcome.report(matrix).ok()) }
}
