//! Numbers of rows.

use crate::errors::wrong_type;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBool;

/// The number of a row.
pub fn index(object: &Bound<'_, PyAny>, name: &str) -> PyResult<usize> {
    let is_bool = object.is_instance_of::<PyBool>();
    match object.extract::<isize>() {
        Ok(index) if !is_bool => usize::try_from(index).map_err(|_| out_of_range(object, name)),
        Err(error) if !error.is_instance_of::<PyTypeError>(object.py()) => Err(out_of_range(object, name)),
        _ => Err(wrong_type(format!("`{name}` must be an integer, not {}", kind(object)))),
    }
}

/// The numbers of some rows: one, or whatever gives integers one by one.
pub fn indices(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<usize>> {
    match object.try_iter() {
        Ok(entries) => entries.map(|entry| index(&entry?, name)).collect(),
        Err(_) => Ok(vec![index(object, name)?]),
    }
}

fn out_of_range(object: &Bound<'_, PyAny>, name: &str) -> PyErr {
    PyIndexError::new_err(format!("`{name}` is {object}, but rows are numbered from 0"))
}

fn kind(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "this".into(), |name| name.to_string())
}
