//! Insertion, removal, replacement and reordering of rows and columns, for the class `Ldlt`.

use super::extension::LdltExtension;
use super::report::LdltModification;
use super::{Ldlt, Shared, with_ldlt};
use crate::indices::{index, rows, selection};
use crate::numbers::Number;
use crate::operands::Matrix;
use cholupdate::{Error, Operand};
use pyo3::prelude::*;

/// A change of the columns of A from index `at` on.
fn put<'py, T: Number>(
    py: Python<'py>,
    shared: &Shared<T>,
    (at, columns): (&Bound<'py, PyAny>, &Bound<'py, PyAny>),
    call: impl FnOnce(
        &mut cholupdate::Ldlt<T>,
        usize,
        &Operand<'_, T>,
    ) -> Result<cholupdate::LdltModification, Error>
    + Send,
) -> PyResult<LdltModification> {
    let (at, columns) = (index(at, "at")?, Matrix::<T>::new(columns, "columns")?);
    let given = columns.given(py)?;
    shared.writer(py)?.change(py, given.shape().1, |factor| call(factor, at, &given))
}

#[pymethods]
impl Ldlt {
    /// A ← (A B; Bᴴ K), where Bᴴ is Bᵀ for real numbers. Appends r rows and columns.
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
    /// LdltModification
    ///
    /// Raises
    /// ------
    /// SingularError, UnstableError, InertiaError
    ///     As for `update`.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Ldlt([[4.0, 2.0], [2.0, 5.0]])
    /// >>> f.append([2.0, 1.0], -3.0).inertia
    /// (2, 1)
    /// >>> f.reconstruct().round(12)
    /// array([[ 4.,  2.,  2.],
    ///        [ 2.,  5.,  1.],
    ///        [ 2.,  1., -3.]])
    fn append<'py>(
        &self,
        py: Python<'py>,
        cross: &Bound<'py, PyAny>,
        corner: &Bound<'py, PyAny>,
    ) -> PyResult<LdltModification> {
        fn appended<'py, T: Number>(
            py: Python<'py>,
            shared: &Shared<T>,
            (cross, corner): (&Bound<'py, PyAny>, &Bound<'py, PyAny>),
        ) -> PyResult<LdltModification> {
            let (cross, corner) = (Matrix::<T>::new(cross, "cross")?, Matrix::<T>::new(corner, "corner")?);
            let (cross, corner) = (cross.given(py)?, corner.given(py)?);
            shared.writer(py)?.change(py, cross.shape().1, |factor| factor.append(&cross, &corner))
        }
        with_ldlt!(self, shared => appended(py, shared, (cross, corner)))
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
    /// LdltModification
    ///
    /// Raises
    /// ------
    /// SingularError, UnstableError, InertiaError, SignError
    ///     As for `update`.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Ldlt([[4.0, 2.0], [2.0, 6.0]])
    /// >>> report = f.insert(1, [2.0, -5.0, 1.0])
    /// >>> f.reconstruct().round(12)
    /// array([[ 4.,  2.,  2.],
    ///        [ 2., -5.,  1.],
    ///        [ 2.,  1.,  6.]])
    fn insert<'py>(
        &self,
        py: Python<'py>,
        at: &Bound<'py, PyAny>,
        columns: &Bound<'py, PyAny>,
    ) -> PyResult<LdltModification> {
        with_ldlt!(self, shared => {
            put(py, shared, (at, columns), |factor, at, columns| factor.insert(at, columns))
        })
    }

    /// Replaces r consecutive rows and columns of A, in one step: the matrix without them need not have a factor.
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
    /// LdltModification
    ///
    /// Raises
    /// ------
    /// SingularError, UnstableError, InertiaError, SignError
    ///     As for `update`.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Ldlt([[4.0, 1.0, 2.0], [1.0, 3.0, 0.0], [2.0, 0.0, 6.0]])
    /// >>> report = f.replace(1, [2.0, -5.0, 1.0])
    /// >>> f.reconstruct().round(12)
    /// array([[ 4.,  2.,  2.],
    ///        [ 2., -5.,  1.],
    ///        [ 2.,  1.,  6.]])
    fn replace<'py>(
        &self,
        py: Python<'py>,
        at: &Bound<'py, PyAny>,
        columns: &Bound<'py, PyAny>,
    ) -> PyResult<LdltModification> {
        with_ldlt!(self, shared => {
            put(py, shared, (at, columns), |factor, at, columns| factor.replace(at, columns))
        })
    }

    /// The factor of (A B; Bᴴ K), where Bᴴ is Bᵀ for real numbers, without a change of this factor.
    ///
    /// One factor can have many extensions. An extension is valid until the factor changes. After a change its calls raise
    /// `RuntimeError`. What is expected of changes of the factor is not asked of it.
    ///
    /// Parameters
    /// ----------
    /// cross, corner
    ///     As for `append`.
    ///
    /// Returns
    /// -------
    /// LdltExtension
    ///
    /// Raises
    /// ------
    /// SingularError, UnstableError
    ///     As for `append`.
    ///
    /// Examples
    /// --------
    /// Minimize x₁² + x₂², and the same subject to x₁ + x₂ = 2:
    ///
    /// >>> import cholupdate as cu
    /// >>> f = cu.Ldlt([[2.0, 0.0], [0.0, 2.0]])
    /// >>> constrained = f.extension([1.0, 1.0], 0.0)
    /// >>> constrained.inertia
    /// (2, 1)
    /// >>> constrained.solve([0.0, 0.0, 2.0]).round(12)
    /// array([ 1.,  1., -2.])
    fn extension<'py>(
        slf: &Bound<'py, Self>,
        cross: &Bound<'py, PyAny>,
        corner: &Bound<'py, PyAny>,
    ) -> PyResult<LdltExtension> {
        LdltExtension::new(slf, cross, corner)
    }

    /// Removes rows and columns of A. Unlike that of a positive definite matrix the rest may have no factor.
    ///
    /// Parameters
    /// ----------
    /// indices : int, sequence of ints, slice or mask
    ///     The rows, selected as by NumPy: indices in any order, counted from 0 or, if negative, from the end; a slice; or a mask
    ///     of n truth values.
    ///
    /// Returns
    /// -------
    /// LdltModification
    ///
    /// Raises
    /// ------
    /// SingularError, UnstableError, InertiaError, SignError
    ///     As for `update`.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Ldlt([[4.0, 2.0, 2.0], [2.0, -5.0, 1.0], [2.0, 1.0, 0.0]])
    /// >>> report = f.remove(1)
    /// >>> f.reconstruct().round(12)
    /// array([[4., 2.],
    ///        [2., 0.]])
    /// >>> f.remove(0)
    /// Traceback (most recent call last):
    ///     ...
    /// cholupdate.SingularError: singular: the pivot of column 0 is zero
    fn remove<'py>(&self, py: Python<'py>, indices: &Bound<'py, PyAny>) -> PyResult<LdltModification> {
        with_ldlt!(self, shared => {
            let mut writer = shared.writer(py)?;
            let indices = selection(indices, "indices", writer.factor().order())?;
            writer.change(py, indices.len(), |factor| factor.remove(&indices))
        })
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
    /// LdltModification
    ///
    /// Raises
    /// ------
    /// SingularError, UnstableError, SignError
    ///     As for `update`.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Ldlt([[-5.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 6.0]])
    /// >>> report = f.shift(0, 2)
    /// >>> f.reconstruct().round(12)
    /// array([[ 4.,  2.,  2.],
    ///        [ 2.,  6.,  1.],
    ///        [ 2.,  1., -5.]])
    fn shift<'py>(
        &self,
        py: Python<'py>,
        at: &Bound<'py, PyAny>,
        to: &Bound<'py, PyAny>,
    ) -> PyResult<LdltModification> {
        let (at, to) = (index(at, "at")?, index(to, "to")?);
        with_ldlt!(self, shared => shared.writer(py)?.change(py, 2, |factor| factor.shift(at, to)))
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
    /// LdltModification
    ///
    /// Raises
    /// ------
    /// SingularError, UnstableError, SignError
    ///     As for `update`.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Ldlt([[-5.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 6.0]])
    /// >>> report = f.permute([1, 2, 0])
    /// >>> f.signs
    /// array([ 1.,  1., -1.])
    fn permute<'py>(&self, py: Python<'py>, order: &Bound<'py, PyAny>) -> PyResult<LdltModification> {
        let order = rows(order, "order")?;
        with_ldlt!(self, shared => shared.writer(py)?.change(py, order.len(), |factor| factor.permute(&order)))
    }
}
