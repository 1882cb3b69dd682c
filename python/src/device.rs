//! Arrays in the memory of a GPU: views of arguments, and results.

use crate::current::KeepsCurrent;
use crate::dlpack::{self, Described, Offered};
use crate::errors::{exception, wrong_type, wrong_value};
use crate::numbers::Real;
use crate::settings::device_for;
use cholupdate::cuda::{DeviceBatch, DeviceMatrix, DeviceView};
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::sync::Arc;

/// The stream on which arrays are exchanged by calls that wait for the device: CUDA's legacy default stream, which DLPack and the driver
/// both number 1.
pub const STREAM: u64 = 1;

/// An array in the memory of a GPU whose columns are contiguous. (rows × columns)
pub struct OnDevice<'py> {
    described: Described<'py>,
    shape: (usize, usize),
    stride: usize,
}

/// Whether an object is in the memory of a GPU, by its `__dlpack_device__`.
pub fn is_on_device(object: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    let py = object.py();
    let Some(device) = object.getattr_opt(pyo3::intern!(py, "__dlpack_device__"))? else { return Ok(false) };
    let (device_type, _): (i32, i32) = device.call0()?.extract()?;
    match device_type {
        dlpack::CUDA | dlpack::CUDA_MANAGED => Ok(true),
        other if dlpack::HOST.contains(&other) => Ok(false),
        other => Err(wrong_type(format!(
            "`{name}` is on a device of DLPack's type {other}, expected host memory or CUDA"
        ))),
    }
}

/// The dtype of an array, by its NumPy name.
pub fn dtype(object: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(described(object, STREAM)?.dtype)
}

impl<'py> OnDevice<'py> {
    /// The array, or its transpose, in place. If its columns are not contiguous, as in a matrix in C order, the library of the
    /// array copies it on the device.
    pub fn new<T: Real>(object: &Bound<'py, PyAny>, name: &str, transpose: bool) -> PyResult<Self> {
        if let Some(there) = Self::where_it_is::<T>(described(object, STREAM)?, name, transpose)? {
            return Ok(there);
        }
        // A column-major matrix is the transpose of a row-major one.
        let module = object.py().import("cholupdate._device")?;
        let copy = module.call_method1("by_rows", (object, !transpose))?;
        Self::where_it_is::<T>(described(&copy, STREAM)?, name, true)?.ok_or_else(|| {
            wrong_type(format!(
                "`{name}` is in device memory and not in Fortran order: a copy that is was not made"
            ))
        })
    }

    fn where_it_is<T: Real>(
        described: Described<'py>,
        name: &str,
        transpose: bool,
    ) -> PyResult<Option<Self>> {
        if described.dtype != T::NAME {
            let found = &described.dtype;
            return Err(wrong_type(format!("`{name}` has dtype {found}, but the factor has {}", T::NAME)));
        }
        let (shape, (down, across)) = match (&*described.shape, &*described.strides) {
            ([], []) => ((1, 1), (1, 1)),
            (&[rows], &[stride]) => {
                let shape = if rows == 1 || stride == 1 { Some((rows, 1)) } else { None };
                return Ok(shape.map(|shape| Self { described, shape, stride: shape.0 }));
            }
            (&[rows, cols], &[down, across]) if transpose => ((cols, rows), (across, down)),
            (&[rows, cols], &[down, across]) => ((rows, cols), (down, across)),
            (shape, _) => {
                let found = shape.len();
                return Err(wrong_value(format!("`{name}` has {found} dimensions, expected 1 or 2")));
            }
        };
        let (rows, cols) = shape;
        let stride = match usize::try_from(across) {
            _ if cols <= 1 || rows == 0 => rows,
            Ok(across) if across >= rows => across,
            _ => return Ok(None),
        };
        Ok((rows <= 1 || down == 1).then_some(Self { described, shape, stride }))
    }

    /// The number of dimensions of the array.
    pub fn ndim(&self) -> usize {
        self.described.shape.len()
    }

    /// The number of the device.
    pub fn ordinal(&self) -> usize {
        usize::try_from(self.described.device_id).unwrap_or(0)
    }

