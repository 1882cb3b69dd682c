//! The class `Carried`.

use crate::argument::count;
use crate::arrays::{self, Read, to_numpy};
use crate::errors::{in_use, wrong_type, wrong_value};
use crate::factor::{Cholesky, Kept};
use crate::numbers::Real;
use crate::operands::Matrix;
use crate::shared::Shared;
use crate::threads::without_gil;
use cholupdate::faer::MatRef;
use pyo3::prelude::*;
use std::any::Any;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Right-hand sides of least squares that are kept current with a factor, by `Cholesky.modify_carrying`.
///
/// With A = Xᵀ X for observations X (rows) and y for what was observed, b = Xᵀ y are right-hand sides of A β = b. What is kept is z = L⁻¹ b,
/// of which ``f.solve_lt(z)`` is β, and the residual sums of squares ‖y − X β‖²: LINPACK's Z and RHO² of `dchud`.
///
/// Parameters
/// ----------
/// f : Cholesky
///     Of A.
/// b : array_like, shape (n, m) or (n,)
///     Xᵀ y, in numbers of the factor's dtype.
/// sums : array_like, shape (m,)
///     The sums of the squares of y.
///
/// Examples
/// --------
/// >>> import cholupdate as cu
/// >>> f = cu.Cholesky([[2.0, 1.0], [1.0, 1.0]])         # of the observations (1, 0) and (1, 1)
/// >>> line = cu.Carried(f, [4.0, 3.0], [10.0])          # with the values 1 and 3
/// >>> f.solve_lt(line.z).round(12), line.squares.round(12)
/// (array([1., 2.]), array([0.]))
#[pyclass(frozen, weakref, module = "cholupdate")]
pub struct Carried {
    /// A `Held<f32>` or a `Held<f64>`.
    held: Box<dyn Any + Send + Sync>,
    is_vector: bool,
}

type Held<T> = Mutex<cholupdate::Carried<T>>;

impl Carried {
    fn of<T: Real>(carried: cholupdate::Carried<T>, is_vector: bool) -> Self {
        Self { held: Box::new(Mutex::new(carried)), is_vector }
    }

    fn held<T: Real>(&self) -> Option<&Held<T>> {
        self.held.downcast_ref()
    }

    /// What is carried, for this call alone.
    ///
    /// # Errors
    /// `TypeError` for other numbers than those of the factor, `RuntimeError` where another thread has it.
    pub fn alone<T: Real>(&self) -> PyResult<MutexGuard<'_, cholupdate::Carried<T>>> {
        let Some(held) = self.held::<T>() else {
            return Err(wrong_type(format!("`carried` is of a factor of another dtype than {}", T::NAME)));
        };
        match held.try_lock() {
            Ok(guard) => Ok(guard),
            // It is changed when all else is done.
            Err(TryLockError::Poisoned(guard)) => Ok(guard.into_inner()),
            Err(TryLockError::WouldBlock) => Err(in_use("`carried`")),
        }
    }
}

fn made<'py, T: Real>(
    py: Python<'py>,
    state: &Shared<T>,
    b: &Bound<'py, PyAny>,
    sums: &Bound<'py, PyAny>,
) -> PyResult<Carried> {
    let sums = vector::<T>(sums, "sums")?;
    let b = Matrix::<T>::new(b, "b")?;
    let is_vector = match &b {
        Matrix::Host(b) => b.ndim() < 2,
        Matrix::Device(b) => b.ndim() < 2,
    };
    let given = b.given(py)?;
    let carried = state.look(py, |factor| cholupdate::Carried::new(factor, &given, &sums))?;
    Ok(Carried::of(carried, is_vector))
}

