//! Streams, events, and the copies between the memories.
//!
//! Copies and launches are enqueued on a [`Stream`] and are asynchronous. Work on one stream is done in order; an [`Event`]
//! orders work on one stream after work on another, or makes the host wait for a stream.

use super::device::Device;
use super::error::failed;
use super::memory::{DeviceSlice, Pinned};
use super::plain::Plain;
use crate::error::Error;
use core::ffi::c_int;
use core::ops::Range;
use cudarc::driver::{result, sys};

/// A queue of copies and launches. They are done in order; work on several streams runs concurrently.
///
/// Dropping it does not wait: enqueued work is still done.
pub(crate) struct Stream {
    handle: sys::CUstream,
    /// Whether it is one of the caller's, who destroys it.
    is_theirs: bool,
    device: Device,
}

// SAFETY: the driver accepts stream handles from any thread.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    pub fn new(device: &Device) -> Result<Self, Error> {
        Self::with_priority(device, 0)
    }

    /// A stream whose launches start before waiting ones of other streams.
    pub fn first(device: &Device) -> Result<Self, Error> {
        device.bind()?;
        let (_, greatest) =
            result::stream::get_priority_range().map_err(failed("asking for the priorities of streams"))?;
        Self::with_priority(device, greatest)
    }

    fn with_priority(device: &Device, priority: c_int) -> Result<Self, Error> {
        device.bind()?;
        let handle = result::stream::create_with_priority(result::stream::StreamKind::NonBlocking, priority)
            .map_err(failed("making a stream on the device"))?;
        Ok(Self { handle, is_theirs: false, device: device.clone() })
    }

    /// A stream of the caller's.
    ///
    /// # Safety
    /// It is a stream of this device, in its primary context, as long as this exists.
    pub unsafe fn of_caller(device: &Device, theirs: u64) -> Self {
        Self { handle: theirs as sys::CUstream, is_theirs: true, device: device.clone() }
    }

    /// The driver's handle of the stream, with its device current on the calling thread.
    pub(super) fn bound(&self) -> Result<sys::CUstream, Error> {
        self.device.bind()?;
        Ok(self.handle)
    }

    /// The driver's handle, for views that are used behind this stream.
    pub(super) fn handle(&self) -> u64 {
        self.handle as u64
    }

    /// Copies `range` of host memory to the device.
    ///
    /// # Safety
    /// Until the copy is done (an event recorded after it has been waited for), both memories exist, nothing writes that range
    /// of `from`, and only this stream uses `to`.
    pub unsafe fn upload<T: Plain>(
        &self,
        from: &Pinned<T>,
        range: Range<usize>,
        to: DeviceSlice<'_, T>,
    ) -> Result<(), Error> {
        debug_assert!(range.start <= range.end && range.end <= from.len() && range.len() == to.len());
        if range.is_empty() {
            return Ok(());
        }
        let bytes = range.len() * size_of::<T>();
        let stream = self.bound()?;
        // SAFETY: the range is inside `from` and has the length of `to`; the caller guarantees both until the copy is done.
        unsafe {
            let source = from.as_ptr().add(range.start).cast();
            sys::cuMemcpyHtoDAsync_v2(to.address(), source, bytes, stream).result()
        }
        .map_err(failed("copying to the device"))
    }

    /// Copies from the device to `range` of host memory.
    ///
    /// # Safety
    /// Until the copy is done (an event recorded after it has been waited for), both memories exist, nothing reads or writes
    /// that range of `to` or has a reference to it, and only this stream writes `from`.
    pub unsafe fn download<T: Plain>(
        &self,
        from: DeviceSlice<'_, T>,
        to: &Pinned<T>,
        range: Range<usize>,
    ) -> Result<(), Error> {
        debug_assert!(range.start <= range.end && range.end <= to.len() && range.len() == from.len());
        if range.is_empty() {
            return Ok(());
        }
        let bytes = range.len() * size_of::<T>();
        let stream = self.bound()?;
        // SAFETY: the range is inside `to` and has the length of `from`; the caller guarantees both until the copy is done.
        unsafe {
            let target = to.as_ptr().add(range.start).cast();
            sys::cuMemcpyDtoHAsync_v2(target, from.address(), bytes, stream).result()
        }
        .map_err(failed("copying from the device"))
    }

    /// Copies columns of host memory (rows × cols, from its start) to the device, with the given column strides.
    ///
    /// # Safety
    /// As [`upload`](Self::upload), for these columns.
    pub unsafe fn upload_columns<T: Plain>(
        &self,
        (from, from_stride): (&Pinned<T>, usize),
        (rows, cols): (usize, usize),
        (to, to_stride): (DeviceSlice<'_, T>, usize),
    ) -> Result<(), Error> {
        debug_assert!(extent(rows, cols, from_stride) <= from.len());
        debug_assert!(extent(rows, cols, to_stride) <= to.len());
        if (from_stride, to_stride) == (rows, rows) {
            let len = rows * cols;
            // SAFETY: the caller guarantees the memory.
            return unsafe { self.upload(from, 0..len, to.part(0..len)) };
        }
        let copy = sys::CUDA_MEMCPY2D_st {
            srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
            srcHost: from.as_ptr().cast_const().cast(),
            srcPitch: from_stride * size_of::<T>(),
            dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstDevice: to.address(),
            dstPitch: to_stride * size_of::<T>(),
            ..columns::<T>(rows, cols)
        };
        // SAFETY: the caller guarantees the memory; the ranges are inside both.
        unsafe { self.copy_columns(&copy, "copying to the device") }
    }

    /// Copies columns of the device (rows × cols) to host memory, to its start, with the given column strides.
    ///
    /// # Safety
    /// As [`download`](Self::download), for these columns.
    pub unsafe fn download_columns<T: Plain>(
        &self,
        (from, from_stride): (DeviceSlice<'_, T>, usize),
        (rows, cols): (usize, usize),
        (to, to_stride): (&Pinned<T>, usize),
    ) -> Result<(), Error> {
        debug_assert!(extent(rows, cols, to_stride) <= to.len());
        debug_assert!(extent(rows, cols, from_stride) <= from.len());
        if (from_stride, to_stride) == (rows, rows) {
            let len = rows * cols;
            // SAFETY: the caller guarantees the memory.
            return unsafe { self.download(from.part(0..len), to, 0..len) };
        }
        let copy = sys::CUDA_MEMCPY2D_st {
            srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcDevice: from.address(),
            srcPitch: from_stride * size_of::<T>(),
            dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
            dstHost: to.as_ptr().cast(),
            dstPitch: to_stride * size_of::<T>(),
            ..columns::<T>(rows, cols)
        };
        // SAFETY: as in `upload_columns`.
        unsafe { self.copy_columns(&copy, "copying from the device") }
    }

    /// Copies columns of the device (rows × cols) to others on the device, with the given column strides.
    ///
    /// # Safety
    /// As [`upload`](Self::upload), for these columns of both.
    pub unsafe fn move_columns<T: Plain>(
        &self,
        (from, from_stride): (DeviceSlice<'_, T>, usize),
        (rows, cols): (usize, usize),
        (to, to_stride): (DeviceSlice<'_, T>, usize),
    ) -> Result<(), Error> {
        debug_assert!(extent(rows, cols, from_stride) <= from.len());
        debug_assert!(extent(rows, cols, to_stride) <= to.len());
        let copy = sys::CUDA_MEMCPY2D_st {
            srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcDevice: from.address(),
            srcPitch: from_stride * size_of::<T>(),
            dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstDevice: to.address(),
            dstPitch: to_stride * size_of::<T>(),
            ..columns::<T>(rows, cols)
        };
        // SAFETY: as in `upload_columns`.
        unsafe { self.copy_columns(&copy, "copying on the device") }
    }

    /// # Safety
    /// As `upload_columns`.
    unsafe fn copy_columns(&self, copy: &sys::CUDA_MEMCPY2D_st, attempt: &str) -> Result<(), Error> {
        if copy.WidthInBytes == 0 || copy.Height == 0 {
            return Ok(());
        }
        let stream = self.bound()?;
        // SAFETY: the caller guarantees the memory.
        unsafe { sys::cuMemcpy2DAsync_v2(copy, stream) }.result().map_err(failed(attempt))
    }

    /// Copies within the device.
    ///
    /// # Safety
    /// As [`upload`](Self::upload), for both memories.
    pub unsafe fn copy<T: Plain>(
        &self,
        from: DeviceSlice<'_, T>,
        to: DeviceSlice<'_, T>,
    ) -> Result<(), Error> {
        debug_assert!(from.len() == to.len());
        if from.len() == 0 {
            return Ok(());
        }
        let stream = self.bound()?;
        // SAFETY: the caller guarantees both memories, which have the same length.
        unsafe {
            result::memcpy_dtod_async(to.address(), from.address(), from.len() * size_of::<T>(), stream)
        }
        .map_err(failed("copying on the device"))
    }

    /// Copies to another device, or from it: one of them is the stream's.
    ///
    /// # Safety
    /// As [`upload`](Self::upload), for both memories.
    pub unsafe fn copy_between<T: Plain>(
        &self,
        (from, source): (DeviceSlice<'_, T>, &Device),
        (to, target): (DeviceSlice<'_, T>, &Device),
    ) -> Result<(), Error> {
        debug_assert!(from.len() == to.len());
        if from.len() == 0 {
            return Ok(());
        }
        let (bytes, stream) = (from.len() * size_of::<T>(), self.bound()?);
        let (source, target) = (source.context(), target.context());
        // SAFETY: the caller guarantees both memories, which have the same length; each is of the context beside it.
        unsafe {
            sys::cuMemcpyPeerAsync(
                to.address(),
                target.cu_ctx(),
                from.address(),
                source.cu_ctx(),
                bytes,
                stream,
            )
        }
        .result()
        .map_err(failed("copying from device to device"))
    }

    /// Sets all bytes to zero.
    ///
    /// # Safety
    /// Until it is done, the memory exists and only this stream uses it.
    pub unsafe fn clear<T: Plain>(&self, at: DeviceSlice<'_, T>) -> Result<(), Error> {
        // SAFETY: the caller guarantees the memory.
        unsafe { self.fill(at, 0) }
    }

    /// Sets all bytes to this value.
    ///
    /// # Safety
    /// As [`clear`](Self::clear).
    pub unsafe fn fill<T: Plain>(&self, at: DeviceSlice<'_, T>, byte: u8) -> Result<(), Error> {
        if at.len() == 0 {
            return Ok(());
        }
        let stream = self.bound()?;
        // SAFETY: the caller guarantees the memory.
        unsafe { result::memset_d8_async(at.address(), byte, at.len() * size_of::<T>(), stream) }
            .map_err(failed("setting memory of the device"))
    }

    /// Sets all entries to this number.
    ///
    /// # Safety
    /// As [`clear`](Self::clear).
    pub unsafe fn fill_words(&self, at: DeviceSlice<'_, i32>, word: i32) -> Result<(), Error> {
        if at.len() == 0 {
            return Ok(());
        }
        let stream = self.bound()?;
        // SAFETY: the caller guarantees the memory.
        unsafe { sys::cuMemsetD32Async(at.address(), word.cast_unsigned(), at.len(), stream) }
            .result()
            .map_err(failed("setting memory of the device"))
    }

    /// Orders later work on this stream after the work before the last record of `event`. The host does not wait.
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        let stream = self.bound()?;
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: both handles exist for as long as their owners, which are borrowed here; the driver keeps what it needs.
        unsafe { result::stream::wait_event(stream, event.handle, flags) }
            .map_err(failed("ordering one stream behind another"))
    }

    /// Orders later work on this stream after all work enqueued so far on a stream of the caller's. The host does not wait.
    ///
    /// # Safety
    /// It is a stream of this device, in its primary context.
    pub unsafe fn wait_behind(&self, theirs: u64) -> Result<(), Error> {
        let event = Event::new(&self.device)?;
        // SAFETY: the caller guarantees the stream; the event exists.
        unsafe { result::event::record(event.handle, theirs as sys::CUstream) }
            .map_err(failed("marking a place in the stream of a view"))?;
        self.wait(&event)
    }

    /// Waits on the host for all work enqueued so far.
    ///
    /// # Errors
    /// [`Error::Device`]: the wait has failed, and the work may still be running. This library does not use its memory again
    /// before the device is known to be idle: every later call on the device ensures that.
    pub fn synchronize(&self) -> Result<(), Error> {
        let wait = |stream| {
            // SAFETY: the stream exists for as long as `self`.
            unsafe { result::stream::synchronize(stream) }.map_err(failed("waiting for the device"))
        };
        self.bound().and_then(wait).inspect_err(|_| self.device.doubt())
    }
}

/// Scalars from the first to the last entry of columns (rows × cols) with this stride.
fn extent(rows: usize, cols: usize, stride: usize) -> usize {
    cols.checked_sub(1).map_or(0, |before| before * stride + rows)
}

/// A copy of that shape, without source and destination.
fn columns<T>(rows: usize, cols: usize) -> sys::CUDA_MEMCPY2D_st {
    sys::CUDA_MEMCPY2D_st {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        srcHost: core::ptr::null(),
        srcDevice: 0,
        srcArray: core::ptr::null_mut(),
        srcPitch: 0,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
        dstHost: core::ptr::null_mut(),
        dstDevice: 0,
        dstArray: core::ptr::null_mut(),
        dstPitch: 0,
        WidthInBytes: rows * size_of::<T>(),
        Height: cols,
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.is_theirs && self.device.can_free() {
            // SAFETY: made by `with_priority`, destroyed only here.
            let _ = unsafe { result::stream::destroy(self.handle) };
        }
    }
}

/// A point in a stream for which other streams and the host can wait. It has no time stamps, which would cost time.
pub(crate) struct Event {
    handle: sys::CUevent,
    device: Device,
}

// SAFETY: the driver accepts event handles from any thread.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

impl Event {
    pub fn new(device: &Device) -> Result<Self, Error> {
        device.bind()?;
        let handle = result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)
            .map_err(failed("making an event on the device"))?;
        Ok(Self { handle, device: device.clone() })
    }

    /// Records the event after all work enqueued on `stream` so far. Waits enqueued earlier refer to the previous record.
    pub fn record(&self, stream: &Stream) -> Result<(), Error> {
        let stream = stream.bound()?;
        // SAFETY: both handles exist for as long as their owners, which are borrowed here.
        unsafe { result::event::record(self.handle, stream) }.map_err(failed("marking a place in a stream"))
    }

    /// Orders later work on a stream of the caller's after the work before the last record. The host does not wait.
    ///
    /// # Safety
    /// It is a stream of this device, in its primary context.
    pub unsafe fn holds_up(&self, theirs: u64) -> Result<(), Error> {
        self.device.bind()?;
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: the caller guarantees the stream; the event exists, and the driver keeps what it needs.
        unsafe { result::stream::wait_event(theirs as sys::CUstream, self.handle, flags) }
            .map_err(failed("ordering a stream of a view behind the batch"))
    }

    /// Whether the last record has been reached, or there is none.
    ///
    /// # Errors
    /// [`Error::Device`]: the work before the record may still be running.
    pub fn is_done(&self) -> Result<bool, Error> {
        self.device.bind()?;
        // SAFETY: the event exists for as long as `self`.
        match unsafe { result::event::query(self.handle) } {
            Ok(()) => Ok(true),
            Err(result::DriverError(sys::CUresult::CUDA_ERROR_NOT_READY)) => Ok(false),
            Err(error) => Err(failed("asking whether the device is done")(error)),
        }
    }

    /// Waits on the host until the last record is reached; does not wait if there is none.
    ///
    /// # Errors
    /// As [`Stream::synchronize`].
    pub fn synchronize(&self) -> Result<(), Error> {
        let wait = |()| {
            // SAFETY: the event exists for as long as `self`.
            unsafe { result::event::synchronize(self.handle) }.map_err(failed("waiting for the device"))
        };
        self.device.bind().and_then(wait).inspect_err(|_| self.device.doubt())
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.device.can_free() {
            // SAFETY: made by `new`, destroyed only here; the driver destroys it after the work that uses it is done.
            let _ = unsafe { result::event::destroy(self.handle) };
        }
    }
}
