//! Derivatives of a modification of a factor that is stored in an array.

use crate::argument::Argument;
use crate::arrays::{self, Read, view_mut, zeros};
use crate::errors::{exception_naming, seen_from_above, wrong_value};
use crate::modifying::{entries, weights, weights_or};
use crate::numbers::Real;
use crate::operands::like;
use crate::threads::without_gil;
use cholupdate::gradient::{
    CotangentsMut, GradientWorkspace, Modified, Tangents, modify_jvp_into, modify_vjp_into,
};
use cholupdate::{Cpu, Error};
use numpy::PyArray1;
use pyo3::prelude::*;

/// Derivatives of `cholesky_update` in reverse mode: the cotangents of `l`, `v` and `weights` from that of the result.
///
/// The cotangent of an argument is the derivative of some number by each of its entries. No factorization is needed: the call takes
/// O(k n²) operations. All arguments are in host memory; stacks of matrices are not supported.
///
/// Parameters
/// ----------
/// l : array_like, shape (n, n)
///     L, lower triangular, or R with `upper`, as it was passed to `cholesky_update`. The other triangle is not read, here and below. The
///     diagonal must not be negative. The results have its dtype.
/// l_new : array_like, shape (n, n)
///     What `cholesky_update` has returned.
/// v : array_like, shape (n, k) or (n,)
///     V, or its only column.
/// cotangent : array_like, shape (n, n)
///     The cotangent of `l_new`, in the same triangle.
/// weights : array_like, shape (k,), optional
///     w, with any mix of signs; weights of zero are allowed. All 1 by default.
/// downdate : bool, default False
///     All weights are −1. Not allowed together with `weights`.
/// upper : bool, default False
///     Whether `l`, `l_new` and `cotangent` are upper triangular.
///
/// Returns
/// -------
/// l_cotangent : array, shape (n, n)
///     Zero in the other triangle.
/// v_cotangent : array, of the shape of `v`
/// weights_cotangent : array, shape (k,)
///     Also without `weights`.
///
/// Raises
/// ------
/// NotPositiveDefiniteError
///     A diagonal entry of `l_new` is not positive.
/// ValueError, TypeError
///     An argument is invalid. Infinities and NaNs are looked for on the diagonals of `l` and `l_new` and in `weights`; elsewhere they
///     make what depends on them infinite or NaN.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import cholupdate as cu
/// >>> l, v = np.array([[2.0, 0.0], [1.0, 2.0]]), np.array([3.0, 0.5])
/// >>> new = cu.cholesky_update(l, v)
/// >>> of_l, of_v, of_w = cu.cholesky_update_vjp(l, new, v, [[1.0, 0.0], [0.0, 0.0]])     # of new[0, 0] = √(l[0, 0]² + v[0]²)
/// >>> bool(abs(of_l[0, 0] - 2 / 13**0.5) < 1e-15), bool(abs(of_v[0] - 3 / 13**0.5) < 1e-15)
/// (True, True)
#[pyfunction]
#[pyo3(
    signature = (l, l_new, v, cotangent, weights=None, *, downdate=Argument::NONE, upper=Argument::NONE),
    text_signature = "(l, l_new, v, cotangent, weights=None, *, downdate=False, upper=False)"
)]
#[expect(clippy::too_many_arguments, reason = "the signature that Python sees")]
pub fn cholesky_update_vjp<'py>(
    py: Python<'py>,
    l: &Bound<'py, PyAny>,
    l_new: &Bound<'py, PyAny>,
    v: &Bound<'py, PyAny>,
    cotangent: &Bound<'py, PyAny>,
    weights: Option<&Bound<'py, PyAny>>,
    downdate: Argument<'py>,
    upper: Argument<'py>,
) -> PyResult<Pulled<'py>> {
    let (downdate, upper) = (downdate.flag("downdate", false)?, upper.flag("upper", false)?);
    let given = Given { l, l_new, v, weights, downdate, upper };
    match arrays::Either::new(l, "l")? {
        arrays::Either::Single(array) => pull(py, array, &given, cotangent),
        arrays::Either::Double(array) => pull(py, array, &given, cotangent),
    }
}

