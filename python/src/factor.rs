//! The class `Cholesky`: how it is made, what it holds, and who may use it when.

use crate::errors::{exception, in_use};
use crate::held::{Given, Held, Made, Origin, hold};
use crate::numbers::Real;
use crate::operands::Triangle;
use crate::settings::Settings;
use crate::there::{in_numpy, library};
use crate::threads::without_gil;
use cholupdate::Error;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// The Cholesky factor L of a symmetric positive definite matrix A = L Lᵀ, kept current while A changes.
///
/// Parameters
/// ----------
/// a : array_like, shape (n, n)
///     A, of which one triangle is read. Its dtype is that of the factor: float32 or float64. Integers become float64.
/// upper : bool, default False
///     Read the upper triangle of `a`, not the lower one.
/// engine : {"cpu", "hybrid", "cuda"}, default "cpu"
///     Where the factor is and who does the work: in host memory, in host memory streamed through a GPU, or in the memory of a GPU.
///     ``"cuda:1"`` is that of the second GPU.
/// threads : int, optional
///     The most threads that the engine "cpu" uses; as many as there are processors by default.
/// safeguard : {"shadow_buffer", "dry_run", "none"}, default "shadow_buffer"
///     How a downdate that turns out to be impossible leaves the factor as it was: by a shadow buffer of n² numbers, in twice the
///     time, or not at all. The engine "cuda" has the first alone.
///
/// Raises
/// ------
/// NotPositiveDefiniteError
///     A is not positive definite. The error's `column` says where.
/// DeviceError
///     There is no GPU for the engine, or it fails.
/// ValueError, TypeError
///     An argument is not what it should be. The message names it.
///
/// Notes
/// -----
/// After every exception the factor is what it was, bit for bit. Only a GPU that fails in the middle of a change, or a downdate
/// that fails without a safeguard, loses it: all later calls raise `PoisonedError`.
///
/// The GIL is released while the library works. A factor that is in use by another thread raises `RuntimeError`. Arguments are read
/// during the call, without a copy where they are arrays of the factor's dtype: no other thread may write to them meanwhile.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import cholupdate as cu
/// >>> f = cu.Cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
/// >>> report = f.update([1.0, 2.0])                   # A + v vᵀ
/// >>> f.reconstruct().round(12)
/// array([[5., 4.],
///        [4., 9.]])
/// >>> f.downdate([9.0, 0.0])
/// Traceback (most recent call last):
///     ...
/// cholupdate.NotPositiveDefiniteError: not positive definite: the squared pivot of column 0 is not positive
/// >>> f.solve([9.0, 13.0]).round(12)                  # as it was
/// array([1., 1.])
#[pyclass(frozen, module = "cholupdate")]
pub struct Cholesky {
    pub kept: Kept,
    pub settings: Settings,
    /// What makes arrays of the library that A came from, if that was in the memory of a GPU.
    pub library: Option<Py<PyAny>>,
}

/// The factor, in numbers of one kind or the other. One call uses it at a time.
pub enum Kept {
    Single(Mutex<State<f32>>),
    Double(Mutex<State<f64>>),
}

/// What a call changes.
pub struct State<T: Real> {
    pub factor: Box<dyn Held<T>>,
    /// How often A has changed, for what was made of it before.
    pub changes: u64,
}

/// Does the same with either kind of numbers.
macro_rules! with_numbers {
    ($factor:expr, $state:ident => $body:expr) => {
        match &$factor.kept {
            crate::factor::Kept::Single($state) => $body,
            crate::factor::Kept::Double($state) => $body,
        }
    };
}
pub(crate) use with_numbers;

/// The factor for this call alone.
///
/// # Errors
/// `RuntimeError` where another call has it. To wait here could last for ever: that call may be waiting for the GIL.
#[inline]
pub fn lock<T: Real>(state: &Mutex<State<T>>) -> PyResult<MutexGuard<'_, State<T>>> {
    match state.try_lock() {
        Ok(guard) => Ok(guard),
        // A factor knows by itself whether a panic has lost it.
        Err(TryLockError::Poisoned(guard)) => Ok(guard.into_inner()),
        Err(TryLockError::WouldBlock) => Err(in_use("the factor")),
    }
}

