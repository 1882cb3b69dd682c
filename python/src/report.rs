//! The report of a modification.

use pyo3::prelude::*;

/// The report of a successful modification.
///
/// Attributes
/// ----------
/// min_pivot_ratio : float
///     The smallest ratio of a new squared pivot to the old one. A pivot is a diagonal entry of L. The worst column has lost
///     about ``-log10(min_pivot_ratio)`` decimal digits.
/// log_det_change : float
///     The change of the logarithm of det A.
///
/// Examples
/// --------
/// >>> import cholupdate
/// >>> f = cholupdate.Cholesky([[4.0, 2.0], [2.0, 5.0]])
/// >>> report = f.downdate([0.0, 1.0])
/// >>> round(report.min_pivot_ratio, 12)
/// 0.75
#[pyclass(frozen, eq, get_all, module = "cholupdate")]
#[derive(PartialEq)]
pub struct Modification {
    /// The smallest ratio of a new squared pivot to the old one.
    min_pivot_ratio: f64,
    /// The change of the logarithm of det A.
    log_det_change: f64,
}

impl From<cholupdate::Modification> for Modification {
    fn from(report: cholupdate::Modification) -> Self {
        Self { min_pivot_ratio: report.min_pivot_ratio, log_det_change: report.log_det_change() }
    }
}

#[pymethods]
impl Modification {
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let Self { min_pivot_ratio, log_det_change } = slf.get();
        let restore = slf.py().import("cholupdate._cholupdate")?.getattr("restore_modification")?;
        Ok((restore, (*min_pivot_ratio, *log_det_change)).into_pyobject(slf.py())?.into_any())
    }

    fn __repr__(&self) -> String {
        let Self { min_pivot_ratio, log_det_change } = self;
        format!("Modification(min_pivot_ratio={min_pivot_ratio:?}, log_det_change={log_det_change:?})")
    }
}

/// Restores a report from the state that `Modification.__reduce__` returned.
#[pyfunction]
pub fn restore_modification(min_pivot_ratio: f64, log_det_change: f64) -> Modification {
    Modification { min_pivot_ratio, log_det_change }
}