/// Derivatives of `cholesky_update` in forward mode: the tangent of the result from those of `l`, `v` and `weights`.
///
/// Parameters
/// ----------
/// l, l_new, v, weights, downdate, upper
///     As for `cholesky_update_vjp`.
/// tangent_l : array_like, shape (n, n)
///     The tangent of `l`, in the same triangle.
/// tangent_v : array_like, shape (n, k) or (n,)
/// tangent_weights : array_like, shape (k,), optional
///     Zero by default.
///
/// Returns
/// -------
/// array, shape (n, n)
///     The tangent of `l_new`, zero in the other triangle.
///
/// Raises
/// ------
/// NotPositiveDefiniteError, ValueError, TypeError
///     As for `cholesky_update_vjp`.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import cholupdate as cu
/// >>> l, v = np.array([[2.0, 0.0], [1.0, 2.0]]), np.array([3.0, 0.5])
/// >>> new = cu.cholesky_update(l, v)
/// >>> tangent = cu.cholesky_update_jvp(l, new, v, [[1.0, 0.0], [0.0, 0.0]], [1.0, 0.0])
/// >>> bool(abs(tangent[0, 0] - 5 / 13**0.5) < 1e-15)
/// True
#[pyfunction]
#[pyo3(
    signature = (l, l_new, v, tangent_l, tangent_v, weights=None, tangent_weights=None, *, downdate=Argument::NONE, upper=Argument::NONE),
    text_signature = "(l, l_new, v, tangent_l, tangent_v, weights=None, tangent_weights=None, *, downdate=False, upper=False)"
)]
#[expect(clippy::too_many_arguments, reason = "the signature that Python sees")]
pub fn cholesky_update_jvp<'py>(
    py: Python<'py>,
    l: &Bound<'py, PyAny>,
    l_new: &Bound<'py, PyAny>,
    v: &Bound<'py, PyAny>,
    tangent_l: &Bound<'py, PyAny>,
    tangent_v: &Bound<'py, PyAny>,
    weights: Option<&Bound<'py, PyAny>>,
    tangent_weights: Option<&Bound<'py, PyAny>>,
    downdate: Argument<'py>,
    upper: Argument<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let (downdate, upper) = (downdate.flag("downdate", false)?, upper.flag("upper", false)?);
    let given = Given { l, l_new, v, weights, downdate, upper };
    let along = (tangent_l, tangent_v, tangent_weights);
    match arrays::Either::new(l, "l")? {
        arrays::Either::Single(array) => push(py, array, &given, along),
        arrays::Either::Double(array) => push(py, array, &given, along),
    }
}

/// The cotangents of L, V and w.
type Pulled<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// A modification that has been made.
struct Given<'a, 'py> {
    l: &'a Bound<'py, PyAny>,
    l_new: &'a Bound<'py, PyAny>,
    v: &'a Bound<'py, PyAny>,
    weights: Option<&'a Bound<'py, PyAny>>,
    downdate: bool,
    upper: bool,
}

/// The same, as arrays of T.
struct Arrays<'py, T: Real> {
    l: Read<'py, T>,
    new: Read<'py, T>,
    v: Read<'py, T>,
    weights: Option<Vec<T>>,
    downdate: bool,
}

impl<'py> Given<'_, 'py> {
    fn arrays<T: Real>(&self, l: arrays::Array<'py, T>) -> PyResult<Arrays<'py, T>> {
        Ok(Arrays {
            l: matrix(l, "l", self.upper)?,
            new: matrix(arrays::array(self.l_new, "l_new")?, "l_new", self.upper)?,
            v: Read::new(arrays::array(self.v, "v")?, "v")?,
            weights: self.weights.map(weights::<T>).transpose()?,
            downdate: self.downdate,
        })
    }

    fn raise(&self, py: Python<'_>, error: Error) -> PyErr {
        const NAMES: [(&str, &str); 3] = [
            ("tangents.l", "tangent_l"),
            ("tangents.v", "tangent_v"),
            ("tangents.weights", "tangent_weights"),
        ];
        exception_naming(py, seen_from_above(error, self.upper), &NAMES)
    }
}

