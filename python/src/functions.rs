//! Modifications of factors in arrays.

use crate::arrays::{self, Array, Read, usable, view_mut, zeros};
use crate::errors::{exception_naming, in_use, wrong_value};
use crate::modifying;
use crate::numbers::Real;
use crate::operands::Matrix;
use crate::threads::without_gil;
use crate::triangle::{copy_triangle, first_not_finite};
use cholupdate::faer::{MatMut, MatRef};
use cholupdate::{Cpu, Error, Safeguard, modify_in_place};
use numpy::BorrowError;
use numpy::prelude::*;
use pyo3::prelude::*;

/// How the arguments are to be taken.
#[derive(Clone, Copy)]
struct How {
    downdate: bool,
    upper: bool,
    overwrite: bool,
    check_finite: bool,
    /// What the caller calls L and V.
    names: (&'static str, &'static str),
}

/// The factor of A + V diag(w) Vᵀ from that of A, on arrays.
///
/// To change a factor many times, `Cholesky` is faster and checks it once.
///
/// Parameters
/// ----------
/// l : array_like, shape (n, n)
///     L, lower triangular, with A = L Lᵀ; or with `upper` R, upper triangular, with A = Rᵀ R. The other triangle is neither read
///     nor, with `overwrite_l`, written. Its dtype, float32 or float64, is that of the result; integers become float64.
/// v : array_like, shape (n, k) or (n,)
///     V, or its only column. It is never overwritten.
/// weights : array_like, shape (k,), optional
///     w, of any signs. All 1 by default.
/// downdate : bool, default False
///     All weights are −1. Not to be given with `weights`.
/// upper : bool, default False
///     Whether `l` is upper triangular.
/// overwrite_l : bool, default False
///     Write the result to `l` and return that. An array that is read-only, or that had to be converted, is not written.
/// check_finite : bool, default True
///     Look for infinities and NaNs in the triangle. Without it they are not noticed there. `v` is always looked at.
///
/// Returns
/// -------
/// ndarray, shape (n, n)
///     The new factor, as `l` is: `l` itself with `overwrite_l`, else a new array that is zero in the other triangle.
///
/// Raises
/// ------
/// NotPositiveDefiniteError
///     The matrix asked for is not positive definite, or `l` has a zero on its diagonal. `l` is as it was, bit for bit.
/// ValueError, TypeError
///     An argument is not what it should be.
///
/// Notes
/// -----
/// With `overwrite_l` a lower triangle in Fortran order, and an upper one in C order, is worked on where it is. The other two ways
/// to lie go through a copy, as does a triangle with negative numbers on the diagonal; those are made positive.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import cholupdate as cu
/// >>> l = np.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]])
/// >>> new = cu.cholesky_update(l, [1.0, 2.0])
/// >>> (new @ new.T).round(12)
/// array([[5., 4.],
///        [4., 9.]])
#[pyfunction]
#[pyo3(signature = (l, v, *, weights=None, downdate=false, upper=false, overwrite_l=false, check_finite=true))]
#[expect(clippy::too_many_arguments, reason = "the signature that Python sees")]
pub fn cholesky_update<'py>(
    py: Python<'py>,
    l: &Bound<'py, PyAny>,
    v: &Bound<'py, PyAny>,
    weights: Option<&Bound<'py, PyAny>>,
    downdate: bool,
    upper: bool,
    overwrite_l: bool,
    check_finite: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let how = How { downdate, upper, overwrite: overwrite_l, check_finite, names: ("l", "v") };
    updated(py, l, v, weights, how)
}

/// `cholupdate.scipy.cholesky_update`, whose arguments have names of their own.
#[pyfunction]
pub fn scipy_cholesky_update<'py>(
    py: Python<'py>,
    r: &Bound<'py, PyAny>,
    z: &Bound<'py, PyAny>,
    downdate: bool,
    lower: bool,
    overwrite: bool,
    check_finite: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let how = How { downdate, upper: !lower, overwrite, check_finite, names: ("R", "z") };
    updated(py, r, z, None, how)
}

fn updated<'py>(
    py: Python<'py>,
    l: &Bound<'py, PyAny>,
    v: &Bound<'py, PyAny>,
    weights: Option<&Bound<'py, PyAny>>,
    how: How,
) -> PyResult<Bound<'py, PyAny>> {
    if how.downdate && weights.is_some() {
        return Err(wrong_value("`weights` and `downdate` cannot be given together"));
    }
    match arrays::Either::new(l, how.names.0)? {
        arrays::Either::Single(array) => of_numbers(py, (l, array), v, weights, how),
        arrays::Either::Double(array) => of_numbers(py, (l, array), v, weights, how),
    }
}