/// Has the library look at the factor, without the GIL.
#[inline]
pub fn look<T: Real, R: Send>(
    py: Python<'_>,
    state: &Mutex<State<T>>,
    call: impl FnOnce(&mut dyn Held<T>) -> Result<R, Error> + Send,
) -> PyResult<R> {
    let mut guard = lock(state)?;
    let factor = &mut *guard.factor;
    without_gil(py, || call(factor)).map_err(|error| exception(py, error))
}

/// Has the library change the factor, without the GIL.
#[inline]
pub fn change<T: Real, R: Send>(
    py: Python<'_>,
    state: &Mutex<State<T>>,
    call: impl FnOnce(&mut dyn Held<T>) -> Result<R, Error> + Send,
) -> PyResult<R> {
    let mut guard = lock(state)?;
    let State { factor, changes } = &mut *guard;
    let outcome = without_gil(py, || call(&mut **factor));
    *changes += u64::from(outcome.is_ok());
    outcome.map_err(|error| exception(py, error))
}

impl Cholesky {
    fn made<'py>(
        py: Python<'py>,
        origin: Origin,
        (object, name): (&Bound<'py, PyAny>, &str),
        upper: bool,
        settings: Settings,
    ) -> PyResult<Self> {
        fn held<T: Real>(
            py: Python<'_>,
            origin: Origin,
            given: &Given<'_, T>,
            settings: &Settings,
        ) -> PyResult<Mutex<State<T>>> {
            let factor =
                without_gil(py, || hold(origin, given, settings)).map_err(|error| exception(py, error))?;
            Ok(Mutex::new(State { factor, changes: 0 }))
        }
        let kept = match Triangle::new(object, name, upper)? {
            Triangle::Single(matrix) => Kept::Single(held(py, origin, &matrix.given(py)?, &settings)?),
            Triangle::Double(matrix) => Kept::Double(held(py, origin, &matrix.given(py)?, &settings)?),
        };
        Ok(Self { kept, settings, library: library(object, name)? })
    }

    /// The same factor on these settings.
    fn copied(&self, py: Python<'_>, settings: Settings) -> PyResult<Self> {
        fn again<T: Real>(
            py: Python<'_>,
            state: &Mutex<State<T>>,
            settings: &Settings,
        ) -> PyResult<Mutex<State<T>>> {
            let factor = look(py, state, |factor| factor.on_engine(settings))?;
            Ok(Mutex::new(State { factor, changes: 0 }))
        }
        let kept = match &self.kept {
            Kept::Single(state) => Kept::Single(again(py, state, &settings)?),
            Kept::Double(state) => Kept::Double(again(py, state, &settings)?),
        };
        let library = self.library.as_ref().map(|library| library.clone_ref(py));
        Ok(Self { kept, settings, library })
    }
}