    /// The entries.
    pub fn view<T: Real>(&self, py: Python<'_>) -> PyResult<DeviceView<'_, T>> {
        let &Self { ref described, shape, stride } = self;
        let device = device_for(py, self.ordinal())?;
        // SAFETY: the capsule lives as long as this struct and keeps the entries alive. It gives their address, in memory of this
        // device or in managed memory, which every device can access. The producer of the capsule, which was requested with
        // `STREAM`, has ordered the writes of the entries before all later work on this stream.
        let view = unsafe { DeviceView::from_raw(&device, described.address, shape, stride) };
        let view = view.map_err(|error| exception(py, error))?;
        // SAFETY: this stream exists as long as the driver.
        Ok(unsafe { view.on_stream(STREAM) })
    }
}

/// The description of an array by its DLPack capsule, for work on this stream.
pub fn described<'py>(object: &Bound<'py, PyAny>, stream: u64) -> PyResult<Described<'py>> {
    let py = object.py();
    let arguments = PyDict::new(py);
    arguments.set_item("stream", stream)?;
    arguments.set_item("max_version", (1, 0))?;
    let (module, name) = (py.import("cholupdate._device")?, pyo3::intern!(py, "capsule"));
    let capsule = match module.call_method(name, (object,), Some(&arguments)) {
        // A library older than DLPack 1.0.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => {
            arguments.del_item("max_version")?;
            module.call_method(name, (object,), Some(&arguments))
        }
        outcome => outcome,
    }?;
    Described::new(capsule.cast_into::<PyCapsule>()?)
}

/// An array in the memory of a GPU, made by this library. It implements DLPack: ``from_dlpack`` of another library converts it.
#[pyclass(frozen, module = "cholupdate")]
pub struct DeviceArray {
    offered: Offered,
    unfinished: Option<Unfinished>,
}

/// Work that writes an array, and may not be done.
pub struct Unfinished {
    /// Later work on this stream comes after it.
    pub stream: u64,
    /// Waits for it.
    pub wait: Box<dyn Fn(Python<'_>) -> PyResult<()> + Send + Sync>,
}

impl Unfinished {
    /// Waits for the work unless later work on the consumer's stream, as DLPack numbers it, comes after it.
    fn before(&self, stream: Option<&Bound<'_, PyAny>>, py: Python<'_>) -> PyResult<()> {
        /// What a consumer asks for that orders its work itself.
        const NONE: i64 = -1;
        let default = i64::try_from(STREAM).unwrap_or(1);
        let theirs = stream.map_or(Ok(default), |stream| stream.extract::<i64>())?;
        if theirs == NONE || u64::try_from(theirs) == Ok(self.stream) { Ok(()) } else { (self.wait)(py) }
    }
}

impl DeviceArray {
    /// Exports a matrix that is completely written, or its only column as a vector.
    pub fn new<T: Real>(matrix: DeviceMatrix<T>, device_id: usize, is_vector: bool) -> Self {
        let (rows, cols) = matrix.shape();
        let shape = if is_vector { vec![rows] } else { vec![rows, cols] };
        let address = matrix.view().address();
        let device_id = i32::try_from(device_id).unwrap_or(0);
        let offered = Offered {
            address,
            device_id,
            code: dlpack::FLOAT,
            bits: T::BITS,
            shape,
            by_rows: false,
            memory: Arc::new(KeepsCurrent::new(matrix)),
        };
        Self { offered, unfinished: None }
    }

    /// Exports matrices that are completely written, each of which is stored as its transpose, as an array of this shape.
    pub fn of_transposes<T: Real>(batch: DeviceBatch<T>, device_id: usize, shape: Vec<usize>) -> Self {
        let offered = Offered {
            address: batch.view().address(),
            device_id: i32::try_from(device_id).unwrap_or(0),
            code: dlpack::FLOAT,
            bits: T::BITS,
            shape,
            by_rows: true,
            memory: Arc::new(KeepsCurrent::new(batch)),
        };
        Self { offered, unfinished: None }
    }

    /// Exports memory that work on the device may still write.
    pub fn unfinished(offered: Offered, unfinished: Option<Unfinished>) -> Self {
        Self { offered, unfinished }
    }

    /// The transpose of a matrix, without a copy.
    pub fn transposed(mut self) -> Self {
        self.offered.shape.reverse();
        self.offered.by_rows = !self.offered.by_rows;
        self
    }

    /// Converts to an array of the library of `like`.
    pub fn like<'py>(self, like: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = like.py();
        py.import("cholupdate._device")?.call_method1("returned", (Py::new(py, self)?, like))
    }
}

#[pymethods]
impl DeviceArray {
    /// Returns a DLPack capsule. The array is completely written for work on every stream.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        if dl_device.is_some_and(|device| device != self.__dlpack_device__()) {
            return Err(PyBufferError::new_err("the array cannot be exported to another device"));
        }
        if copy == Some(true) {
            return Err(PyBufferError::new_err("the array is exported without a copy alone"));
        }
        if let Some(unfinished) = &self.unfinished {
            unfinished.before(stream.as_ref(), py)?;
        }
        self.offered.capsule(py, max_version.is_some_and(|(major, _)| major >= 1))
    }

    /// The DLPack type and the number of the device.
    fn __dlpack_device__(&self) -> (i32, i32) {
        (dlpack::CUDA, self.offered.device_id)
    }

    /// The extents: rows and columns, of a batch behind the number of matrices.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        pyo3::types::PyTuple::new(py, &self.offered.shape)
    }
}
