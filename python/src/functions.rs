//! Modifications of factors that are stored in arrays, and their derivatives.

mod gradient;

pub use self::gradient::{cholesky_update_jvp, cholesky_update_vjp};

use crate::argument::{Argument, kind};
use crate::arrays::{self, Array, Read, is_bare, is_writeable, overlap, shared, usable, view_mut, zeros};
use crate::batch::{broadcasting, gpu_broadcasting};
use crate::device::is_on_device;
use crate::errors::{exception_naming, in_use, seen_from_above, wrong_type, wrong_value};
use crate::interrupts::{Interruptible, NOTHING_CHANGED};
use crate::modifying;
use crate::numbers::Real;
use crate::operands::{Matrix, like};
use crate::threads::without_gil;
use crate::triangle::copy_triangle;
use cholupdate::faer::{Mat, MatMut, MatRef};
use cholupdate::{
    Cpu, Error, Operand, Safeguard, Workspace, modify_checked_in_place, modify_in_place, modify_into,
};
use numpy::prelude::*;
use numpy::{PyReadwriteArrayDyn, PyUntypedArray};
use pyo3::prelude::*;

/// The options of a call.
#[derive(Clone, Copy)]
pub struct How {
    pub downdate: bool,
    pub upper: bool,
    pub overwrite: bool,
    check_finite: bool,
    /// The argument names of L and V.
    pub names: (&'static str, &'static str),
}

/// The factor of A + V diag(w) Vᵀ, computed from that of A, for factors stored in arrays.
///
/// To change one factor many times, use `Cholesky`: it is faster, and checks the factor once. For many factors, that is
/// `CholeskyBatch`. Complex factors are those of `Cholesky` alone.
///
/// The arguments may have further, leading dimensions: stacks of matrices, whose leading dimensions are broadcast by NumPy's rules.
/// Each matrix is then modified as if it were alone.
///
/// An `l` in the memory of a GPU (any object with ``__dlpack__``) is modified there. `v` and `weights` are there too, or in host memory,
/// from where they are copied. A stack whose leading dimensions, once broadcast, have no single stride is copied by its library. The
/// order is at most 4096 there.
///
/// Parameters
/// ----------
/// l : array_like, shape (..., n, n)
///     L, lower triangular, with A = L Lᵀ; or, with `upper`, R, upper triangular, with A = Rᵀ R. The other triangle is not read,
///     and with `overwrite_l` not written. The result has its dtype, float32 or float64; integers become float64.
/// v : array_like, shape (..., n, k) or (n,)
///     V, or its only column. It is not overwritten. Two dimensions are always those of a matrix: a stack of columns is
///     ``v[..., None]``.
/// weights : array_like, shape (k,) or, for a stack, (..., k), optional
///     w, with any mix of signs. All 1 by default.
/// downdate : bool, default False
///     All weights are −1. Not allowed together with `weights`.
/// upper : bool, default False
///     Whether `l` is upper triangular.
/// overwrite_l : bool, default False
///     Write the result to `l` and return `l`. A NumPy array that is read-only, or that must be converted, is not written. An
///     array of another library is overwritten if NumPy can write to its memory, as with a PyTorch tensor on the CPU, or if it is
///     on a GPU; if it cannot, the call raises `TypeError`.
/// check_finite : bool, default True
///     Check the triangle for infinities and NaNs. Without the check they go unnoticed off the diagonal. The diagonal and `v` are
///     always checked, and so are stacks and arrays on a GPU, for which this has no effect.
/// out : array, shape (..., n, n), optional
///     Write the result to `out` and return `out`, a NumPy array, or an array on the GPU of `l`. It has the dtype of `l` and shares no
///     memory with `l`. Its other triangle is not written. After an exception its triangle is undefined.
///
/// Returns
/// -------
/// array, shape (..., n, n)
///     The new factor, in the same triangle as `l`: `l` itself with `overwrite_l`, else `out` if it was passed, else a new array
///     of the same library (of NumPy for a list) with zeros in the other triangle. With `overwrite_l`, `l` has the leading
///     dimensions of the result.
///
/// Raises
/// ------
/// NotPositiveDefiniteError
///     The new matrix is not positive definite. `l` is unchanged, bit for bit. In a stack this is the error of the first matrix
///     that fails: its number, in C order of the leading dimensions, begins the message and is the attribute `matrix` (for
///     ``numpy.unravel_index``). No matrix is returned or overwritten then; `CholeskyBatch` modifies the others.
/// SingularError
///     `l` has a zero on its diagonal, and a weight is negative. Positive weights are accepted.
/// ValueError, TypeError
///     An argument is invalid.
/// DeviceError
///     `v` or `out` is on another GPU than `l`, or the GPU fails.
///
/// Notes
/// -----
/// The call reads `l` and writes the result in one pass, which detects infinities and NaNs. With `overwrite_l` it works in place
/// on a lower triangle in Fortran order and on an upper triangle in C order: an update that detects such an entry has then
/// overwritten `l` in part. (A downdate, or a call with `out`, has not.) The other two layouts use a temporary copy, as does a
/// triangle with negative diagonal entries, which become positive.
///
/// For factors of several megabytes, the allocation of a new array takes longer than the update: the system must map and clear
/// the memory. In a loop, alternate two arrays as `l` and `out`, or use `overwrite_l`.
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
/// >>> cu.cholesky_update(l, [[[1.0], [2.0]], [[0.0], [np.sqrt(5.0)]]]).round(3)      # two changes of the same matrix
/// array([[[2.236, 0.   ],
///         [1.789, 2.408]],
/// <BLANKLINE>
///        [[2.   , 0.   ],
///         [1.   , 3.   ]]])
#[pyfunction]
#[pyo3(
    signature = (l, v, *, weights=None, downdate=Argument::NONE, upper=Argument::NONE, overwrite_l=Argument::NONE, check_finite=Argument::NONE, out=None),
    text_signature = "(l, v, *, weights=None, downdate=False, upper=False, overwrite_l=False, check_finite=True, out=None)"
)]
#[expect(clippy::too_many_arguments, reason = "the signature that Python sees")]
pub fn cholesky_update<'py>(
    py: Python<'py>,
    l: &Bound<'py, PyAny>,
    v: &Bound<'py, PyAny>,
    weights: Option<&Bound<'py, PyAny>>,
    downdate: Argument<'py>,
    upper: Argument<'py>,
    overwrite_l: Argument<'py>,
    check_finite: Argument<'py>,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let how = How {
        downdate: downdate.flag("downdate", false)?,
        upper: upper.flag("upper", false)?,
        overwrite: overwrite_l.flag("overwrite_l", false)?,
        check_finite: check_finite.flag("check_finite", true)?,
        names: ("l", "v"),
    };
    updated(py, (l, out), v, weights, how)
}

