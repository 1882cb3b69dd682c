//! Solves, products, determinant, condition and copies of L and A, for the class `Cholesky`.

use crate::argument::Argument;
use crate::arrays::{self, to_numpy, view_mut};
use crate::errors::exception;
use crate::factor::{Cholesky, with_numbers};
use crate::numbers::{Number, Real};
use crate::operands::{Matrix, like};
use crate::remote::Remote;
use crate::shared::{Factor, Shared};
use crate::there::{Made, made};
use crate::threads::without_gil;
use cholupdate::{Error, OperandMut, RefactorPolicy};
use pyo3::prelude::*;

/// Applies `apply` to a copy of an argument. The result has the library, device and shape of the argument.
fn solved<'py, T: Number>(
    py: Python<'py>,
    state: &Shared<T>,
    apply: fn(&Factor<T>, &mut OperandMut<'_, T>) -> Result<(), Error>,
    argument: (&Bound<'py, PyAny>, &str),
) -> PyResult<Bound<'py, PyAny>> {
    let reader = state.reader()?;
    solved_by(py, argument, |mut rhs| reader.look(|state| apply(state.factor(), &mut rhs)))
}

/// As `solved`, by `solve`, which is called without the GIL.
pub fn solved_by<'py, T: Number>(
    py: Python<'py>,
    (b, name): (&Bound<'py, PyAny>, &str),
    solve: impl FnOnce(OperandMut<'_, T>) -> Result<(), Error> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    match Matrix::<T>::new(b, name)? {
        Matrix::Host(given) => {
            let given_view = given.view();
            let (rows, cols) = given_view.shape();
            let shape = if given.ndim() == 2 { &[rows, cols][..] } else { &[rows][..] };
            let x = arrays::zeros::<T>(py, shape, true);
            let mut view = view_mut(&x, name)?;
            let done = without_gil(py, || {
                view.copy_from(given_view);
                solve(OperandMut::Host(view))
            });
            done.map_err(|error| exception(py, error))?;
            like(x.into_any(), b)
        }
        Matrix::Device(given) => given.solved(b, solve),
    }
}

