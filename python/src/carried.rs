//! The class `Carried`.

use crate::argument::count;
use crate::arrays::{self, Either, Read, to_numpy};
use crate::errors::{in_use, wrong_type, wrong_value};
use crate::factor::{Cholesky, with_numbers};
use crate::numbers::Number;
use crate::operands::Matrix;
use crate::shared::Shared;
use crate::threads::without_gil;
use cholupdate::faer::{MatRef, c32, c64};
use pyo3::prelude::*;
use std::any::Any;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Right-hand sides of least squares that `Cholesky.modify_carrying` updates together with the factor.
///
/// For observations X (one in each row) and observed values y, A = Xᵀ X and b = Xᵀ y are the normal equations A β = b. (Of complex
/// numbers the columns of V are those of Xᴴ, and ``y`` is not conjugated.) The class stores z = L⁻¹ b and the residual sums of
/// squares ‖y − X β‖², LINPACK's Z and RHO² of `dchud`. ``f.solve_lt(z)`` computes β.
///
/// Parameters
/// ----------
/// f : Cholesky
///     The factor of A.
/// b : array_like, shape (n, m) or (n,)
///     Xᵀ y, of the factor's dtype.
/// sums : array_like, shape (m,)
///     The sums of the squares of y, real.
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
    /// A `Held` of the factor's numbers.
    held: Box<dyn Any + Send + Sync>,
    is_vector: bool,
}

type Held<T> = Mutex<cholupdate::Carried<T>>;

impl Carried {
    fn of<T: Number>(carried: cholupdate::Carried<T>, is_vector: bool) -> Self {
        Self { held: Box::new(Mutex::new(carried)), is_vector }
    }

    fn held<T: Number>(&self) -> Option<&Held<T>> {
        self.held.downcast_ref()
    }

    /// Locks the right-hand sides for this call.
    ///
    /// # Errors
    /// `TypeError` if the dtype is not that of the factor, `RuntimeError` if another thread holds the lock.
    pub fn alone<T: Number>(&self) -> PyResult<MutexGuard<'_, cholupdate::Carried<T>>> {
        let Some(held) = self.held::<T>() else {
            return Err(wrong_type(format!("`carried` is of a factor of another dtype than {}", T::NAME)));
        };
        match held.try_lock() {
            Ok(guard) => Ok(guard),
            // The library writes to it last, so that a panic leaves it consistent.
            Err(TryLockError::Poisoned(guard)) => Ok(guard.into_inner()),
            Err(TryLockError::WouldBlock) => Err(in_use("`carried`")),
        }
    }
}

fn made<'py, T: Number>(
    py: Python<'py>,
    state: &Shared<T>,
    b: &Bound<'py, PyAny>,
    sums: &Bound<'py, PyAny>,
) -> PyResult<Carried> {
    let sums = vector::<T>(sums, "sums")?;
    let b = Matrix::<T>::new(b, "b")?;
    let is_vector = b.ndim() < 2;
    let given = b.given(py)?;
    let carried = state.look(py, |factor| cholupdate::Carried::new(factor, &given, &sums))?;
    Ok(Carried::of(carried, is_vector))
}

/// A real vector for a factor of T, or a scalar as a vector of length one.
pub fn vector<T: Number>(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<T::RealPart>> {
    let array = Read::new(arrays::real_array::<T>(object, name)?, name)?;
    if array.ndim() > 1 {
        return Err(wrong_value(format!("`{name}` has {} dimensions, expected 1", array.ndim())));
    }
    let view: MatRef<'_, T::RealPart> = array.view();
    Ok(view.col(0).iter().copied().collect())
}

/// Evaluates the same expression for any numbers.
macro_rules! with_carried {
    ($self:expr, $carried:ident => $body:expr) => {
        with_carried!($self, $carried => $body; f32, f64, c32, c64)
    };
    ($self:expr, $carried:ident => $body:expr; $first:ty, $($other:ty),+) => {
        match $self.held::<$first>() {
            Some(_) => with_carried!($self, $carried => $body; $first),
            None => with_carried!($self, $carried => $body; $($other),+),
        }
    };
    ($self:expr, $carried:ident => $body:expr; $only:ty) => {{
        let $carried = $self.alone::<$only>()?;
        $body
    }};
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
        with_numbers!(f.get(), state => made(py, state, b, sums))
    }

    /// The right-hand sides before the first observation, for a factor made by `Cholesky.zeros`.
    ///
    /// Parameters
    /// ----------
    /// f : Cholesky
    ///     The factor that determines the order n and the dtype.
    /// m : int, optional
    ///     The number of right-hand sides. By default one, with z of shape (n,).
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
        fn empty<T: Number>(_of: &Shared<T>, (order, columns): (usize, usize)) -> cholupdate::Carried<T> {
            cholupdate::Carried::zeros(order, columns)
        }
        let columns = m.map_or(Ok(1), |m| count(m, "m"))?;
        let shape = (f.get().order(py)?, columns);
        Ok(with_numbers!(f.get(), state => Self::of(empty(state, shape), m.is_none())))
    }

    /// L⁻¹ b, a copy with the shape of b.
    #[getter]
    fn z<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let z = with_carried!(self, carried => to_numpy(py, carried.z.as_ref(), false)?.into_any());
        if self.is_vector { z.call_method1("reshape", (-1,)) } else { Ok(z) }
    }

    /// The residual sums of squares, a copy with shape (m,). −1 stands for a sum that would have become negative: it is unknown.
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

/// Restores a `Carried` from the state that `Carried.__reduce__` returned.
#[pyfunction]
pub fn restore_carried<'py>(z: &Bound<'py, PyAny>, squares: &Bound<'py, PyAny>) -> PyResult<Carried> {
    fn restored<T: Number>(
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
    match arrays::Any::new(z, "z")? {
        arrays::Any::Real(Either::Single(array)) => restored(z.py(), array, squares),
        arrays::Any::Real(Either::Double(array)) => restored(z.py(), array, squares),
        arrays::Any::ComplexSingle(array) => restored(z.py(), array, squares),
        arrays::Any::ComplexDouble(array) => restored(z.py(), array, squares),
    }
}
