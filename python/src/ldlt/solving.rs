//! Solves, determinant, condition and A, for the class `Ldlt`.

use super::{Ldlt, Shared, with_ldlt};
use crate::arrays::to_numpy;
use crate::numbers::{Number, Real};
use crate::solving::solved_by;
use cholupdate::{Error, OperandMut};
use pyo3::prelude::*;

/// Applies `apply` to a copy of an argument. The result has the library, device and shape of the argument.
fn solved<'py, T: Number>(
    py: Python<'py>,
    shared: &Shared<T>,
    apply: fn(&cholupdate::Ldlt<T>, &mut OperandMut<'_, T>) -> Result<(), Error>,
    b: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let reader = shared.reader(py)?;
    solved_by(py, (b, "b"), |mut rhs| reader.look(|factor| apply(factor, &mut rhs)))
}

#[pymethods]
impl Ldlt {
    /// Solves A X = B.
    ///
    /// Parameters
    /// ----------
    /// b : array_like, shape (n, m) or (n,)
    ///     B. An array in the memory of a GPU is copied to the host, and the solution back.
    ///
    /// Returns
    /// -------
    /// array, shape of `b`
    ///     An array of the library of `b`, on its device, if `b` has ``__dlpack__``; else a NumPy array. In Fortran order.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Ldlt([[4.0, 2.0], [2.0, -5.0]])
    /// >>> f.solve([8.0, -8.0]).round(12)
    /// array([1., 2.])
    fn solve<'py>(&self, py: Python<'py>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_ldlt!(self, shared => solved(py, shared, |factor, b| factor.solve_in_place(b), b))
    }

    /// Solves L Y = B for Y. With it Yᴴ S Y = Bᴴ A⁻¹ B.
    ///
    /// Parameters
    /// ----------
    /// b : array_like, shape (n, m) or (n,)
    ///
    /// Returns
    /// -------
    /// array, shape of `b`
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Ldlt([[4.0, 2.0], [2.0, -5.0]])
    /// >>> y = f.solve_l([8.0, -8.0])
    /// >>> f.solve_lt(f.signs * y).round(12)           # as `solve`
    /// array([1., 2.])
    fn solve_l<'py>(&self, py: Python<'py>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_ldlt!(self, shared => solved(py, shared, |factor, b| factor.solve_l_in_place(b), b))
    }

    /// Solves Lᵀ X = B for X, or Lᴴ X = B of complex numbers.
    ///
    /// Parameters
    /// ----------
    /// b : array_like, shape (n, m) or (n,)
    ///
    /// Returns
    /// -------
    /// array, shape of `b`
    fn solve_lt<'py>(&self, py: Python<'py>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_ldlt!(self, shared => solved(py, shared, |factor, b| factor.solve_lt_in_place(b), b))
    }

    /// The logarithm of |det A|. The sign of det A is that of −1 to the number of negative eigenvalues.
    ///
    /// Returns
    /// -------
    /// float
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> round(cu.Ldlt([[4.0, 2.0], [2.0, -3.0]]).log_abs_det(), 9)      # log 16
    /// 2.772588722
    fn log_abs_det(&self, py: Python<'_>) -> PyResult<f64> {
        with_ldlt!(self, shared => shared.look(py, |factor| Ok(factor.log_abs_det())).map(Real::double))
    }

    /// An estimate of the condition number of A in the 1-norm, seldom less than a third of its value.
    ///
    /// Returns
    /// -------
    /// float
    fn condition(&self, py: Python<'_>) -> PyResult<f64> {
        with_ldlt!(self, shared => shared.look(py, |factor| factor.condition()).map(Real::double))
    }

    /// A = L S Lᴴ, both triangles.
    ///
    /// Returns
    /// -------
    /// array, shape (n, n)
    fn reconstruct<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        with_ldlt!(self, shared => {
            let a = shared.look(py, |factor| Ok(factor.reconstruct()))?;
            Ok(to_numpy(py, a.as_ref(), false)?.into_any())
        })
    }
}