/// `cholupdate.scipy.cholesky_update`, with the argument names proposed for SciPy.
#[pyfunction]
pub fn scipy_cholesky_update<'py>(
    py: Python<'py>,
    r: &Bound<'py, PyAny>,
    z: &Bound<'py, PyAny>,
    downdate: Argument<'py>,
    lower: Argument<'py>,
    overwrite: Argument<'py>,
    check_finite: Argument<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let how = How {
        downdate: downdate.flag("downdate", false)?,
        upper: !lower.flag("lower", false)?,
        overwrite: overwrite.flag("overwrite_rz", false)?,
        check_finite: check_finite.flag("check_finite", true)?,
        names: ("R", "z"),
    };
    updated(py, (r, None), z, None, how)
}

fn updated<'py>(
    py: Python<'py>,
    (l, out): (&Bound<'py, PyAny>, Option<&Bound<'py, PyAny>>),
    v: &Bound<'py, PyAny>,
    weights: Option<&Bound<'py, PyAny>>,
    how: How,
) -> PyResult<Bound<'py, PyAny>> {
    if how.downdate && weights.is_some() {
        return Err(wrong_value("`weights` and `downdate` cannot be given together"));
    }
    if how.overwrite && out.is_some() {
        return Err(wrong_value("`overwrite_l` and `out` cannot be given together"));
    }
    if !l.is_instance_of::<PyUntypedArray>() && is_on_device(l, how.names.0)? {
        return gpu_broadcasting::updated(py, (l, out), (v, weights), how);
    }
    match arrays::Either::new(l, how.names.0)? {
        arrays::Either::Single(array) => of_numbers(py, (l, array), (v, weights), out, how),
        arrays::Either::Double(array) => of_numbers(py, (l, array), (v, weights), out, how),
    }
}

