//! What a call on a batch has done to each matrix.

use super::gpu_numbers::{Call, Numbers, There};
use super::stored::Done;
use super::{CholeskyBatch, number};
use crate::device::DeviceArray;
use crate::errors::{exception_of, wrong_value};
use cholupdate::Modification;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The numbers of a call, or where they are.
enum Found {
    Here(Numbers),
    There(There),
}

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
    found: Found,
}

impl BatchStatus {
    /// Of a call on a batch of `count` matrices. `stream` is one on which later work comes after the call, if it was not waited for.
    pub fn new(
        (batch, count): (&Bound<'_, CholeskyBatch>, usize),
        call: Call,
        done: Done,
        stream: Option<u64>,
    ) -> Self {
        let found = match done {
            Done::Here(numbers) => Found::Here(numbers),
            Done::There(number) => Found::There(There::new(batch, (call, number), stream)),
        };
        Self { count, found }
    }

    fn numbers(&self, py: Python<'_>) -> PyResult<&Numbers> {
        match &self.found {
            Found::Here(numbers) => Ok(numbers),
            Found::There(there) => there.numbers(py),
        }
    }

    /// The numbers, if they are in host memory.
    fn copied(&self) -> Option<&Numbers> {
        match &self.found {
            Found::Here(numbers) => Some(numbers),
            Found::There(there) => there.copied(),
        }
    }
}

#[pymethods]
impl BatchStatus {
    /// The numbers of the matrices that failed, in order.
    #[getter]
    fn failed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<isize>>> {
        Ok(numbers(py, self.numbers(py)?.failures.iter().map(|(matrix, _)| *matrix)))
    }

    /// The exception for each matrix that failed.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let errors = PyDict::new(py);
        for (matrix, error) in &self.numbers(py)?.failures {
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
        let failures = &self.numbers(py)?.failures;
        let found = failures.binary_search_by_key(&matrix, |(matrix, _)| *matrix);
        Ok(found.ok().map(|at| exception_of(py, failures[at].clone())))
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
        match self.numbers(py)?.failures.first() {
            Some(failure) => Err(exception_of(py, failure.clone())),
            None => Ok(()),
        }
    }

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let (status, name) = (slf.get(), slf.get_type().name()?);
        let failed = match status.copied() {
            Some(numbers) => format!("{} failed", numbers.failures.len()),
            None => "not read yet".into(),
        };
        Ok(format!("<cholupdate.{name} of {} matrices, {failed}>", status.count))
    }
}

/// The outcome of a modification of a batch.
///
/// Of a batch in host memory it owns its numbers. Of a batch on a GPU the numbers stay there until the next modification: what asks for
/// one of them waits for the call and copies all, and raises `RuntimeError` if the batch was modified again before, or if `replace` has
/// replaced a matrix or `reserve` has made room. `on_device` gives arrays of them without a copy.
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
pub struct BatchOutcome {}

impl BatchOutcome {
    /// The outcome of a modification as an object of Python, as `BatchStatus::new`.
    pub fn of(
        (batch, count): (&Bound<'_, CholeskyBatch>, usize),
        done: Done,
        stream: Option<u64>,
    ) -> PyResult<Py<Self>> {
        let status = BatchStatus::new((batch, count), Call::Modification, done, stream);
        Py::new(batch.py(), PyClassInitializer::from(status).add_subclass(Self {}))
    }

    fn of_each<'py>(
        slf: &Bound<'py, Self>,
        number: fn(&Modification) -> f64,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let py = slf.py();
        let of = |report: &Option<Modification>| report.as_ref().map_or(f64::NAN, number);
        Ok(PyArray1::from_iter(py, slf.as_super().get().numbers(py)?.reports.iter().map(of)))
    }
}

#[pymethods]
impl BatchOutcome {
    /// For each matrix the smallest ratio of a new squared pivot to the old one.
    #[getter]
    fn min_pivot_ratio<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Self::of_each(slf, |report| report.min_pivot_ratio)
    }

    /// For each matrix the change of the logarithm of det A.
    #[getter]
    fn log_det_change<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Self::of_each(slf, Modification::log_det_change)
    }

    /// The numbers of a batch on a GPU as arrays there, without a copy and without waiting.
    ///
    /// They are for work that comes after the call on the stream on which V was used; an array that is exported to another stream waits
    /// for the call first. Every later modification of the batch writes them again, also one that is replayed in a CUDA graph.
    ///
    /// Returns
    /// -------
    /// status : DeviceArray of int32, shape (count,)
    ///     0; or 1 + the column that breaks down; or a negative number: the matrix has no factor (−1), V (−2) or a weight (−3) is not
    ///     finite or too large (−4), a pivot is zero (−5), the call failed on the device before this was decided (−6), there is no room
    ///     for a row (−7) or no such row (−8).
    /// ratio : DeviceArray, shape (count,)
    ///     The least ratio of a new pivot to the old one, of the dtype of the batch; its square is `min_pivot_ratio`. 1 for a matrix
    ///     that failed.
    /// log_det_change : DeviceArray, shape (count,)
    ///     Of the dtype of the batch. 0 for a matrix that failed.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     The batch is in host memory.
    /// RuntimeError
    ///     The batch was modified again, or `replace` or `reserve` came after.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> import torch                                             # doctest: +SKIP
    /// >>> a = 4.0 * torch.eye(3, device="cuda").expand(1000, 3, 3)  # doctest: +SKIP
    /// >>> batch = cu.CholeskyBatch(a, engine="cuda")               # doctest: +SKIP
    /// >>> outcome = batch.downdate(torch.rand(1000, 3, device="cuda"))  # doctest: +SKIP
    /// >>> status = torch.from_dlpack(outcome.on_device()[0])       # doctest: +SKIP
    /// >>> torch.count_nonzero(status)                              # doctest: +SKIP
    /// tensor(0, device='cuda:0')
    fn on_device(slf: &Bound<'_, Self>) -> PyResult<(DeviceArray, DeviceArray, DeviceArray)> {
        let (py, status) = (slf.py(), slf.as_super().get());
        let Found::There(there) = &status.found else {
            return Err(wrong_value("the batch is in host memory, and so are the numbers of the outcome"));
        };
        let [status, ratio, log_det] = there.on_device(py)?;
        Ok((status, ratio, log_det))
    }
}

/// Numbers of matrices as an array of NumPy.
pub fn numbers<'py>(
    py: Python<'py>,
    matrices: impl ExactSizeIterator<Item = usize>,
) -> Bound<'py, PyArray1<isize>> {
    PyArray1::from_iter(py, matrices.map(|matrix| matrix as isize))
}
