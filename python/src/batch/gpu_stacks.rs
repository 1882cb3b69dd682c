//! Arrays in the memory of a GPU as batches of matrices.

use super::stacks::{Accepted, Given, Layout, are_of_each, laid};
use crate::device::{self, STREAM};
use crate::dlpack::Described;
use crate::errors::{exception, exception_naming, wrong_type, wrong_value};
use crate::numbers::Real;
use crate::settings::device_for;
use crate::threads::without_gil;
use cholupdate::cuda::{DeviceBatchView, DeviceBatchViewMut, DeviceView};
use cholupdate::{DeviceErrorKind, Error};
use pyo3::prelude::*;

/// An array in the memory of a GPU, of T.
pub struct GpuArray<'py> {
    object: Bound<'py, PyAny>,
    described: Described<'py>,
    stream: u64,
    is_current: bool,
}

impl<'py> GpuArray<'py> {
    /// An argument of a call on factors of T.
    pub fn new<T: Real>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        let module = object.py().import("cholupdate._device")?;
        let current: Option<u64> = module.call_method1("current_stream", (object,))?.extract()?;
        let (stream, is_current) = (current.unwrap_or(STREAM), current.is_some());
        let described = device::described(object, stream)?;
        if described.dtype != T::NAME {
            let found = &described.dtype;
            return Err(wrong_type(format!("`{name}` has dtype {found}, but the factor has {}", T::NAME)));
        }
        Ok(Self { object: object.clone(), described, stream, is_current })
    }

    pub fn shape(&self) -> &[usize] {
        &self.described.shape
    }

    /// From one entry along an axis to the next; `None` if it is negative.
    pub fn stride(&self, axis: usize) -> Option<usize> {
        let does_not_matter = self.described.shape[axis] <= 1;
        usize::try_from(self.described.strides[axis]).ok().or(does_not_matter.then_some(0))
    }

    /// A copy of this shape by NumPy's rules, packed in C order.
    pub fn broadcast<T: Real>(&self, shape: &[usize], name: &str) -> PyResult<Self> {
        let py = self.object.py();
        let shape = pyo3::types::PyTuple::new(py, shape)?;
        let copy = py.import("cholupdate._device")?.call_method1("broadcast", (&self.object, shape))?;
        Self::new::<T>(&copy, name)
    }

    /// A copy in C order that the library of the array has made.
    fn packed<T: Real>(&self, name: &str) -> PyResult<Self> {
        let module = self.object.py().import("cholupdate._device")?;
        Self::new::<T>(&module.call_method1("by_rows", (&self.object, false))?, name)
    }

    /// Whether the entries are next to each other in C order.
    fn is_packed(&self) -> bool {
        let mut next = 1;
        self.shape().contains(&0)
            || (0..self.shape().len()).rev().all(|axis| {
                let extent = self.shape()[axis];
                let fits = extent <= 1 || self.stride(axis) == Some(next);
                next *= extent;
                fits
            })
    }

    /// A copy of the entries in host memory, in C order.
    pub fn to_host<T: Real>(&self, py: Python<'_>, name: &str) -> PyResult<Vec<T>> {
        if !self.is_packed() {
            let packed = self.packed::<T>(name)?;
            return if packed.is_packed() { packed.to_host(py, name) } else { Err(not_copied(name)) };
        }
        let len = self.shape().iter().product();
        let device = device_for(py, self.ordinal())?;
        // SAFETY: as in `GpuStack::view`; entries that are packed are one column.
        let view = unsafe {
            DeviceView::<T>::from_raw(&device, self.described.address, (len, 1), len)
                .map(|view| view.on_stream(self.stream))
        };
        let entries = without_gil(py, || view.and_then(|view| view.to_host()));
        let entries = entries.map_err(|error| exception(py, error))?;
        Ok(entries.col(0).iter().copied().collect())
    }

    /// The number of the device.
    pub fn ordinal(&self) -> usize {
        usize::try_from(self.described.device_id).unwrap_or(0)
    }
}

fn not_copied(name: &str) -> PyErr {
    let message =
        format!("`{name}` has strides that are not used in place, and its library made no other copy");
    wrong_type(message)
}

/// A batch in the memory of a GPU.
pub struct GpuStack<'py> {
    array: GpuArray<'py>,
    layout: Layout,
}

impl<'py> GpuStack<'py> {
    /// An argument that a call reads. If it has negative strides, the library of the array copies it on the device.
    pub fn new<T: Real>(object: &Bound<'py, PyAny>, name: &str, accepted: Accepted) -> PyResult<Self> {
        let array = GpuArray::new::<T>(object, name)?;
        if let Some(layout) = laid(array.shape(), |axis| array.stride(axis), name, accepted)? {
            return Ok(Self { array, layout });
        }
        let array = array.packed::<T>(name)?;
        match laid(array.shape(), |axis| array.stride(axis), name, accepted)? {
            Some(layout) => Ok(Self { array, layout }),
            None => Err(not_copied(name)),
        }
    }