/// The destination of the result.
pub enum Destination<'py, T: Real> {
    /// L itself.
    There(Array<'py, T>),
    /// An array that the caller passed as `out`.
    Out(Array<'py, T>),
    /// A new array.
    New,
}

fn of_numbers<'py, T: Real>(
    py: Python<'py>,
    (object, l): (&Bound<'py, PyAny>, Array<'py, T>),
    (v, weights): (&Bound<'py, PyAny>, Option<&Bound<'py, PyAny>>),
    out: Option<&Bound<'py, PyAny>>,
    how: How,
) -> PyResult<Bound<'py, PyAny>> {
    let raise = |error| exception_naming(py, error, &[("l", how.names.0), ("v", how.names.1)]);
    let &[.., order, columns] = l.shape() else {
        let message = format!("`{}` has {} dimensions, expected 2", how.names.0, l.ndim());
        return Err(wrong_value(message));
    };
    if columns != order {
        let error = Error::Shape { argument: "l", extent: "columns", expected: order, found: columns };
        return Err(raise(error));
    }
    if l.ndim() > 2 || broadcasting::dimensions(v) > 2 {
        return broadcasting::updated(py, (object, l), (v, weights), out, how);
    }
    let place = destination(object, (&l, l.shape()), out, how)?;
    let v = Matrix::<T>::new(v, how.names.1)?;
    // A V that shares memory with the destination is copied before the destination is written.
    let v = match &place {
        Destination::There(written) | Destination::Out(written) => v.apart_from(written, how.names.1)?,
        Destination::New => v,
    };
    let given = v.given(py)?;
    let columns = given.shape().1;
    let weights = match weights {
        Some(weights) => modifying::weights::<T>(weights)?,
        None => vec![if how.downdate { -T::ONE } else { T::ONE }; columns],
    };
    let interruptible = Interruptible::new(py, order, columns);
    let by = By { given: &given, weights: &weights, engine: Cpu::default(), check_finite: how.check_finite };
    let left = match place {
        Destination::Out(_) => "the call was interrupted: `out` has been written in part",
        _ => NOTHING_CHANGED,
    };
    let (made, outcome) = match place {
        Destination::There(l) => {
            let _written = borrowed(&l, how.names.0)?;
            let view = view_mut(&l, how.names.0)?;
            let view = if how.upper { view.transpose_mut() } else { view };
            (object.clone(), without_gil(py, || interruptible.run(|| by.in_place(view))))
        }
        place => {
            let (to, is_new) = match place {
                Destination::Out(out) => (out, false),
                _ => (zeros::<T>(py, &[order, order], !how.upper), true),
            };
            let from = Read::new(l, how.names.0)?.transposed_if(how.upper);
            let _written = borrowed(&to, "out")?;
            let view = view_mut(&to, "out")?;
            let view = if how.upper { view.transpose_mut() } else { view };
            let from = from.view();
            let outcome = without_gil(py, || interruptible.run(|| by.apart(from, view)));
            let made = to.clone().into_any();
            (if is_new && outcome.is_ok() { like(made, object)? } else { made }, outcome)
        }
    };
    let raise = |_: Python<'_>, error| raise(seen_from_above(error, how.upper));
    interruptible.end_by(py, outcome, left, raise).map(|()| made)
}

/// While it lives, no other extension built with the `numpy` crate uses the array.
pub fn borrowed<'py, T: Real>(array: &Array<'py, T>, name: &str) -> PyResult<PyReadwriteArrayDyn<'py, T>> {
    array.try_readwrite().map_err(|_| in_use(&format!("`{name}`")))
}

/// The destination of the result of a call with these arguments, which has this shape.
pub fn destination<'py, T: Real>(
    object: &Bound<'py, PyAny>,
    (l, shape): (&Array<'py, T>, &[usize]),
    out: Option<&Bound<'py, PyAny>>,
    how: How,
) -> PyResult<Destination<'py, T>> {
    if let Some(out) = out {
        return to_out((l, shape), out).map(Destination::Out);
    }
    if !how.overwrite || is_bare(object) {
        return Ok(Destination::New);
    }
    if l.shape() != shape {
        let (name, found) = (how.names.0, l.shape());
        let message =
            format!("`{name}` cannot be overwritten: it has shape {found:?}, and the result {shape:?}");
        return Err(wrong_value(message));
    }
    if !object.is_instance_of::<PyUntypedArray>() {
        return shared::<T>(object, how.names.0).map(Destination::There);
    }
    // A copy that NumPy made of the argument is not the caller's array.
    let usable = usable::<T>(object).filter(|l| is_writeable(l));
    Ok(usable.map_or(Destination::New, |l| Destination::There(l.clone())))
}

