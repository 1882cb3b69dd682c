//! Arguments of `cholesky_update`: matrices behind leading dimensions, which are broadcast as NumPy does.

use super::begin::Place;
use super::gpu_stacks::{GpuArray, GpuStack};
use super::modifying::Weighted;
use super::stacks::{Accepted, Given, Layout, Stack, fetched, in_host, is_there};
use crate::arrays::Array;
use crate::errors::{exception_naming, wrong_value};
use crate::functions::How;
use crate::numbers::Real;
use cholupdate::Error;
use numpy::prelude::*;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// An argument as matrices behind leading dimensions.
pub struct Led<'py, T: Real> {
    array: Whole<'py, T>,
    /// Leading dimensions.
    led: Vec<usize>,
    /// The others.
    of_each: Vec<usize>,
}

/// An argument in either memory.
enum Whole<'py, T: Real> {
    Host(Array<'py, T>),
    Gpu(GpuArray<'py>),
}

impl<'py, T: Real> Led<'py, T> {
    /// The last `of_each` dimensions of an array are those of a matrix.
    pub fn host(array: Array<'py, T>, of_each: usize) -> Self {
        let (led, of_each) = divided(array.shape(), of_each);
        Self { led, of_each, array: Whole::Host(array) }
    }

    /// As `host`.
    pub fn gpu(array: GpuArray<'py>, of_each: usize) -> Self {
        let (led, of_each) = divided(array.shape(), of_each);
        Self { led, of_each, array: Whole::Gpu(array) }
    }

    /// V, of which a vector is one column for all matrices.
    fn columns(object: &Bound<'py, PyAny>, name: &str, place: Place) -> PyResult<Self> {
        if let (Place::Gpu(_), true) = (place, is_there(object, name)?) {
            let v = GpuArray::new::<T>(object, name)?;
            return Ok(if v.shape().len() < 2 {
                let of_each = vec![v.shape().first().copied().unwrap_or(1), 1];
                Self { array: Whole::Gpu(v), led: Vec::new(), of_each }
            } else {
                Self::gpu(v, 2)
            });
        }
        let v = in_host::<T>(object, name)?;
        let v = if v.ndim() < 2 { v.call_method1("reshape", (-1, 1))?.cast_into()? } else { v };
        Ok(Self::host(v, 2))
    }

    /// An array in host memory with these leading dimensions, as one.
    fn broadcast(&self, array: &Array<'py, T>, led: &[usize]) -> PyResult<Array<'py, T>> {
        let py = array.py();
        let whole = PyTuple::new(py, [led, &self.of_each].concat())?;
        let stacked = PyTuple::new(py, [&[led.iter().product()], &self.of_each[..]].concat())?;
        let broadcast = py.import("numpy")?.call_method1("broadcast_to", (array, whole))?;
        Ok(broadcast.call_method1("reshape", (stacked,))?.cast_into()?)
    }

    /// The matrices with these leading dimensions, as one. If that is not one stride on a GPU, the library of the array copies it.
    fn given(self, led: &[usize], name: &str) -> PyResult<Given<'py, T>> {
        let array = match self.array {
            Whole::Host(ref array) => {
                return Ok(Given::Host(Stack::of(self.broadcast(array, led)?, name, Accepted::Matrices)?));
            }
            Whole::Gpu(array) => array,
        };
        let shape = [led.iter().product(), self.of_each[0], self.of_each[1]];
        if let Some(strides) = strides(&array, led) {
            return Ok(Given::Gpu(GpuStack::of(array, Layout { shape, strides })));
        }
        // A vector becomes a matrix of one column, which the copy has as its last dimension.
        let whole = [led, &self.of_each].concat();
        let copy =
            array.broadcast::<T>(if array.shape().len() < 2 { array.shape() } else { &whole }, name)?;
        match strides(&copy, led) {
            Some(strides) => Ok(Given::Gpu(GpuStack::of(copy, Layout { shape, strides }))),
            None => Err(wrong_value(format!("`{name}` has strides with which it is not used"))),
        }
    }
}

/// Leading dimensions, and those of a matrix.
fn divided(shape: &[usize], of_each: usize) -> (Vec<usize>, Vec<usize>) {
    let (led, of_each) = shape.split_at(shape.len().saturating_sub(of_each));
    (led.to_vec(), of_each.to_vec())
}

/// The strides of matrices with these leading dimensions as one, to which those of an array are broadcast; `None` if there are none.
pub fn strides(array: &GpuArray<'_>, led: &[usize]) -> Option<[usize; 3]> {
    let shape = array.shape();
    let Some(own) = shape.len().checked_sub(2) else {
        // A vector for all matrices.
        return Some([0, if shape.is_empty() { 1 } else { array.stride(0)? }, 1]);
    };
    if led.contains(&0) {
        return Some([0; 3]);
    }
    // The stride of the dimensions so far, and their extent.
    let mut so_far: Option<(usize, usize)> = None;
    for from_last in (0..led.len()).filter(|from_last| led[led.len() - 1 - from_last] != 1) {
        let extent = led[led.len() - 1 - from_last];
        let stride = match own.checked_sub(from_last + 1) {
            Some(axis) if shape[axis] != 1 => array.stride(axis)?,
            _ => 0,
        };
        so_far = match so_far {
            None => Some((stride, extent)),
            Some((step, before)) if step.checked_mul(before) == Some(stride) => Some((step, before * extent)),
            Some(_) => return None,
        };
    }
    Some([so_far.map_or(0, |(step, _)| step), array.stride(own)?, array.stride(own + 1)?])
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

/// The number of matrices of this order with these leading dimensions.
fn count<T>(led: &[usize], order: usize) -> PyResult<usize> {
    if led.contains(&0) {
        return Ok(0);
    }
    let product = |extents: &[usize]| extents.iter().try_fold(1, |one: usize, &other| one.checked_mul(other));
    let count = product(led);
    let bytes = count.and_then(|count| product(&[count, order, order, size_of::<T>()]));
    count
        .filter(|_| bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok()))
        .ok_or_else(|| wrong_value("the result is larger than memory can be"))
}

/// The arguments of a call, which fit together.
pub struct Arguments<'py, T: Real> {
    l: Led<'py, T>,
    v: Led<'py, T>,
    weights: Option<Led<'py, T>>,
    /// The leading dimensions of the result.
    pub led: Vec<usize>,
    /// The number of matrices. The result has fewer bytes than memory can have.
    pub count: usize,
    pub order: usize,
    rank: usize,
}