#[pymethods]
impl Cholesky {
    /// Solves A X = B.
    ///
    /// Parameters
    /// ----------
    /// b : array_like, shape (n, m) or (n,)
    ///     B. For an array in the memory of a GPU, the solve works there.
    ///
    /// Returns
    /// -------
    /// array, shape of `b`
    ///     An array of the library of `b`, on its device, if `b` has ``__dlpack__``; else a NumPy array. In Fortran order.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[4.0, 2.0], [2.0, 5.0]])
    /// >>> f.solve([8.0, 12.0]).round(12)
    /// array([1., 2.])
    fn solve<'py>(&self, py: Python<'py>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_numbers!(self, state => solved(py, state, |factor, b| factor.solve_in_place(b), (b, "b")))
    }

    /// Solves L Y = B for Y, the first half of `solve`.
    ///
    /// Parameters
    /// ----------
    /// b : array_like, shape (n, m) or (n,)
    ///
    /// Returns
    /// -------
    /// array, shape of `b`
    fn solve_l<'py>(&self, py: Python<'py>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_numbers!(self, state => solved(py, state, |factor, b| factor.solve_l_in_place(b), (b, "b")))
    }

    /// Solves Lᵀ X = Y for X, the second half of `solve`.
    ///
    /// Parameters
    /// ----------
    /// b : array_like, shape (n, m) or (n,)
    ///     Y.
    ///
    /// Returns
    /// -------
    /// array, shape of `b`
    fn solve_lt<'py>(&self, py: Python<'py>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_numbers!(self, state => solved(py, state, |factor, b| factor.solve_lt_in_place(b), (b, "b")))
    }

    /// The product A X = L Lᵀ X, without forming A.
    ///
    /// Parameters
    /// ----------
    /// x : array_like, shape (n, m) or (n,)
    ///     X. An array in the memory of a GPU is copied to the host, and the product back.
    ///
    /// Returns
    /// -------
    /// array, shape of `x`
    ///     As for `solve`.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[4.0, 2.0], [2.0, 5.0]])
    /// >>> f.multiply([1.0, 2.0]).round(12)
    /// array([ 8., 12.])
    fn multiply<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_numbers!(self, state => solved(py, state, |factor, x| factor.multiply_in_place(x), (x, "x")))
    }

    /// The product L X. If the entries of X are standard normal, its columns are samples of a normal distribution with covariance
    /// A.
    ///
    /// Parameters
    /// ----------
    /// x : array_like, shape (n, m) or (n,)
    ///     X. An array in the memory of a GPU is copied to the host, and the product back.
    ///
    /// Returns
    /// -------
    /// array, shape of `x`
    ///     As for `solve`.
    fn multiply_l<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_numbers!(self, state => solved(py, state, |factor, x| factor.multiply_l_in_place(x), (x, "x")))
    }

    /// The product Lᵀ X. The squared 2-norm of its column for x is xᵀ A x.
    ///
    /// Parameters
    /// ----------
    /// x : array_like, shape (n, m) or (n,)
    ///     X. An array in the memory of a GPU is copied to the host, and the product back.
    ///
    /// Returns
    /// -------
    /// array, shape of `x`
    ///     As for `solve`.
    fn multiply_lt<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_numbers!(self, state => solved(py, state, |factor, x| factor.multiply_lt_in_place(x), (x, "x")))
    }

    /// The logarithm of det A.
    ///
    /// Returns
    /// -------
    /// float
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> round(cu.Cholesky([[4.0, 2.0], [2.0, 5.0]]).log_det(), 9)    # log 16
    /// 2.772588722
    fn log_det(&self, py: Python<'_>) -> PyResult<f64> {
        with_numbers!(self, state => state.look(py, |factor| factor.log_det()).map(Real::double))
    }

    /// An estimate of the condition number of A in the 1-norm, seldom less than a third of its value.
    ///
    /// Returns
    /// -------
    /// float
    fn condition(&self, py: Python<'_>) -> PyResult<f64> {
        with_numbers!(self, state => state.look(py, |factor| factor.condition()).map(Real::double))
    }

    /// An estimate of max |(L Lᵀ − A)_ij| / √(a_ii a_jj), where A is the exact matrix.
    ///
    /// It is computed from the effect of all changes since the factor was made on the diagonal of A, and is 0 before the first
    /// change.
    ///
    /// Returns
    /// -------
    /// float
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[1.0, 0.0], [0.0, 1.0]])
    /// >>> report = f.downdate([1.0 - 1e-9, 0.0])
    /// >>> 1e-9 < f.error_estimate() * 1e2 < 1e-3
    /// True
    fn error_estimate(&self, py: Python<'_>) -> PyResult<f64> {
        with_numbers!(self, state => state.look(py, |factor| Ok(factor.error_estimate())))
    }

    /// Whether A should be factored again, by ``Cholesky(a)``.
    ///
    /// Parameters
    /// ----------
    /// max_error : float, optional
    ///     The largest acceptable `error_estimate`. By default half of the digits: about 1e-8, or 2e-4 in single precision.
    /// max_modifications : int, optional
    ///     The largest number of changes since the factor was made. By default any number.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[1.0, 0.0], [0.0, 1.0]])
    /// >>> report = f.downdate([0.5, 0.0])
    /// >>> f.needs_refactor(), f.needs_refactor(max_modifications=0)
    /// (False, True)
    #[pyo3(
        signature = (max_error=None, max_modifications=Argument::NONE),
        text_signature = "($self, max_error=None, max_modifications=None)"
    )]
    fn needs_refactor(
        &self,
        py: Python<'_>,
        max_error: Option<f64>,
        max_modifications: Argument<'_>,
    ) -> PyResult<bool> {
        let most = max_modifications.most("max_modifications")?;
        let policy = RefactorPolicy { max_error, max_modifications: most.unwrap_or(usize::MAX) };
        with_numbers!(self, state => state.look(py, |factor| Ok(factor.needs_refactor(&policy))))
    }

    /// A copy of the factor L, or of R = Lᵀ (Lᴴ of complex numbers).
    ///
    /// Parameters
    /// ----------
    /// upper : bool, default False
    ///     Return R = Lᵀ, upper triangular, with A = Rᵀ R.
    /// like : array, optional
    ///     An array that determines the library of the result. By default the matrix from which the factor was made. If that
    ///     array and the factor are in the memory of a GPU, the result is on the factor's device; else it is a NumPy array.
    ///
    /// Returns
    /// -------
    /// array, shape (n, n)
    ///     L in Fortran order, or R in C order; zero in the other triangle.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> cu.Cholesky([[4.0, 2.0], [2.0, 5.0]]).factor(upper=True)
    /// array([[2., 1.],
    ///        [0., 2.]])
    #[pyo3(
        signature = (upper=Argument::NONE, *, like=None),
        text_signature = "($self, upper=False, *, like=None)"
    )]
    fn factor<'py>(
        &self,
        py: Python<'py>,
        upper: Argument<'py>,
        like: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        made(py, self, (Made::Factor, upper.flag("upper", false)?), like)
    }

    /// A = L Lᵀ, both triangles.
    ///
    /// Parameters
    /// ----------
    /// like : array, optional
    ///     As for `factor`.
    ///
    /// Returns
    /// -------
    /// array, shape (n, n)
    #[pyo3(signature = (*, like=None))]
    fn reconstruct<'py>(
        &self,
        py: Python<'py>,
        like: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        made(py, self, (Made::Matrix, false), like)
    }
}

/// Converts X from host memory to the library, device and shape of B.
pub fn as_given<'py, T: Number>(
    py: Python<'py>,
    x: cholupdate::faer::Mat<T>,
    (b, given): (&Bound<'py, PyAny>, &Matrix<'py, T>),
) -> PyResult<Bound<'py, PyAny>> {
    match given {
        Matrix::Host(given) => {
            let x = to_numpy(py, x.as_ref(), false)?.into_any();
            like(if given.ndim() == 2 { x } else { x.call_method1("reshape", (-1,))? }, b)
        }
        Matrix::Device(given) => given.returned(x, b),
    }
}
