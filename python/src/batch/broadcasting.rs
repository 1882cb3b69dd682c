//! `cholesky_update` with leading dimensions, which are broadcast as NumPy does, through a batch.

use super::begin::Place;
use super::led::{Arguments, Led};
use super::modifying::Weighted;
use super::stacks::{Accepted, Given, StackMut};
use super::stored::Stored;
use crate::arrays::{Array, zeros};
use crate::errors::{exception_naming, exception_of_naming, seen_from_above};
use crate::functions::{Destination, How, borrowed, destination};
use crate::numbers::Real;
use crate::operands::like;
use crate::threads::without_gil;
use cholupdate::cuda::Device;
use cholupdate::{BatchWeights, Cpu, Weights};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyList, PyTuple};

/// The number of dimensions of an array or of nested lists, by their first entries; 0 for what does not say.
pub fn dimensions(object: &Bound<'_, PyAny>) -> usize {
    /// NumPy has no more.
    const MOST: usize = 64;
    let mut at = object.clone();
    for depth in 0..MOST {
        if let Ok(dimensions) =
            at.getattr(pyo3::intern!(at.py(), "ndim")).and_then(|ndim| ndim.extract::<usize>())
        {
            return depth + dimensions;
        }
        if !(at.is_instance_of::<PyList>() || at.is_instance_of::<PyTuple>()) {
            return depth;
        }
        match at.get_item(0) {
            Ok(first) => at = first,
            Err(_) => return depth + 1,
        }
    }
    MOST
}

/// The new factors, in the order of the leading dimensions; nothing is written if one of them does not exist.
pub fn updated<'py, T: Real>(
    py: Python<'py>,
    (object, l): (&Bound<'py, PyAny>, Array<'py, T>),
    (v, weights): (&Bound<'py, PyAny>, Option<&Bound<'py, PyAny>>),
    out: Option<&Bound<'py, PyAny>>,
    how: How,
) -> PyResult<Bound<'py, PyAny>> {
    let raise = |error| exception_naming(py, error, &[("l", how.names.0), ("v", how.names.1)]);
    let arguments = Arguments::new(Led::host(l.clone(), 2), (v, weights), how, Place::Host)?;
    let (led, shape, order, count) =
        (arguments.led.clone(), arguments.shape(), arguments.order, arguments.count);
    let destination = destination(object, (&l, &shape), out, how)?;

    let made = {
        let weights = arguments.weighted()?;
        let weights = weights_of(weights.as_ref(), how);
        let (l, v) = arguments.given(how)?;
        let stored = modified(py, (&l, &v), weights, (&led, how), None)?;
        let made = zeros::<T>(py, &[count, order, order], false);
        let mut to = StackMut::of(&made, "out", Accepted::Matrices)?.transposed_if(how.upper);
        if let Some(to) = to.view() {
            without_gil(py, || stored.copy_factors(to.into())).map_err(raise)?;
        }
        drop(to);
        made.call_method1("reshape", (PyTuple::new(py, &shape)?,))?
    };
    match destination {
        Destination::New => like(made, object),
        Destination::There(l) => {
            write_triangles(&made, &l, (order, how))?;
            Ok(object.clone())
        }
        Destination::Out(out) => {
            write_triangles(&made, &out, (order, how))?;
            Ok(out.into_any())
        }
    }
}

/// The weights of a call, or its sign.
pub fn weights_of<T: Real>(weights: Option<&Weighted<T>>, how: How) -> BatchWeights<'_, T> {
    match weights {
        Some(weights) => weights.view(),
        None if how.downdate => Weights::Minus.into(),
        None => Weights::Plus.into(),
    }
}

/// A batch of L, in host memory or on this device, modified by V.
///
/// # Errors
/// That of the first matrix that could not be modified, with its number if there are leading dimensions.
pub fn modified<T: Real>(
    py: Python<'_>,
    (l, v): (&Given<'_, T>, &Given<'_, T>),
    weights: BatchWeights<'_, T>,
    (led, how): (&[usize], How),
    device: Option<&Device>,
) -> PyResult<Stored<T>> {
    let names = [("l", how.names.0), ("v", how.names.1)];
    let (from, v) = (l.operand(py, how.names.0)?, v.operand(py, how.names.1)?);
    let made = without_gil(py, || {
        let mut stored = Stored::from_factors(from, (Cpu::default(), device))?;
        Ok(stored.modify_all(v, weights)?.map(|()| stored))
    });
    let made = made.map_err(|error| exception_naming(py, error, &names))?;
    made.map_err(|(matrix, error)| {
        let error = seen_from_above(error, how.upper);
        match led {
            [] => exception_naming(py, error, &names),
            _ => exception_of_naming(py, (matrix, error), &names),
        }
    })
}

/// Writes the triangles of factors to an array of the same shape.
fn write_triangles<'py, T: Real>(
    made: &Bound<'py, PyAny>,
    to: &Array<'py, T>,
    (order, how): (usize, How),
) -> PyResult<()> {
    let py = made.py();
    let _written = borrowed(to, "out")?;
    let numpy = py.import("numpy")?;
    let of_bools = [("dtype", "bool")].into_py_dict(py)?;
    let lower = numpy.call_method("tri", (order,), Some(&of_bools))?;
    let triangle = if how.upper { lower.getattr("T")? } else { lower };
    let only = [("where", triangle)].into_py_dict(py)?;
    numpy.call_method("copyto", (to, made), Some(&only))?;
    Ok(())
}
