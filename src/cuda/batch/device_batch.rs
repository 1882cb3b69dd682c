//! Batches of matrices in device memory.

use crate::batch::operand::{BatchMut, BatchRef, apart};
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, DeviceSlice, Pinned};
use crate::cuda::stream::Stream;
use crate::error::{Error, other};
use crate::real::Real;
use core::marker::PhantomData;

/// Bytes of page-locked memory through which matrices go to the device and back.
const STAGED: usize = 8 << 20;

/// Matrices of equal shape in the memory of a GPU, one after the other, each by columns. (count × rows × columns)
///
/// ```
/// use cholupdate::cuda::{Device, DeviceBatch};
/// use cholupdate::{BatchMut, BatchRef, Error};
///
/// fn there_and_back() -> Result<(), Error> {
///     let v = [1.0, 2.0, 3.0, 4.0];
///     let on_device = DeviceBatch::from_host(&Device::new(0)?, BatchRef::by_rows(&v, [2, 2, 1])?)?;
///     let mut back = [0.0; 4];
///     on_device.copy_to(BatchMut::by_rows(&mut back, [2, 2, 1])?)?;
///     assert_eq!(back, v);
///     Ok(())
/// }
/// # match there_and_back() { Ok(()) | Err(Error::Device { .. }) => {} Err(error) => panic!("{error}") }
/// ```
pub struct DeviceBatch<T> {
    pub(super) buffer: DeviceBuffer<T>,
    pub(super) shape: [usize; 3],
    pub(super) device: Device,
}

impl<T: Real> DeviceBatch<T> {
    /// Copies matrices to the device.
    ///
    /// # Errors
    /// [`Error::Device`] if the device or the host has no memory for it, or the driver fails.
    pub fn from_host(device: &Device, from: BatchRef<'_, T>) -> Result<Self, Error> {
        let shape = from.shape();
        let buffer = DeviceBuffer::new(device, scalars(shape))?;
        let batch = Self { buffer, shape, device: device.clone() };
        let (stream, [count, rows, columns]) = (Stream::new(device)?, shape);
        let each = rows.saturating_mul(columns);
        let at_once = (STAGED / size_of::<T>() / each.max(1)).clamp(1, count.max(1));
        let mut staged = Pinned::<T>::new(device, if count == 0 { 0 } else { at_once * each })?;
        for first in (0..if each == 0 { 0 } else { count }).step_by(at_once) {
            let some = at_once.min(count - first);
            for (b, to) in staged.as_mut_slice()?.chunks_exact_mut(each).take(some).enumerate() {
                for (at, to) in to.iter_mut().enumerate() {
                    *to = from.get(first + b, at % rows, at / rows);
                }
            }
            let to = batch.buffer.slice(first * each..(first + some) * each);
            // SAFETY: both memories exist, and nothing else uses them until the stream has been waited for.
            let enqueued = unsafe { stream.upload(&staged, 0..some * each, to) };
            stream.synchronize().and(enqueued)?;
        }
        Ok(batch)
    }

    /// Copies the matrices to host memory.
    ///
    /// # Errors
    /// `Shape`, naming `to`; [`Error::Device`].
    pub fn copy_to(&self, to: BatchMut<'_, T>) -> Result<(), Error> {
        for (extent, (expected, found)) in
            ["matrices", "rows", "columns"].into_iter().zip(self.shape.into_iter().zip(to.shape()))
        {
            crate::check::extent("to", extent, expected, found)?;
        }
        let (stream, [count, rows, columns]) = (Stream::new(&self.device)?, self.shape);
        let each = rows.saturating_mul(columns);
        let at_once = (STAGED / size_of::<T>() / each.max(1)).clamp(1, count.max(1));
        let staged = Pinned::<T>::new(&self.device, if count == 0 { 0 } else { at_once * each })?;
        for first in (0..if each == 0 { 0 } else { count }).step_by(at_once) {
            let some = at_once.min(count - first);
            let from = self.buffer.slice(first * each..(first + some) * each);
            // SAFETY: both memories exist, and nothing else uses them until the stream has been waited for.
            let enqueued = unsafe { stream.download(from, &staged, 0..some * each) };
            stream.synchronize().and(enqueued)?;
            for (b, from) in staged.as_slice().chunks_exact(each).take(some).enumerate() {
                for (at, &from) in from.iter().enumerate() {
                    // SAFETY: the entry exists, and the target is borrowed exclusively.
                    unsafe { *to.view().entry(first + b, at % rows, at / rows) = from };
                }
            }
        }
        Ok(())
    }

