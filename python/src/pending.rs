//! The class `Pending`.

use crate::errors::exception;
use crate::factor::{Cholesky, with_numbers};
use crate::modifying::{weights, weights_or};
use crate::numbers::Number;
use crate::operands::Matrix;
use crate::report::Modification;
use crate::shared::{Outcome, Shared};
use crate::solving::solved_by;
use crate::threads::without_gil;
use pyo3::prelude::*;
use std::sync::Arc;

/// A modification in flight, returned by `Cholesky.submit`.
///
/// Any other call of the factor first waits for the modification and stores its outcome for this object. If the object is
/// dropped, the outcome is lost; the modification still changes the factor.
#[pyclass(frozen, weakref, module = "cholupdate")]
pub struct Pending {
    factor: Py<Cholesky>,
    outcome: Arc<Outcome>,
}

impl Pending {
    pub fn new<'py>(
        factor: &Bound<'py, Cholesky>,
        v: &Bound<'py, PyAny>,
        weights: Option<&Bound<'py, PyAny>>,
        downdate: bool,
    ) -> PyResult<Self> {
        let py = factor.py();
        let outcome = with_numbers!(factor.get(), state => begun(py, state, v, weights, downdate)?);
        Ok(Self { factor: factor.clone().unbind(), outcome })
    }
}

fn begun<'py, T: Number>(
    py: Python<'py>,
    state: &Shared<T>,
    v: &Bound<'py, PyAny>,
    w: Option<&Bound<'py, PyAny>>,
    downdate: bool,
) -> PyResult<Arc<Outcome>> {
    let w = w.map(weights::<T>).transpose()?;
    let w = weights_or(w.as_deref(), downdate)?;
    let v = Matrix::<T>::new(v, "v")?;
    let given = v.given(py)?;
    state.writer()?.submit(py, |factor| factor.submit(&given, w).map(core::mem::forget))
}

fn waited<T: Number>(py: Python<'_>, state: &Shared<T>, outcome: &Outcome) -> PyResult<Modification> {
    let reader = state.reader()?;
    let waited = without_gil(py, || reader.wait_for(outcome));
    waited.map(Modification::from).map_err(|error| exception(py, error))
}

fn solved<'py, T: Number>(
    py: Python<'py>,
    state: &Shared<T>,
    outcome: &Arc<Outcome>,
    b: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let reader = state.reader()?;
    solved_by(py, (b, "b"), |rhs| reader.wait_and_solve(outcome, rhs))
}

#[pymethods]
impl Pending {
    /// Waits for the modification and returns its report. It may be called more than once.
    ///
    /// Returns
    /// -------
    /// Modification
    ///
    /// Raises
    /// ------
    /// NotPositiveDefiniteError
    ///     The new matrix is not positive definite. The factor is unchanged.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Cholesky([[4.0, 2.0], [2.0, 5.0]])
    /// >>> round(f.submit([0.0, 1.0], downdate=True).wait().min_pivot_ratio, 12)
    /// 0.75
    fn wait(&self, py: Python<'_>) -> PyResult<Modification> {
        with_numbers!(self.factor.get(), state => waited(py, state, &self.outcome))
    }

    /// Waits for the modification and solves A X = B with the new A. The engine "cuda" queues both on the GPU as one step.
    ///
    /// Parameters
    /// ----------
    /// b : array_like, shape (n, m) or (n,)
    ///     As for `Cholesky.solve`.
    ///
    /// Returns
    /// -------
    /// array, shape of `b`
    ///
    /// Raises
    /// ------
    /// NotPositiveDefiniteError
    ///     The modification broke down, and nothing is solved. The factor is unchanged.
    fn solve<'py>(&self, py: Python<'py>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_numbers!(self.factor.get(), state => solved(py, state, &self.outcome, b))
    }

    fn __repr__(&self) -> String {
        "<cholupdate.Pending>".into()
    }
}
