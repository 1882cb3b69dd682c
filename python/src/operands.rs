//! Arguments that are matrices, in host or device memory, and results of the same kind.

use crate::arrays::{self, Either, Read};
use crate::device::{self, OnDevice};
use crate::errors::wrong_type;
use crate::numbers::Real;
use cholupdate::Operand;
use numpy::PyUntypedArray;
use pyo3::prelude::*;

/// A matrix that a call reads.
pub enum Matrix<'py, T: Real> {
    Host(Read<'py, T>),
    Device(OnDevice<'py>),
}

impl<'py, T: Real> Matrix<'py, T> {
    /// An argument of a call on a factor of T.
    #[inline]
    pub fn new(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        if let Some(array) = arrays::usable(object) {
            return Ok(Self::Host(Read::new(array.clone(), name)?));
        }
        if is_on_device(object, name)? {
            return Ok(Self::Device(OnDevice::new::<T>(object, name, false)?));
        }
        Ok(Self::Host(Read::new(arrays::array(object, name)?, name)?))
    }

    /// The matrix, or a copy if it shares memory with an array that is to be written.
    pub fn apart_from(self, written: &arrays::Array<'py, T>, name: &str) -> PyResult<Self> {
        match self {
            Self::Host(array) if array.overlaps(written) => Ok(Self::Host(array.copied(name)?)),
            other => Ok(other),
        }
    }

    /// The operand for the library.
    #[inline]
    pub fn given(&self, py: Python<'_>) -> PyResult<Operand<'_, T>> {
        Ok(match self {
            Self::Host(array) => Operand::Host(array.view()),
            Self::Device(array) => array.view(py)?.into(),
        })
    }
}

/// NumPy arrays also implement DLPack, but are always in host memory.
fn is_on_device(object: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    Ok(!object.is_instance_of::<PyUntypedArray>() && device::is_on_device(object, name)?)
}

/// A matrix of which one triangle is read, in its own precision.
pub enum Triangle<'py> {
    Single(Matrix<'py, f32>),
    Double(Matrix<'py, f64>),
}

impl<'py> Triangle<'py> {
    /// A matrix from which a factor is made. With `upper` it is transposed: its upper triangle is the lower triangle of the
    /// transpose.
    pub fn new(object: &Bound<'py, PyAny>, name: &str, upper: bool) -> PyResult<Self> {
        if is_on_device(object, name)? {
            return match device::dtype(object)?.as_str() {
                f32::NAME => Ok(Self::Single(Matrix::Device(OnDevice::new::<f32>(object, name, upper)?))),
                f64::NAME => Ok(Self::Double(Matrix::Device(OnDevice::new::<f64>(object, name, upper)?))),
                found => Err(wrong_type(format!("`{name}` has dtype {found}, expected float32 or float64"))),
            };
        }
        Ok(match Either::new(object, name)? {
            Either::Single(array) => Self::Single(Matrix::Host(Read::new(array, name)?.transposed_if(upper))),
            Either::Double(array) => Self::Double(Matrix::Host(Read::new(array, name)?.transposed_if(upper))),
        })
    }
}

/// Converts a result in host memory to an array of the library of `object`, if that implements DLPack. Otherwise the result
/// remains a NumPy array.
pub fn like<'py>(made: Bound<'py, PyAny>, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = made.py();
    if object.is_instance_of::<PyUntypedArray>() || !object.hasattr(pyo3::intern!(py, "__dlpack__"))? {
        return Ok(made);
    }
    py.import("cholupdate._device")?.call_method1("returned", (made, object))
}
