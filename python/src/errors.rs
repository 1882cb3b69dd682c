//! The library's errors as exceptions, in the words of Python's signatures.

use cholupdate::{DeviceErrorKind, Error};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Arguments whose names differ: in Rust, in Python, which has other words for the first, and keeps the second to itself.
const NAMES: [(&str, &str); 2] = [("rhs", "b"), ("from", "at")];

/// The exception for what the library refused.
pub fn exception(py: Python<'_>, error: Error) -> PyErr {
    exception_naming(py, error, &NAMES)
}

/// The same with the names of other arguments: in Rust, in Python.
pub fn exception_naming(py: Python<'_>, error: Error, names: &[(&'static str, &'static str)]) -> PyErr {
    let renamed = names.iter().find(|(rust, _)| error.argument() == Some(rust));
    let error = renamed.map_or(error.clone(), |(_, python)| error.with_argument(python));
    let message = error.to_string();
    match error {
        Error::NotPositiveDefinite { column } => {
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            made(CLASS.import(py, ERRORS, "NotPositiveDefiniteError"), (message, column))
        }
        Error::Singular { column } => {
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            made(CLASS.import(py, ERRORS, "SingularError"), (message, column))
        }
        Error::Device { kind, .. } => {
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            made(CLASS.import(py, ERRORS, "DeviceError"), (message, kind_of(kind)))
        }
        Error::Poisoned => {
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            made(CLASS.import(py, ERRORS, "PoisonedError"), (message,))
        }
        Error::Index { .. } => PyIndexError::new_err(message),
        // Of a call inside a handler of a signal, for what the call that it has interrupted holds.
        Error::Interrupted => in_use("the factor"),
        _ => PyValueError::new_err(message),
    }
}

const ERRORS: &str = "cholupdate._errors";

/// An exception of the package's own.
fn made<'py>(class: PyResult<&Bound<'py, PyType>>, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    class.and_then(|class| class.call1(arguments)).map_or_else(|error| error, PyErr::from_value)
}

/// An entry of the matrix that was given as one of its transpose, in which the library has looked for it.
pub fn seen_from_above(error: Error, upper: bool) -> Error {
    match error {
        Error::NonFinite { argument: argument @ ("a" | "l"), row, column } if upper => {
            Error::NonFinite { argument, row: column, column: row }
        }
        error => error,
    }
}

/// `DeviceError.kind`.
fn kind_of(kind: DeviceErrorKind) -> &'static str {
    match kind {
        DeviceErrorKind::Unavailable => "unavailable",
        DeviceErrorKind::OutOfMemory => "out_of_memory",
        DeviceErrorKind::Lost => "lost",
        _ => "other",
    }
}

/// A `TypeError`.
pub fn wrong_type(message: impl Into<String>) -> PyErr {
    PyTypeError::new_err(message.into())
}

/// A `ValueError`.
pub fn wrong_value(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}

/// A `RuntimeError` about something that another thread uses.
pub fn in_use(what: &str) -> PyErr {
    PyRuntimeError::new_err(format!("{what} is in use by another thread"))
}