    /// Copies matrices of the same shape on the device to these.
    ///
    /// # Errors
    /// `Shape`, naming `from`; [`Error::Device`], also if they are on another device.
    pub fn copy_from(&mut self, from: &Self) -> Result<(), Error> {
        for (extent, (expected, found)) in
            ["matrices", "rows", "columns"].into_iter().zip(self.shape.into_iter().zip(from.shape))
        {
            crate::check::extent("from", extent, expected, found)?;
        }
        from.view().is_on(&self.device, "from")?;
        let (stream, all) = (Stream::new(&self.device)?, 0..self.buffer.len());
        // SAFETY: both memories exist, and nothing else uses them until the stream has been waited for.
        let enqueued = unsafe { stream.copy(from.buffer.slice(all.clone()), self.buffer.slice(all)) };
        stream.synchronize().and(enqueued)
    }

    /// Matrices without defined entries.
    pub(super) fn new(device: &Device, shape: [usize; 3]) -> Result<Self, Error> {
        Ok(Self { buffer: DeviceBuffer::new(device, scalars(shape))?, shape, device: device.clone() })
    }

    /// The number of matrices, their rows and their columns.
    #[must_use]
    pub fn shape(&self) -> [usize; 3] {
        self.shape
    }

    /// A view of all entries.
    #[must_use]
    pub fn view(&self) -> DeviceBatchView<'_, T> {
        let slice = self.buffer.slice(0..self.buffer.len());
        let [_, rows, columns] = self.shape;
        let strides = [rows.saturating_mul(columns), 1, rows];
        DeviceBatchView { slice, shape: self.shape, strides, device: self.device.clone(), behind: None }
    }

    /// A mutable view of all entries.
    #[must_use]
    pub fn view_mut(&mut self) -> DeviceBatchViewMut<'_, T> {
        DeviceBatchViewMut { view: self.view(), unique: PhantomData }
    }
}

/// The number of scalars of matrices, or more than there can be.
fn scalars([count, rows, columns]: [usize; 3]) -> usize {
    count.saturating_mul(rows).saturating_mul(columns)
}

/// Matrices of equal shape in the memory of a GPU, with any strides, for reading. (count × rows × columns)
#[derive(Clone)]
pub struct DeviceBatchView<'a, T> {
    pub(super) slice: DeviceSlice<'a, T>,
    pub(super) shape: [usize; 3],
    pub(super) strides: [usize; 3],
    pub(super) device: Device,
    /// A stream of the caller's.
    behind: Option<u64>,
}

