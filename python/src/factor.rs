//! The class `Cholesky`: how it is made, and what it holds.

use crate::argument::{Argument, count};
use crate::errors::{exception, exception_naming, seen_from_above, wrong_type};
use crate::numbers::Real;
use crate::operands::Triangle;
use crate::settings::{given, settings};
use crate::shared::{Factor, Shared};
use crate::there::{Made, in_numpy, library};
use crate::threads::without_gil;
use cholupdate::{AnyEngine, EngineSpec, Operand};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

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
///     The most threads that the engine "cpu" uses. By default, and with -1, as many as there are processors.
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
/// The GIL is released while the library works. Any number of threads may ask a factor for something at a time. A call that changes it
/// raises `RuntimeError` while another thread uses it, and so do all calls while another thread changes it. Arguments are read
/// during the call, without a copy where they are arrays of the factor's dtype: no other thread may write to them meanwhile.
///
/// Control-C is looked for during downdates and other changes of rank k that take long on the engine "cpu", and leaves the factor as it was.
/// Updates, which work in place, and changes of rows and columns end first. The `KeyboardInterrupt` says which it was.
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
#[pyclass(frozen, weakref, module = "cholupdate")]
pub struct Cholesky {
    pub kept: Kept,
    pub settings: EngineSpec,
    /// What makes arrays of the library that A came from, if that was in the memory of a GPU.
    pub library: Option<Py<PyAny>>,
}

/// What a factor is made from.
#[derive(Clone, Copy)]
enum Origin {
    /// A.
    Matrix,
    /// L.
    Factor,
}

/// The factor, in numbers of one kind or the other.
pub enum Kept {
    Single(Shared<f32>),
    Double(Shared<f64>),
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

impl Cholesky {
    fn made<'py>(
        py: Python<'py>,
        origin: Origin,
        (object, name): (&Bound<'py, PyAny>, &str),
        upper: bool,
        settings: EngineSpec,
    ) -> PyResult<Self> {
        fn held<T: Real>(
            py: Python<'_>,
            origin: Origin,
            given: &Operand<'_, T>,
            settings: &EngineSpec,
            upper: bool,
        ) -> PyResult<Shared<T>> {
            let made = || match (AnyEngine::new(settings)?, origin) {
                (engine, Origin::Matrix) => Factor::new_in(given, engine),
                (engine, Origin::Factor) => Factor::from_factor_in(given, engine),
            };
            let factor =
                without_gil(py, made).map_err(|error| exception(py, seen_from_above(error, upper)))?;
            Ok(Shared::new(factor))
        }
        let kept = match Triangle::new(object, name, upper)? {
            Triangle::Single(matrix) => Kept::Single(held(py, origin, &matrix.given(py)?, &settings, upper)?),
            Triangle::Double(matrix) => Kept::Double(held(py, origin, &matrix.given(py)?, &settings, upper)?),
        };
        Ok(Self { kept, settings, library: library(object, name)? })
    }

    /// The same factor on these settings.
    fn copied(&self, py: Python<'_>, settings: EngineSpec) -> PyResult<Self> {
        fn again<T: Real>(py: Python<'_>, state: &Shared<T>, settings: &EngineSpec) -> PyResult<Shared<T>> {
            Ok(Shared::new(state.look(py, |factor| factor.to_engine(AnyEngine::new(settings)?))?))
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
    #[pyo3(
        signature = (a, *, upper=Argument::NONE, engine=Argument::NONE, threads=Argument::NONE, safeguard=Argument::NONE),
        text_signature = "(a, *, upper=False, engine='cpu', threads=None, safeguard='shadow_buffer')"
    )]
    fn new<'py>(
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        upper: Argument<'py>,
        engine: Argument<'py>,
        threads: Argument<'py>,
        safeguard: Argument<'py>,
    ) -> PyResult<Self> {
        let spec = given(&engine, &threads, &safeguard)?;
        Self::made(py, Origin::Matrix, (a, "a"), upper.flag("upper", false)?, spec)
    }

