//! The class `LdltExtension`.

use super::{Kept, Ldlt, Shared};
use crate::arrays::{Read, array, to_numpy};
use crate::carried::vector;
use crate::errors::exception;
use crate::numbers::{Number, Real};
use crate::operands::Matrix;
use crate::solving::as_given;
use crate::threads::without_gil;
use cholupdate::Error;
use cholupdate::faer::{Mat, c32, c64};
use numpy::PyArray1;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// The factor of an indefinite A bordered by rows and columns, on top of a factor that is not changed. Made by `Ldlt.extension`.
#[pyclass(frozen, weakref, module = "cholupdate")]
pub struct LdltExtension {
    base: Py<Ldlt>,
    border: AnyBorder,
}

/// The border, of the numbers of the base.
enum AnyBorder {
    Single(Bordered<f32>),
    Double(Bordered<f64>),
    ComplexSingle(Bordered<c32>),
    ComplexDouble(Bordered<c64>),
}

/// Y = L⁻¹ B, C, and the diagonal of S with C S Cᴴ = K − Bᴴ A⁻¹ B: an extension without its base.
type Border<T> = (Mat<T>, Mat<T>, Vec<<T as Number>::RealPart>);
type Extended<'a, T> = cholupdate::LdltExtension<'a, T>;

struct Bordered<T: Number> {
    border: Border<T>,
    /// `Shared::changes` of the base when the extension was made.
    made_at: u64,
}

impl<T: Number> Bordered<T> {
    fn new<'py>(
        py: Python<'py>,
        shared: &Shared<T>,
        cross: &Bound<'py, PyAny>,
        corner: &Bound<'py, PyAny>,
    ) -> PyResult<Self> {
        let (cross, corner) = (Matrix::<T>::new(cross, "cross")?, Matrix::<T>::new(corner, "corner")?);
        let (cross, corner) = (cross.given(py)?, corner.given(py)?);
        let reader = shared.reader(py)?;
        let made =
            without_gil(py, || reader.look(|factor| Ok(factor.extension(&cross, &corner)?.into_parts())));
        Ok(Self { border: made.map_err(|error| exception(py, error))?, made_at: shared.changes() })
    }

    /// n + r.
    fn order(&self) -> usize {
        let (y, ..) = &self.border;
        y.nrows() + y.ncols()
    }

    /// Calls `call` with the extension. The base must not have changed.
    fn look<R: Send>(
        &self,
        py: Python<'_>,
        shared: &Shared<T>,
        call: impl FnOnce(Extended<'_, T>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let reader = shared.reader(py)?;
        // A reader excludes changes.
        if shared.changes() != self.made_at {
            let message = "the factor has changed since this extension of it was made";
            return Err(PyRuntimeError::new_err(message));
        }
        let (y, corner, signs) = &self.border;
        let outcome = without_gil(py, || {
            reader.look(|factor| {
                call(Extended::from_borrowed_parts(factor, y.as_ref(), corner.as_ref(), signs)?)
            })
        });
        outcome.map_err(|error| exception(py, error))
    }

    fn solve<'py>(
        &self,
        py: Python<'py>,
        shared: &Shared<T>,
        b: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = Matrix::<T>::new(b, "b")?;
        let view = given.given(py)?;
        let x = self.look(py, shared, |extended| extended.solve(&view))?;
        as_given(py, x, (b, &given))
    }

    /// Y, C and the signs, as arrays.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyAny>; 3]> {
        let (y, corner, signs) = &self.border;
        let [y, corner] = [to_numpy(py, y.as_ref(), false)?, to_numpy(py, corner.as_ref(), false)?];
        Ok([y.into_any(), corner.into_any(), PyArray1::from_slice(py, signs).into_any()])
    }

    /// The extension of these parts.
    fn restored(
        shared: &Shared<T>,
        [y, corner, signs]: [&Bound<'_, PyAny>; 3],
        is_valid: bool,
    ) -> PyResult<Self> {
        let matrix = |object: &Bound<'_, PyAny>, name| {
            PyResult::Ok(Read::<T>::new(array(object, name)?, name)?.view().to_owned())
        };
        let border = (matrix(y, "y")?, matrix(corner, "corner")?, vector::<T>(signs, "signs")?);
        // No factor reaches this number of changes.
        let made_at = if is_valid { shared.changes() } else { u64::MAX };
        Ok(Self { border, made_at })
    }
}

