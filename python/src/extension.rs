//! The class `Extension`.

use crate::arrays::{Read, array, to_numpy};
use crate::errors::exception;
use crate::factor::{Cholesky, Kept, with_numbers_as};
use crate::numbers::{Number, Real};
use crate::operands::Matrix;
use crate::shared::{Factor, Shared};
use crate::solving::as_given;
use crate::threads::without_gil;
use cholupdate::Error;
use cholupdate::faer::{Mat, c32, c64};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The factor of A bordered by rows and columns, on top of a factor that is not changed. Made by `Cholesky.extension`.
#[pyclass(frozen, weakref, module = "cholupdate")]
pub struct Extension {
    base: Py<Cholesky>,
    border: AnyBorder,
}

/// The border, of the numbers of the base.
enum AnyBorder {
    Single(Bordered<f32>),
    Double(Bordered<f64>),
    ComplexSingle(Bordered<c32>),
    ComplexDouble(Bordered<c64>),
}

/// S = L⁻¹ B and C, the factor of K − Bᵀ A⁻¹ B: an extension without its base.
type Border<T> = (Mat<T>, Mat<T>);
type Extended<'a, T> = cholupdate::Extension<'a, T, <T as Number>::Engine>;

struct Bordered<T: Number> {
    border: Border<T>,
    /// `State::changes` of the base when the extension was made.
    made_at: u64,
}

impl<T: Number> Bordered<T> {
    fn new<'py>(
        py: Python<'py>,
        state: &Shared<T>,
        cross: &Bound<'py, PyAny>,
        corner: &Bound<'py, PyAny>,
    ) -> PyResult<Self> {
        let (cross, corner) = (Matrix::<T>::new(cross, "cross")?, Matrix::<T>::new(corner, "corner")?);
        let (cross, corner) = (cross.given(py)?, corner.given(py)?);
        let reader = state.reader()?;
        let made = without_gil(py, || {
            reader
                .look(|state| Ok((state.factor().extension(&cross, &corner)?.into_parts(), state.changes())))
        });
        let (border, made_at) = made.map_err(|error| exception(py, error))?;
        Ok(Self { border, made_at })
    }

    /// n + r.
    fn order(&self) -> usize {
        let (s, _) = &self.border;
        s.nrows() + s.ncols()
    }

    /// C, as an array.
    fn corner<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (_, corner) = &self.border;
        Ok(to_numpy(py, corner.as_ref(), false)?.into_any())
    }

    /// Calls `call` with the extension. The base must not have changed.
    fn look<R: Send>(
        &self,
        py: Python<'_>,
        state: &Shared<T>,
        call: impl FnOnce(Extended<'_, T>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let reader = state.reader()?;
        let outcome = without_gil(py, || {
            reader.look(|state| match state.changes() == self.made_at {
                true => extended(state.factor(), &self.border).and_then(call).map(Some),
                false => Ok(None),
            })
        });
        outcome.map_err(|error| exception(py, error))?.ok_or_else(|| {
            PyRuntimeError::new_err("the factor has changed since this extension of it was made")
        })
    }

    /// S, C and whether the base is unchanged, for `restored`.
    fn reduced<'py>(
        &self,
        py: Python<'py>,
        state: &Shared<T>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, bool)> {
        let (s, corner) = &self.border;
        let changes = changes(py, state)?;
        let [s, corner] = [to_numpy(py, s.as_ref(), false)?, to_numpy(py, corner.as_ref(), false)?];
        Ok((s.into_any(), corner.into_any(), changes == self.made_at))
    }

    /// The extension from the state that `reduced` returned.
    fn restored(
        py: Python<'_>,
        state: &Shared<T>,
        (s, corner): (&Bound<'_, PyAny>, &Bound<'_, PyAny>),
        is_valid: bool,
    ) -> PyResult<Self> {
        let matrix = |object: &Bound<'_, PyAny>, name| {
            PyResult::Ok(Read::<T>::new(array(object, name)?, name)?.view().to_owned())
        };
        let border = (matrix(s, "s")?, matrix(corner, "corner")?);
        // No factor reaches this number of changes.
        let made_at = if is_valid { changes(py, state)? } else { u64::MAX };
        Ok(Self { border, made_at })
    }

    fn solve<'py>(
        &self,
        py: Python<'py>,
        state: &Shared<T>,
        b: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = Matrix::<T>::new(b, "b")?;
        let view = given.given(py)?;
        let x = self.look(py, state, |extended| extended.solve(&view))?;
        as_given(py, x, (b, &given))
    }
}

