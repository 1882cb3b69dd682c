//! Rank-k modifications of the class `Ldlt`.

use super::report::LdltModification;
use super::{Ldlt, Shared, with_ldlt};
use crate::errors::exception;
use crate::interrupts::Interruptible;
use crate::modifying::{weights, weights_or};
use crate::numbers::{Number, Real};
use crate::operands::Matrix;
use crate::solving::as_given;
use crate::threads::without_gil;
use cholupdate::{Error, Operand, Weights};
use pyo3::prelude::*;

fn modified_by<'py, T: Number>(
    py: Python<'py>,
    shared: &Shared<T>,
    v: &Bound<'py, PyAny>,
    call: impl FnOnce(&mut cholupdate::Ldlt<T>, &Operand<'_, T>) -> Result<cholupdate::LdltModification, Error>
    + Send,
) -> PyResult<LdltModification> {
    let v = Matrix::<T>::new(v, "v")?;
    let given = v.given(py)?;
    shared.writer(py)?.change(py, given.shape().1, |factor| call(factor, &given))
}

fn modified<'py, T: Number>(
    py: Python<'py>,
    shared: &Shared<T>,
    v: &Bound<'py, PyAny>,
    weights: Weights<'_, T::RealPart>,
) -> PyResult<LdltModification> {
    modified_by(py, shared, v, |factor, v| factor.modify(v, weights))
}