impl<'py, T: Real> Arguments<'py, T> {
    /// L is square.
    pub fn new(
        l: Led<'py, T>,
        (v, weights): (&Bound<'py, PyAny>, Option<&Bound<'py, PyAny>>),
        how: How,
        place: Place,
    ) -> PyResult<Self> {
        let raise = |error| exception_naming(v.py(), error, &[("l", how.names.0), ("v", how.names.1)]);
        let (order, v) = (l.of_each[0], Led::columns(v, how.names.1, place)?);
        if v.of_each[0] != order {
            let found = v.of_each[0];
            return Err(raise(Error::Shape { argument: "v", extent: "rows", expected: order, found }));
        }
        let rank = v.of_each[1];
        let weights = weights.map(|weights| fetched::<T>(weights, "weights", place)).transpose()?;
        let weights = weights.map(|weights| Led::host(weights, 1));
        let found = weights.as_ref().map_or(rank, |weights| weights.of_each.first().copied().unwrap_or(1));
        if found != rank {
            let error = Error::Shape { argument: "weights", extent: "entries", expected: rank, found };
            return Err(raise(error));
        }
        let mut all = vec![(how.names.0, &l.led[..]), (how.names.1, &v.led[..])];
        all.extend(weights.as_ref().map(|weights| ("weights", &weights.led[..])));
        let led = broadcast(&all)?;
        let count = count::<T>(&led, order)?;
        Ok(Self { l, v, weights, led, count, order, rank })
    }

    /// The shape of the result.
    pub fn shape(&self) -> Vec<usize> {
        [&self.led[..], &[self.order, self.order]].concat()
    }

    /// The weights, if there are any.
    pub fn weighted(&self) -> PyResult<Option<Weighted<T>>> {
        let Some(weights) = &self.weights else { return Ok(None) };
        let Whole::Host(array) = &weights.array else { return Ok(None) };
        let extents = (self.count, self.rank);
        // Without leading dimensions they are the same for all matrices.
        Ok(Some(match weights.led.is_empty() {
            true => Weighted::new(array, extents)?,
            false => Weighted::new(&weights.broadcast(array, &self.led)?, extents)?,
        }))
    }

    /// L, lower triangular, and V as batches.
    pub fn given(self, how: How) -> PyResult<(Given<'py, T>, Given<'py, T>)> {
        let l = self.l.given(&self.led, how.names.0)?.transposed_if(how.upper);
        Ok((l, self.v.given(&self.led, how.names.1)?))
    }
}
