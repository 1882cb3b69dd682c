//! What the class `Cholesky` says of A: solutions, determinant, condition, L itself.

use crate::arrays::{self, to_numpy, view_mut};
use crate::device::DeviceArray;
use crate::errors::exception;
use crate::factor::{Cholesky, State, look, with_numbers};
use crate::held::{Made, Sides};
use crate::numbers::Real;
use crate::operands::Matrix;
use crate::there::made;
use crate::threads::without_gil;
use cholupdate::OperandMut;
use cholupdate::cuda::DeviceMatrix;
use pyo3::prelude::*;
use std::sync::Mutex;

/// Solves for a copy of B, which is where and what B is.
fn solved<'py, T: Real>(
    py: Python<'py>,
    state: &Mutex<State<T>>,
    sides: Sides,
    b: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    match Matrix::<T>::new(b, "b")? {
        Matrix::Host(given) => {
            let given_view = given.view();
            let (rows, cols) = given_view.shape();
            let shape = if given.ndim() == 2 { &[rows, cols][..] } else { &[rows][..] };
            let x = arrays::zeros::<T>(py, shape, true);
            let mut view = view_mut(&x, "b")?;
            look(py, state, |factor| {
                view.copy_from(given_view);
                factor.solve(sides, OperandMut::Host(view))
            })?;
            Ok(x.into_any())
        }
        Matrix::Device(given) => {
            let (view, is_vector) = (given.view::<T>(py)?, given.ndim() < 2);
            let x = look(py, state, |factor| {
                let mut x: DeviceMatrix<T> = view.to_matrix()?;
                factor.solve(sides, OperandMut::Device(x.view_mut()))?;
                Ok(x)
            })?;
            DeviceArray::new(x, given.ordinal(), is_vector).like(b)
        }
    }
}

#[pymethods]
impl Cholesky {
    /// X with A X = B.
    ///
    /// Parameters
    /// ----------
    /// b : array_like, shape (n, m) or (n,)
    ///     B. An array in the memory of a GPU is solved for there.
    ///
    /// Returns
    /// -------
    /// array, shape of `b`
    ///     A NumPy array in Fortran order, or for an array in the memory of a GPU one of the same library there.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[4.0, 2.0], [2.0, 5.0]])
    /// >>> f.solve([8.0, 12.0]).round(12)
    /// array([1., 2.])
    fn solve<'py>(&self, py: Python<'py>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_numbers!(self, state => solved(py, state, Sides::Both, b))
    }

    /// Y with L Y = B, the first half of `solve`.
    ///
    /// Parameters
    /// ----------
    /// b : array_like, shape (n, m) or (n,)
    ///
    /// Returns
    /// -------
    /// array, shape of `b`
    fn solve_l<'py>(&self, py: Python<'py>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_numbers!(self, state => solved(py, state, Sides::L, b))
    }

    /// X with Lᵀ X = Y, the second half of `solve`.
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
        with_numbers!(self, state => solved(py, state, Sides::Transpose, b))
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
        with_numbers!(self, state => look(py, state, |factor| factor.log_det()).map(Real::double))
    }

    /// An estimate of the condition number of A in the 1-norm, seldom less than a third of it.
    ///
    /// Returns
    /// -------
    /// float
    fn condition(&self, py: Python<'_>) -> PyResult<f64> {
        with_numbers!(self, state => look(py, state, |factor| factor.condition()).map(Real::double))
    }

    /// A copy of the factor.
    ///
    /// Parameters
    /// ----------
    /// upper : bool, default False
    ///     R = Lᵀ, upper triangular, with A = Rᵀ R.
    /// like : array, optional
    ///     An array of the library that is to have the copy, in the memory that it is to be in. By default that which the factor was
    ///     made of. Where either is in host memory, or the factor is, the copy is a NumPy array.
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
    #[pyo3(signature = (upper=false, *, like=None))]
    fn factor<'py>(
        &self,
        py: Python<'py>,
        upper: bool,
        like: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        made(py, self, (Made::Factor, upper), like)
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

/// X, which was made in host memory, as what B is.
pub fn as_given<'py, T: Real>(
    py: Python<'py>,
    x: cholupdate::faer::Mat<T>,
    (b, given): (&Bound<'py, PyAny>, &Matrix<'py, T>),
) -> PyResult<Bound<'py, PyAny>> {
    match given {
        Matrix::Host(given) => {
            let x = to_numpy(py, x.as_ref(), false)?.into_any();
            if given.ndim() == 2 { Ok(x) } else { x.call_method1("reshape", (-1,)) }
        }
        Matrix::Device(given) => {
            let device = crate::settings::device_for(py, given.ordinal())?;
            let x = without_gil(py, || DeviceMatrix::from_host(&device, &x))
                .map_err(|error| exception(py, error))?;
            DeviceArray::new(x, given.ordinal(), given.ndim() < 2).like(b)
        }
    }
}
