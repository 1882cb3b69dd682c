//! Matrices in device memory for callers: owned ones, and views of memory that the caller manages.

use super::device::Device;
use super::memory::{DeviceBuffer, DeviceSlice, Pinned};
use super::packing::pack;
use super::stream::Stream;
use crate::check::extent;
use crate::error::{Error, other};
use crate::real::Real;
use core::marker::PhantomData;
use core::ops::Range;
use faer::{Mat, MatRef};

/// A matrix (rows × columns) in the memory of a GPU, column-major and packed. Every call that accepts a matrix accepts this
/// one.
///
/// ```
/// use cholupdate::cuda::{Device, DeviceMatrix};
/// use cholupdate::{Error, faer::mat};
///
/// fn there_and_back() -> Result<(), Error> {
///     let v = mat![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
///     let on_device = DeviceMatrix::from_host(&Device::new(0)?, &v)?;
///     assert_eq!(on_device.to_host()?, v);
///     Ok(())
/// }
/// # match there_and_back() { Ok(()) | Err(Error::Device { .. }) => {} Err(error) => panic!("{error}") }
/// ```
pub struct DeviceMatrix<T> {
    buffer: DeviceBuffer<T>,
    rows: usize,
    cols: usize,
    device: Device,
}

impl<T: Real> DeviceMatrix<T> {
    /// Copies A to the device.
    pub(super) fn new(device: &Device, a: MatRef<'_, T>) -> Result<Self, Error> {
        let buffer = DeviceBuffer::new(device, a.nrows().saturating_mul(a.ncols()))?;
        let mut matrix = Self { buffer, rows: a.nrows(), cols: a.ncols(), device: device.clone() };
        matrix.view_mut().write(a)?;
        Ok(matrix)
    }

    /// A matrix from device memory that has been written, packed. (rows × columns)
    pub(super) fn of(device: &Device, buffer: DeviceBuffer<T>, (rows, cols): (usize, usize)) -> Self {
        debug_assert!(buffer.len() == rows * cols);
        Self { buffer, rows, cols, device: device.clone() }
    }

    /// Returns a copy in host memory.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn to_host(&self) -> Result<Mat<T>, Error> {
        self.view().to_host()
    }

    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.cols)
    }

    /// A view of all entries.
    #[must_use]
    pub fn view(&self) -> DeviceView<'_, T> {
        let slice = self.buffer.slice(0..self.buffer.len());
        DeviceView {
            slice,
            shape: self.shape(),
            stride: self.rows,
            device: self.device.clone(),
            behind: None,
        }
    }

    /// A mutable view of all entries.
    #[must_use]
    pub fn view_mut(&mut self) -> DeviceViewMut<'_, T> {
        DeviceViewMut { view: self.view(), unique: PhantomData }
    }
}

impl<T> core::fmt::Debug for DeviceMatrix<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("DeviceMatrix")
            .field("rows", &self.rows)
            .field("cols", &self.cols)
            .finish_non_exhaustive()
    }
}

/// A matrix (rows × columns) in the memory of a GPU, column-major, for reading.
#[derive(Clone)]
pub struct DeviceView<'a, T> {
    slice: DeviceSlice<'a, T>,
    shape: (usize, usize),
    stride: usize,
    device: Device,
    /// A stream of the caller's. The entries have been written when its work so far is done.
    behind: Option<u64>,
}

impl<'a, T: Real> DeviceView<'a, T> {
    /// A view of columns in this library's memory. All writes to them have been waited for.
    pub(super) fn new(
        slice: DeviceSlice<'a, T>,
        shape: (usize, usize),
        stride: usize,
        device: &Device,
    ) -> Self {
        Self { slice, shape, stride, device: device.clone(), behind: None }
    }

    /// A view of memory that the caller manages: entry (i, j) is at `address + (i + j · stride) · size_of::<T>()`.
    ///
    /// # Errors
    /// `Shape` if the stride is less than the number of rows; `Device` if the address is not aligned for T, or the number of
    /// entries overflows.
    ///
    /// # Safety
    /// All these entries are in memory of `device` (the address is a `CUdeviceptr`). The memory exists for the lifetime of the
    /// view, and writes to it have been waited for, or are on the stream that [`on_stream`](Self::on_stream) names.
    pub unsafe fn from_raw(
        device: &Device,
        address: u64,
        (rows, cols): (usize, usize),
        stride: usize,
    ) -> Result<Self, Error> {
        if stride < rows {
            return Err(Error::Shape {
                argument: "stride",
                extent: "entries",
                expected: rows,
                found: stride,
            });
        }
        let uncountable =
            || other(format!("{cols} columns of {stride} entries are more than can be counted"));
        let len = match cols.checked_sub(1) {
            Some(before) => before.checked_mul(stride).and_then(|len| len.checked_add(rows)),
            None => Some(0),
        };
        let len = len.ok_or_else(uncountable)?;
        if !address.is_multiple_of(size_of::<T>() as u64) {
            return Err(other(format!("the address {address:#x} is not one of {}", T::TYPE_NAME)));
        }
        // SAFETY: the caller guarantees the memory.
        let slice = unsafe { DeviceSlice::at(address, len) };
        Ok(Self::new(slice, (rows, cols), stride, device))
    }

