//! Calls of Python on a batch of complex numbers, which is in host memory.

use super::begin::Place;
use super::gpu_numbers::Call;
use super::modifying::Weighted;
use super::on_host::OnHost;
use super::outcome::{BatchOutcome, BatchStatus};
use super::solving::{all_in, solved_in, solved_in_place_in};
use super::stacks::{Accepted, Stack, in_host, real_in_host};
use super::{CholeskyBatch, Shared};
use crate::arrays::{Array, to_numpy};
use crate::errors::{exception, exception_of};
use crate::numbers::Number;
use crate::threads::without_gil;
use cholupdate::{BatchWeights, Weights};
use pyo3::prelude::*;

impl<T: Number> Shared<OnHost<T>> {
    pub fn modified<'py>(
        &self,
        batch: &Bound<'py, CholeskyBatch>,
        v: &Bound<'py, PyAny>,
        weights: Weights<'_, T::RealPart>,
    ) -> PyResult<Py<BatchOutcome>> {
        self.changed(batch, &Stack::new(v, "v", Accepted::Vectors)?, weights.into(), None)
    }

    pub fn weighted<'py>(
        &self,
        batch: &Bound<'py, CholeskyBatch>,
        (v, weights): (&Bound<'py, PyAny>, &Bound<'py, PyAny>),
        mask: Option<&[bool]>,
    ) -> PyResult<Py<BatchOutcome>> {
        let v = Stack::<T>::new(v, "v", Accepted::Vectors)?;
        let [count, _, rank] = v.shape();
        let weights = Weighted::new(&real_in_host::<T>(weights, "weights")?, (count, rank))?;
        self.changed(batch, &v, weights.view(), mask)
    }

    fn changed(
        &self,
        batch: &Bound<'_, CholeskyBatch>,
        v: &Stack<'_, T>,
        weights: BatchWeights<'_, T::RealPart>,
        mask: Option<&[bool]>,
    ) -> PyResult<Py<BatchOutcome>> {
        let py = batch.py();
        let mut guard = self.writer(py)?;
        let (stored, v) = (&mut *guard, v.view());
        let done = without_gil(py, || Ok((stored.count(), stored.modify(v, weights, mask)?)));
        let (count, done) = done.map_err(|error| exception(py, error))?;
        BatchOutcome::of((batch, count), done, None)
    }

    pub fn appended<'py>(
        &self,
        batch: &Bound<'py, CholeskyBatch>,
        a: &Bound<'py, PyAny>,
        mask: Option<&[bool]>,
    ) -> PyResult<Py<BatchOutcome>> {
        let (py, a) = (batch.py(), Stack::<T>::new(a, "a", Accepted::Vectors)?);
        let mut guard = self.writer(py)?;
        let (stored, a) = (&mut *guard, a.view());
        let done = without_gil(py, || Ok((stored.count(), stored.append(a, mask)?)));
        let (count, done) = done.map_err(|error| exception(py, error))?;
        BatchOutcome::of((batch, count), done, None)
    }

    pub fn solved<'py>(
        &self,
        batch: &Bound<'py, CholeskyBatch>,
        b: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        solved_in::<T>(b, |b| self.look(batch.py(), |stored| stored.solve(b)))
    }

    pub fn solved_in_place<'py>(
        &self,
        batch: &Bound<'py, CholeskyBatch>,
        b: &Bound<'py, PyAny>,
    ) -> PyResult<BatchStatus> {
        let py = batch.py();
        let of = (batch, self.reader(py)?.count());
        let done = solved_in_place_in::<T>(b, |b| self.look(py, |stored| stored.solve_in_place(b)))?;
        Ok(BatchStatus::new(of, Call::Solve, done, None))
    }

    /// A copy of the factor of a matrix.
    pub fn factor<'py>(
        &self,
        py: Python<'py>,
        _batch: &CholeskyBatch,
        matrix: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let guard = self.reader(py)?;
        let stored = &*guard;
        let l =
            without_gil(py, || stored.factor(matrix)).map_err(|error| exception_of(py, (matrix, error)))?;
        Ok(to_numpy(py, l.as_ref(), false)?.into_any())
    }

    /// Copies of all factors.
    pub fn factors<'py>(&self, py: Python<'py>, _batch: &CholeskyBatch) -> PyResult<Bound<'py, PyAny>> {
        let extents = self.look(py, |stored| Ok((stored.count(), stored.order())))?;
        all_in::<T>(py, extents, |l| {
            self.look(py, |stored| {
                stored.copy_factors(l)?;
                stored.missing()
            })
        })
    }

    /// An argument that is used in host memory.
    pub fn fetched<'py>(
        &self,
        object: &Bound<'py, PyAny>,
        name: &str,
        _place: Place,
    ) -> PyResult<Array<'py, T>> {
        in_host(object, name)
    }
}
