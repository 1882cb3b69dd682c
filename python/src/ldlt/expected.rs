//! What is expected of a change of the class `Ldlt`, which is refused otherwise.

use super::{Ldlt, Shared, with_ldlt};
use crate::argument::count;
use crate::carried::vector;
use crate::errors::{exception, exception_naming};
use crate::numbers::Number;
use numpy::PyArray1;
use pyo3::prelude::*;

#[pymethods]
impl Ldlt {
    /// max (|L| |D| |Lᵀ|)_ii / max |A_ii|, at least 1. Rounding errors of the factor, and of solutions, are larger by up to this factor
    /// than those of a positive definite matrix.
    #[getter]
    fn growth(&self, py: Python<'_>) -> PyResult<f64> {
        with_ldlt!(self, shared => shared.look(py, |factor| Ok(factor.growth())))
    }

    /// The growth above which a change raises `UnstableError`, at least 1. At the beginning 1 / (4 u), where no digit is left.
    #[getter]
    fn growth_limit(&self, py: Python<'_>) -> PyResult<f64> {
        with_ldlt!(self, shared => shared.look(py, |factor| Ok(factor.growth_limit())))
    }

    #[setter]
    pub fn set_growth_limit(&self, py: Python<'_>, limit: f64) -> PyResult<()> {
        let set = with_ldlt!(self, shared => shared.writer(py)?.factor().set_growth_limit(limit));
        set.map_err(|error| exception_naming(py, error, &[("limit", "growth_limit")]))
    }

    /// From now on a change after which A would have other numbers of eigenvalues raises `InertiaError`.
    ///
    /// The current A may have others, for example before rows are appended. This replaces what was expected before.
    ///
    /// Parameters
    /// ----------
    /// positive, negative : int
    ///     The numbers of positive and of negative eigenvalues.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Ldlt([[2.0, 1.0], [1.0, -1.0]])
    /// >>> f.expect_inertia(1, 1)
    /// >>> f.modify([1.0, 0.0], [-4.0])
    /// Traceback (most recent call last):
    ///     ...
    /// cholupdate.InertiaError: the inertia would be 0 positive and 2 negative, but 1 and 1 are expected
    /// >>> f.inertia
    /// (1, 1)
    fn expect_inertia<'py>(
        &self,
        py: Python<'py>,
        positive: &Bound<'py, PyAny>,
        negative: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let (positive, negative) = (count(positive, "positive")?, count(negative, "negative")?);
        with_ldlt!(self, shared => shared.writer(py)?.factor().expect_inertia(positive, negative));
        Ok(())
    }

    /// From now on a change after which a pivot would not have the sign of its row's entry raises `SignError`.
    ///
    /// This is for quasi-definite matrices, whose pivots keep their signs in every order of the rows. The signs follow their rows; of new
    /// rows nothing is expected. This replaces what was expected before.
    ///
    /// Parameters
    /// ----------
    /// signs : array_like, shape (n,)
    ///     Positive, negative, or 0 where either is right. In host memory.
    ///
    /// Examples
    /// --------
    /// >>> import cholupdate as cu
    /// >>> f = cu.Ldlt([[2.0, 1.0], [1.0, -1.0]])
    /// >>> f.expect_signs([1, -1])
    /// >>> try:
    /// ...     f.modify([0.0, 1.0], [4.0])
    /// ... except cu.SignError as error:
    /// ...     error.column
    /// 1
    pub fn expect_signs<'py>(&self, py: Python<'py>, signs: &Bound<'py, PyAny>) -> PyResult<()> {
        fn expected<'py, T: Number>(
            py: Python<'py>,
            shared: &Shared<T>,
            signs: &Bound<'py, PyAny>,
        ) -> PyResult<()> {
            let signs = vector::<T>(signs, "signs")?;
            shared.writer(py)?.factor().expect_signs(&signs).map_err(|error| exception(py, error))
        }
        with_ldlt!(self, shared => expected(py, shared, signs))
    }

    /// From now on any inertia is accepted, as at the beginning.
    fn expect_any_inertia(&self, py: Python<'_>) -> PyResult<()> {
        with_ldlt!(self, shared => shared.writer(py)?.factor().expect_any_inertia());
        Ok(())
    }

    /// The inertia that `expect_inertia` has set, or None.
    #[getter]
    fn expected_inertia(&self, py: Python<'_>) -> PyResult<Option<(usize, usize)>> {
        with_ldlt!(self, shared => shared.look(py, |factor| Ok(factor.expected_inertia())))
    }

    /// The signs that `expect_signs` has set, 1, −1 or 0 for each row, or None. Shape (n,).
    #[getter]
    fn expected_signs<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        with_ldlt!(self, shared => {
            let signs = shared.look(py, |factor| Ok(factor.expected_signs()))?;
            Ok(signs.map(|signs| PyArray1::from_vec(py, signs).into_any()))
        })
    }
}
