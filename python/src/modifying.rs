//! Rank-k modifications of the class `Cholesky`.

use crate::argument::Argument;
use crate::arrays;
use crate::carried::Carried;
use crate::errors::wrong_value;
use crate::factor::{Cholesky, with_numbers};
use crate::interrupts::Interruptible;
use crate::numbers::{Number, Real};
use crate::operands::Matrix;
use crate::pending::Pending;
use crate::report::Modification;
use crate::shared::{Changed, Factor, Shared};
use crate::threads::without_gil;
use cholupdate::faer::MatRef;
use cholupdate::{Operand, Weights};
use pyo3::prelude::*;

/// Modifies the factor by V. Control-C can interrupt the call.
#[inline]
fn modified_by<'py, T: Number>(
    py: Python<'py>,
    state: &Shared<T>,
    v: &Bound<'py, PyAny>,
    call: impl FnOnce(&mut Factor<T>, &Operand<'_, T>) -> Changed + Send,
) -> PyResult<Modification> {
    let v = Matrix::<T>::new(v, "v")?;
    let given = v.given(py)?;
    let (order, rank) = given.shape();
    let interruptible = Interruptible::new(py, order, rank);
    let changed = state.writer()?.try_change(py, |factor| interruptible.run(|| call(factor, &given)));
    interruptible.end(py, changed).map(Modification::from)
}

#[inline]
fn modified<'py, T: Number>(
    py: Python<'py>,
    state: &Shared<T>,
    v: &Bound<'py, PyAny>,
    weights: Weights<'_, T::RealPart>,
) -> PyResult<Modification> {
    modified_by(py, state, v, |factor, v| factor.modify(v, weights))
}

/// The weights that were passed, one for each column of V. They are real, also for a factor of complex numbers.
pub fn weights<T: Number>(object: &Bound<'_, PyAny>) -> PyResult<Vec<T::RealPart>> {
    entries::<T>(object, "weights")
}

/// One real number for each column of V.
pub fn entries<T: Number>(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<T::RealPart>> {
    let entries = arrays::Read::new(arrays::real_array::<T>(object, name)?, name)?;
    if entries.ndim() > 1 {
        return Err(wrong_value(format!("`{name}` has {} dimensions, expected 1", entries.ndim())));
    }
    let view: MatRef<'_, T::RealPart> = entries.view();
    Ok(view.col(0).iter().copied().collect())
}

/// The weights, or one sign for all columns if they are omitted.
pub fn weights_or<'w, T: Real>(weights: Option<&'w [T]>, downdate: bool) -> PyResult<Weights<'w, T>> {
    match weights {
        Some(_) if downdate => Err(wrong_value("`weights` and `downdate` cannot be given together")),
        Some(weights) => Ok(Weights::Each(weights)),
        None if downdate => Ok(Weights::Minus),
        None => Ok(Weights::Plus),
    }
}

