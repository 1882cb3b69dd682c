//! Copies of a batch, some of its matrices, and others in their place.

use super::{CholeskyBatch, Shared, another, number, with_batch};
use crate::arrays::Read;
use crate::errors::{exception, wrong_value};
use crate::indices::{Counted, selection_of};
use crate::threads::without_gil;
use pyo3::prelude::*;

#[pymethods]
impl CholeskyBatch {
    /// A copy of the batch.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        let kept = another!(self, shared => shared.look(py, |stored| stored.copied())?);
        Ok(self.beside(py, kept))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.copy(py)
    }

    /// Copies some of the matrices to a batch of their own, in this order.
    ///
    /// Parameters
    /// ----------
    /// indices : int, iterable of int, slice or array of bool
    ///     The numbers of the matrices, as NumPy selects them. One may occur several times.
    ///
    /// Returns
    /// -------
    /// CholeskyBatch
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> batch = cu.CholeskyBatch([[[1.0]], [[4.0]], [[9.0]]])
    /// >>> batch.select([2, 0, 2]).factors().ravel()
    /// array([3., 1., 3.])
    fn select<'py>(&self, py: Python<'py>, indices: &Bound<'py, PyAny>) -> PyResult<Self> {
        let kept = another!(self, shared => {
            let guard = shared.reader(py)?;
            let stored = &*guard;
            let matrices = selection_of(indices, "indices", (stored.count(), Counted::Matrices))?;
            without_gil(py, || stored.select(&matrices)).map_err(|error| exception(py, error))?
        });
        Ok(self.beside(py, kept))
    }

    /// Factors another A in place of a matrix.
    ///
    /// Parameters
    /// ----------
    /// matrix : int
    ///     Its number. Negative ones count from the end.
    /// a : array_like, shape (m, m)
    ///     A, of any order m ≤ n, of which the lower triangle is read.
    ///
    /// Raises
    /// ------
    /// NotPositiveDefiniteError
    ///     A is not positive definite. The matrix stays as it was.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> batch = cu.CholeskyBatch([[[1.0]], [[-4.0]]])
    /// >>> batch.missing
    /// array([1])
    /// >>> batch.replace(1, [[4.0]])
    /// >>> batch.factors().ravel()
    /// array([1., 2.])
    fn replace<'py>(
        &self,
        py: Python<'py>,
        matrix: &Bound<'py, PyAny>,
        a: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        with_batch!(self, shared => {
            let a = Read::new(shared.fetched(a, "a", self.place)?, "a")?;
            let mut guard = shared.writer(py)?;
            let (stored, view) = (&mut *guard, a.view());
            let matrix = number(matrix, "matrix", stored.count())?;
            if view.nrows() > stored.order() {
                let (found, most) = (view.nrows(), stored.order());
                return Err(wrong_value(format!("`a`: the number of rows is {found}, expected at most {most}")));
            }
            without_gil(py, || stored.replace(matrix, view)).map_err(|error| exception(py, error))
        })
    }
}
