//! The class `Pending`.

use crate::errors::exception;
use crate::factor::{Cholesky, Kept};
use crate::modifying::{weights, weights_or};
use crate::numbers::Real;
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
    outcome: EitherOutcome,
}

enum EitherOutcome {
    Single(Arc<Outcome>),
    Double(Arc<Outcome>),
}

impl Pending {
    pub fn new<'py>(
        factor: &Bound<'py, Cholesky>,
        v: &Bound<'py, PyAny>,
        weights: Option<&Bound<'py, PyAny>>,
        downdate: bool,
    ) -> PyResult<Self> {
        let py = factor.py();
        let outcome = match &factor.get().kept {
            Kept::Single(state) => EitherOutcome::Single(begun(py, state, v, weights, downdate)?),
            Kept::Double(state) => EitherOutcome::Double(begun(py, state, v, weights, downdate)?),
        };
        Ok(Self { factor: factor.clone().unbind(), outcome })
    }
}

fn begun<'py, T: Real>(
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

fn waited<T: Real>(py: Python<'_>, state: &Shared<T>, outcome: &Outcome) -> PyResult<Modification> {
    let reader = state.reader()?;
    let waited = without_gil(py, || reader.wait_for(outcome));
    waited.map(Modification::from).map_err(|error| exception(py, error))
}

fn solved<'py, T: Real>(
    py: Python<'py>,
    state: &Shared<T>,
    outcome: &Arc<Outcome>,
    b: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let reader = state.reader()?;
    solved_by(py, (b, "b"), |rhs| reader.wait_and_solve(outcome, rhs))
}

/// Evaluates the same expression in either precision, which is that of the factor.
macro_rules! with_outcome {
    ($pending:expr, ($outcome:ident, $state:ident) => $body:expr) => {
        match (&$pending.outcome, &$pending.factor.get().kept) {
            (EitherOutcome::Single($outcome), Kept::Single($state)) => $body,
            (EitherOutcome::Double($outcome), Kept::Double($state)) => $body,
            _ => unreachable!("an outcome has the numbers of its factor"),
        }
    };
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
        with_outcome!(self, (outcome, state) => waited(py, state, outcome))
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
        with_outcome!(self, (outcome, state) => solved(py, state, outcome, b))
    }

    fn __repr__(&self) -> String {
        "<cholupdate.Pending>".into()
    }
}