impl<T: Real> DeviceBatchView<'_, T> {
    /// A view of memory that the caller manages: entry (i, j) of matrix b is at
    /// `address + (b · strides[0] + i · strides[1] + j · strides[2]) · size_of::<T>()`. A stride may be 0: one matrix for all is
    /// `[0, 1, rows]`.
    ///
    /// # Errors
    /// `OutOfRange`, naming `strides`, if an offset overflows; `Device` if the address is not aligned for T.
    ///
    /// # Safety
    /// All these entries are in memory of `device` (the address is a `CUdeviceptr`). The memory exists for the lifetime of the view,
    /// and writes to it have been waited for, or are on the stream that [`on_stream`](Self::on_stream) names.
    pub unsafe fn from_raw(
        device: &Device,
        address: u64,
        shape: [usize; 3],
        strides: [usize; 3],
    ) -> Result<Self, Error> {
        let far = shape.into_iter().zip(strides).try_fold(0_usize, |far, (extent, stride)| {
            extent.saturating_sub(1).checked_mul(stride)?.checked_add(far)
        });
        let limit = isize::MAX.unsigned_abs() / size_of::<T>();
        let far = far.filter(|&far| far < limit);
        let rule = "such that offsets of all entries can be counted";
        let far = far.ok_or(Error::OutOfRange { argument: "strides", rule })?;
        if !address.is_multiple_of(size_of::<T>() as u64) {
            return Err(other(format!("the address {address:#x} is not one of {}", T::TYPE_NAME)));
        }
        let len = if shape.contains(&0) { 0 } else { far + 1 };
        // SAFETY: the caller guarantees the memory.
        let slice = unsafe { DeviceSlice::at(address, len) };
        Ok(Self { slice, shape, strides, device: device.clone(), behind: None })
    }

    /// The same entries, used on a stream of the caller's (a `CUstream`, as in PyTorch, CuPy, JAX and cudarc; 0 is the default
    /// stream). A call's use of them comes after all work that is on the stream when the call begins, and before all later work on
    /// it. The call does not wait for the device, unless another argument or a result is in host memory.
    ///
    /// # Safety
    /// The stream belongs to the device, in its primary context, and exists as long as the view. The memory exists until the
    /// work on the stream is done; until then nothing else writes it, and memory that a call writes is used on this stream alone.
    #[must_use]
    pub unsafe fn on_stream(self, stream: u64) -> Self {
        Self { behind: Some(stream), ..self }
    }

    /// The number of matrices, their rows and their columns.
    #[must_use]
    pub fn shape(&self) -> [usize; 3] {
        self.shape
    }

    /// Address of the first entry: a `CUdeviceptr`.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.slice.address()
    }

    /// From one matrix, row and column to the next.
    pub(super) fn strides(&self) -> [i64; 3] {
        // They are less than 2⁶³, as those of all entries.
        self.strides.map(|stride| i64::try_from(stride).unwrap_or(0))
    }

    pub(super) fn stream(&self) -> Option<u64> {
        self.behind
    }

    /// Checks that the matrices are on this device.
    pub(super) fn is_on(&self, device: &Device, argument: &str) -> Result<(), Error> {
        if self.device.ordinal() == device.ordinal() {
            return Ok(());
        }
        let (here, there) = (device.ordinal(), self.device.ordinal());
        Err(other(format!("`{argument}` is on device {there}, the batch on device {here}")))
    }
}

/// Matrices of equal shape in the memory of a GPU, with any strides, for reading and writing. (count × rows × columns)
pub struct DeviceBatchViewMut<'a, T> {
    pub(super) view: DeviceBatchView<'a, T>,
    pub(super) unique: PhantomData<&'a mut T>,
}

impl<T: Real> DeviceBatchViewMut<'_, T> {
    /// As [`DeviceBatchView::from_raw`], for writing.
    ///
    /// # Errors
    /// As [`DeviceBatchView::from_raw`]; `OutOfRange`, naming `strides`, if two entries could be in the same place.
    ///
    /// # Safety
    /// As [`DeviceBatchView::from_raw`], and for the lifetime of the view no other code uses the memory, except work on the stream
    /// that [`on_stream`](Self::on_stream) names.
    pub unsafe fn from_raw(
        device: &Device,
        address: u64,
        shape: [usize; 3],
        strides: [usize; 3],
    ) -> Result<Self, Error> {
        apart(shape, strides)?;
        // SAFETY: the caller guarantees the memory.
        let view = unsafe { DeviceBatchView::from_raw(device, address, shape, strides)? };
        Ok(Self { view, unique: PhantomData })
    }

    /// As [`DeviceBatchView::on_stream`].
    ///
    /// # Safety
    /// As [`DeviceBatchView::on_stream`].
    #[must_use]
    pub unsafe fn on_stream(self, stream: u64) -> Self {
        // SAFETY: the caller guarantees the stream.
        Self { view: unsafe { self.view.on_stream(stream) }, ..self }
    }

    /// The same for reading.
    #[must_use]
    pub fn as_view(&self) -> DeviceBatchView<'_, T> {
        self.view.clone()
    }
}

macro_rules! debug {
    ($($type:ty: |$me:ident| $shape:expr;)*) => {$(
        impl<T> core::fmt::Debug for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let $me = self;
                f.debug_struct(stringify!($type)).field("shape", &$shape).finish_non_exhaustive()
            }
        }
    )*};
}

debug! {
    DeviceBatch<T>: |me| me.shape;
    DeviceBatchView<'_, T>: |me| me.shape;
    DeviceBatchViewMut<'_, T>: |me| me.view.shape;
}