    /// The same entries, used on a stream of the caller's (a `CUstream`, as in PyTorch, CuPy, JAX and cudarc; 0 is the default
    /// stream). A call's use of them comes after all work that is on the stream when the call begins, and is done when the call
    /// returns, before any later work on the stream. The device orders the two; no other work on it is waited for.
    ///
    /// # Safety
    /// The stream belongs to the device, in its primary context, and exists as long as the view.
    #[must_use]
    pub unsafe fn on_stream(self, stream: u64) -> Self {
        Self { behind: Some(stream), ..self }
    }

    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// Address of the first entry: a `CUdeviceptr`.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.slice.address()
    }

    /// Entries from one column to the next.
    #[must_use]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Returns a copy in host memory.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn to_host(&self) -> Result<Mat<T>, Error> {
        let (rows, cols) = self.shape;
        let (stream, staged) = (Stream::new(&self.device)?, Pinned::new(&self.device, rows * cols)?);
        let from = self.slice_on(&stream)?;
        // SAFETY: both memories exist, and no other code uses them until the stream has been waited for, below.
        let enqueued = unsafe { stream.download_columns(from, self.shape, (&staged, rows)) };
        stream.synchronize().and(enqueued)?;
        let entries = staged.as_slice();
        Ok(Mat::from_fn(rows, cols, |i, j| entries[j * rows + i]))
    }

    /// Returns a copy in the memory of the same GPU, packed. It is complete when this returns.
    ///
    /// # Errors
    /// [`Error::Device`] if the device has no room for it, or the driver fails.
    ///
    /// ```
    /// use cholupdate::cuda::{Device, DeviceMatrix};
    /// use cholupdate::{Error, faer::mat};
    ///
    /// fn copied() -> Result<(), Error> {
    ///     let b = DeviceMatrix::from_host(&Device::new(0)?, &mat![[1.0, 2.0], [3.0, 4.0]])?;
    ///     assert_eq!(b.view().to_matrix()?.to_host()?, mat![[1.0, 2.0], [3.0, 4.0]]);
    ///     Ok(())
    /// }
    /// # match copied() { Ok(()) | Err(Error::Device { .. }) => {} Err(error) => panic!("{error}") }
    /// ```
    pub fn to_matrix(&self) -> Result<DeviceMatrix<T>, Error> {
        let (rows, cols) = self.shape;
        let buffer = DeviceBuffer::new(&self.device, rows.saturating_mul(cols))?;
        let stream = Stream::new(&self.device)?;
        let from = self.slice_on(&stream)?;
        // SAFETY: both memories exist, and no other code uses them until the stream has been waited for, below.
        let enqueued =
            unsafe { stream.move_columns(from, self.shape, (buffer.slice(0..buffer.len()), rows)) };
        stream.synchronize().and(enqueued)?;
        Ok(DeviceMatrix { buffer, rows, cols, device: self.device.clone() })
    }

    /// The entries and the column stride, for later work on this stream.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub(super) fn slice_on(&self, stream: &Stream) -> Result<(DeviceSlice<'a, T>, usize), Error> {
        if let Some(theirs) = self.behind {
            // SAFETY: the caller of `on_stream` guarantees the stream.
            unsafe { stream.wait_behind(theirs)? };
        }
        Ok((self.slice, self.stride))
    }

    /// The same view, of a type without a lifetime.
    ///
    /// # Safety
    /// It is not used after the lifetime of this one.
    pub(super) unsafe fn of_any_lifetime(self) -> DeviceView<'static, T> {
        // SAFETY: the caller keeps to the lifetime.
        let slice = unsafe { DeviceSlice::at(self.slice.address(), self.slice.len()) };
        let Self { shape, stride, device, behind, .. } = self;
        DeviceView { slice, shape, stride, device, behind }
    }

    /// A range of columns.
    pub(super) fn columns(&self, range: Range<usize>) -> Self {
        let slice = self.slice.part(range.start * self.stride..self.slice.len());
        Self { slice, shape: (self.shape.0, range.len()), ..self.clone() }
    }

    /// A range of rows.
    pub(crate) fn rows(&self, range: Range<usize>) -> Self {
        let cols = if range.is_empty() { 0 } else { self.shape.1 };
        let len = cols.checked_sub(1).map_or(0, |before| before * self.stride + range.len());
        let start = if len == 0 { 0 } else { range.start };
        let slice = self.slice.part(start..start + len);
        Self { slice, shape: (range.len(), self.shape.1), ..self.clone() }
    }

    /// Checks that the matrix is on one of these devices, and returns which.
    pub(super) fn is_on_one_of(&self, devices: &[Device], argument: &str) -> Result<usize, Error> {
        let there = self.device.ordinal();
        let found = devices.iter().position(|device| device.ordinal() == there);
        found.ok_or_else(|| other(format!("`{argument}` is on device {there}, the factor is not")))
    }

    /// Checks that the matrix is on this device.
    pub(super) fn is_on(&self, device: &Device, argument: &str) -> Result<(), Error> {
        if self.device.ordinal() == device.ordinal() {
            return Ok(());
        }
        let (here, there) = (device.ordinal(), self.device.ordinal());
        Err(other(format!("`{argument}` is on device {there}, the factor on device {here}")))
    }
}

