//! `cholesky_update` for arrays in the memory of a GPU, with any leading dimensions, through a batch there.

use super::begin::Place;
use super::broadcasting::{modified, weights_of};
use super::gpu_stacks::{GpuArray, GpuStack};
use super::led::{Arguments, Led, strides};
use super::stacks::{Given, Layout, is_there};
use crate::argument::kind;
use crate::device::{self, DeviceArray};
use crate::errors::{exception_naming, wrong_type, wrong_value};
use crate::functions::How;
use crate::numbers::{Number, Real};
use crate::settings::device_for;
use crate::threads::without_gil;
use cholupdate::Error;
use cholupdate::cuda::DeviceBatch;
use pyo3::prelude::*;

/// The destination of the result.
enum Destination<'py> {
    /// L itself, or an array that the caller passed as `out`.
    There(Bound<'py, PyAny>, GpuStack<'py>),
    /// A new array.
    New,
}

/// The new factors on the device of L, as an array of its library; nothing is written if one of them does not exist.
pub fn updated<'py>(
    py: Python<'py>,
    (l, out): (&Bound<'py, PyAny>, Option<&Bound<'py, PyAny>>),
    (v, weights): (&Bound<'py, PyAny>, Option<&Bound<'py, PyAny>>),
    how: How,
) -> PyResult<Bound<'py, PyAny>> {
    match device::dtype(l)?.as_str() {
        f32::NAME => of_numbers::<f32>(py, (l, out), (v, weights), how),
        f64::NAME => of_numbers::<f64>(py, (l, out), (v, weights), how),
        found => {
            let name = how.names.0;
            Err(wrong_type(format!("`{name}` has dtype {found}, expected float32 or float64")))
        }
    }
}

fn of_numbers<'py, T: Real>(
    py: Python<'py>,
    (object, out): (&Bound<'py, PyAny>, Option<&Bound<'py, PyAny>>),
    (v, weights): (&Bound<'py, PyAny>, Option<&Bound<'py, PyAny>>),
    how: How,
) -> PyResult<Bound<'py, PyAny>> {
    let names = [("l", how.names.0), ("v", how.names.1)];
    let raise = |error| exception_naming(py, error, &names);
    let l = GpuArray::new::<T>(object, how.names.0)?;
    let &[.., order, columns] = l.shape() else {
        let message = format!("`{}` has {} dimensions, expected 2", how.names.0, l.shape().len());
        return Err(wrong_value(message));
    };
    if columns != order {
        return Err(raise(Error::Shape {
            argument: "l",
            extent: "columns",
            expected: order,
            found: columns,
        }));
    }
    let ordinal = l.ordinal();
    let arguments = Arguments::<T>::new(Led::gpu(l, 2), (v, weights), how, Place::Gpu(ordinal))?;
    let (led, shape, count) = (arguments.led.clone(), arguments.shape(), arguments.count);
    let destination = match (out, how.overwrite) {
        (Some(out), _) => there::<T>(out, ("out", ordinal), (&led, &shape), how)?,
        (None, true) => there::<T>(object, (how.names.0, ordinal), (&led, &shape), how)?,
        (None, false) => Destination::New,
    };
    let weights = arguments.weighted()?;
    let weights = weights_of(weights.as_ref(), how);
    let (l, v) = arguments.given(how)?;
    if let Given::Gpu(v) = &v {
        v.check_device(py, ordinal, how.names.1)?;
    }
    if let (Some(_), Destination::There(_, to)) = (out, &destination)
        && to.overlaps::<T>(&l)
    {
        return Err(wrong_value("`out` has memory in common with `l`: use `overwrite_l`"));
    }
    let device = device_for(py, ordinal)?;
    let stored = modified(py, (&l, &v), weights, (&led, how), Some(&device))?;
    match destination {
        Destination::There(array, mut to) => {
            let to = to.view_mut::<T>(py, if out.is_some() { "out" } else { how.names.0 })?;
            without_gil(py, || stored.copy_factors(to.into())).map_err(raise)?;
            Ok(array)
        }
        Destination::New => {
            let made = without_gil(py, || {
                let mut made = DeviceBatch::<T>::zeros(&device, [count, order, order])?;
                let to = made.view_mut();
                stored.copy_factors(if how.upper { to } else { to.transposed() }.into())?;
                Ok(made)
            });
            DeviceArray::of_transposes(made.map_err(raise)?, ordinal, shape).like(object)
        }
    }
}

/// An array on the device of L that is overwritten. It has the leading dimensions and the shape of the result.
fn there<'py, T: Real>(
    object: &Bound<'py, PyAny>,
    (name, ordinal): (&'static str, usize),
    (led, shape): (&[usize], &[usize]),
    how: How,
) -> PyResult<Destination<'py>> {
    if !is_there(object, name)? {
        return Err(wrong_type(format!(
            "`{name}` must be in the memory of the GPU, as `l`, not {}",
            kind(object)
        )));
    }
    let array = GpuArray::new::<T>(object, name)?;
    if array.shape() != shape {
        let found = array.shape();
        return Err(wrong_value(match how.overwrite {
            true => {
                format!("`{name}` cannot be overwritten: it has shape {found:?}, and the result {shape:?}")
            }
            false => format!("`{name}` has shape {found:?}, expected {shape:?}"),
        }));
    }
    let Some(strides) = strides(&array, led) else {
        return Err(wrong_value(format!("`{name}` has strides with which it is not written in place")));
    };
    let &[.., rows, columns] = shape else { return Ok(Destination::New) };
    let layout = Layout { shape: [led.iter().product(), rows, columns], strides };
    let stack = GpuStack::of(array, layout).transposed_if(how.upper);
    stack.check_device(object.py(), ordinal, name)?;
    stack.check_writable(name)?;
    Ok(Destination::There(object.clone(), stack))
}
