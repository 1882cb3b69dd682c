//! Rows and columns of the class `Cholesky` that come, go and change places.

use crate::argument::count;
use crate::extension::Extension;
use crate::factor::{Cholesky, with_numbers};
use crate::indices::{index, rows, selection};
use crate::numbers::Real;
use crate::operands::Matrix;
use crate::report::Modification;
use crate::shared::{Changed, Factor, Shared};
use cholupdate::Operand;
use pyo3::prelude::*;

/// A change that takes columns of A at some place.
fn put<'py, T: Real>(
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
    /// A ← (A B; Bᵀ K): r further rows and columns at the end.
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
    ///     The bordered matrix is not positive definite. The factor is as it was.
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
        fn appended<'py, T: Real>(
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

    /// Inserts r rows and columns into A, which become rows ``at`` to ``at + r - 1``.
    ///
    /// Parameters
    /// ----------
    /// at : int
    ///     Where, from 0 to n.
    /// columns : array_like, shape (n + r, r) or (n + 1,)
    ///     The new columns of A, numbered as afterwards. Of their rows ``at`` to ``at + r - 1`` the lower triangle is read.
    ///
    /// Returns
    /// -------
    /// Modification
    ///
    /// Raises
    /// ------
    /// NotPositiveDefiniteError
    ///     The new matrix is not positive definite. The factor is as it was.
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

    /// Removes rows and columns of A. It cannot break down.
    ///
    /// Parameters
    /// ----------
    /// indices : int, sequence of ints, slice or mask
    ///     Which, as NumPy selects rows: in any order, counted from 0 or, where negative, from the end; or a truth value for each of
    ///     the n rows.
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

    /// Gives r neighbouring rows and columns of A other values.
    ///
    /// Parameters
    /// ----------
    /// at : int
    ///     The first of them.
    /// columns : array_like, shape (n, r) or (n,)
    ///     The new columns of A. Of their rows ``at`` to ``at + r - 1`` the lower triangle is read.
    ///
    /// Returns
    /// -------
    /// Modification
    ///
    /// Raises
    /// ------
    /// NotPositiveDefiniteError
    ///     The new matrix is not positive definite. The factor is as it was.
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

    /// Moves row and column `at` of A to row and column `to`; those between move up or down by one.
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

    /// Puts rows and columns of A in another order.
    ///
    /// Parameters
    /// ----------
    /// order : sequence of n ints
    ///     The old rows in their new order: A becomes ``A[order][:, order]``.
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

    /// A bordered by r rows and columns, without a change of this factor.
    ///
    /// Many extensions can stand on one factor. They are good for as long as it does not change: their calls raise `RuntimeError`
    /// afterwards.
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

    /// Makes room for `additional` further rows and columns.
    ///
    /// Growth beyond the room that there is copies L.
    ///
    /// Parameters
    /// ----------
    /// additional : int
    fn reserve<'py>(&self, py: Python<'py>, additional: &Bound<'py, PyAny>) -> PyResult<()> {
        let additional = count(additional, "additional")?;
        with_numbers!(self, state => state.writer()?.work(py, |factor| factor.reserve(additional)))
    }

    /// The largest order that the factor can grow to without a copy of L.
    #[getter]
    fn capacity(&self, py: Python<'_>) -> PyResult<usize> {
        with_numbers!(self, state => state.look(py, |factor| Ok(factor.capacity())))
    }
}