/// A matrix (rows × columns) in the memory of a GPU, column-major, for reading and writing.
pub struct DeviceViewMut<'a, T> {
    view: DeviceView<'a, T>,
    unique: PhantomData<&'a mut T>,
}

impl<'a, T: Real> DeviceViewMut<'a, T> {
    /// As [`DeviceView::from_raw`], for writing.
    ///
    /// # Errors
    /// As [`DeviceView::from_raw`].
    ///
    /// # Safety
    /// As [`DeviceView::from_raw`], and for the lifetime of the view no other code uses the memory, except work on the stream
    /// that [`on_stream`](Self::on_stream) names.
    pub unsafe fn from_raw(
        device: &Device,
        address: u64,
        shape: (usize, usize),
        stride: usize,
    ) -> Result<Self, Error> {
        // SAFETY: the caller guarantees the memory.
        let view = unsafe { DeviceView::from_raw(device, address, shape, stride)? };
        Ok(Self { view, unique: PhantomData })
    }

    /// The same memory, for writing too.
    ///
    /// # Safety
    /// No other code uses the memory for the lifetime of the view.
    pub(super) unsafe fn of(view: DeviceView<'a, T>) -> Self {
        Self { view, unique: PhantomData }
    }

    /// As [`DeviceView::on_stream`].
    ///
    /// # Safety
    /// As [`DeviceView::on_stream`].
    #[must_use]
    pub unsafe fn on_stream(self, stream: u64) -> Self {
        // SAFETY: the caller guarantees the stream.
        Self { view: unsafe { self.view.on_stream(stream) }, ..self }
    }

    /// Copies A, of the same shape, to this memory.
    ///
    /// # Errors
    /// `Shape`, naming `a`; [`Error::Device`].
    pub(crate) fn write(&mut self, a: MatRef<'_, T>) -> Result<(), Error> {
        let view = &self.view;
        let (rows, cols) = view.shape;
        extent("a", "rows", rows, a.nrows())?;
        extent("a", "columns", cols, a.ncols())?;
        let (stream, mut staged) = (Stream::new(&view.device)?, Pinned::new(&view.device, rows * cols)?);
        pack(a, &mut staged.as_mut_slice()?[..rows * cols]);
        let to = view.slice_on(&stream)?;
        // SAFETY: both memories exist, and no other code uses them until the stream has been waited for, below.
        let enqueued = unsafe { stream.upload_columns((&staged, rows), (rows, cols), to) };
        stream.synchronize().and(enqueued)
    }

    /// The same with a shorter lifetime.
    #[must_use]
    pub fn as_mut(&mut self) -> DeviceViewMut<'_, T> {
        DeviceViewMut { view: self.view.clone(), unique: PhantomData }
    }

    /// The same for reading.
    #[must_use]
    pub fn as_view(&self) -> DeviceView<'_, T> {
        self.view.clone()
    }
}

macro_rules! debug {
    ($($type:ident: |$me:ident| $shape:expr;)*) => {$(
        impl<T> core::fmt::Debug for $type<'_, T> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let $me = self;
                f.debug_struct(stringify!($type)).field("shape", &$shape).finish_non_exhaustive()
            }
        }
    )*};
}

debug! {
    DeviceView: |me| me.shape;
    DeviceViewMut: |me| me.view.shape;
}
