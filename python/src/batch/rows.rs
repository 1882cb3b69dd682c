//! Rows and columns of the matrices of a batch.

use super::modifying::mask;
use super::outcome::BatchOutcome;
use super::stacks::{Accepted, Given};
use super::stored::Stored;
use super::{CholeskyBatch, Shared, with_batch};
use crate::argument;
use crate::errors::{exception, wrong_value};
use crate::indices::index;
use crate::numbers::Real;
use crate::threads::without_gil;
use numpy::prelude::*;
use numpy::{PyArray1, PyUntypedArray};
use pyo3::prelude::*;

/// Row indices, one for each matrix or one for all. Those of matrices that `mask` leaves out may be anything.
enum Indices {
    One(usize),
    Each(Vec<usize>),
}

impl Indices {
    fn new(object: &Bound<'_, PyAny>, mask: Option<&[bool]>) -> PyResult<Self> {
        let all = object.py().import("numpy")?.call_method1("asarray", (object,))?;
        let dimensions = all.cast::<PyUntypedArray>()?.ndim();
        if dimensions == 0 {
            return Ok(Self::One(index(object, "indices")?));
        }
        if dimensions != 1 {
            return Err(wrong_value(format!("`indices` has {dimensions} dimensions, expected 0 or 1")));
        }
        let left_out = |matrix: usize| mask.is_some_and(|mask| mask.get(matrix) == Some(&false));
        let one = |(matrix, entry): (usize, PyResult<Bound<'_, PyAny>>)| {
            if left_out(matrix) { Ok(0) } else { index(&entry?, "indices") }
        };
        // Integers of Python take less time than those of NumPy.
        let listed = all.call_method0("tolist")?;
        Ok(Self::Each(listed.try_iter()?.enumerate().map(one).collect::<PyResult<_>>()?))
    }

    /// One for each of `count` matrices.
    fn of_each(self, count: usize) -> Vec<usize> {
        match self {
            Self::One(index) => vec![index; count],
            Self::Each(indices) => indices,
        }
    }
}

impl<T: Real> Shared<Stored<T>> {
    fn appended<'py>(
        &self,
        batch: &Bound<'py, CholeskyBatch>,
        a: &Bound<'py, PyAny>,
        mask: Option<&[bool]>,
    ) -> PyResult<Py<BatchOutcome>> {
        let py = batch.py();
        let a = Given::<T>::new(a, "a", Accepted::Vectors, batch.get().place)?;
        let stream = a.current_stream();
        let mut guard = self.writer(py)?;
        let (stored, a) = (&mut *guard, a.operand(py, "a")?);
        let done = without_gil(py, || Ok((stored.count(), stored.append(a, mask, stream.is_none())?)));
        let (count, done) = done.map_err(|error| exception(py, error))?;
        BatchOutcome::of((batch, count), done, stream)
    }
}

#[pymethods]
impl CholeskyBatch {
    /// The order of each matrix, an ndarray of int of shape (count,). 0 for a matrix that has no factor.
    #[getter]
    fn orders<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<isize>>> {
        let orders = with_batch!(self, shared => shared.look(py, |stored| stored.orders()))?;
        Ok(super::outcome::numbers(py, orders.into_iter()))
    }

    /// Makes room for matrices of this order, which becomes `order`, unless that is as large already. No matrix changes.
    ///
    /// Parameters
    /// ----------
    /// order : int
    ///     The order.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> batch = cu.CholeskyBatch([[[4.0]], [[9.0]]])
    /// >>> batch.reserve(10)
    /// >>> batch.order, batch.orders
    /// (10, array([1, 1]))
    fn reserve(&self, py: Python<'_>, order: &Bound<'_, PyAny>) -> PyResult<()> {
        let order = argument::count(order, "order")?;
        with_batch!(self, shared => {
            let mut guard = shared.writer(py)?;
            let stored = &mut *guard;
            without_gil(py, || stored.reserve(order)).map_err(|error| exception(py, error))
        })
    }

    /// Appends a row and column to each matrix: A ← (A c; cᵀ d), of complex numbers (A c; cᴴ d).
    ///
    /// Parameters
    /// ----------
    /// a : array_like, shape (count, n) or (count, n, 1)
    ///     The new columns. Of a matrix of order m the first m entries are c, the next one is d, and the others may be anything.
    /// where : array_like of bool, shape (count,), optional
    ///     The matrices that get a row. The others stay as they are, and do not fail.
    ///
    /// Returns
    /// -------
    /// BatchOutcome
    ///     The matrices that failed: those that would not be positive definite, and those of order n, for which `reserve` makes room.
    ///     The ratio of a matrix is its new squared pivot over d.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> batch = cu.CholeskyBatch([[[4.0]], [[9.0]]])
    /// >>> batch.reserve(2)
    /// >>> outcome = batch.append([[2.0, 5.0], [3.0, 1.0]])      # [[4, 2], [2, 5]] and [[9, 3], [3, 1]]
    /// >>> outcome.failed
    /// array([1])
    /// >>> batch.orders
    /// array([2, 1])
    /// >>> batch.factor(0)
    /// array([[2., 0.],
    ///        [1., 2.]])
    #[pyo3(signature = (a, *, r#where=None), text_signature = "($self, a, *, where=None)")]
    fn append<'py>(
        slf: &Bound<'py, Self>,
        a: &Bound<'py, PyAny>,
        r#where: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<BatchOutcome>> {
        let mask = r#where.map(mask).transpose()?;
        with_batch!(slf.get(), shared => shared.appended(slf, a, mask.as_deref()))
    }

    /// Removes a row and column of each matrix.
    ///
    /// Parameters
    /// ----------
    /// indices : int or array_like of int, shape (count,)
    ///     The row of each matrix that goes, from 0 on; an integer is for all matrices.
    /// where : array_like of bool, shape (count,), optional
    ///     The matrices that lose a row. The others stay as they are, and their indices may be anything.
    ///
    /// Returns
    /// -------
    /// BatchOutcome
    ///     The matrices that failed, because they do not have the row.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> batch = cu.CholeskyBatch([[[4.0, 2.0], [2.0, 5.0]], [[9.0, 3.0], [3.0, 2.0]]])
    /// >>> outcome = batch.remove([1, 0])
    /// >>> batch.factor(0), batch.factor(1) ** 2
    /// (array([[2.]]), array([[2.]]))
    /// >>> batch.orders
    /// array([1, 1])
    #[pyo3(signature = (indices, *, r#where=None), text_signature = "($self, indices, *, where=None)")]
    fn remove<'py>(
        slf: &Bound<'py, Self>,
        indices: &Bound<'py, PyAny>,
        r#where: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<BatchOutcome>> {
        let mask = r#where.map(mask).transpose()?;
        let indices = Indices::new(indices, mask.as_deref())?;
        let (py, mask) = (slf.py(), mask.as_deref());
        with_batch!(slf.get(), shared => {
            let mut guard = shared.writer(py)?;
            let stored = &mut *guard;
            let done = without_gil(py, || {
                let count = stored.count();
                Ok((count, stored.remove(&indices.of_each(count), mask)?))
            });
            let (count, done) = done.map_err(|error| exception(py, error))?;
            BatchOutcome::of((slf, count), done, None)
        })
    }
}
