//! The class `Ldlt`: construction, copies and attributes.
//!
//! | file | contents |
//! |---|---|
//! | `modifying`, `rows`, `solving` | its methods |
//! | `expected` | what changes it refuses |
//! | `extension` | the class `LdltExtension` |
//! | `shared` | locks for its threads |
//! | `report` | the class `LdltModification` |

mod expected;
pub mod extension;
mod modifying;
pub mod report;
mod rows;
mod shared;
mod solving;

use self::shared::Shared;
use crate::argument::Argument;
use crate::arrays::to_numpy;
use crate::carried::vector;
use crate::errors::{exception, seen_from_above, wrong_type, wrong_value};
use crate::numbers::Number;
use crate::operands::{AnyTriangle, Matrix, Triangle};
use crate::threads::without_gil;
use cholupdate::Cpu;
use cholupdate::faer::{c32, c64};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The factor L of a symmetric or Hermitian, possibly indefinite matrix A = L S Lᵀ, where S is diagonal with entries 1 and −1. Its
/// methods update L and S when A changes.
///
/// Of complex numbers every transpose is a conjugate transpose: A = L S Lᴴ. The imaginary part of the diagonal of A is not read; S,
/// weights and the logarithm of the determinant are real.
///
/// L is lower triangular with a positive diagonal. With D = diag(l_jj² s_j) and a unit lower triangle this is LDLᵀ without pivoting. The
/// factor of a positive definite matrix is its Cholesky factor. The numbers of entries of S of either sign are the inertia of A.
///
/// Parameters
/// ----------
/// a : array_like, shape (n, n)
///     A. Only one triangle is read. The factor has its dtype: float32, float64, complex64 or complex128. Integers become float64.
/// upper : bool, default False
///     Read the upper triangle of `a` instead of the lower one.
/// engine : {"cpu"}, default "cpu"
///     The factor is in host memory, and is modified by the CPU. Other engines are for `Cholesky`.
/// threads : int, optional
///     The maximum number of threads. By default, and with -1, the number of processors.
///
/// Raises
/// ------
/// SingularError
///     A leading minor of A is zero to working precision. The attribute `column` of the error is the first such column.
/// UnstableError
///     A is so close to such a matrix that the factor would have lost its digits.
/// ValueError, TypeError
///     An argument is invalid. The message names it.
///
/// Notes
/// -----
/// There is a factor for every order of the rows exactly if A is quasi-definite: up to a permutation [[H, Aᵀ], [A, −G]] with H and G
/// positive definite, as a regularized KKT matrix is. Otherwise there is one as long as no leading minor of A is zero. Close to that the
/// factor loses digits; `growth` says how many.
///
/// After an exception the factor is unchanged, bit for bit. Changes are written to a shadow buffer of n² numbers first.
///
/// The GIL is released during a call. Any number of threads may read a factor at the same time. A call that changes it raises
/// `RuntimeError` while another thread uses it, and so does any call while another thread changes it. Arguments are read during the call,
/// in place if they are arrays of the factor's dtype: no other thread may write to them meanwhile. Control-C ends long changes, and leaves
/// the factor unchanged.
///
/// Examples
/// --------
/// The KKT matrix of: minimize x₁² + x₂² subject to x₁ + x₂ = 2.
///
/// >>> import cholupdate as cu
/// >>> f = cu.Ldlt([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0], [1.0, 1.0, 0.0]])
/// >>> f.inertia                                       # as for every strictly convex problem
/// (2, 1)
/// >>> f.solve([0.0, 0.0, 2.0]).round(12)
/// array([ 1.,  1., -2.])
/// >>> report = f.append([1.0, 0.0, 0.0], 0.0)         # a second constraint: x₁ = ...
/// >>> f.inertia
/// (2, 2)
/// >>> report = f.remove(2)                            # ... instead of the first
/// >>> report = f.modify([0.0, 1.0, 0.0], [-3.0])      # x₂² becomes −x₂²/2: not convex
/// >>> report.inertia_before, report.inertia
/// ((2, 1), (1, 2))
#[pyclass(frozen, weakref, module = "cholupdate")]
pub struct Ldlt {
    kept: Kept,
    threads: Option<usize>,
}

/// The factor, of any numbers.
enum Kept {
    Single(Shared<f32>),
    Double(Shared<f64>),
    ComplexSingle(Shared<c32>),
    ComplexDouble(Shared<c64>),
}

/// Evaluates the same expression for any numbers.
macro_rules! with_ldlt {
    ($factor:expr, $shared:ident => $body:expr) => {
        match &$factor.kept {
            crate::ldlt::Kept::Single($shared) => $body,
            crate::ldlt::Kept::Double($shared) => $body,
            crate::ldlt::Kept::ComplexSingle($shared) => $body,
            crate::ldlt::Kept::ComplexDouble($shared) => $body,
        }
    };
}
use with_ldlt;

