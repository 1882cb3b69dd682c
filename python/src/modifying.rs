//! Changes of rank k of the class `Cholesky`.

use crate::arrays;
use crate::errors::wrong_value;
use crate::factor::{Cholesky, State, change, look, with_numbers};
use crate::numbers::Real;
use crate::operands::Matrix;
use crate::report::Modification;
use cholupdate::Weights;
use cholupdate::faer::MatRef;
use pyo3::prelude::*;
use std::sync::Mutex;

#[inline]
fn modified<'py, T: Real>(
    py: Python<'py>,
    state: &Mutex<State<T>>,
    v: &Bound<'py, PyAny>,
    weights: Weights<'_, T>,
) -> PyResult<Modification> {
    let v = Matrix::<T>::new(v, "v")?;
    let given = v.given(py)?;
    change(py, state, |factor| factor.modify(&given, weights)).map(Modification::from)
}

/// Weights as they are given, one a column of V.
pub fn weights<T: Real>(object: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    let weights = arrays::Read::new(arrays::array::<T>(object, "weights")?, "weights")?;
    if weights.ndim() > 1 {
        return Err(wrong_value(format!("`weights` has {} dimensions, expected 1", weights.ndim())));
    }
    let view: MatRef<'_, T> = weights.view();
    Ok(view.col(0).iter().copied().collect())
}

#[pymethods]
impl Cholesky {
    /// A ← A + V Vᵀ.
    ///
    /// Parameters
    /// ----------
    /// v : array_like, shape (n, k) or (n,)
    ///     V, or its only column. An array of the factor's dtype is used where it is, in host memory whatever its strides. So is an array
    ///     in the memory of a GPU (anything with ``__dlpack__``), after a copy on the GPU where it is not in Fortran order. Another
    ///     float is a `TypeError`; integers are converted.
    ///
    /// Returns
    /// -------
    /// Modification
    ///     How much the pivots and log det A changed.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[4.0, 2.0], [2.0, 5.0]])
    /// >>> report = f.update([[1.0, 0.0], [2.0, 1.0]])
    /// >>> f.reconstruct().round(12)
    /// array([[ 5.,  4.],
    ///        [ 4., 10.]])
    #[inline]
    fn update<'py>(&self, py: Python<'py>, v: &Bound<'py, PyAny>) -> PyResult<Modification> {
        with_numbers!(self, state => modified(py, state, v, Weights::Plus))
    }

    /// A ← A − V Vᵀ.
    ///
    /// Parameters
    /// ----------
    /// v : array_like, shape (n, k) or (n,)
    ///     As for `update`.
    ///
    /// Returns
    /// -------
    /// Modification
    ///
    /// Raises
    /// ------
    /// NotPositiveDefiniteError
    ///     A − V Vᵀ is not positive definite. The factor is as it was.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[4.0, 2.0], [2.0, 5.0]])
    /// >>> report = f.downdate([1.0, 1.0])
    /// >>> f.reconstruct().round(12)
    /// array([[3., 1.],
    ///        [1., 4.]])
    /// >>> try:
    /// ...     f.downdate([0.0, 3.0])
    /// ... except cu.NotPositiveDefiniteError as error:
    /// ...     error.column
    /// 1
    #[inline]
    fn downdate<'py>(&self, py: Python<'py>, v: &Bound<'py, PyAny>) -> PyResult<Modification> {
        with_numbers!(self, state => modified(py, state, v, Weights::Minus))
    }

    /// A ← A + V diag(w) Vᵀ, with any mix of signs.
    ///
    /// Whether it succeeds depends on the result alone, not on the order of the columns.
    ///
    /// Parameters
    /// ----------
    /// v : array_like, shape (n, k) or (n,)
    ///     As for `update`.
    /// weights : array_like, shape (k,)
    ///     w, in host memory.
    ///
    /// Returns
    /// -------
    /// Modification
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[4.0, 2.0], [2.0, 5.0]])
    /// >>> report = f.modify([[1.0, 1.0], [0.0, 1.0]], [2.0, -1.0])
    /// >>> f.reconstruct().round(12)
    /// array([[5., 1.],
    ///        [1., 4.]])
    fn modify<'py>(
        &self,
        py: Python<'py>,
        v: &Bound<'py, PyAny>,
        weights: &Bound<'py, PyAny>,
    ) -> PyResult<Modification> {
        fn weighted<'py, T: Real>(
            py: Python<'py>,
            state: &Mutex<State<T>>,
            v: &Bound<'py, PyAny>,
            w: &Bound<'py, PyAny>,
        ) -> PyResult<Modification> {
            let w = self::weights::<T>(w)?;
            modified(py, state, v, Weights::Each(&w))
        }
        with_numbers!(self, state => weighted(py, state, v, weights))
    }

    /// Whether `downdate` with the same V would succeed, by the very same arithmetic.
    ///
    /// Parameters
    /// ----------
    /// v : array_like, shape (n, k) or (n,)
    ///     As for `update`.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[4.0, 2.0], [2.0, 5.0]])
    /// >>> f.can_downdate([1.0, 2.0]), f.can_downdate([2.0, 2.0])
    /// (True, False)
    fn can_downdate<'py>(&self, py: Python<'py>, v: &Bound<'py, PyAny>) -> PyResult<bool> {
        fn asked<'py, T: Real>(
            py: Python<'py>,
            state: &Mutex<State<T>>,
            v: &Bound<'py, PyAny>,
        ) -> PyResult<bool> {
            let v = Matrix::<T>::new(v, "v")?;
            let given = v.given(py)?;
            look(py, state, |factor| factor.can_downdate(&given))
        }
        with_numbers!(self, state => asked(py, state, v))
    }
}