impl<T: Real> Arrays<'_, T> {
    fn modified(&self) -> PyResult<Modified<'_, T>> {
        let weights = weights_or(self.weights.as_deref(), self.downdate)?;
        Ok(Modified { l: self.l.view(), new: self.new.view(), v: self.v.view(), weights })
    }
}

/// A matrix, or its transpose if the upper triangle is read.
fn matrix<'py, T: Real>(array: arrays::Array<'py, T>, name: &str, upper: bool) -> PyResult<Read<'py, T>> {
    let read = Read::new(array, name)?;
    match read.ndim() {
        2 => Ok(read.transposed_if(upper)),
        found => Err(wrong_value(format!("`{name}` has {found} dimensions, expected 2"))),
    }
}

fn pull<'py, T: Real>(
    py: Python<'py>,
    l: arrays::Array<'py, T>,
    given: &Given<'_, 'py>,
    cotangent: &Bound<'py, PyAny>,
) -> PyResult<Pulled<'py>> {
    let arrays = given.arrays(l)?;
    let cotangent = matrix(arrays::array(cotangent, "cotangent")?, "cotangent", given.upper)?;
    let of = arrays.modified()?;
    let (order, (rows, rank)) = (of.l.nrows(), of.v.shape());
    let of_l = zeros::<T>(py, &[order, order], !given.upper);
    let of_v = match arrays.v.ndim() {
        0 => zeros::<T>(py, &[], true),
        1 => zeros::<T>(py, &[rows], true),
        _ => zeros::<T>(py, &[rows, rank], true),
    };
    let mut weights = vec![T::ZERO; rank];
    let (l, v) = (view_mut(&of_l, "")?, view_mut(&of_v, "")?);
    let l = if given.upper { l.transpose_mut() } else { l };
    let to = CotangentsMut { l, v, weights: &mut weights };
    let cotangent = cotangent.view();
    let outcome = without_gil(py, || {
        modify_vjp_into(&of, cotangent, to, &Cpu::default(), &mut GradientWorkspace::new())
    });
    outcome.map_err(|error| given.raise(py, error))?;
    let of_weights = PyArray1::from_vec(py, weights).into_any();
    let (of_l, of_v) = (of_l.into_any(), of_v.into_any());
    Ok((like(of_l, given.l)?, like(of_v, given.l)?, like(of_weights, given.l)?))
}

fn push<'py, T: Real>(
    py: Python<'py>,
    l: arrays::Array<'py, T>,
    given: &Given<'_, 'py>,
    (of_l, of_v, of_weights): (&Bound<'py, PyAny>, &Bound<'py, PyAny>, Option<&Bound<'py, PyAny>>),
) -> PyResult<Bound<'py, PyAny>> {
    let arrays = given.arrays(l)?;
    let of_l = matrix(arrays::array(of_l, "tangent_l")?, "tangent_l", given.upper)?;
    let of_v = Read::<T>::new(arrays::array(of_v, "tangent_v")?, "tangent_v")?;
    let of_weights = of_weights.map(|along| entries::<T>(along, "tangent_weights")).transpose()?;
    let of = arrays.modified()?;
    let along = Tangents { l: of_l.view(), v: of_v.view(), weights: of_weights.as_deref() };
    let made = zeros::<T>(py, &[of.l.nrows(), of.l.nrows()], !given.upper);
    let to = view_mut(&made, "")?;
    let to = if given.upper { to.transpose_mut() } else { to };
    let outcome =
        without_gil(py, || modify_jvp_into(&of, &along, to, &Cpu::default(), &mut GradientWorkspace::new()));
    outcome.map_err(|error| given.raise(py, error))?;
    like(made.into_any(), given.l)
}
