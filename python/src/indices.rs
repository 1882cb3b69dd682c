//! Indices of rows, and of the matrices of a batch.

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

/// What is counted, for messages.
#[derive(Clone, Copy)]
pub enum Counted {
    Rows,
    Matrices,
}

impl Counted {
    fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Matrices => "matrices",
        }
    }
}

/// Rows of a factor of this order, selected as NumPy selects them.
pub fn selection(object: &Bound<'_, PyAny>, name: &str, order: usize) -> PyResult<Vec<usize>> {
    selection_of(object, name, (order, Counted::Rows))
}

/// Some of `count` rows or matrices, selected as NumPy selects them: one index or several, negative ones counted from the end, a
/// slice, or a mask of truth values.
pub fn selection_of(
    object: &Bound<'_, PyAny>,
    name: &str,
    (count, counted): (usize, Counted),
) -> PyResult<Vec<usize>> {
    if let Ok(slice) = object.cast::<PySlice>() {
        let length = isize::try_from(count).unwrap_or(isize::MAX);
        let slice = slice.indices(length)?;
        let chosen = (0..slice.slicelength as isize).map(|at| slice.start + at * slice.step);
        return Ok(chosen.map(isize::cast_unsigned).collect());
    }
    if let Some(mask) = mask(object)? {
        if mask.len() != count {
            let found = mask.len();
            let message = format!("`{name}`: the number of truth values is {found}, expected {count}");
            return Err(wrong_value(message));
        }
        return Ok((0..count).filter(|&at| mask[at]).collect());
    }
    if object.is_instance_of::<PyString>() {
        return Err(wrong_type(format!("`{name}` must be an integer, not {}", kind(object))));
    }
    match object.try_iter() {
        Ok(entries) => entries.map(|entry| from_either_end(&entry?, name, (count, counted))).collect(),
        Err(_) => Ok(vec![from_either_end(object, name, (count, counted))?]),
    }
}

/// One index, a negative one counted from the end. It may be past the end: the library refuses that, and names its position among
/// several.
fn from_either_end(
    object: &Bound<'_, PyAny>,
    name: &str,
    (count, counted): (usize, Counted),
) -> PyResult<usize> {
    let length = i128::try_from(count).unwrap_or(i128::MAX);
    let found = number(object, name)?.map(|found| found as i128);
    match found.map(|found| if found < 0 { found + length } else { found }) {
        Some(place) if place >= 0 => Ok(place as usize),
        _ => Err(beyond(object, name, (count, counted))),
    }
}

/// One of `count` rows or matrices, a negative index counted from the end.
pub fn index_of(
    object: &Bound<'_, PyAny>,
    name: &str,
    (count, counted): (usize, Counted),
) -> PyResult<usize> {
    match from_either_end(object, name, (count, counted))? {
        found if found < count => Ok(found),
        _ => Err(beyond(object, name, (count, counted))),
    }
}

fn beyond(object: &Bound<'_, PyAny>, name: &str, (count, counted): (usize, Counted)) -> PyErr {
    PyIndexError::new_err(format!("`{name}` is {object}, but there are {count} {}", counted.name()))
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
