//! `cholesky_update` with leading dimensions, which are broadcast as NumPy does, through a batch.

use super::modifying::Weighted;
use super::stacks::{Accepted, Stack, StackMut, in_host};
use crate::arrays::{Array, zeros};
use crate::errors::{exception_naming, exception_of_naming, seen_from_above, wrong_value};
use crate::functions::{Destination, How, borrowed, destination};
use crate::numbers::Real;
use crate::operands::like;
use crate::threads::without_gil;
use cholupdate::{BatchRef, BatchWeights, CholeskyBatch, Cpu, Error, Weights};
use numpy::prelude::*;
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

/// An argument as matrices behind leading dimensions.
struct Led<'py, T: Real> {
    array: Array<'py, T>,
    /// Leading dimensions.
    led: Vec<usize>,
    /// The others.
    of_each: Vec<usize>,
}

impl<'py, T: Real> Led<'py, T> {
    /// The last `of_each` dimensions of an array are those of a matrix.
    fn new(array: Array<'py, T>, of_each: usize) -> Self {
        let (led, of_each) = array.shape().split_at(array.ndim().saturating_sub(of_each));
        Self { led: led.to_vec(), of_each: of_each.to_vec(), array }
    }

    /// The array with these leading dimensions, as one.
    fn broadcast(&self, led: &[usize]) -> PyResult<Array<'py, T>> {
        let py = self.array.py();
        let whole = PyTuple::new(py, [led, &self.of_each].concat())?;
        let stacked = PyTuple::new(py, [&[led.iter().product()], &self.of_each[..]].concat())?;
        let broadcast = py.import("numpy")?.call_method1("broadcast_to", (&self.array, whole))?;
        Ok(broadcast.call_method1("reshape", (stacked,))?.cast_into()?)
    }
}

/// The leading dimensions that NumPy's rules give for all arguments.
fn broadcast(all: &[(&str, &[usize])]) -> PyResult<Vec<usize>> {
    let most = all.iter().map(|(_, led)| led.len()).max().unwrap_or(0);
    // The extent of an argument at a place counted from the last dimension.
    let at = |led: &[usize], from_last: usize| led.len().checked_sub(from_last + 1).map_or(1, |at| led[at]);
    let mut made = Vec::with_capacity(most);
    for from_last in (0..most).rev() {
        let mut extents = all.iter().map(|(_, led)| at(led, from_last)).filter(|&extent| extent != 1);
        let extent = extents.next().unwrap_or(1);
        if extents.any(|other| other != extent) {
            let each: Vec<_> = all.iter().map(|(name, led)| format!("{led:?} of `{name}`")).collect();
            return Err(wrong_value(format!("leading dimensions do not match: {}", each.join(", "))));
        }
        made.push(extent);
    }
    Ok(made)
}

/// The new factors, in the order of the leading dimensions; nothing is written if one of them does not exist.
pub fn updated<'py, T: Real>(
    py: Python<'py>,
    (object, l): (&Bound<'py, PyAny>, Array<'py, T>),
    (v, weights): (&Bound<'py, PyAny>, Option<&Bound<'py, PyAny>>),
    out: Option<&Bound<'py, PyAny>>,
    how: How,
) -> PyResult<Bound<'py, PyAny>> {
    let names = [("l", how.names.0), ("v", how.names.1)];
    let raise = |error| exception_naming(py, error, &names);
    let l = Led::new(l, 2);
    let order = l.of_each[0];
    let v = in_host::<T>(v, how.names.1)?;
    // A vector is one column for all matrices.
    let v = if v.ndim() < 2 { v.call_method1("reshape", (-1, 1))?.cast_into()? } else { v };
    let v = Led::new(v, 2);
    if v.of_each[0] != order {
        let error = Error::Shape { argument: "v", extent: "rows", expected: order, found: v.of_each[0] };
        return Err(raise(error));
    }
    let rank = v.of_each[1];
    let weights = weights.map(|weights| in_host::<T>(weights, "weights")).transpose()?;
    let weights = weights.map(|weights| Led::new(weights, 1));
    let found = weights.as_ref().map_or(rank, |weights| weights.of_each.first().copied().unwrap_or(1));
    if found != rank {
        let error = Error::Shape { argument: "weights", extent: "entries", expected: rank, found };
        return Err(raise(error));
    }
    let mut all = vec![(how.names.0, &l.led[..]), (how.names.1, &v.led[..])];
    all.extend(weights.as_ref().map(|weights| ("weights", &weights.led[..])));
    let led = broadcast(&all)?;
    let count = led.iter().product();
    let shape = [&led[..], &[order, order]].concat();
    let destination = destination(object, (&l.array, &shape), out, how)?;

    let made = {
        let weights = match &weights {
            None => None,
            // Without leading dimensions they are the same for all matrices.
            Some(weights) if weights.led.is_empty() => Some(Weighted::new(&weights.array, (count, rank))?),
            Some(weights) => Some(Weighted::new(&weights.broadcast(&led)?, (count, rank))?),
        };
        let weights = match &weights {
            Some(weights) => weights.view(),
            None if how.downdate => Weights::Minus.into(),
            None => Weights::Plus.into(),
        };
        let from = Stack::of(l.broadcast(&led)?, how.names.0, Accepted::Matrices)?.transposed_if(how.upper);
        let v = Stack::of(v.broadcast(&led)?, how.names.1, Accepted::Matrices)?;
        let (from, v) = (from.view(), v.view());
        let batch = without_gil(py, || modified(from, v, weights)).map_err(raise)?;
        let batch = batch.map_err(|(matrix, error)| {
            exception_of_naming(py, (matrix, seen_from_above(error, how.upper)), &names)
        })?;
        let made = zeros::<T>(py, &[count, order, order], false);
        let mut to = StackMut::of(&made, "out", Accepted::Matrices)?.transposed_if(how.upper);
        if let Some(to) = to.view() {
            without_gil(py, || batch.copy_factors(to)).map_err(raise)?;
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

/// The factors of a modified batch; or the number of the first matrix that could not be modified, and why.
type Modified<T> = Result<CholeskyBatch<T>, (usize, Error)>;

fn modified<T: Real>(
    l: BatchRef<'_, T>,
    v: BatchRef<'_, T>,
    weights: BatchWeights<'_, T>,
) -> Result<Modified<T>, Error> {
    let mut batch = CholeskyBatch::from_factors_in(l, Cpu::default())?;
    let outcome = batch.modify(v, weights)?.all();
    Ok(outcome.map(|()| batch))
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
