//! A batch in host memory.

use super::gpu_numbers::{Call, Numbers};
use super::stored::Done;
use crate::numbers::Number;
use cholupdate::faer::{Mat, MatRef};
use cholupdate::{BatchMut, BatchOutcome, BatchRef, BatchWeights, CholeskyBatch, Cpu, Error};

/// A batch in host memory: the only one of complex numbers.
pub struct OnHost<T: Number>(CholeskyBatch<T>);

/// The numbers of a modification.
fn found<T: Number>(count: usize, outcome: &BatchOutcome<'_, T>) -> Done {
    let failures = outcome.failures().map(|(matrix, error)| (matrix, error.clone())).collect();
    Done::Here(Numbers { failures, reports: (0..count).map(|matrix| outcome.report(matrix).ok()).collect() })
}

impl<T: Number> OnHost<T> {
    pub fn new(a: BatchRef<'_, T>, orders: Option<&[usize]>, engine: Cpu) -> Result<Self, Error> {
        let made = match orders {
            Some(orders) => CholeskyBatch::with_orders(a, orders, engine),
            None => CholeskyBatch::new_in(a, engine),
        };
        made.map(Self)
    }

    /// A batch of known factors.
    pub fn from_factors(l: BatchRef<'_, T>, engine: Cpu) -> Result<Self, Error> {
        CholeskyBatch::from_factors_in(l, engine).map(Self)
    }

    pub fn count(&self) -> usize {
        self.0.count()
    }

    pub fn order(&self) -> usize {
        self.0.order()
    }

    /// The orders of all matrices, 0 for one that has no factor.
    pub fn orders(&self) -> Result<Vec<usize>, Error> {
        Ok((0..self.count()).map(|matrix| self.0.order_of(matrix).unwrap_or(0)).collect())
    }

    pub fn missing(&self) -> Result<Vec<usize>, Error> {
        Ok(self.0.missing())
    }

    /// The reason why a matrix has no factor.
    pub fn reason(&self, matrix: usize) -> Result<Option<Error>, Error> {
        Ok(self.0.status(matrix).err())
    }

    /// NaN for a matrix that has no factor or is singular.
    pub fn log_dets(&self) -> Result<Vec<f64>, Error> {
        Ok((0..self.count()).map(|matrix| self.0.log_det(matrix).unwrap_or(f64::NAN)).collect())
    }

    pub fn factor(&self, matrix: usize) -> Result<Mat<T>, Error> {
        self.0.factor(matrix)
    }

    pub fn copy_factors(&self, l: BatchMut<'_, T>) -> Result<(), Error> {
        self.0.copy_factors(l)
    }

    /// Solves in place.
    pub fn solve_in_place(&self, b: BatchMut<'_, T>) -> Result<Done, Error> {
        let failures = self.0.solve_in_place(b)?;
        Ok(Done::Here(Numbers { failures, reports: Vec::new() }))
    }

    /// Solves in place, and returns the numbers of the matrices for which there is no solution.
    pub fn solve(&self, b: BatchMut<'_, T>) -> Result<Vec<usize>, Error> {
        Ok(self.0.solve_in_place(b)?.into_iter().map(|(matrix, _)| matrix).collect())
    }

    /// A + V diag(w) Vᴴ.
    pub fn modify(
        &mut self,
        v: BatchRef<'_, T>,
        weights: BatchWeights<'_, T::RealPart>,
        mask: Option<&[bool]>,
    ) -> Result<Done, Error> {
        let count = self.count();
        let outcome = match mask {
            Some(mask) => self.0.modify_where(mask, v, weights),
            None => self.0.modify(v, weights),
        };
        Ok(found(count, &outcome?))
    }

    /// A + V diag(w) Vᴴ; or the first matrix that could not be modified, and why.
    pub fn modify_all(
        &mut self,
        v: BatchRef<'_, T>,
        weights: BatchWeights<'_, T::RealPart>,
    ) -> Result<Result<(), (usize, Error)>, Error> {
        Ok(self.0.modify(v, weights)?.all())
    }

    /// The numbers of a call are not kept.
    pub fn numbers(&self, _call: (Call, u64)) -> Result<Option<Numbers>, Error> {
        Ok(None)
    }

    /// Calls are done when they return.
    pub fn wait(&self) -> Result<(), Error> {
        Ok(())
    }

    pub fn copied(&self) -> Result<Self, Error> {
        Ok(Self(self.0.clone()))
    }

    pub fn select(&self, matrices: &[usize]) -> Result<Self, Error> {
        self.0.select(matrices).map(Self)
    }

    pub fn replace(&mut self, matrix: usize, a: MatRef<'_, T>) -> Result<(), Error> {
        self.0.replace(matrix, a)
    }

    pub fn reserve(&mut self, order: usize) -> Result<(), Error> {
        self.0.reserve(order)
    }

    /// Appends a row and column to each matrix.
    pub fn append(&mut self, a: BatchRef<'_, T>, mask: Option<&[bool]>) -> Result<Done, Error> {
        let count = self.count();
        let outcome = match mask {
            Some(mask) => self.0.append_where(mask, a),
            None => self.0.append(a),
        };
        Ok(found(count, &outcome?))
    }

    pub fn remove(&mut self, indices: &[usize], mask: Option<&[bool]>) -> Result<Done, Error> {
        let count = self.count();
        let outcome = match mask {
            Some(mask) => self.0.remove_where(mask, indices),
            None => self.0.remove(indices),
        };
        Ok(found(count, &outcome?))
    }
}