    /// Weights of `rank` columns for `count` matrices, as columns: the same for all, or those of each.
    pub fn weights<T: Real>(object: &Bound<'py, PyAny>, (count, rank): (usize, usize)) -> PyResult<Self> {
        let lie = |array: &GpuArray<'py>| -> PyResult<Option<Layout>> {
            let of_each = are_of_each(array.shape(), (count, rank))?;
            let last = array.shape().len().checked_sub(1);
            let found = last.map_or(1, |last| array.shape()[last]);
            let between = last.map_or(Some(0), |last| array.stride(last));
            let strides = if of_each { array.stride(0) } else { Some(0) }.zip(between);
            Ok(strides
                .map(|(matrix, column)| Layout { shape: [count, found, 1], strides: [matrix, column, 1] }))
        };
        let array = GpuArray::new::<T>(object, "weights")?;
        if let Some(layout) = lie(&array)? {
            return Ok(Self { array, layout });
        }
        let array = array.packed::<T>("weights")?;
        let layout = lie(&array)?.ok_or_else(|| not_copied("weights"))?;
        Ok(Self { array, layout })
    }

    /// An argument that a call writes.
    pub fn to_write<T: Real>(object: &Bound<'py, PyAny>, name: &str, accepted: Accepted) -> PyResult<Self> {
        let array = GpuArray::new::<T>(object, name)?;
        let layout = laid(array.shape(), |axis| array.stride(axis), name, accepted)?;
        let layout = layout
            .ok_or_else(|| wrong_value(format!("`{name}` has negative strides, and is written in place")))?;
        let stack = Self { array, layout };
        stack.check_writable(name)?;
        Ok(stack)
    }

    /// Whether the address range intersects that of a batch.
    pub fn overlaps<T: Real>(&self, other: &Given<'py, T>) -> bool {
        let Given::Gpu(other) = other else { return false };
        let [one, two] = [self, other].map(Self::extent::<T>);
        one.start < two.end && two.start < one.end
    }

    /// The addresses from the first entry to the end of the last one.
    fn extent<T>(&self) -> core::ops::Range<u64> {
        let Layout { shape, strides } = self.layout;
        if shape.contains(&0) {
            return 0..0;
        }
        let far = shape.iter().zip(strides).map(|(extent, stride)| (extent - 1) * stride).sum::<usize>();
        let start = self.array.described.address;
        start..start + ((far + 1) * size_of::<T>()) as u64
    }

    /// Checks that the matrices are on this device.
    ///
    /// # Errors
    /// `DeviceError`.
    pub fn check_device(&self, py: Python<'_>, device: usize, name: &str) -> PyResult<()> {
        let found = self.ordinal();
        if found == device {
            return Ok(());
        }
        let message = format!("`{name}` is on device {found}, the batch on device {device}");
        Err(exception(py, Error::Device { kind: DeviceErrorKind::Other, message }))
    }

    /// Matrices that lie so in an array.
    pub fn of(array: GpuArray<'py>, layout: Layout) -> Self {
        Self { array, layout }
    }

    /// # Errors
    /// `ValueError` if the array is read-only.
    pub fn check_writable(&self, name: &str) -> PyResult<()> {
        let object = &self.array.object;
        let module = object.py().import("cholupdate._device")?;
        if self.array.described.read_only || module.call_method1("is_immutable", (object,))?.extract()? {
            return Err(wrong_value(format!("`{name}` is read-only")));
        }
        Ok(())
    }

    /// The transposes of all matrices, if `transpose`.
    pub fn transposed_if(mut self, transpose: bool) -> Self {
        if transpose {
            self.layout = self.layout.transposed();
        }
        self
    }

    pub fn shape(&self) -> [usize; 3] {
        self.layout.shape
    }

    /// The number of the device.
    pub fn ordinal(&self) -> usize {
        self.array.ordinal()
    }

    /// The dimensions of the array.
    pub fn dimensions(&self) -> &[usize] {
        self.array.shape()
    }

    /// The stream on which the library of the array works, if it is known. If it is not, a call must wait for the device.
    pub fn current_stream(&self) -> Option<u64> {
        self.array.is_current.then_some(self.array.stream)
    }

    /// The matrices, packed in C order: those of a copy, if they are not.
    pub fn packed<T: Real>(self, name: &str, accepted: Accepted) -> PyResult<Self> {
        if self.array.is_packed() {
            return Ok(self);
        }
        let array = self.array.packed::<T>(name)?;
        let layout = laid(array.shape(), |axis| array.stride(axis), name, accepted)?;
        match layout.filter(|_| array.is_packed()) {
            Some(layout) => Ok(Self { array, layout }),
            None => Err(not_copied(name)),
        }
    }

    /// The matrices.
    pub fn view<T: Real>(&self, py: Python<'_>, name: &'static str) -> PyResult<DeviceBatchView<'_, T>> {
        let (address, Layout { shape, strides }) = (self.array.described.address, self.layout);
        let device = device_for(py, self.ordinal())?;
        // SAFETY: the capsule lives as long as this struct and keeps the entries alive. It gives their address, in memory of this
        // device or in managed memory, which every device can access. The producer of the capsule, which was requested with
        // this stream, has ordered the writes of the entries before all later work on it.
        let view = unsafe { DeviceBatchView::from_raw(&device, address, shape, strides) };
        let view = view.map_err(|error| exception_naming(py, error, &[("strides", name)]))?;
        // SAFETY: this stream exists as long as the driver, or is the library's current one. If it is the current one, the library
        // reuses the memory in its order if it was allocated on this stream, and the documentation requires that callers keep other
        // memory; else callers wait for the device while the capsule exists (`current_stream`). The documentation requires that other
        // streams do not write to arguments.
        Ok(unsafe { view.on_stream(self.array.stream) })
    }

    /// The matrices, to be written. `check_writable` has been called.
    pub fn view_mut<T: Real>(
        &mut self,
        py: Python<'_>,
        name: &'static str,
    ) -> PyResult<DeviceBatchViewMut<'_, T>> {
        let (address, Layout { shape, strides }) = (self.array.described.address, self.layout);
        let device = device_for(py, self.ordinal())?;
        // SAFETY: as in `view`; the array is writable, and the documentation requires that nothing else uses it.
        let view = unsafe { DeviceBatchViewMut::from_raw(&device, address, shape, strides) };
        let view = view.map_err(|error| exception_naming(py, error, &[("strides", name)]))?;
        // SAFETY: as in `view`.
        Ok(unsafe { view.on_stream(self.array.stream) })
    }
}