fn extended<'a, T: Number>(
    factor: &'a Factor<T>,
    (s, corner): &'a Border<T>,
) -> Result<Extended<'a, T>, Error> {
    Extended::from_borrowed_parts(factor, s.as_ref(), corner.as_ref())
}

fn changes<T: Number>(py: Python<'_>, state: &Shared<T>) -> PyResult<u64> {
    let reader = state.reader()?;
    without_gil(py, || reader.look(|state| Ok(state.changes()))).map_err(|error| exception(py, error))
}

impl Extension {
    pub fn new<'py>(
        base: &Bound<'py, Cholesky>,
        cross: &Bound<'py, PyAny>,
        corner: &Bound<'py, PyAny>,
    ) -> PyResult<Self> {
        let py = base.py();
        let border =
            with_numbers_as!(AnyBorder, base.get(), state => Bordered::new(py, state, cross, corner)?);
        Ok(Self { base: base.clone().unbind(), border })
    }
}

/// Evaluates the same expression for any numbers, which are those of the base.
macro_rules! with_border {
    ($extension:expr, ($bordered:ident, $state:ident) => $body:expr) => {
        match (&$extension.border, &$extension.base.get().kept) {
            (AnyBorder::Single($bordered), Kept::Single($state)) => $body,
            (AnyBorder::Double($bordered), Kept::Double($state)) => $body,
            (AnyBorder::ComplexSingle($bordered), Kept::ComplexSingle($state)) => $body,
            (AnyBorder::ComplexDouble($bordered), Kept::ComplexDouble($state)) => $body,
            _ => unreachable!("an extension has the numbers of its base"),
        }
    };
}

#[pymethods]
impl Extension {
    /// n + r, the number of rows of the bordered A.
    #[getter]
    fn order(&self) -> usize {
        with_border!(self, (bordered, _state) => bordered.order())
    }

    fn __len__(&self) -> usize {
        self.order()
    }

    /// Solves A X = B for the bordered A.
    ///
    /// Parameters
    /// ----------
    /// b : array_like, shape (n + r, m) or (n + r,)
    ///
    /// Returns
    /// -------
    /// array, shape of `b`
    fn solve<'py>(&self, py: Python<'py>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_border!(self, (bordered, state) => bordered.solve(py, state, b))
    }

    /// The logarithm of det A, of the bordered A.
    ///
    /// Returns
    /// -------
    /// float
    fn log_det(&self, py: Python<'_>) -> PyResult<f64> {
        with_border!(self, (bordered, state) => {
            bordered.look(py, state, |extended| extended.log_det()).map(Real::double)
        })
    }

    /// C, lower triangular, with C Cᵀ = K − Bᵀ A⁻¹ B, the Schur complement of A in the bordered matrix.
    ///
    /// Returns
    /// -------
    /// ndarray, shape (r, r)
    fn corner<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        with_border!(self, (bordered, _state) => bordered.corner(py))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, extension) = (slf.py(), slf.get());
        let (s, corner, is_valid) =
            with_border!(extension, (bordered, state) => bordered.reduced(py, state)?);
        let restore = py.import("cholupdate._cholupdate")?.getattr("restore_extension")?;
        let state = (extension.base.clone_ref(py), s, corner, is_valid);
        Ok((restore, state).into_pyobject(py)?.into_any())
    }

    fn __repr__(&self) -> String {
        format!("<cholupdate.Extension of order {}>", self.order())
    }
}

/// Restores an extension from the state that `Extension.__reduce__` returned.
#[pyfunction]
pub fn restore_extension<'py>(
    base: &Bound<'py, Cholesky>,
    s: &Bound<'py, PyAny>,
    corner: &Bound<'py, PyAny>,
    is_valid: bool,
) -> PyResult<Extension> {
    let (py, parts) = (base.py(), (s, corner));
    let border =
        with_numbers_as!(AnyBorder, base.get(), state => Bordered::restored(py, state, parts, is_valid)?);
    Ok(Extension { base: base.clone().unbind(), border })
}
