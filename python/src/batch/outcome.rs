//! What a call on a batch has done to each matrix.

use super::number;
use crate::errors::exception_of;
use cholupdate::{Error, Modification};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Which matrices of a batch a call could not process, and why. They are as they were.
///
/// Attributes
/// ----------
/// failed : ndarray of int
///     The numbers of these matrices, in order.
/// errors : dict of int to Exception
///     What `Cholesky` would have raised for each of them, with the number of the matrix at the beginning of the message.
#[pyclass(frozen, subclass, module = "cholupdate")]
pub struct BatchStatus {
    count: usize,
    failures: Vec<(usize, Error)>,
}

impl BatchStatus {
    /// Of a batch of `count` matrices; failures are in order.
    pub fn new(count: usize, failures: Vec<(usize, Error)>) -> Self {
        Self { count, failures }
    }
}

#[pymethods]
impl BatchStatus {
    /// The numbers of the matrices that failed, in order.
    #[getter]
    fn failed<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<isize>> {
        numbers(py, self.failures.iter().map(|(matrix, _)| *matrix))
    }

    /// The exception for each matrix that failed.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let errors = PyDict::new(py);
        for (matrix, error) in &self.failures {
            errors.set_item(matrix, exception_of(py, (*matrix, error.clone())))?;
        }
        Ok(errors)
    }

    /// The exception for a matrix.
    ///
    /// Parameters
    /// ----------
    /// matrix : int
    ///     Its number. Negative ones count from the end.
    ///
    /// Returns
    /// -------
    /// Exception or None
    ///     None if the matrix did not fail.
    fn status(&self, py: Python<'_>, matrix: &Bound<'_, PyAny>) -> PyResult<Option<PyErr>> {
        let matrix = number(matrix, "matrix", self.count)?;
        let found = self.failures.binary_search_by_key(&matrix, |(matrix, _)| *matrix);
        Ok(found.ok().map(|at| exception_of(py, self.failures[at].clone())))
    }

    /// Raises the exception for the first matrix that failed, if one did.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> batch = cu.CholeskyBatch([[[4.0]], [[9.0]]])
    /// >>> batch.downdate([[1.0], [3.0]]).check()
    /// Traceback (most recent call last):
    ///     ...
    /// cholupdate.NotPositiveDefiniteError: matrix 1: not positive definite: the squared pivot of column 0 is not positive
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        match self.failures.first() {
            Some(failure) => Err(exception_of(py, failure.clone())),
            None => Ok(()),
        }
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let Self { count, failures } = slf.get();
        let name = slf.get_type().name()?;
        Ok(format!("<cholupdate.{name} of {count} matrices, {} failed>", failures.len()))
    }
}

/// The outcome of a modification of a batch. It owns its numbers.
///
/// Attributes
/// ----------
/// failed : ndarray of int
///     The numbers of the matrices that could not be modified, in order.
/// errors : dict of int to Exception
///     What `Cholesky` would have raised for each of them, with the number of the matrix at the beginning of the message.
/// min_pivot_ratio : ndarray of float64, shape (count,)
///     For each matrix the smallest ratio of a new squared pivot to the old one; NaN if it failed, 1 if `where` left it out.
/// log_det_change : ndarray of float64, shape (count,)
///     For each matrix the change of the logarithm of det A; NaN if it failed, 0 if `where` left it out.
///
/// Examples
/// --------
/// >>> import cholupdate as cu
/// >>> batch = cu.CholeskyBatch([[[4.0]], [[9.0]], [[16.0]]])
/// >>> outcome = batch.downdate([[1.0], [3.0], [0.0]])
/// >>> outcome.failed
/// array([1])
/// >>> outcome.min_pivot_ratio
/// array([0.75,  nan, 1.  ])
/// >>> outcome.status(1)
/// NotPositiveDefiniteError('matrix 1: not positive definite: the squared pivot of column 0 is not positive')
#[pyclass(frozen, extends = BatchStatus, module = "cholupdate")]
pub struct BatchOutcome {
    /// One for each matrix; `None` for those that failed.
    reports: Vec<Option<Modification>>,
}

/// What a modification has done to each matrix, copied from the batch.
pub struct Outcome {
    failures: Vec<(usize, Error)>,
    reports: Vec<Option<Modification>>,
}

impl Outcome {
    /// Copies the outcome for a batch of `count` matrices.
    pub fn of<T: cholupdate::Scalar>(count: usize, outcome: &cholupdate::BatchOutcome<'_, T>) -> Self {
        let failures = outcome.failures().map(|(matrix, error)| (matrix, error.clone())).collect();
        Self { failures, reports: (0..count).map(|matrix| outcome.report(matrix).ok()).collect() }
    }

    /// The outcome as an object of Python.
    pub fn into_py(self, py: Python<'_>) -> PyResult<Py<BatchOutcome>> {
        let status = BatchStatus::new(self.reports.len(), self.failures);
        let made = PyClassInitializer::from(status).add_subclass(BatchOutcome { reports: self.reports });
        Py::new(py, made)
    }
}

impl BatchOutcome {
    fn of_each<'py>(&self, py: Python<'py>, number: fn(&Modification) -> f64) -> Bound<'py, PyArray1<f64>> {
        let of = |report: &Option<Modification>| report.as_ref().map_or(f64::NAN, number);
        PyArray1::from_iter(py, self.reports.iter().map(of))
    }
}

#[pymethods]
impl BatchOutcome {
    /// For each matrix the smallest ratio of a new squared pivot to the old one.
    #[getter]
    fn min_pivot_ratio<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.of_each(py, |report| report.min_pivot_ratio)
    }

    /// For each matrix the change of the logarithm of det A.
    #[getter]
    fn log_det_change<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.of_each(py, Modification::log_det_change)
    }
}

/// Numbers of matrices as an array of NumPy.
pub fn numbers<'py>(
    py: Python<'py>,
    matrices: impl ExactSizeIterator<Item = usize>,
) -> Bound<'py, PyArray1<isize>> {
    PyArray1::from_iter(py, matrices.map(|matrix| matrix as isize))
}
