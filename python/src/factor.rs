//! The class `Cholesky`: construction, copies and attributes.

use crate::argument::{Argument, count};
use crate::errors::{exception, exception_naming, seen_from_above, wrong_type};
use crate::numbers::Number;
use crate::operands::{AnyTriangle, Matrix, Triangle};
use crate::settings::{given, settings};
use crate::shared::{Factor, Shared};
use crate::there::{Made, in_numpy, library};
use crate::threads::without_gil;
use cholupdate::faer::{c32, c64};
use cholupdate::{EngineKind, EngineSpec};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The Cholesky factor L of a symmetric or Hermitian positive definite matrix A = L Lᵀ. Its methods update L when A changes.
///
/// If A is complex, every transpose here and in the methods is a conjugate transpose: A = L Lᴴ, and L has a real positive diagonal.
///
/// Parameters
/// ----------
/// a : array_like, shape (n, n)
///     A. Only one triangle is read, and of the diagonal only the real part. The factor has its dtype: float32, float64,
///     complex64 or complex128. Integers in host memory become float64.
/// upper : bool, default False
///     Read the upper triangle of `a` instead of the lower one.
/// engine : {"cpu", "hybrid", "cuda", "opencl"}, default "cpu"
///     Where the factor is stored: in host memory ("cpu"), in host memory and streamed through an NVIDIA GPU ("hybrid") or an
///     OpenCL device ("opencl"), or in the memory of an NVIDIA GPU ("cuda"). ``"cuda:1"`` selects the second GPU, ``"opencl:1"``
///     the second OpenCL device, of which GPUs come first; ``"cuda:0-3"`` distributes the rows over the memory of four GPUs.
///     Complex factors are on the engine "cpu", and their arguments in host memory.
/// threads : int, optional
///     The maximum number of threads of the engine "cpu". By default, and with -1, the number of processors.
/// safeguard : {"shadow_buffer", "dry_run", "none"}, default "shadow_buffer"
///     How a downdate that breaks down leaves the factor unchanged: by a shadow buffer of n² numbers, by a dry run that doubles
///     the time, or not at all. The engine "cuda" supports only the shadow buffer.
///
/// Raises
/// ------
/// NotPositiveDefiniteError
///     A is not positive definite. The attribute `column` of the error is the first column that breaks down.
/// DeviceError
///     The engine finds no GPU or OpenCL device, or the device fails.
/// ValueError, TypeError
///     An argument is invalid. The message names it.
///
/// Notes
/// -----
/// Weights, δ, log det A and reports are real, also if A is complex.
///
/// After an exception the factor is unchanged, bit for bit. Only two failures lose it: a GPU that fails during a change, and a
/// downdate that breaks down without a safeguard. All later calls then raise `PoisonedError`.
///
/// The GIL is released during a call. Any number of threads may read a factor at the same time. A call that changes it raises
/// `RuntimeError` while another thread uses it, and so does any call while another thread changes it. Arguments are read
/// during the call, in place if they are arrays of the factor's dtype: no other thread may write to them meanwhile.
///
/// Control-C ends long downdates and other long changes of rank k on the engine "cpu" and leaves the factor unchanged. Updates,
/// which work in place, and changes of rows and columns run to their end. The `KeyboardInterrupt` says which case it was.
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
    /// The function that converts to arrays of the library of A, if A was in the memory of a GPU.
    pub library: Option<Py<PyAny>>,
}

/// The matrix from which a factor is made.
#[derive(Clone, Copy)]
enum Origin {
    /// A.
    Matrix,
    /// L.
    Factor,
}

/// The factor, of any numbers.
pub enum Kept {
    Single(Shared<f32>),
    Double(Shared<f64>),
    ComplexSingle(Shared<c32>),
    ComplexDouble(Shared<c64>),
}

/// Evaluates the same expression for any numbers.
macro_rules! with_numbers {
    ($factor:expr, $state:ident => $body:expr) => {
        match &$factor.kept {
            crate::factor::Kept::Single($state) => $body,
            crate::factor::Kept::Double($state) => $body,
            crate::factor::Kept::ComplexSingle($state) => $body,
            crate::factor::Kept::ComplexDouble($state) => $body,
        }
    };
}
pub(crate) use with_numbers;

/// The same, as the variant of another enum of these numbers.
macro_rules! with_numbers_as {
    ($enum:ident, $factor:expr, $state:ident => $body:expr) => {
        match &$factor.kept {
            crate::factor::Kept::Single($state) => $enum::Single($body),
            crate::factor::Kept::Double($state) => $enum::Double($body),
            crate::factor::Kept::ComplexSingle($state) => $enum::ComplexSingle($body),
            crate::factor::Kept::ComplexDouble($state) => $enum::ComplexDouble($body),
        }
    };
}
pub(crate) use with_numbers_as;

/// Checks that there are factors of T on the engine.
///
/// # Errors
/// `TypeError`.
fn supported<T: Number>(settings: &EngineSpec) -> PyResult<()> {
    if T::IS_COMPLEX && settings.kind != EngineKind::Cpu {
        let (kind, has) = (settings.kind, T::NAME);
        let message =
            format!("`engine` is \"{kind}\", expected \"cpu\": no other engine has factors of {has}");
        return Err(wrong_type(message));
    }
    Ok(())
}