/// The threads from the keywords of a call.
///
/// # Errors
/// `ValueError` for any engine but "cpu".
fn given(engine: &Argument<'_>, threads: &Argument<'_>) -> PyResult<Option<usize>> {
    match engine.text("engine", "cpu")?.as_str() {
        "cpu" => threads.threads(),
        found => Err(wrong_value(format!(
            "`engine` is {found:?}, expected \"cpu\": an Ldlt is in host memory, and is modified by the CPU"
        ))),
    }
}

fn cpu(threads: Option<usize>) -> Cpu {
    threads.map_or_else(Cpu::default, Cpu::threads)
}

fn of_matrix<'py, T: Number>(
    py: Python<'py>,
    (a, upper): (&Matrix<'py, T>, bool),
    threads: Option<usize>,
) -> PyResult<Shared<T>> {
    let a = a.given(py)?;
    let factor = without_gil(py, || cholupdate::Ldlt::new_in(&a, cpu(threads)));
    factor.map(Shared::new).map_err(|error| exception(py, seen_from_above(error, upper)))
}

fn of_factor<'py, T: Number>(
    py: Python<'py>,
    (l, d): (&Matrix<'py, T>, &Bound<'_, PyAny>),
    threads: Option<usize>,
) -> PyResult<Shared<T>> {
    let (l, d) = (l.given(py)?, vector::<T>(d, "d")?);
    let factor = without_gil(py, || cholupdate::Ldlt::from_factor_in(&l, &d, cpu(threads)));
    factor.map(Shared::new).map_err(|error| exception(py, error))
}

impl Ldlt {
    fn known<'py>(
        py: Python<'py>,
        (l, d): (&Bound<'py, PyAny>, &Bound<'py, PyAny>),
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let kept = match AnyTriangle::new(l, "l", false)? {
            AnyTriangle::Real(Triangle::Single(l)) => Kept::Single(of_factor(py, (&l, d), threads)?),
            AnyTriangle::Real(Triangle::Double(l)) => Kept::Double(of_factor(py, (&l, d), threads)?),
            AnyTriangle::ComplexSingle(l) => Kept::ComplexSingle(of_factor(py, (&l, d), threads)?),
            AnyTriangle::ComplexDouble(l) => Kept::ComplexDouble(of_factor(py, (&l, d), threads)?),
        };
        Ok(Self { kept, threads })
    }
}

