//! Row indices.

use crate::argument::{kind, number};
use crate::errors::{wrong_type, wrong_value};
use numpy::PyUntypedArray;
use numpy::prelude::*;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList, PySlice, PyString, PyTuple};

/// A row index.
pub fn index(object: &Bound<'_, PyAny>, name: &str) -> PyResult<usize> {
    let row = number(object, name)?.and_then(|row| usize::try_from(row).ok());
    row.ok_or_else(|| PyIndexError::new_err(format!("`{name}` is {object}, but rows are numbered from 0")))
}

/// Row indices: one integer, or an iterable of integers.
pub fn rows(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<usize>> {
    match object.try_iter() {
        Ok(entries) => entries.map(|entry| index(&entry?, name)).collect(),
        Err(_) => Ok(vec![index(object, name)?]),
    }
}

/// Rows of a factor of this order, selected as NumPy selects them: one index or several, negative ones counted from the end, a
/// slice, or a mask of truth values.
pub fn selection(object: &Bound<'_, PyAny>, name: &str, order: usize) -> PyResult<Vec<usize>> {
    if let Ok(slice) = object.cast::<PySlice>() {
        let length = isize::try_from(order).unwrap_or(isize::MAX);
        let slice = slice.indices(length)?;
        let rows = (0..slice.slicelength as isize).map(|at| slice.start + at * slice.step);
        return Ok(rows.map(isize::cast_unsigned).collect());
    }
    if let Some(mask) = mask(object)? {
        if mask.len() != order {
            let found = mask.len();
            let message = format!("`{name}`: the number of truth values is {found}, expected {order}");
            return Err(wrong_value(message));
        }
        return Ok((0..order).filter(|&row| mask[row]).collect());
    }
    if object.is_instance_of::<PyString>() {
        return Err(wrong_type(format!("`{name}` must be an integer, not {}", kind(object))));
    }
    let row = |entry: &Bound<'_, PyAny>| {
        let length = i128::try_from(order).unwrap_or(i128::MAX);
        let row = number(entry, name)?.map(|row| row as i128);
        let place = row.map(|row| if row < 0 { row + length } else { row });
        match place {
            // The library refuses an index past the end, and names its position among the indices.
            Some(place) if place >= 0 => Ok(place as usize),
            _ => Err(PyIndexError::new_err(format!("`{name}` is {entry}, but there are {order} rows"))),
        }
    };
    match object.try_iter() {
        Ok(entries) => entries.map(|entry| row(&entry?)).collect(),
        Err(_) => Ok(vec![row(object)?]),
    }
}

/// The mask, if the object is a one-dimensional array of truth values, or a list or tuple of nothing else.
fn mask(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<bool>>> {
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        return Ok(if array.dtype().kind() == b'b' && array.ndim() == 1 {
            Some(array.call_method0("tolist")?.extract()?)
        } else {
            None
        });
    }
    if !(object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>()) || object.is_empty()? {
        return Ok(None);
    }
    let all = object
        .try_iter()?
        .try_fold(true, |all, entry| PyResult::Ok(all && entry?.is_instance_of::<PyBool>()))?;
    Ok(if all { Some(object.extract()?) } else { None })
}
