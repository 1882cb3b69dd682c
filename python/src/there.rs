//! L and A as arrays: of the original matrix's library if the factor is in the memory of a GPU, else of NumPy.

use crate::arrays::to_numpy;
use crate::device::{self, DeviceArray};
use crate::factor::{Cholesky, Kept, with_numbers};
use crate::numbers::{Number, Real};
use crate::shared::Shared;
use cholupdate::EngineKind;
use cholupdate::faer::MatMut;
use numpy::PyUntypedArray;
use pyo3::prelude::*;

/// The matrix that is computed from a factor.
#[derive(Clone, Copy)]
pub enum Made {
    /// L.
    Factor,
    /// L Lᵀ.
    Matrix,
}

/// A function that converts an array on the device to the library of `object`; none if `object` is in host memory. It does not
/// keep `object`.
pub fn library(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Py<PyAny>>> {
    if object.is_instance_of::<PyUntypedArray>() || !device::is_on_device(object, name)? {
        return Ok(None);
    }
    let taker = object.py().import("cholupdate._device")?.call_method1("taker", (object,))?;
    Ok(Some(taker.unbind()))
}

/// The matrix as an array of the library of `like`, or else of the original matrix: on the device if both that array and the
/// factor are there, else in NumPy's memory.
pub fn made<'py>(
    py: Python<'py>,
    factor: &Cholesky,
    what: (Made, bool),
    like: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let library = match like {
        Some(like) => library(like, "like")?,
        None => factor.library.as_ref().map(|library| library.clone_ref(py)),
    };
    if let (Some(library), EngineKind::Cuda { device }) = (library, factor.settings.kind)
        && let Some(array) = on_device(py, &factor.kept, what, device)?
    {
        return library.bind(py).call1((Py::new(py, array)?,));
    }
    in_numpy(py, factor, what)
}

/// The matrix, or its conjugate transpose if `upper`, as a NumPy array.
pub fn in_numpy<'py>(
    py: Python<'py>,
    factor: &Cholesky,
    (what, upper): (Made, bool),
) -> PyResult<Bound<'py, PyAny>> {
    fn copied<'py, T: Number>(
        py: Python<'py>,
        state: &Shared<T>,
        (what, upper): (Made, bool),
    ) -> PyResult<Bound<'py, PyAny>> {
        let matrix = state.look(py, |factor| {
            let mut matrix = match what {
                Made::Factor => factor.to_factor()?,
                Made::Matrix => factor.reconstruct()?,
            };
            if upper && T::IS_COMPLEX {
                conjugate(matrix.as_mut());
            }
            Ok(matrix)
        })?;
        Ok(to_numpy(py, matrix.as_ref(), upper)?.into_any())
    }
    with_numbers!(factor, state => copied(py, state, (what, upper)))
}

/// Conjugates what is below the diagonal. (n × n)
fn conjugate<T: Number>(mut matrix: MatMut<'_, T>) {
    for column in 0..matrix.ncols() {
        for row in column + 1..matrix.nrows() {
            matrix[(row, column)] = matrix[(row, column)].conj();
        }
    }
}

/// The matrix in the memory of the factor's GPU; none if the factor is in host memory, as those of complex numbers are.
fn on_device(
    py: Python<'_>,
    kept: &Kept,
    what: (Made, bool),
    ordinal: usize,
) -> PyResult<Option<DeviceArray>> {
    match kept {
        Kept::Single(state) => there(py, state, what, ordinal),
        Kept::Double(state) => there(py, state, what, ordinal),
        Kept::ComplexSingle(_) | Kept::ComplexDouble(_) => Ok(None),
    }
}

fn there<T: Real>(
    py: Python<'_>,
    state: &Shared<T>,
    (what, upper): (Made, bool),
    ordinal: usize,
) -> PyResult<Option<DeviceArray>> {
    let matrix = state.look(py, |factor| match what {
        Made::Factor => factor.to_factor_on_device(),
        Made::Matrix => factor.reconstruct_on_device(),
    })?;
    let array = matrix.map(|matrix| DeviceArray::new(matrix, ordinal, false));
    Ok(array.map(|array| if upper { array.transposed() } else { array }))
}
