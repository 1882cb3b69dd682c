//! The report of a change of an indefinite matrix.

use pyo3::prelude::*;

/// The report of a successful change of an `Ldlt`.
///
/// Attributes
/// ----------
/// min_pivot_ratio : float
///     The smallest magnitude of a new pivot over the old one. A pivot is an entry of D for a unit L, the square of a diagonal entry
///     of L with its sign. The worst column has lost about ``-log10(min_pivot_ratio)`` decimal digits.
/// log_abs_det_change : float
///     The change of log |det A|.
/// inertia_before : tuple of int
///     The numbers of positive and of negative eigenvalues of A before.
/// inertia : tuple of int
///     The same after.
/// growth : float
///     `Ldlt.growth` after.
///
/// Examples
/// --------
/// >>> import cholupdate as cu
/// >>> f = cu.Ldlt([[4.0, 0.0], [0.0, 1.0]])
/// >>> report = f.downdate([0.0, 2.0])
/// >>> report.inertia_before, report.inertia, report.changes_inertia()
/// ((2, 0), (1, 1), True)
#[pyclass(frozen, eq, get_all, module = "cholupdate")]
#[derive(PartialEq)]
pub struct LdltModification {
    /// The smallest magnitude of a new pivot over the old one.
    min_pivot_ratio: f64,
    /// The change of log |det A|.
    log_abs_det_change: f64,
    /// The numbers of positive and of negative eigenvalues of A before.
    inertia_before: (usize, usize),
    /// The numbers of positive and of negative eigenvalues of A after.
    inertia: (usize, usize),
    /// `Ldlt.growth` after.
    growth: f64,
}

impl From<cholupdate::LdltModification> for LdltModification {
    fn from(report: cholupdate::LdltModification) -> Self {
        Self {
            min_pivot_ratio: report.min_pivot_ratio,
            log_abs_det_change: report.log_abs_det_change,
            inertia_before: report.inertia_before,
            inertia: report.inertia,
            growth: report.growth,
        }
    }
}

#[pymethods]
impl LdltModification {
    /// Whether an eigenvalue has changed its sign, come or gone.
    ///
    /// Returns
    /// -------
    /// bool
    fn changes_inertia(&self) -> bool {
        self.inertia_before != self.inertia
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let of = slf.get();
        let restore = slf.py().import("cholupdate._cholupdate")?.getattr("restore_ldlt_modification")?;
        let state = (of.min_pivot_ratio, of.log_abs_det_change, of.inertia_before, of.inertia, of.growth);
        Ok((restore, state).into_pyobject(slf.py())?.into_any())
    }

    fn __repr__(&self) -> String {
        let Self { min_pivot_ratio, log_abs_det_change, inertia_before, inertia, growth } = self;
        format!(
            "LdltModification(min_pivot_ratio={min_pivot_ratio:?}, log_abs_det_change={log_abs_det_change:?}, \
             inertia_before={inertia_before:?}, inertia={inertia:?}, growth={growth:?})"
        )
    }
}

/// Restores a report from the state that `LdltModification.__reduce__` returned.
#[pyfunction]
pub fn restore_ldlt_modification(
    min_pivot_ratio: f64,
    log_abs_det_change: f64,
    inertia_before: (usize, usize),
    inertia: (usize, usize),
    growth: f64,
) -> LdltModification {
    LdltModification { min_pivot_ratio, log_abs_det_change, inertia_before, inertia, growth }
}