impl Cholesky {
    fn made<'py>(
        py: Python<'py>,
        origin: Origin,
        (object, name): (&Bound<'py, PyAny>, &str),
        upper: bool,
        settings: EngineSpec,
    ) -> PyResult<Self> {
        fn held<'py, T: Number>(
            py: Python<'py>,
            origin: Origin,
            matrix: &Matrix<'py, T>,
            (settings, upper): (&EngineSpec, bool),
        ) -> PyResult<Shared<T>> {
            supported::<T>(settings)?;
            let given = &matrix.given(py)?;
            let made = || match (T::engine(settings)?, origin) {
                (engine, Origin::Matrix) => Factor::new_in(given, engine),
                (engine, Origin::Factor) => Factor::from_factor_in(given, engine),
            };
            let factor =
                without_gil(py, made).map_err(|error| exception(py, seen_from_above(error, upper)))?;
            Ok(Shared::new(factor))
        }
        let spec = (&settings, upper);
        let kept = match AnyTriangle::new(object, name, upper)? {
            AnyTriangle::Real(Triangle::Single(matrix)) => Kept::Single(held(py, origin, &matrix, spec)?),
            AnyTriangle::Real(Triangle::Double(matrix)) => Kept::Double(held(py, origin, &matrix, spec)?),
            AnyTriangle::ComplexSingle(matrix) => Kept::ComplexSingle(held(py, origin, &matrix, spec)?),
            AnyTriangle::ComplexDouble(matrix) => Kept::ComplexDouble(held(py, origin, &matrix, spec)?),
        };
        Ok(Self { kept, settings, library: library(object, name)? })
    }

    /// A copy of the factor on an engine with these settings.
    fn copied(&self, py: Python<'_>, settings: EngineSpec) -> PyResult<Self> {
        fn again<T: Number>(py: Python<'_>, state: &Shared<T>, settings: &EngineSpec) -> PyResult<Shared<T>> {
            supported::<T>(settings)?;
            Ok(Shared::new(state.look(py, |factor| factor.to_engine(T::engine(settings)?))?))
        }
        let kept = with_numbers_as!(Kept, self, state => again(py, state, &settings)?);
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

    /// Makes a `Cholesky` from a known factor.
    ///
    /// Parameters
    /// ----------
    /// l : array_like, shape (n, n)
    ///     L, lower triangular, with A = L Lᵀ; or, with `upper`, R, upper triangular, with A = Rᵀ R. The other triangle is not
    ///     read. A column of L with a negative diagonal entry is negated, which does not change A; a complex one is multiplied by
    ///     the phase that makes the entry real and positive. If a diagonal entry is zero, A is singular, as with `zeros`.
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

    /// The factor of A = 0, the start of least squares that are accumulated row by row, as with LINPACK's `dchud`.
    ///
    /// A is singular until updates have made every pivot positive. Until then `update` works, and so do `modify` and
    /// `modify_scaled` with positive weights. Calls that need a regular A raise `SingularError`: solves, `log_det`, `condition`,
    /// modifications with negative weights, and the insertion, removal and reordering of rows and columns. (`from_factor` accepts
    /// zeros on the diagonal as well.)
    ///
    /// Parameters
    /// ----------
    /// n : int
    ///     The order.
    /// dtype : dtype_like, optional
    ///     float64, the default, float32, complex64 or complex128.
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
        fn made<T: Number>(py: Python<'_>, order: usize, settings: &EngineSpec) -> PyResult<Shared<T>> {
            supported::<T>(settings)?;
            let factor = without_gil(py, || Factor::zeros_in(order, T::engine(settings)?));
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
            c32::NAME => Kept::ComplexSingle(made(py, order, &settings)?),
            c64::NAME => Kept::ComplexDouble(made(py, order, &settings)?),
            found => {
                let message =
                    format!("`dtype` is {found}, expected float32 or float64, complex64 or complex128");
                return Err(wrong_type(message));
            }
        };
        Ok(Self { kept, settings, library: None })
    }

    /// Copies the factor to another engine. This factor remains unchanged.
    ///
    /// Parameters
    /// ----------
    /// engine : {"cpu", "hybrid", "cuda", "opencl"}
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

    /// A copy of the factor, on the same engine.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        self.copied(py, self.settings)
    }

    /// A copy of the factor, on the same engine.
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

    /// The order n of A.
    #[getter]
    pub fn order(&self, py: Python<'_>) -> PyResult<usize> {
        with_numbers!(self, state => state.look(py, |factor| Ok(factor.order())))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.order(py)
    }

    /// Raises `TypeError`: it is ambiguous whether A or L is meant.
    #[pyo3(signature = (*_args, **_kwargs))]
    fn __array__(
        &self,
        _args: &Bound<'_, PyTuple>,
        _kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        Err(wrong_type("a Cholesky is not an array: L is `factor()`, A is `reconstruct()`"))
    }

    /// The dtype of the factor: float32, float64, complex64 or complex128.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, numpy::PyArrayDescr> {
        fn of<'py, T: Number>(py: Python<'py>, _state: &Shared<T>) -> Bound<'py, numpy::PyArrayDescr> {
            numpy::dtype::<T>(py)
        }
        with_numbers!(self, state => of(py, state))
    }

    /// The name of the engine.
    #[getter]
    fn engine(&self) -> String {
        self.settings.kind.to_string()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        fn name<T: Number>(_state: &Shared<T>) -> &'static str {
            T::NAME
        }
        let dtype = with_numbers!(self, state => name(state));
        let order = self.order(py).map_or_else(|_| "(in use)".into(), |order| order.to_string());
        format!("<cholupdate.Cholesky of order {order}, {dtype}, engine '{}'>", self.settings.kind)
    }
}

/// Restores a factor from the state that `Cholesky.__reduce__` returned.
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
