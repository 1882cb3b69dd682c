//! The library's errors as exceptions, with the argument names of Python's signatures.

use cholupdate::{DeviceErrorKind, Error};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Arguments whose names differ, as (Rust, Python): the methods call `rhs` `b`, `from` is a keyword of Python, and NumPy calls masks
/// `where`.
const NAMES: [(&str, &str); 4] = [("rhs", "b"), ("from", "at"), ("mask", "where"), ("matrices", "indices")];

/// The exception for an error of the library.
pub fn exception(py: Python<'_>, error: Error) -> PyErr {
    exception_naming(py, error, &NAMES)
}

/// As `exception`, with the names of other arguments as (Rust, Python).
pub fn exception_naming(py: Python<'_>, error: Error, names: &[(&'static str, &'static str)]) -> PyErr {
    let error = renamed(error, names);
    let message = error.to_string();
    worded(py, error, message, None)
}

/// The exception for what is wrong with one matrix of a batch, whose number begins the message.
pub fn exception_of(py: Python<'_>, (matrix, error): (usize, Error)) -> PyErr {
    exception_of_naming(py, (matrix, error), &NAMES)
}

/// As `exception_of`, with the names of other arguments as (Rust, Python).
pub fn exception_of_naming(
    py: Python<'_>,
    (matrix, error): (usize, Error),
    names: &[(&'static str, &'static str)],
) -> PyErr {
    let error = renamed(error, names);
    let message = format!("matrix {matrix}: {error}");
    worded(py, error, message, Some(matrix))
}

fn renamed(error: Error, names: &[(&'static str, &'static str)]) -> Error {
    let renamed = names.iter().find(|(rust, _)| error.argument() == Some(rust));
    renamed.map_or(error.clone(), |(_, python)| error.with_argument(python))
}

fn worded(py: Python<'_>, error: Error, message: String, matrix: Option<usize>) -> PyErr {
    match error {
        Error::NotPositiveDefinite { column } => {
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            made(CLASS.import(py, ERRORS, "NotPositiveDefiniteError"), (message, column, matrix))
        }
        Error::Singular { column } => {
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            made(CLASS.import(py, ERRORS, "SingularError"), (message, column, matrix))
        }
        Error::Unstable { column, growth } => {
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            made(CLASS.import(py, ERRORS, "UnstableError"), (message, column, growth))
        }
        Error::Inertia { expected, found } => {
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            made(CLASS.import(py, ERRORS, "InertiaError"), (message, expected, found))
        }
        Error::Sign { column } => {
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            made(CLASS.import(py, ERRORS, "SignError"), (message, column))
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
        // A call in a signal handler needs a lock that the interrupted call holds.
        Error::Interrupted => in_use("the factor"),
        _ => PyValueError::new_err(message),
    }
}

const ERRORS: &str = "cholupdate._errors";

/// An exception class of this package.
fn made<'py>(class: PyResult<&Bound<'py, PyType>>, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    class.and_then(|class| class.call1(arguments)).map_or_else(|error| error, PyErr::from_value)
}

/// Swaps row and column of a non-finite entry if `upper`: the library reads the transpose of the given matrix.
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

/// A `RuntimeError`: `what` is in use by another thread.
pub fn in_use(what: &str) -> PyErr {
    PyRuntimeError::new_err(format!("{what} is in use by another thread"))
}
