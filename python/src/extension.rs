//! The class `Extension`.

use crate::arrays::to_numpy;
use crate::errors::exception;
use crate::factor::{Cholesky, Kept, State, lock};
use crate::held::{Border, Held};
use crate::numbers::Real;
use crate::operands::Matrix;
use crate::solving::as_given;
use crate::threads::without_gil;
use cholupdate::Error;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Mutex;

/// A factor bordered by rows and columns that are never made part of it: `Cholesky.extension` makes it.
#[pyclass(frozen, module = "cholupdate")]
pub struct Extension {
    base: Py<Cholesky>,
    border: EitherBorder,
}

enum EitherBorder {
    Single(Bordered<f32>),
    Double(Bordered<f64>),
}

struct Bordered<T: Real> {
    border: Border<T>,
    /// `State::changes` of the base at the time.
    made_at: u64,
}

impl<T: Real> Bordered<T> {
    fn new<'py>(
        py: Python<'py>,
        state: &Mutex<State<T>>,
        cross: &Bound<'py, PyAny>,
        corner: &Bound<'py, PyAny>,
    ) -> PyResult<Self> {
        let (cross, corner) = (Matrix::<T>::new(cross, "cross")?, Matrix::<T>::new(corner, "corner")?);
        let (cross, corner) = (cross.given(py)?, corner.given(py)?);
        let guard = lock(state)?;
        let (factor, made_at) = (&*guard.factor, guard.changes);
        let border =
            without_gil(py, || factor.extension(&cross, &corner)).map_err(|error| exception(py, error))?;
        Ok(Self { border, made_at })
    }

    /// Has the library look at the base, which must not have changed.
    fn look<R: Send>(
        &self,
        py: Python<'_>,
        state: &Mutex<State<T>>,
        call: impl FnOnce(&dyn Held<T>, &Border<T>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let guard = lock(state)?;
        if guard.changes != self.made_at {
            return Err(PyRuntimeError::new_err(
                "the factor has changed since this extension of it was made",
            ));
        }
        let factor = &*guard.factor;
        without_gil(py, || call(factor, &self.border)).map_err(|error| exception(py, error))
    }

    fn solve<'py>(
        &self,
        py: Python<'py>,
        state: &Mutex<State<T>>,
        b: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = Matrix::<T>::new(b, "b")?;
        let view = given.given(py)?;
        let x = self.look(py, state, |factor, border| factor.solve_extended(border, &view))?;
        as_given(py, x, (b, &given))
    }
}

impl Extension {
    pub fn new<'py>(
        base: &Bound<'py, Cholesky>,
        cross: &Bound<'py, PyAny>,
        corner: &Bound<'py, PyAny>,
    ) -> PyResult<Self> {
        let py = base.py();
        let border = match &base.get().kept {
            Kept::Single(state) => EitherBorder::Single(Bordered::new(py, state, cross, corner)?),
            Kept::Double(state) => EitherBorder::Double(Bordered::new(py, state, cross, corner)?),
        };
        Ok(Self { base: base.clone().unbind(), border })
    }
}

/// Does the same with either kind of numbers, which are those of the base.
macro_rules! with_border {
    ($extension:expr, ($bordered:ident, $state:ident) => $body:expr) => {
        match (&$extension.border, &$extension.base.get().kept) {
            (EitherBorder::Single($bordered), Kept::Single($state)) => $body,
            (EitherBorder::Double($bordered), Kept::Double($state)) => $body,
            _ => unreachable!("an extension has the numbers of its base"),
        }
    };
}

#[pymethods]
impl Extension {
    /// n + r, the number of rows of the bordered A.
    #[getter]
    fn order(&self) -> usize {
        match &self.border {
            EitherBorder::Single(Bordered { border: (s, _), .. }) => s.nrows() + s.ncols(),
            EitherBorder::Double(Bordered { border: (s, _), .. }) => s.nrows() + s.ncols(),
        }
    }

    fn __len__(&self) -> usize {
        self.order()
    }

    /// X with A X = B, for the bordered A.
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

    /// The logarithm of det A, for the bordered A.
    ///
    /// Returns
    /// -------
    /// float
    fn log_det(&self, py: Python<'_>) -> PyResult<f64> {
        with_border!(self, (bordered, state) => {
            bordered.look(py, state, |factor, border| factor.log_det_extended(border)).map(Real::double)
        })
    }

    /// C, lower triangular, with C Cᵀ = K − Bᵀ A⁻¹ B: the factor of what A leaves unexplained of K.
    ///
    /// Returns
    /// -------
    /// ndarray, shape (r, r)
    fn corner<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match &self.border {
            EitherBorder::Single(Bordered { border: (_, corner), .. }) => {
                to_numpy(py, corner.as_ref(), false)?.into_any()
            }
            EitherBorder::Double(Bordered { border: (_, corner), .. }) => {
                to_numpy(py, corner.as_ref(), false)?.into_any()
            }
        })
    }

    fn __repr__(&self) -> String {
        format!("<cholupdate.Extension of order {}>", self.order())
    }
}
