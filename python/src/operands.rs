//! Arguments that are matrices, in host or device memory, and results of the same kind.

use crate::arrays::{self, Any, Either, Read};
use crate::device::{self, OnDevice};
use crate::errors::wrong_type;
use crate::numbers::Number;
use crate::remote::Remote;
use cholupdate::Operand;
use cholupdate::faer::{c32, c64};
use numpy::prelude::*;
use numpy::{PyArrayDyn, PyUntypedArray};
use pyo3::prelude::*;

/// A matrix that a call reads.
pub enum Matrix<'py, T: Number> {
    Host(Read<'py, T>),
    Device(T::Remote<'py>),
}

impl<'py, T: Number> Matrix<'py, T> {
    /// An argument of a call on a factor of T.
    #[inline]
    pub fn new(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        if let Some(array) = arrays::usable(object) {
            return Ok(Self::Host(Read::new(array.clone(), name)?));
        }
        if is_on_device(object, name)? {
            return Ok(Self::Device(T::Remote::new(object, name, false)?));
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

    /// The number of dimensions of the array.
    pub fn ndim(&self) -> usize {
        match self {
            Self::Host(array) => array.ndim(),
            Self::Device(array) => array.ndim(),
        }
    }

    /// The operand for the library.
    #[inline]
    pub fn given(&self, py: Python<'py>) -> PyResult<Operand<'_, T>> {
        Ok(match self {
            Self::Host(array) => Operand::Host(array.view()),
            Self::Device(array) => array.operand(py)?,
        })
    }
}

/// NumPy arrays also implement DLPack, but are always in host memory.
fn is_on_device(object: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    Ok(!object.is_instance_of::<PyUntypedArray>() && device::is_on_device(object, name)?)
}

/// A matrix of real numbers of which one triangle is read, in its own precision.
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
                found if found.starts_with("complex") => Err(wrong_type(format!(
                    "`{name}` has dtype {found}, expected float32 or float64: complex numbers can be in host memory alone"
                ))),
                found => Err(wrong_type(format!("`{name}` has dtype {found}, expected float32 or float64"))),
            };
        }
        Self::of(Either::new(object, name)?, name, upper)
    }

    fn of(array: Either<'py>, name: &str, upper: bool) -> PyResult<Self> {
        Ok(match array {
            Either::Single(array) => Self::Single(Matrix::Host(Read::new(array, name)?.transposed_if(upper))),
            Either::Double(array) => Self::Double(Matrix::Host(Read::new(array, name)?.transposed_if(upper))),
        })
    }
}

/// The same of real or complex numbers.
pub enum AnyTriangle<'py> {
    Real(Triangle<'py>),
    ComplexSingle(Matrix<'py, c32>),
    ComplexDouble(Matrix<'py, c64>),
}

impl<'py> AnyTriangle<'py> {
    /// As `Triangle::new`. With `upper` a complex matrix is replaced by its conjugate transpose.
    pub fn new(object: &Bound<'py, PyAny>, name: &str, upper: bool) -> PyResult<Self> {
        if is_on_device(object, name)? {
            return Triangle::new(object, name, upper).map(Self::Real);
        }
        Ok(match Any::new(object, name)? {
            Any::Real(array) => Self::Real(Triangle::of(array, name, upper)?),
            Any::ComplexSingle(array) => Self::ComplexSingle(adjoint_if(upper, array, name)?),
            Any::ComplexDouble(array) => Self::ComplexDouble(adjoint_if(upper, array, name)?),
        })
    }
}

/// The conjugate transpose, a copy, if `upper`. A scalar or vector remains as it is.
fn adjoint_if<'py, T: Number>(
    upper: bool,
    array: arrays::Array<'py, T>,
    name: &str,
) -> PyResult<Matrix<'py, T>> {
    let array = match upper && array.ndim() > 1 {
        true => array.call_method0("conj")?.cast_into::<PyArrayDyn<T>>()?,
        false => array,
    };
    Ok(Matrix::Host(Read::new(array, name)?.transposed_if(upper)))
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