#[pymethods]
impl Ldlt {
    /// A ← A + V Vᵀ.
    ///
    /// Parameters
    /// ----------
    /// v : array_like, shape (n, k) or (n,)
    ///     V, or its only column. An array of the factor's dtype in host memory is read in place, with any strides. An array in the memory
    ///     of a GPU is copied to the host. Integers in host memory are converted; another floating-point dtype raises `TypeError`.
    ///
    /// Returns
    /// -------
    /// LdltModification
    ///     The smallest pivot ratio, the change of log |det A|, the inertia before and after, and the growth.
    ///
    /// Raises
    /// ------
    /// SingularError, UnstableError
    ///     A leading minor of the new A is zero, or so close to zero that the factor would have lost its digits. The factor is unchanged.
    /// InertiaError, SignError
    ///     The inertia or the signs are not those that are expected. The factor is unchanged.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Ldlt([[4.0, 2.0], [2.0, -3.0]])
    /// >>> report = f.update([1.0, 2.0])
    /// >>> f.reconstruct().round(12)
    /// array([[5., 4.],
    ///        [4., 1.]])
    fn update<'py>(&self, py: Python<'py>, v: &Bound<'py, PyAny>) -> PyResult<LdltModification> {
        with_ldlt!(self, shared => modified(py, shared, v, Weights::Plus))
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
    /// >>> f = cu.Ldlt([[4.0, 2.0], [2.0, 5.0]])
    /// >>> f.downdate([0.0, 3.0]).inertia
    /// (1, 1)
    /// >>> try:
    /// ...     f.downdate([2.0, 0.0])
    /// ... except cu.SingularError as error:
    /// ...     error.column
    /// 0
    fn downdate<'py>(&self, py: Python<'py>, v: &Bound<'py, PyAny>) -> PyResult<LdltModification> {
        with_ldlt!(self, shared => modified(py, shared, v, Weights::Minus))
    }

    /// A ← A + V diag(w) Vᵀ, with any mix of signs, or A + V diag(w) Vᴴ of complex numbers.
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
    /// >>> f = cu.Ldlt([[4.0, 2.0], [2.0, -3.0]])
    /// >>> report = f.modify([[1.0, 1.0], [0.0, 1.0]], [2.0, -1.0])
    /// >>> f.reconstruct().round(12)
    /// array([[ 5.,  1.],
    ///        [ 1., -4.]])
    fn modify<'py>(
        &self,
        py: Python<'py>,
        v: &Bound<'py, PyAny>,
        weights: &Bound<'py, PyAny>,
    ) -> PyResult<LdltModification> {
        fn weighted<'py, T: Number>(
            py: Python<'py>,
            shared: &Shared<T>,
            (v, w): (&Bound<'py, PyAny>, &Bound<'py, PyAny>),
        ) -> PyResult<LdltModification> {
            let w = self::weights::<T>(w)?;
            modified(py, shared, v, Weights::Each(&w))
        }
        with_ldlt!(self, shared => weighted(py, shared, (v, weights)))
    }

    /// A ← δ A + V diag(w) Vᵀ.
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
    /// LdltModification
    ///     Relative to the old A: the values include the effect of δ.
    ///
    /// Raises
    /// ------
    /// SingularError, UnstableError, InertiaError, SignError
    ///     As for `update`.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Ldlt([[4.0, 2.0], [2.0, -3.0]])
    /// >>> report = f.modify_scaled(0.5, [1.0, 0.0])
    /// >>> f.reconstruct().round(12)
    /// array([[ 3. ,  1. ],
    ///        [ 1. , -1.5]])
    #[pyo3(signature = (decay, v, weights=None))]
    fn modify_scaled<'py>(
        &self,
        py: Python<'py>,
        decay: f64,
        v: &Bound<'py, PyAny>,
        weights: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<LdltModification> {
        fn scaled<'py, T: Number>(
            py: Python<'py>,
            shared: &Shared<T>,
            decay: f64,
            (v, w): (&Bound<'py, PyAny>, Option<&Bound<'py, PyAny>>),
        ) -> PyResult<LdltModification> {
            let w = w.map(self::weights::<T>).transpose()?;
            let w = weights_or(w.as_deref(), false)?;
            modified_by(py, shared, v, |factor, v| factor.modify_scaled(T::RealPart::rounded(decay), v, w))
        }
        with_ldlt!(self, shared => scaled(py, shared, decay, (v, weights)))
    }

    /// A ← δ A + V diag(w) Vᴴ and b ← δ b + V diag(w) y, for right-hand sides b whose z = L⁻¹ b is given.
    ///
    /// z begins as ``f.solve_l(b)``, and ``f.solve_lt(f.signs * z)`` solves A x = b at any time. (Vᴴ is Vᵀ for real numbers, and ``y`` is
    /// not conjugated.)
    ///
    /// Parameters
    /// ----------
    /// decay : float
    ///     δ, positive and at most 1.
    /// v : array_like, shape (n, k) or (n,)
    ///     As for `update`.
    /// y : array_like, shape (k, m) or (k,)
    ///     The values that go with the columns of V, for each of the m right-hand sides.
    /// z : array_like, shape (n, m) or (n,)
    ///     z of the current factor. It is not changed.
    /// weights : array_like, shape (k,), optional
    ///     w, in host memory. All 1 by default.
    ///
    /// Returns
    /// -------
    /// LdltModification
    ///     As for `modify_scaled`.
    /// array, shape of `z`
    ///     z of the new factor.
    ///
    /// Raises
    /// ------
    /// SingularError, UnstableError, InertiaError, SignError
    ///     As for `update`.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Ldlt([[2.0, 1.0], [1.0, -1.0]])
    /// >>> z = f.solve_l([3.0, 0.0])
    /// >>> report, z = f.modify_carrying(1.0, [1.0, 1.0], [2.0], z)       # A = (3 2; 2 0), b = (5, 2)
    /// >>> f.solve_lt(f.signs * z).round(12)
    /// array([1., 1.])
    #[pyo3(signature = (decay, v, y, z, weights=None))]
    fn modify_carrying<'py>(
        &self,
        py: Python<'py>,
        decay: f64,
        v: &Bound<'py, PyAny>,
        y: &Bound<'py, PyAny>,
        z: &Bound<'py, PyAny>,
        weights: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(LdltModification, Bound<'py, PyAny>)> {
        fn carrying<'py, T: Number>(
            py: Python<'py>,
            shared: &Shared<T>,
            decay: f64,
            (v, y, z): (&Bound<'py, PyAny>, &Bound<'py, PyAny>, &Bound<'py, PyAny>),
            w: Option<&Bound<'py, PyAny>>,
        ) -> PyResult<(LdltModification, Bound<'py, PyAny>)> {
            let w = w.map(self::weights::<T>).transpose()?;
            let w = weights_or(w.as_deref(), false)?;
            let (y, given) = (Matrix::<T>::new(y, "y")?, Matrix::<T>::new(z, "z")?);
            let y = y.given(py)?;
            let mut carried = match given.given(py)? {
                Operand::Host(z) => z.to_owned(),
                Operand::Remote(z) => z.to_host().map_err(|error| exception(py, error))?,
                _ => unreachable!("an argument is in host memory or on a device"),
            };
            let report = modified_by(py, shared, v, |factor, v| {
                factor.modify_carrying(T::RealPart::rounded(decay), v, w, &y, &mut carried)
            })?;
            Ok((report, as_given(py, carried, (z, &given))?))
        }
        with_ldlt!(self, shared => carrying(py, shared, decay, (v, y, z), weights))
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
    ///     False also if `downdate` would raise because of what is expected.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Ldlt([[4.0, 2.0], [2.0, 5.0]])
    /// >>> f.can_downdate([1.0, 3.0]), f.can_downdate([2.0, 0.0])
    /// (True, False)
    fn can_downdate<'py>(&self, py: Python<'py>, v: &Bound<'py, PyAny>) -> PyResult<bool> {
        fn asked<'py, T: Number>(
            py: Python<'py>,
            shared: &Shared<T>,
            v: &Bound<'py, PyAny>,
        ) -> PyResult<bool> {
            let v = Matrix::<T>::new(v, "v")?;
            let given = v.given(py)?;
            let (order, rank) = given.shape();
            let (reader, interruptible) = (shared.reader(py)?, Interruptible::new(py, order, rank));
            let asked =
                without_gil(py, || reader.work(|factor| interruptible.run(|| factor.can_downdate(&given))));
            interruptible.end(py, asked)
        }
        with_ldlt!(self, shared => asked(py, shared, v))
    }
}