    /// Takes a factor that is already known.
    ///
    /// Parameters
    /// ----------
    /// l : array_like, shape (n, n)
    ///     L, lower triangular, with A = L Lᵀ; or with `upper` R, upper triangular, with A = Rᵀ R. The other triangle is not read. Where
    ///     the diagonal is negative, the column of L is negated, which leaves A as it is. With zeros there A is singular, as that of `zeros`.
    /// upper : bool, default False
    ///     Whether `l` is upper triangular.
    /// engine, threads, safeguard
    ///     As for `Cholesky`.
    ///
    /// Returns
    /// -------
    /// Cholesky
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky.from_factor([[2.0, 1.0], [0.0, 2.0]], upper=True)
    /// >>> f.reconstruct()
    /// array([[4., 2.],
    ///        [2., 5.]])
    #[staticmethod]
    #[pyo3(
        signature = (l, *, upper=Argument::NONE, engine=Argument::NONE, threads=Argument::NONE, safeguard=Argument::NONE),
        text_signature = "(l, *, upper=False, engine='cpu', threads=None, safeguard='shadow_buffer')"
    )]
    fn from_factor<'py>(
        py: Python<'py>,
        l: &Bound<'py, PyAny>,
        upper: Argument<'py>,
        engine: Argument<'py>,
        threads: Argument<'py>,
        safeguard: Argument<'py>,
    ) -> PyResult<Self> {
        let spec = given(&engine, &threads, &safeguard)?;
        Self::made(py, Origin::Factor, (l, "l"), upper.flag("upper", false)?, spec)
    }

    /// The factor of A = 0, with which least squares begin that are accumulated row by row, as in LINPACK's `dchud`.
    ///
    /// A is singular until updates have given every pivot a value. Until then updates and `modify_scaled` work as ever. Whatever takes
    /// a regular A raises `SingularError`: solves, `log_det`, `condition`, negative weights, and rows and columns that come, go or change
    /// places. (`from_factor` takes zeros on the diagonal as well.)
    ///
    /// Parameters
    /// ----------
    /// n : int
    ///     The order.
    /// dtype : dtype_like, optional
    ///     float64, the default, or float32.
    /// engine, threads, safeguard
    ///     As for `Cholesky`.
    ///
    /// Returns
    /// -------
    /// Cholesky
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky.zeros(2)
    /// >>> report = f.update([2.0, 1.0])
    /// >>> f.log_det()
    /// Traceback (most recent call last):
    ///     ...
    /// cholupdate.SingularError: singular: the pivot of column 1 is zero
    /// >>> report = f.update([0.0, 2.0])
    /// >>> f.factor().round(12)
    /// array([[2., 0.],
    ///        [1., 2.]])
    #[staticmethod]
    #[pyo3(
        signature = (n, *, dtype=None, engine=Argument::NONE, threads=Argument::NONE, safeguard=Argument::NONE),
        text_signature = "(n, *, dtype=None, engine='cpu', threads=None, safeguard='shadow_buffer')"
    )]
    #[pyo3(name = "zeros")]
    fn of_zeros<'py>(
        py: Python<'py>,
        n: &Bound<'py, PyAny>,
        dtype: Option<&Bound<'py, PyAny>>,
        engine: Argument<'py>,
        threads: Argument<'py>,
        safeguard: Argument<'py>,
    ) -> PyResult<Self> {
        fn made<T: Real>(py: Python<'_>, order: usize, settings: &EngineSpec) -> PyResult<Shared<T>> {
            let factor = without_gil(py, || Factor::zeros_in(order, AnyEngine::new(settings)?));
            factor.map(Shared::new).map_err(|error| exception_naming(py, error, &[("order", "n")]))
        }
        let (order, settings) = (count(n, "n")?, given(&engine, &threads, &safeguard)?);
        let name = match dtype {
            None => f64::NAME.into(),
            Some(dtype) => py.import("numpy")?.call_method1("dtype", (dtype,))?.getattr("name")?.to_string(),
        };
        let kept = match name.as_str() {
            f32::NAME => Kept::Single(made(py, order, &settings)?),
            f64::NAME => Kept::Double(made(py, order, &settings)?),
            found => return Err(wrong_type(format!("`dtype` is {found}, expected float32 or float64"))),
        };
        Ok(Self { kept, settings, library: None })
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
    #[pyo3(
        signature = (engine, *, threads=Argument::NONE, safeguard=Argument::NONE),
        text_signature = "($self, engine, *, threads=None, safeguard='shadow_buffer')"
    )]
    fn to_engine<'py>(
        &self,
        py: Python<'py>,
        engine: Argument<'py>,
        threads: Argument<'py>,
        safeguard: Argument<'py>,
    ) -> PyResult<Self> {
        self.copied(py, given(&engine, &threads, &safeguard)?)
    }

    /// The same factor once more, on the same engine.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        self.copied(py, self.settings)
    }

    /// The same factor once more.
    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.copied(py, self.settings)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.copied(py, self.settings)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let EngineSpec { kind, threads, safeguard } = slf.get().settings;
        let restore = py.import("cholupdate._cholupdate")?.getattr("restore")?;
        let l = in_numpy(py, slf.get(), (Made::Factor, false))?;
        let state = (l, kind.to_string(), threads, safeguard.to_string());
        Ok((restore, state).into_pyobject(py)?.into_any())
    }

    /// n, the number of rows of A.
    #[getter]
    pub fn order(&self, py: Python<'_>) -> PyResult<usize> {
        with_numbers!(self, state => state.look(py, |factor| Ok(factor.order())))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.order(py)
    }

    /// A factor stands for A and for L.
    #[pyo3(signature = (*_args, **_kwargs))]
    fn __array__(
        &self,
        _args: &Bound<'_, PyTuple>,
        _kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        Err(wrong_type("a Cholesky is not an array: L is `factor()`, A is `reconstruct()`"))
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
        self.settings.kind.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let dtype = match &self.kept {
            Kept::Single(_) => f32::NAME,
            Kept::Double(_) => f64::NAME,
        };
        let order = self.order(py).map_or_else(|_| "(in use)".into(), |order| order.to_string());
        format!("<cholupdate.Cholesky of order {order}, {dtype}, engine '{}'>", self.settings.kind)
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
    Cholesky::made(py, Origin::Factor, (l, "l"), false, settings(engine, threads, safeguard)?)
}