#[pymethods]
impl Cholesky {
    #[new]
    #[pyo3(signature = (a, *, upper=false, engine="cpu", threads=None, safeguard="shadow_buffer"))]
    fn new<'py>(
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        upper: bool,
        engine: &str,
        threads: Option<usize>,
        safeguard: &str,
    ) -> PyResult<Self> {
        Self::made(py, Origin::Matrix, (a, "a"), upper, Settings::new(engine, threads, safeguard)?)
    }

    /// Takes a factor that is already known.
    ///
    /// Parameters
    /// ----------
    /// l : array_like, shape (n, n)
    ///     L, lower triangular, with A = L Lᵀ; or with `upper` R, upper triangular, with A = Rᵀ R. The other triangle is not read. Where
    ///     the diagonal is negative, the column of L is negated, which leaves A as it is.
    /// upper : bool, default False
    ///     Whether `l` is upper triangular.
    /// engine, threads, safeguard
    ///     As for `Cholesky`.
    ///
    /// Returns
    /// -------
    /// Cholesky
    ///
    /// Raises
    /// ------
    /// NotPositiveDefiniteError
    ///     There is a zero on the diagonal.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky.from_factor([[2.0, 1.0], [0.0, 2.0]], upper=True)
    /// >>> f.reconstruct()
    /// array([[4., 2.],
    ///        [2., 5.]])
    #[staticmethod]
    #[pyo3(signature = (l, *, upper=false, engine="cpu", threads=None, safeguard="shadow_buffer"))]
    fn from_factor<'py>(
        py: Python<'py>,
        l: &Bound<'py, PyAny>,
        upper: bool,
        engine: &str,
        threads: Option<usize>,
        safeguard: &str,
    ) -> PyResult<Self> {
        Self::made(py, Origin::Factor, (l, "l"), upper, Settings::new(engine, threads, safeguard)?)
    }

    /// The same factor on another engine; this one stays.
    ///
    /// Parameters
    /// ----------
    /// engine : {"cpu", "hybrid", "cuda"}
    /// threads : int, optional
    /// safeguard : {"shadow_buffer", "dry_run", "none"}, default "shadow_buffer"
    ///     As for `Cholesky`.
    ///
    /// Returns
    /// -------
    /// Cholesky
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[4.0, 2.0], [2.0, 5.0]])
    /// >>> f.to_engine("cpu", threads=1)
    /// <cholupdate.Cholesky of order 2, float64, engine 'cpu'>
    #[pyo3(signature = (engine, *, threads=None, safeguard="shadow_buffer"))]
    fn to_engine(
        &self,
        py: Python<'_>,
        engine: &str,
        threads: Option<usize>,
        safeguard: &str,
    ) -> PyResult<Self> {
        self.copied(py, Settings::new(engine, threads, safeguard)?)
    }

    /// The same factor once more, on the same engine.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        self.copied(py, self.settings)
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.copied(py, self.settings)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.copied(py, self.settings)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let Settings { threads, .. } = slf.get().settings;
        let (engine, safeguard) = (slf.get().settings.engine(), slf.get().settings.safeguard());
        let restore = py.import("cholupdate._cholupdate")?.getattr("restore")?;
        let l = in_numpy(py, slf.get(), (Made::Factor, false))?;
        let state = (l, engine, threads, safeguard);
        Ok((restore, state).into_pyobject(py)?.into_any())
    }

    /// n, the number of rows of A.
    #[getter]
    fn order(&self) -> PyResult<usize> {
        with_numbers!(self, state => Ok(lock(state)?.factor.order()))
    }

    fn __len__(&self) -> PyResult<usize> {
        self.order()
    }

    /// The dtype of the factor, float32 or float64.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, numpy::PyArrayDescr> {
        match &self.kept {
            Kept::Single(_) => numpy::dtype::<f32>(py),
            Kept::Double(_) => numpy::dtype::<f64>(py),
        }
    }

    /// The name of the engine.
    #[getter]
    fn engine(&self) -> String {
        self.settings.engine()
    }

    fn __repr__(&self) -> String {
        let dtype = match &self.kept {
            Kept::Single(_) => f32::NAME,
            Kept::Double(_) => f64::NAME,
        };
        let order = self.order().map_or_else(|_| "(in use)".into(), |order| order.to_string());
        format!("<cholupdate.Cholesky of order {order}, {dtype}, engine '{}'>", self.settings.engine())
    }
}

/// Makes a factor of what `Cholesky.__reduce__` kept of it.
#[pyfunction]
pub fn restore<'py>(
    py: Python<'py>,
    l: &Bound<'py, PyAny>,
    engine: &str,
    threads: Option<usize>,
    safeguard: &str,
) -> PyResult<Cholesky> {
    Cholesky::made(py, Origin::Factor, (l, "l"), false, Settings::new(engine, threads, safeguard)?)
}