#[pymethods]
impl Cholesky {
    /// A ← A + V Vᵀ.
    ///
    /// Parameters
    /// ----------
    /// v : array_like, shape (n, k) or (n,)
    ///     V, or its only column. An array of the factor's dtype in host memory is read in place, with any strides. An array in
    ///     the memory of a GPU (any object with ``__dlpack__``) is read in place if it is in Fortran order, else copied on the
    ///     GPU. Integers in host memory are converted, and for a complex factor real numbers of its precision; another dtype raises
    ///     `TypeError`.
    ///
    /// Returns
    /// -------
    /// Modification
    ///     The smallest pivot ratio and the change of log det A.
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
    ///     A − V Vᵀ is not positive definite. The factor is unchanged.
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
    /// Success depends only on the result, not on the order of the columns.
    ///
    /// Parameters
    /// ----------
    /// v : array_like, shape (n, k) or (n,)
    ///     As for `update`.
    /// weights : array_like, shape (k,)
    ///     w, real, in host memory.
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
        fn weighted<'py, T: Number>(
            py: Python<'py>,
            state: &Shared<T>,
            v: &Bound<'py, PyAny>,
            w: &Bound<'py, PyAny>,
        ) -> PyResult<Modification> {
            let w = self::weights::<T>(w)?;
            modified(py, state, v, Weights::Each(&w))
        }
        with_numbers!(self, state => weighted(py, state, v, weights))
    }

    /// Whether `downdate` with the same V would succeed, computed by the same arithmetic.
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
        fn asked<'py, T: Number>(
            py: Python<'py>,
            state: &Shared<T>,
            v: &Bound<'py, PyAny>,
        ) -> PyResult<bool> {
            let v = Matrix::<T>::new(v, "v")?;
            let given = v.given(py)?;
            let (order, rank) = given.shape();
            let (reader, interruptible) = (state.reader()?, Interruptible::new(py, order, rank));
            let asked =
                without_gil(py, || reader.work(|factor| interruptible.run(|| factor.can_downdate(&given))));
            interruptible.end(py, asked)
        }
        with_numbers!(self, state => asked(py, state, v))
    }

    /// A ← δ A + V diag(w) Vᵀ: with δ < 1, earlier observations count less with every call.
    ///
    /// Parameters
    /// ----------
    /// decay : float
    ///     δ, positive and at most 1.
    /// v : array_like, shape (n, k) or (n,)
    ///     As for `update`.
    /// weights : array_like, shape (k,), optional
    ///     w, in host memory. All 1 by default.
    ///
    /// Returns
    /// -------
    /// Modification
    ///     Relative to the old A: both values include the effect of δ.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[4.0, 2.0], [2.0, 5.0]])
    /// >>> report = f.modify_scaled(0.5, [1.0, 0.0])
    /// >>> f.reconstruct().round(12)
    /// array([[3. , 1. ],
    ///        [1. , 2.5]])
    #[pyo3(signature = (decay, v, weights=None))]
    fn modify_scaled<'py>(
        &self,
        py: Python<'py>,
        decay: f64,
        v: &Bound<'py, PyAny>,
        weights: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Modification> {
        fn scaled<'py, T: Number>(
            py: Python<'py>,
            state: &Shared<T>,
            decay: f64,
            v: &Bound<'py, PyAny>,
            w: Option<&Bound<'py, PyAny>>,
        ) -> PyResult<Modification> {
            let w = w.map(self::weights::<T>).transpose()?;
            let w = weights_or(w.as_deref(), false)?;
            modified_by(py, state, v, |factor, v| factor.modify_scaled(T::RealPart::rounded(decay), v, w))
        }
        with_numbers!(self, state => scaled(py, state, decay, v, weights))
    }

    /// A ← δ A + V diag(w) Vᵀ, together with right-hand sides of least squares.
    ///
    /// The columns of V are observations with the values `y`. An observation with a positive weight is added; one with a negative
    /// weight is removed.
    ///
    /// Parameters
    /// ----------
    /// decay : float
    ///     δ, positive and at most 1.
    /// v : array_like, shape (n, k) or (n,)
    ///     As for `update`.
    /// y : array_like, shape (k, m) or (k,)
    ///     The observed values, for each of the m right-hand sides. In host memory.
    /// carried : Carried
    ///     The right-hand sides, which are updated.
    /// weights : array_like, shape (k,), optional
    ///     w, in host memory. All 1 by default.
    ///
    /// Returns
    /// -------
    /// Modification
    ///     As for `modify_scaled`.
    ///
    /// Raises
    /// ------
    /// NotPositiveDefiniteError
    ///     The new matrix is not positive definite. The factor and `carried` are unchanged.
    ///
    /// Examples
    /// --------
    /// A line through (0, 1), (1, 3) and (2, 5), of which the first two are known:
    ///
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[2.0, 1.0], [1.0, 1.0]])
    /// >>> line = cu.Carried(f, [4.0, 3.0], [10.0])
    /// >>> report = f.modify_carrying(1.0, [1.0, 2.0], [5.0], line)
    /// >>> f.solve_lt(line.z).round(12)
    /// array([1., 2.])
    #[pyo3(signature = (decay, v, y, carried, weights=None))]
    fn modify_carrying<'py>(
        &self,
        py: Python<'py>,
        decay: f64,
        v: &Bound<'py, PyAny>,
        y: &Bound<'py, PyAny>,
        carried: &Bound<'py, Carried>,
        weights: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Modification> {
        fn carrying<'py, T: Number>(
            py: Python<'py>,
            (state, carried): (&Shared<T>, &Bound<'py, Carried>),
            decay: f64,
            (v, y): (&Bound<'py, PyAny>, &Bound<'py, PyAny>),
            w: Option<&Bound<'py, PyAny>>,
        ) -> PyResult<Modification> {
            let w = w.map(self::weights::<T>).transpose()?;
            let w = weights_or(w.as_deref(), false)?;
            let y = Matrix::<T>::new(y, "y")?;
            let (y, mut carried) = (y.given(py)?, carried.get().alone::<T>()?);
            let carried = &mut *carried;
            modified_by(py, state, v, |factor, v| {
                factor.modify_carrying(T::RealPart::rounded(decay), v, w, &y, carried)
            })
        }
        with_numbers!(self, state => carrying(py, (state, carried), decay, (v, y), weights))
    }

    /// Starts `update`, `modify` or `downdate`, and does not wait for work that a GPU can do asynchronously.
    ///
    /// V may be overwritten after this call returns. Only the engine "cuda" works asynchronously; the other engines do the work
    /// in this call. Any other call of the factor first waits for the modification.
    ///
    /// Parameters
    /// ----------
    /// v : array_like, shape (n, k) or (n,)
    ///     As for `update`.
    /// weights : array_like, shape (k,), optional
    ///     w, in host memory. All 1 by default.
    /// downdate : bool, default False
    ///     All weights are −1. Not allowed together with `weights`.
    ///
    /// Returns
    /// -------
    /// Pending
    ///
    /// Raises
    /// ------
    /// NotPositiveDefiniteError
    ///     The new matrix is not positive definite, on an engine that has done the work in this call. On the engine "cuda"
    ///     `Pending.wait` raises it.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[4.0, 2.0], [2.0, 5.0]])
    /// >>> pending = f.submit([1.0, 2.0])
    /// >>> pending.solve([9.0, 13.0]).round(12)
    /// array([1., 1.])
    /// >>> pending.wait() == f.copy().update([0.0, 0.0])
    /// False
    #[pyo3(
        signature = (v, weights=None, *, downdate=Argument::NONE),
        text_signature = "($self, v, weights=None, *, downdate=False)"
    )]
    fn submit<'py>(
        slf: &Bound<'py, Self>,
        v: &Bound<'py, PyAny>,
        weights: Option<&Bound<'py, PyAny>>,
        downdate: Argument<'py>,
    ) -> PyResult<Pending> {
        Pending::new(slf, v, weights, downdate.flag("downdate", false)?)
    }
}