/// The border by `made`, of the numbers of the base.
macro_rules! border_of {
    ($base:expr, $shared:ident => $made:expr) => {
        match &$base.kept {
            Kept::Single($shared) => AnyBorder::Single($made),
            Kept::Double($shared) => AnyBorder::Double($made),
            Kept::ComplexSingle($shared) => AnyBorder::ComplexSingle($made),
            Kept::ComplexDouble($shared) => AnyBorder::ComplexDouble($made),
        }
    };
}

/// Evaluates the same expression for any numbers, which are those of the base.
macro_rules! with_border {
    ($extension:expr, ($bordered:ident, $shared:ident) => $body:expr) => {
        match (&$extension.border, &$extension.base.get().kept) {
            (AnyBorder::Single($bordered), Kept::Single($shared)) => $body,
            (AnyBorder::Double($bordered), Kept::Double($shared)) => $body,
            (AnyBorder::ComplexSingle($bordered), Kept::ComplexSingle($shared)) => $body,
            (AnyBorder::ComplexDouble($bordered), Kept::ComplexDouble($shared)) => $body,
            _ => unreachable!("an extension has the numbers of its base"),
        }
    };
}

impl LdltExtension {
    pub fn new<'py>(
        base: &Bound<'py, Ldlt>,
        cross: &Bound<'py, PyAny>,
        corner: &Bound<'py, PyAny>,
    ) -> PyResult<Self> {
        let py = base.py();
        let border = border_of!(base.get(), shared => Bordered::new(py, shared, cross, corner)?);
        Ok(Self { base: base.clone().unbind(), border })
    }
}

#[pymethods]
impl LdltExtension {
    /// n + r, the number of rows of the bordered A.
    #[getter]
    fn order(&self) -> usize {
        with_border!(self, (bordered, _shared) => bordered.order())
    }

    fn __len__(&self) -> usize {
        self.order()
    }

    /// The numbers of positive and of negative eigenvalues of the bordered A.
    #[getter]
    fn inertia(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        with_border!(self, (bordered, shared) => {
            bordered.look(py, shared, |extended| Ok(extended.inertia()))
        })
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
        with_border!(self, (bordered, shared) => bordered.solve(py, shared, b))
    }

    /// The logarithm of |det A|, of the bordered A.
    ///
    /// Returns
    /// -------
    /// float
    fn log_abs_det(&self, py: Python<'_>) -> PyResult<f64> {
        with_border!(self, (bordered, shared) => {
            bordered.look(py, shared, |extended| Ok(extended.log_abs_det())).map(Real::double)
        })
    }

    /// C, lower triangular with a positive diagonal, with C S Cᵀ = K − Bᵀ A⁻¹ B, the Schur complement of A in the bordered matrix.
    ///
    /// Returns
    /// -------
    /// ndarray, shape (r, r)
    fn corner<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let [_, corner, _] = with_border!(self, (bordered, _shared) => bordered.parts(py)?);
        Ok(corner)
    }

    /// The diagonal of S for `corner`: 1 or −1. Shape (r,).
    #[getter]
    fn signs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let [_, _, signs] = with_border!(self, (bordered, _shared) => bordered.parts(py)?);
        Ok(signs)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, extension) = (slf.py(), slf.get());
        let ([y, corner, signs], is_valid) = with_border!(extension, (bordered, shared) => {
            (bordered.parts(py)?, shared.changes() == bordered.made_at)
        });
        let restore = py.import("cholupdate._cholupdate")?.getattr("restore_ldlt_extension")?;
        let state = (extension.base.clone_ref(py), y, corner, signs, is_valid);
        Ok((restore, state).into_pyobject(py)?.into_any())
    }

    fn __repr__(&self) -> String {
        format!("<cholupdate.LdltExtension of order {}>", self.order())
    }
}

/// Restores an extension from the state that `LdltExtension.__reduce__` returned.
#[pyfunction]
pub fn restore_ldlt_extension<'py>(
    base: &Bound<'py, Ldlt>,
    y: &Bound<'py, PyAny>,
    corner: &Bound<'py, PyAny>,
    signs: &Bound<'py, PyAny>,
    is_valid: bool,
) -> PyResult<LdltExtension> {
    let parts = [y, corner, signs];
    let border = border_of!(base.get(), shared => Bordered::restored(shared, parts, is_valid)?);
    Ok(LdltExtension { base: base.clone().unbind(), border })
}
