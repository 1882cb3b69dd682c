//! Insertion, removal, replacement and reordering of rows and columns, for the class `Cholesky`.

use crate::argument::count;
use crate::extension::Extension;
use crate::factor::{Cholesky, with_numbers};
use crate::indices::{index, rows, selection};
use crate::numbers::Number;
use crate::operands::Matrix;
use crate::report::Modification;
use crate::shared::{Changed, Factor, Shared};
use cholupdate::Operand;
use pyo3::prelude::*;

/// A change of the columns of A from index `at` on.
fn put<'py, T: Number>(
    py: Python<'py>,
    state: &Shared<T>,
    at: &Bound<'py, PyAny>,
    columns: &Bound<'py, PyAny>,
    call: impl FnOnce(&mut Factor<T>, usize, &Operand<'_, T>) -> Changed + Send,
) -> PyResult<Modification> {
    let (at, columns) = (index(at, "at")?, Matrix::<T>::new(columns, "columns")?);
    let given = columns.given(py)?;
    state.change(py, |factor| call(factor, at, &given)).map(Modification::from)
}

#[pymethods]
impl Cholesky {
    /// A ← (A B; Bᵀ K). Appends r rows and columns.
    ///
    /// Parameters
    /// ----------
    /// cross : array_like, shape (n, r) or (n,)
    ///     B, the cross terms.
    /// corner : array_like, shape (r, r), or a number
    ///     K, of which the lower triangle is read.
    ///
    /// Returns
    /// -------
    /// Modification
    ///
    /// Raises
    /// ------
    /// NotPositiveDefiniteError
    ///     The bordered matrix is not positive definite. The factor is unchanged.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[4.0, 2.0], [2.0, 5.0]])
    /// >>> report = f.append([2.0, 1.0], 6.0)
    /// >>> f.reconstruct().round(12)
    /// array([[4., 2., 2.],
    ///        [2., 5., 1.],
    ///        [2., 1., 6.]])
    fn append<'py>(
        &self,
        py: Python<'py>,
        cross: &Bound<'py, PyAny>,
        corner: &Bound<'py, PyAny>,
    ) -> PyResult<Modification> {
        fn appended<'py, T: Number>(
            py: Python<'py>,
            state: &Shared<T>,
            cross: &Bound<'py, PyAny>,
            corner: &Bound<'py, PyAny>,
        ) -> PyResult<Modification> {
            let (cross, corner) = (Matrix::<T>::new(cross, "cross")?, Matrix::<T>::new(corner, "corner")?);
            let (cross, corner) = (cross.given(py)?, corner.given(py)?);
            state.change(py, |factor| factor.append(&cross, &corner)).map(Modification::from)
        }
        with_numbers!(self, state => appended(py, state, cross, corner))
    }

    /// Inserts r rows and columns into A. They become rows ``at`` to ``at + r - 1``.
    ///
    /// Parameters
    /// ----------
    /// at : int
    ///     The index of the first new row, from 0 to n.
    /// columns : array_like, shape (n + r, r) or (n + 1,)
    ///     The new columns of A, with the row numbers of the new A. Of rows ``at`` to ``at + r - 1`` only the lower triangle is
    ///     read.
    ///
    /// Returns
    /// -------
    /// Modification
    ///
    /// Raises
    /// ------
    /// NotPositiveDefiniteError
    ///     The new matrix is not positive definite. The factor is unchanged.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[4.0, 2.0], [2.0, 6.0]])
    /// >>> report = f.insert(1, [2.0, 5.0, 1.0])
    /// >>> f.reconstruct().round(12)
    /// array([[4., 2., 2.],
    ///        [2., 5., 1.],
    ///        [2., 1., 6.]])
    fn insert<'py>(
        &self,
        py: Python<'py>,
        at: &Bound<'py, PyAny>,
        columns: &Bound<'py, PyAny>,
    ) -> PyResult<Modification> {
        with_numbers!(self, state => put(py, state, at, columns, |factor, at, columns| factor.insert(at, columns)))
    }

    /// Removes rows and columns of A. The removal cannot break down.
    ///
    /// Parameters
    /// ----------
    /// indices : int, sequence of ints, slice or mask
    ///     The rows, selected as by NumPy: indices in any order, counted from 0 or, if negative, from the end; a slice; or a mask
    ///     of n truth values.
    ///
    /// Returns
    /// -------
    /// Modification
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[4.0, 2.0, 2.0], [2.0, 5.0, 1.0], [2.0, 1.0, 6.0]])
    /// >>> report = f.remove(1)
    /// >>> f.reconstruct().round(12)
    /// array([[4., 2.],
    ///        [2., 6.]])
    /// >>> report = f.remove(slice(-1, None))
    /// >>> f.reconstruct().round(12)
    /// array([[4.]])
    fn remove<'py>(&self, py: Python<'py>, indices: &Bound<'py, PyAny>) -> PyResult<Modification> {
        with_numbers!(self, state => {
            let mut writer = state.writer()?;
            let indices = selection(indices, "indices", writer.order(py))?;
            writer.change(py, |factor| factor.remove(&indices)).map(Modification::from)
        })
    }

    /// Replaces r consecutive rows and columns of A.
    ///
    /// Parameters
    /// ----------
    /// at : int
    ///     The index of the first replaced row.
    /// columns : array_like, shape (n, r) or (n,)
    ///     The new columns of A. Of rows ``at`` to ``at + r - 1`` only the lower triangle is read.
    ///
    /// Returns
    /// -------
    /// Modification
    ///
    /// Raises
    /// ------
    /// NotPositiveDefiniteError
    ///     The new matrix is not positive definite. The factor is unchanged.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[4.0, 1.0, 2.0], [1.0, 3.0, 0.0], [2.0, 0.0, 6.0]])
    /// >>> report = f.replace(1, [2.0, 5.0, 1.0])
    /// >>> f.reconstruct().round(12)
    /// array([[4., 2., 2.],
    ///        [2., 5., 1.],
    ///        [2., 1., 6.]])
    fn replace<'py>(
        &self,
        py: Python<'py>,
        at: &Bound<'py, PyAny>,
        columns: &Bound<'py, PyAny>,
    ) -> PyResult<Modification> {
        with_numbers!(self, state => put(py, state, at, columns, |factor, at, columns| factor.replace(at, columns)))
    }

    /// Moves row and column `at` of A to index `to`. The rows and columns between them move up or down by one.
    ///
    /// Parameters
    /// ----------
    /// at, to : int
    ///     Less than n.
    ///
    /// Returns
    /// -------
    /// Modification
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[5.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 6.0]])
    /// >>> report = f.shift(0, 2)
    /// >>> f.reconstruct().round(12)
    /// array([[4., 2., 2.],
    ///        [2., 6., 1.],
    ///        [2., 1., 5.]])
    fn shift<'py>(
        &self,
        py: Python<'py>,
        at: &Bound<'py, PyAny>,
        to: &Bound<'py, PyAny>,
    ) -> PyResult<Modification> {
        let (at, to) = (index(at, "at")?, index(to, "to")?);
        with_numbers!(self, state => state.change(py, |factor| factor.shift(at, to)).map(Modification::from))
    }

    /// Permutes the rows and columns of A.
    ///
    /// Parameters
    /// ----------
    /// order : sequence of n ints
    ///     The old indices in their new order: A becomes ``A[order][:, order]``.
    ///
    /// Returns
    /// -------
    /// Modification
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[5.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 6.0]])
    /// >>> report = f.permute([1, 2, 0])
    /// >>> f.reconstruct().round(12)
    /// array([[4., 2., 2.],
    ///        [2., 6., 1.],
    ///        [2., 1., 5.]])
    fn permute<'py>(&self, py: Python<'py>, order: &Bound<'py, PyAny>) -> PyResult<Modification> {
        let order = rows(order, "order")?;
        with_numbers!(self, state => state.change(py, |factor| factor.permute(&order)).map(Modification::from))
    }

    /// Borders A by r rows and columns without changing this factor.
    ///
    /// One factor can have many extensions. An extension is valid until the factor changes. After a change its calls raise
    /// `RuntimeError`.
    ///
    /// Parameters
    /// ----------
    /// cross : array_like, shape (n, r) or (n,)
    ///     B, the cross terms.
    /// corner : array_like, shape (r, r), or a number
    ///     K, of which the lower triangle is read.
    ///
    /// Returns
    /// -------
    /// Extension
    ///
    /// Raises
    /// ------
    /// NotPositiveDefiniteError
    ///     The bordered matrix is not positive definite.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[4.0, 2.0], [2.0, 5.0]])
    /// >>> f.extension([2.0, 1.0], 6.0).solve([8.0, 8.0, 9.0]).round(12)
    /// array([1., 1., 1.])
    fn extension<'py>(
        slf: &Bound<'py, Self>,
        cross: &Bound<'py, PyAny>,
        corner: &Bound<'py, PyAny>,
    ) -> PyResult<Extension> {
        Extension::new(slf, cross, corner)
    }

    /// Allocates memory for `additional` further rows and columns.
    ///
    /// Growth beyond `capacity` copies L.
    ///
    /// Parameters
    /// ----------
    /// additional : int
    fn reserve<'py>(&self, py: Python<'py>, additional: &Bound<'py, PyAny>) -> PyResult<()> {
        let additional = count(additional, "additional")?;
        with_numbers!(self, state => state.writer()?.work(py, |factor| factor.reserve(additional)))
    }

    /// The largest order to which the factor can grow without a copy of L.
    #[getter]
    fn capacity(&self, py: Python<'_>) -> PyResult<usize> {
        with_numbers!(self, state => state.look(py, |factor| Ok(factor.capacity())))
    }
}