/// Checks `out`: an array of this shape and of the dtype of L that shares no memory with L.
fn to_out<'py, T: Real>(
    (l, shape): (&Array<'py, T>, &[usize]),
    out: &Bound<'py, PyAny>,
) -> PyResult<Array<'py, T>> {
    if !out.is_instance_of::<PyUntypedArray>() {
        return Err(wrong_type(format!("`out` must be an ndarray, not {}", kind(out))));
    }
    let Some(array) = usable::<T>(out) else {
        return Err(wrong_type(format!(
            "`out` must be an aligned array of {} in native order, as `l`",
            T::NAME
        )));
    };
    if array.shape() != shape {
        return Err(wrong_value(format!("`out` has shape {:?}, expected {shape:?}", array.shape())));
    }
    if !is_writeable(array) {
        return Err(wrong_value("`out` is read-only"));
    }
    if overlap(l, array) {
        return Err(wrong_value("`out` has memory in common with `l`: use `overwrite_l`"));
    }
    Ok(array.clone())
}

/// V diag(w) Vᵀ, and how it is applied.
struct By<'a, T: Real> {
    given: &'a Operand<'a, T>,
    weights: &'a [T],
    engine: Cpu,
    check_finite: bool,
}

impl<T: Real> By<'_, T> {
    /// L ← L'.
    fn in_place(&self, l: MatMut<'_, T>) -> Result<(), Error> {
        if lies_well(l.as_ref()) {
            return with_workspace(l.nrows(), |workspace| {
                let modified = match self.check_finite {
                    true => modify_checked_in_place(l, self.given, self.weights, &self.engine, workspace),
                    false => modify_in_place(l, self.given, self.weights, &self.engine, workspace),
                };
                modified.map(|_| ())
            });
        }
        let mut new = Mat::zeros(l.nrows(), l.nrows());
        self.apart(l.as_ref(), new.as_mut())?;
        copy_triangle(new.as_ref(), l);
        Ok(())
    }

    /// `to` ← L'.
    fn apart(&self, l: MatRef<'_, T>, mut to: MatMut<'_, T>) -> Result<(), Error> {
        if !by_columns(to.as_ref()) {
            let mut new = Mat::zeros(l.nrows(), l.nrows());
            self.apart(l, new.as_mut())?;
            copy_triangle(new.as_ref(), to);
            return Ok(());
        }
        let outcome = with_workspace(l.nrows(), |workspace| {
            modify_into(l, self.given, self.weights, to.as_mut(), &self.engine, workspace).map(|_| ())
        });
        match outcome {
            // The caller has disabled this check; the diagonal is always checked.
            Err(Error::NonFinite { argument: "l", row, column }) if !self.check_finite && row != column => {
                copy_triangle(l, to.as_mut());
                with_workspace(l.nrows(), |workspace| {
                    let engine = self.engine.with_safeguard(Safeguard::None);
                    modify_in_place(to, self.given, self.weights, &engine, workspace).map(|_| ())
                })
            }
            outcome => outcome,
        }
    }
}

/// Whether the library can modify L in place: column-major, without negative diagonal entries.
fn lies_well<T: Real>(l: MatRef<'_, T>) -> bool {
    by_columns(l) && l.diagonal().column_vector().iter().all(|&pivot| pivot >= T::ZERO)
}

fn by_columns<T: Real>(l: MatRef<'_, T>) -> bool {
    (l.row_stride() == 1 || l.nrows() <= 1) && l.col_stride() >= l.nrows() as isize
}

fn with_workspace<T: Real>(
    order: usize,
    call: impl FnOnce(&mut Workspace<T>) -> Result<(), Error>,
) -> Result<(), Error> {
    /// The largest order whose working memory is kept for the next call.
    const KEPT: usize = 512;
    T::with_workspace(|workspace| {
        let outcome = call(workspace);
        if order > KEPT {
            *workspace = Default::default();
        }
        outcome
    })
}