/// Numbers, or one.
fn vector<T: Real>(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<T>> {
    let array = Read::new(arrays::array::<T>(object, name)?, name)?;
    if array.ndim() > 1 {
        return Err(wrong_value(format!("`{name}` has {} dimensions, expected 1", array.ndim())));
    }
    let view: MatRef<'_, T> = array.view();
    Ok(view.col(0).iter().copied().collect())
}

/// Does the same with either kind of numbers.
macro_rules! with_carried {
    ($self:expr, $carried:ident => $body:expr) => {
        match $self.held::<f32>() {
            Some(_) => {
                let $carried = $self.alone::<f32>()?;
                $body
            }
            None => {
                let $carried = $self.alone::<f64>()?;
                $body
            }
        }
    };
}

#[pymethods]
impl Carried {
    #[new]
    fn new<'py>(
        py: Python<'py>,
        f: &Bound<'py, Cholesky>,
        b: &Bound<'py, PyAny>,
        sums: &Bound<'py, PyAny>,
    ) -> PyResult<Self> {
        match &f.get().kept {
            Kept::Single(state) => made(py, state, b, sums),
            Kept::Double(state) => made(py, state, b, sums),
        }
    }

    /// Of no observations yet: what goes with `Cholesky.zeros`.
    ///
    /// Parameters
    /// ----------
    /// f : Cholesky
    ///     From which the order n and the dtype are.
    /// m : int, optional
    ///     Right-hand sides. By default one, with z of shape (n,).
    ///
    /// Returns
    /// -------
    /// Carried
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky.zeros(2)
    /// >>> line = cu.Carried.zeros(f)
    /// >>> _ = f.modify_carrying(1.0, [[1.0, 1.0], [0.0, 1.0]], [1.0, 3.0], line)
    /// >>> f.solve_lt(line.z).round(12)
    /// array([1., 2.])
    #[staticmethod]
    #[pyo3(signature = (f, m = None))]
    fn zeros(py: Python<'_>, f: &Bound<'_, Cholesky>, m: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let columns = m.map_or(Ok(1), |m| count(m, "m"))?;
        let order = f.get().order(py)?;
        Ok(match &f.get().kept {
            Kept::Single(_) => Self::of(cholupdate::Carried::<f32>::zeros(order, columns), m.is_none()),
            Kept::Double(_) => Self::of(cholupdate::Carried::<f64>::zeros(order, columns), m.is_none()),
        })
    }

    /// L⁻¹ b: a copy, of the shape of b.
    #[getter]
    fn z<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let z = with_carried!(self, carried => to_numpy(py, carried.z.as_ref(), false)?.into_any());
        if self.is_vector { z.call_method1("reshape", (-1,)) } else { Ok(z) }
    }

    /// The residual sums of squares: a copy, of shape (m,). −1 for one that would have become negative: it is not known any more.
    #[getter]
    fn squares<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        with_carried!(self, carried => {
            let squares = MatRef::from_column_major_slice(&carried.squares, carried.squares.len(), 1);
            to_numpy(py, squares, false)?.into_any().call_method1("reshape", (-1,))
        })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let restore = py.import("cholupdate._cholupdate")?.getattr("restore_carried")?;
        let state = (slf.getattr("z")?, slf.getattr("squares")?);
        Ok((restore, state).into_pyobject(py)?.into_any())
    }

    fn __repr__(&self) -> PyResult<String> {
        let (rows, cols) = with_carried!(self, carried => carried.z.shape());
        Ok(format!("<cholupdate.Carried of order {rows}, {cols} right-hand sides>"))
    }
}

/// Makes one of what `Carried.__reduce__` kept of it.
#[pyfunction]
pub fn restore_carried<'py>(z: &Bound<'py, PyAny>, squares: &Bound<'py, PyAny>) -> PyResult<Carried> {
    fn restored<T: Real>(
        py: Python<'_>,
        z: arrays::Array<'_, T>,
        squares: &Bound<'_, PyAny>,
    ) -> PyResult<Carried> {
        let z = Read::new(z, "z")?;
        let squares = vector::<T>(squares, "squares")?;
        let view = z.view();
        let matrix = without_gil(py, || view.to_owned());
        Ok(Carried::of(cholupdate::Carried { z: matrix, squares }, z.ndim() < 2))
    }
    match arrays::Either::new(z, "z")? {
        arrays::Either::Single(array) => restored(z.py(), array, squares),
        arrays::Either::Double(array) => restored(z.py(), array, squares),
    }
}
