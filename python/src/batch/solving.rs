//! Solves, determinants and copies of factors, for the class `CholeskyBatch`.

use super::outcome::BatchStatus;
use super::stacks::{Accepted, StackMut, in_host};
use super::{CholeskyBatch, Shared, number, with_batch};
use crate::arrays::{Array, to_numpy, zeros};
use crate::errors::{exception, exception_of};
use crate::numbers::Real;
use crate::operands::like;
use crate::threads::without_gil;
use cholupdate::{BatchMut, Error};
use numpy::PyArray1;
use pyo3::prelude::*;

/// What has failed, by number.
type Failures = Vec<(usize, Error)>;

/// A copy of an array, in C order.
fn copied<'py, T: Real>(array: &Array<'py, T>) -> PyResult<Array<'py, T>> {
    Ok(array.call_method0("copy")?.cast_into()?)
}

/// Solves for right-hand sides in an array that has a layout for it.
fn solved_there<T: Real>(
    py: Python<'_>,
    shared: &Shared<T>,
    b: Option<BatchMut<'_, T>>,
) -> PyResult<Failures> {
    let Some(b) = b else { return Ok(Failures::new()) };
    let guard = shared.reader(py)?;
    let batch = &*guard;
    without_gil(py, || batch.solve_in_place(b)).map_err(|error| exception(py, error))
}

fn solved<'py, T: Real>(
    py: Python<'py>,
    shared: &Shared<T>,
    object: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let x = copied(&in_host::<T>(object, "b")?)?;
    {
        let mut stack = StackMut::of(&x, "b", Accepted::Vectors)?;
        let failures = solved_there(py, shared, stack.view())?;
        stack.fill_with_nan(failures.iter().map(|(matrix, _)| *matrix));
    }
    like(x.into_any(), object)
}

fn solved_in_place<'py, T: Real>(
    py: Python<'py>,
    shared: &Shared<T>,
    object: &Bound<'py, PyAny>,
) -> PyResult<BatchStatus> {
    let count = shared.reader(py)?.count();
    let mut stack = StackMut::<T>::given(object, "b", Accepted::Vectors)?;
    if let Some(b) = stack.view() {
        return Ok(BatchStatus::new(count, solved_there(py, shared, Some(b))?));
    }
    let x = copied(&in_host::<T>(object, "b")?)?;
    let failures = solved_there(py, shared, StackMut::of(&x, "b", Accepted::Vectors)?.view())?;
    py.import("numpy")?.call_method1("copyto", (object, x))?;
    Ok(BatchStatus::new(count, failures))
}

#[pymethods]
impl CholeskyBatch {
    /// Solves A X = B, for each matrix.
    ///
    /// Parameters
    /// ----------
    /// b : array_like, shape (count, n, m) or (count, n)
    ///     B for each matrix.
    ///
    /// Returns
    /// -------
    /// array, shape of `b`
    ///     NaN for every matrix for which there is no solution: it has no factor, it is singular, or its B is not finite. An array
    ///     of the library of `b` if that has ``__dlpack__``, else a NumPy array. In C order.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> batch = cu.CholeskyBatch([[[4.0, 2.0], [2.0, 5.0]], [[1.0, 0.0], [0.0, -1.0]]])
    /// >>> batch.solve([[8.0, 12.0], [1.0, 1.0]]).round(12)
    /// array([[ 1.,  2.],
    ///        [nan, nan]])
    fn solve<'py>(&self, py: Python<'py>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_batch!(self, shared => solved(py, shared, b))
    }

    /// Solves A X = B in place, for each matrix.
    ///
    /// Parameters
    /// ----------
    /// b : ndarray, shape (count, n, m) or (count, n)
    ///     B for each matrix, overwritten by X. An array of the dtype of the factors that is not read-only.
    ///
    /// Returns
    /// -------
    /// BatchStatus
    ///     The matrices for which there is no solution. Their right-hand sides stay as they were.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import cholupdate as cu
    /// >>> batch = cu.CholeskyBatch([[[4.0]], [[-1.0]]])
    /// >>> b = np.array([[8.0], [3.0]])
    /// >>> batch.solve_in_place(b)
    /// <cholupdate.BatchStatus of 2 matrices, 1 failed>
    /// >>> b.ravel()
    /// array([2., 3.])
    fn solve_in_place<'py>(&self, py: Python<'py>, b: &Bound<'py, PyAny>) -> PyResult<BatchStatus> {
        with_batch!(self, shared => solved_in_place(py, shared, b))
    }

    /// The logarithms of det A.
    ///
    /// Returns
    /// -------
    /// ndarray of float64, shape (count,)
    ///     NaN for a matrix that has no factor or is singular.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> cu.CholeskyBatch([[[1.0]], [[-1.0]]]).log_det()
    /// array([ 0., nan])
    fn log_det<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let logarithms = with_batch!(self, shared => {
            let guard = shared.reader(py)?;
            let batch = &*guard;
            without_gil(py, || -> Vec<f64> {
                (0..batch.count()).map(|matrix| batch.log_det(matrix).unwrap_or(f64::NAN)).collect()
            })
        });
        Ok(PyArray1::from_vec(py, logarithms))
    }

    /// A copy of the factor L of a matrix.
    ///
    /// Parameters
    /// ----------
    /// matrix : int
    ///     Its number. Negative ones count from the end.
    ///
    /// Returns
    /// -------
    /// ndarray, shape (n, n), or of the order of this matrix
    ///     L in Fortran order, zero above the diagonal.
    ///
    /// Raises
    /// ------
    /// NotPositiveDefiniteError, ValueError
    ///     The matrix has no factor.
    fn factor<'py>(&self, py: Python<'py>, matrix: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_batch!(self, shared => {
            let guard = shared.reader(py)?;
            let batch = &*guard;
            let matrix = number(matrix, "matrix", batch.count())?;
            let l = without_gil(py, || batch.factor(matrix)).map_err(|error| exception_of(py, (matrix, error)))?;
            Ok(to_numpy(py, l.as_ref(), false)?.into_any())
        })
    }

    /// Copies of all factors.
    ///
    /// Returns
    /// -------
    /// ndarray, shape (count, n, n)
    ///     L of each matrix, zero above the diagonal and in rows and columns that a matrix of a smaller order does not have. NaN
    ///     for a matrix that has no factor. In C order.
    fn factors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        with_batch!(self, shared => all(py, shared))
    }
}

fn all<'py, T: Real>(py: Python<'py>, shared: &Shared<T>) -> PyResult<Bound<'py, PyAny>> {
    let guard = shared.reader(py)?;
    let (batch, order) = (&*guard, guard.order());
    let l = zeros::<T>(py, &[batch.count(), order, order], false);
    let mut stack = StackMut::of(&l, "l", Accepted::Matrices)?;
    if let Some(view) = stack.view() {
        without_gil(py, || batch.copy_factors(view)).map_err(|error| exception(py, error))?;
    }
    stack.fill_with_nan(batch.missing().into_iter());
    drop(stack);
    Ok(l.into_any())
}