fn of_numbers<'py, T: Real>(
    py: Python<'py>,
    (object, l): (&Bound<'py, PyAny>, Array<'py, T>),
    v: &Bound<'py, PyAny>,
    weights: Option<&Bound<'py, PyAny>>,
    how: How,
) -> PyResult<Bound<'py, PyAny>> {
    let raise = |error| exception_naming(py, error, &[("l", how.names.0), ("v", how.names.1)]);
    if l.ndim() != 2 {
        let message = format!("`{}` has {} dimensions, expected 2", how.names.0, l.ndim());
        return Err(wrong_value(message));
    }
    // A copy that NumPy made of what was given is nobody's to write.
    let overwrite = how.overwrite && usable::<T>(object).is_some();
    let v = Matrix::<T>::new(v, how.names.1)?;
    // A view of L itself is read before L is written, not meanwhile.
    let v = if overwrite { v.apart_from(&l, how.names.1)? } else { v };
    let given = v.given(py)?;
    let columns = given.0.shape().1;
    let weights = match weights {
        Some(weights) => modifying::weights::<T>(weights)?,
        None => vec![if how.downdate { -T::ONE } else { T::ONE }; columns],
    };

    let order = l.shape()[0];
    if l.shape()[1] != order {
        let error = Error::Shape { argument: "l", extent: "columns", expected: order, found: l.shape()[1] };
        return Err(raise(error));
    }
    let written = match overwrite.then(|| l.try_readwrite()) {
        Some(Err(BorrowError::AlreadyBorrowed)) => return Err(in_use(&format!("`{}`", how.names.0))),
        Some(Ok(written)) => Some(written),
        _ => None,
    };
    let engine = Cpu::default();
    let outcome = match &written {
        Some(_) => {
            let view = view_mut(&l, how.names.0)?;
            let mut view = if how.upper { view.transpose_mut() } else { view };
            let modified = without_gil(py, || {
                check(view.as_ref(), how.check_finite)?;
                if lies_well(view.as_ref()) {
                    return modify(view, &given, &weights, &engine);
                }
                let mut copy = cholupdate::faer::Mat::zeros(order, order);
                copy_triangle(view.as_ref(), copy.as_mut());
                modify(copy.as_mut(), &given, &weights, &engine.with_safeguard(Safeguard::None))?;
                copy_triangle(copy.as_ref(), view.as_mut());
                Ok(())
            });
            modified.map(|()| l.clone())
        }
        None => {
            let from = Read::new(l, how.names.0)?.transposed_if(how.upper);
            let made = zeros::<T>(py, &[order, order], !how.upper);
            let view = view_mut(&made, how.names.0)?;
            let mut view = if how.upper { view.transpose_mut() } else { view };
            let from = from.view();
            let modified = without_gil(py, || {
                check(from, how.check_finite)?;
                copy_triangle(from, view.as_mut());
                modify(view, &given, &weights, &engine.with_safeguard(Safeguard::None))
            });
            modified.map(|()| made)
        }
    };
    drop(written);
    outcome.map(Bound::into_any).map_err(|error| raise(seen_from_above(error, how.upper)))
}

/// Whether the library works on L where it is: by columns, with a positive diagonal.
fn lies_well<T: Real>(l: MatRef<'_, T>) -> bool {
    let positive = l.diagonal().column_vector().iter().all(|&pivot| pivot >= T::ZERO);
    positive && (l.row_stride() == 1 || l.nrows() <= 1) && l.col_stride() >= l.nrows() as isize
}

/// L must be finite, where that is asked.
fn check<T: Real>(l: MatRef<'_, T>, asked: bool) -> Result<(), Error> {
    match asked.then(|| first_not_finite(l)).flatten() {
        Some((row, column)) => Err(Error::NonFinite { argument: "l", row, column }),
        None => Ok(()),
    }
}

fn modify<T: Real>(
    l: MatMut<'_, T>,
    v: &crate::held::Given<'_, T>,
    weights: &[T],
    engine: &Cpu,
) -> Result<(), Error> {
    /// Working memory of larger factors is not worth keeping.
    const KEPT: usize = 512;
    let order = l.nrows();
    T::with_workspace(|workspace| {
        let modified = modify_in_place(l, v, weights, engine, workspace).map(|_| ());
        if order > KEPT {
            *workspace = Default::default();
        }
        modified
    })
}

/// An entry of L as one of R = Lᵀ.
fn seen_from_above(error: Error, upper: bool) -> Error {
    match error {
        Error::NonFinite { argument: "l", row, column } if upper => {
            Error::NonFinite { argument: "l", row: column, column: row }
        }
        error => error,
    }
}
