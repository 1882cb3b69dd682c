//! Scalar arguments (strings, integers, truth values), and errors that name them.

use crate::errors::{wrong_type, wrong_value};
use core::convert::Infallible;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;

/// An argument as it was passed, or none.
#[derive(Clone, Default)]
pub struct Argument<'py>(Option<Bound<'py, PyAny>>);

impl<'py> FromPyObject<'_, 'py> for Argument<'py> {
    type Error = Infallible;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> Result<Self, Infallible> {
        Ok(Self(Some(object.to_owned())))
    }
}

impl Argument<'_> {
    /// An omitted argument.
    pub const NONE: Self = Self(None);

    /// A `bool` of Python or NumPy.
    #[inline]
    pub fn flag(&self, name: &str, default: bool) -> PyResult<bool> {
        match &self.0 {
            None => Ok(default),
            Some(object) => object
                .extract()
                .map_err(|_| wrong_type(format!("`{name}` must be a bool, not {}", kind(object)))),
        }
    }

    /// A string.
    pub fn text(&self, name: &str, default: &str) -> PyResult<String> {
        match &self.0 {
            None => Ok(default.into()),
            Some(object) => object
                .extract()
                .map_err(|_| wrong_type(format!("`{name}` must be a str, not {}", kind(object)))),
        }
    }

    /// A number of threads. -1, `None` and numbers above `isize::MAX` mean all.
    pub fn threads(&self) -> PyResult<Option<usize>> {
        let Some(object) = self.0.as_ref().filter(|object| !object.is_none()) else { return Ok(None) };
        let refused = || wrong_value(format!("`threads` is {object}, expected at least 1, or -1 for all"));
        match number(object, "threads")? {
            Some(-1) => Ok(None),
            Some(threads) => usize::try_from(threads).ok().filter(|&t| t > 0).map(Some).ok_or_else(refused),
            None if object.lt(0)? => Err(refused()),
            None => Ok(None),
        }
    }

    /// An upper bound on a count, if one was given.
    pub fn most(&self, name: &str) -> PyResult<Option<usize>> {
        match self.0.as_ref().filter(|object| !object.is_none()) {
            None => Ok(None),
            Some(object) => count(object, name).map(Some),
        }
    }
}

/// A count. Numbers above `isize::MAX` become `usize::MAX`.
pub fn count(object: &Bound<'_, PyAny>, name: &str) -> PyResult<usize> {
    let refused = || wrong_value(format!("`{name}` is {object}, expected at least 0"));
    match number(object, name)? {
        Some(number) => usize::try_from(number).map_err(|_| refused()),
        None if object.lt(0)? => Err(refused()),
        None => Ok(usize::MAX),
    }
}

/// An integer; `None` if it does not fit into an `isize`. A truth value is not an integer.
///
/// # Errors
/// `TypeError`.
pub fn number(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<isize>> {
    let is_bool = object.is_instance_of::<PyBool>();
    match object.extract::<isize>() {
        Ok(number) if !is_bool => Ok(Some(number)),
        Err(error) if !error.is_instance_of::<PyTypeError>(object.py()) => Ok(None),
        _ => Err(wrong_type(format!("`{name}` must be an integer, not {}", kind(object)))),
    }
}

/// The name of an object's type.
pub fn kind(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "this".into(), |name| name.to_string())
}