#[pymethods]
impl Ldlt {
    #[new]
    #[pyo3(
        signature = (a, *, upper=Argument::NONE, engine=Argument::NONE, threads=Argument::NONE),
        text_signature = "(a, *, upper=False, engine='cpu', threads=None)"
    )]
    fn new<'py>(
        py: Python<'py>,
        a: &Bound<'py, PyAny>,
        upper: Argument<'py>,
        engine: Argument<'py>,
        threads: Argument<'py>,
    ) -> PyResult<Self> {
        let (threads, upper) = (given(&engine, &threads)?, upper.flag("upper", false)?);
        let kept = match AnyTriangle::new(a, "a", upper)? {
            AnyTriangle::Real(Triangle::Single(a)) => Kept::Single(of_matrix(py, (&a, upper), threads)?),
            AnyTriangle::Real(Triangle::Double(a)) => Kept::Double(of_matrix(py, (&a, upper), threads)?),
            AnyTriangle::ComplexSingle(a) => Kept::ComplexSingle(of_matrix(py, (&a, upper), threads)?),
            AnyTriangle::ComplexDouble(a) => Kept::ComplexDouble(of_matrix(py, (&a, upper), threads)?),
        };
        Ok(Self { kept, threads })
    }

    /// Makes an `Ldlt` from known L and D: A = L diag(d) Lᵀ, or L diag(d) Lᴴ of complex numbers.
    ///
    /// Parameters
    /// ----------
    /// l : array_like, shape (n, n)
    ///     L, lower triangular, with any diagonal that is not zero, for example ones. The other triangle is not read. Columns are
    ///     multiplied by the signs or phases that make the diagonal positive.
    /// d : array_like, shape (n,)
    ///     The diagonal of D, real, in host memory.
    /// engine, threads
    ///     As for `Ldlt`.
    ///
    /// Returns
    /// -------
    /// Ldlt
    ///
    /// Raises
    /// ------
    /// SingularError
    ///     An entry of `d` or of the diagonal of `l` is zero.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Ldlt.from_factor([[1.0, 0.0], [3.0, 1.0]], [4.0, -1.0])
    /// >>> f.l
    /// array([[2., 0.],
    ///        [6., 1.]])
    /// >>> f.signs
    /// array([ 1., -1.])
    #[staticmethod]
    #[pyo3(
        signature = (l, d, *, engine=Argument::NONE, threads=Argument::NONE),
        text_signature = "(l, d, *, engine='cpu', threads=None)"
    )]
    fn from_factor<'py>(
        py: Python<'py>,
        l: &Bound<'py, PyAny>,
        d: &Bound<'py, PyAny>,
        engine: Argument<'py>,
        threads: Argument<'py>,
    ) -> PyResult<Self> {
        Self::known(py, (l, d), given(&engine, &threads)?)
    }

    /// A copy of the factor, with its limit of the growth and what is expected of it.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        fn again<T: Number>(py: Python<'_>, shared: &Shared<T>) -> PyResult<Shared<T>> {
            shared.look(py, |factor| Ok(Shared::new(factor.clone())))
        }
        let kept = match &self.kept {
            Kept::Single(shared) => Kept::Single(again(py, shared)?),
            Kept::Double(shared) => Kept::Double(again(py, shared)?),
            Kept::ComplexSingle(shared) => Kept::ComplexSingle(again(py, shared)?),
            Kept::ComplexDouble(shared) => Kept::ComplexDouble(again(py, shared)?),
        };
        Ok(Self { kept, threads: self.threads })
    }

    /// A copy of the factor.
    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, factor) = (slf.py(), slf.get());
        let restore = py.import("cholupdate._cholupdate")?.getattr("restore_ldlt")?;
        with_ldlt!(factor, shared => {
            let state = shared.look(py, |factor| {
                let expected = (factor.expected_inertia(), factor.expected_signs());
                Ok((factor.l().to_owned(), factor.signs(), factor.growth_limit(), expected))
            })?;
            let (l, signs, limit, (inertia, expected)) = state;
            let (l, signs) = (to_numpy(py, l.as_ref(), false)?, PyArray1::from_vec(py, signs));
            let expected = expected.map(|signs| PyArray1::from_vec(py, signs));
            Ok((restore, (l, signs, factor.threads, limit, inertia, expected)).into_pyobject(py)?.into_any())
        })
    }

    /// The factor L, a copy in Fortran order, zero above the diagonal. Shape (n, n).
    #[getter]
    fn l<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        with_ldlt!(self, shared => {
            let l = shared.look(py, |factor| Ok(factor.l().to_owned()))?;
            Ok(to_numpy(py, l.as_ref(), false)?.into_any())
        })
    }

    /// The diagonal of S: 1 or −1, a copy of the factor's real dtype. Shape (n,).
    #[getter]
    fn signs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        with_ldlt!(self, shared => {
            let signs = shared.look(py, |factor| Ok(factor.signs()))?;
            Ok(PyArray1::from_vec(py, signs).into_any())
        })
    }

    /// The numbers of positive and of negative eigenvalues of A: those of the entries of S, by Sylvester's law of inertia.
    #[getter]
    fn inertia(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        with_ldlt!(self, shared => shared.look(py, |factor| Ok(factor.inertia())))
    }

    /// The order n of A.
    #[getter]
    fn order(&self, py: Python<'_>) -> PyResult<usize> {
        with_ldlt!(self, shared => shared.look(py, |factor| Ok(factor.order())))
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
        Err(wrong_type("an Ldlt is not an array: L is `l`, A is `reconstruct()`"))
    }

    /// The dtype of the factor: float32, float64, complex64 or complex128.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, numpy::PyArrayDescr> {
        match &self.kept {
            Kept::Single(_) => numpy::dtype::<f32>(py),
            Kept::Double(_) => numpy::dtype::<f64>(py),
            Kept::ComplexSingle(_) => numpy::dtype::<c32>(py),
            Kept::ComplexDouble(_) => numpy::dtype::<c64>(py),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let dtype = match &self.kept {
            Kept::Single(_) => f32::NAME,
            Kept::Double(_) => f64::NAME,
            Kept::ComplexSingle(_) => c32::NAME,
            Kept::ComplexDouble(_) => c64::NAME,
        };
        let known =
            with_ldlt!(self, shared => shared.look(py, |factor| Ok((factor.order(), factor.inertia()))));
        match known {
            Ok((order, inertia)) => {
                format!("<cholupdate.Ldlt of order {order}, inertia {inertia:?}, {dtype}>")
            }
            Err(_) => format!("<cholupdate.Ldlt (in use), {dtype}>"),
        }
    }
}

/// Restores a factor from the state that `Ldlt.__reduce__` returned.
#[pyfunction]
pub fn restore_ldlt<'py>(
    py: Python<'py>,
    l: &Bound<'py, PyAny>,
    signs: &Bound<'py, PyAny>,
    threads: Option<usize>,
    growth_limit: f64,
    expected_inertia: Option<(usize, usize)>,
    expected_signs: Option<&Bound<'py, PyAny>>,
) -> PyResult<Ldlt> {
    let factor = Ldlt::known(py, (l, signs), threads)?;
    factor.set_growth_limit(py, growth_limit)?;
    if let Some(inertia) = expected_inertia {
        with_ldlt!(factor, shared => shared.writer(py)?.factor().expect_inertia(inertia.0, inertia.1));
    }
    if let Some(signs) = expected_signs {
        factor.expect_signs(py, signs)?;
    }
    Ok(factor)
}
