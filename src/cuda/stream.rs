//! Streams, events, and the copies between the memories.
//!
//! Copies and launches are asked for on a [`Stream`] and go on after the call. What is asked for on one
//! stream happens in that order; an [`Event`] orders streams among each other and the host after a stream.

use super::device::Device;
use super::error::failed;
use super::memory::{DeviceSlice, Pinned};
use super::plain::Plain;
use crate::error::Error;
use core::ffi::c_int;
use core::ops::Range;
use cudarc::driver::{result, sys};

/// A queue of copies and launches, which happen in order and, among streams, at the same time.
///
/// Dropping it does not wait: what was asked for still happens.
pub(crate) struct Stream {
    handle: sys::CUstream,
    device: Device,
}

// SAFETY: the driver takes stream handles from any thread.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

impl Stream {
    pub fn new(device: &Device) -> Result<Self, Error> {
        Self::with_priority(device, 0)
    }

    /// Its launches begin before those of other streams that are waiting.
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
        Ok(Self { handle, device: device.clone() })
    }

    /// For launches: the driver's name of the stream, with the calling thread turned to its device.
    pub(super) fn bound(&self) -> Result<sys::CUstream, Error> {
        self.device.bind()?;
        Ok(self.handle)
    }

    /// Copies `range` of host memory to the device.
    ///
    /// # Safety
    /// Until the copy is done (an event recorded after it has been waited for), both memories live, nothing
    /// writes to that range of `from`, and nothing but this stream uses `to`.
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
        // SAFETY: the range lies in `from` and is as long as `to`; the caller vouches for the time until it
        // is done.
        unsafe {
            let source = from.as_ptr().add(range.start).cast();
            sys::cuMemcpyHtoDAsync_v2(to.address(), source, bytes, stream).result()
        }
        .map_err(failed("copying to the device"))
    }

    /// Copies from the device to `range` of host memory.
    ///
    /// # Safety
    /// Until the copy is done (an event recorded after it has been waited for), both memories live, nothing
    /// reads or writes that range of `to` or holds a reference to it, and nothing but this stream writes
    /// `from`.
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
        // SAFETY: the range lies in `to` and is as long as `from`; the caller vouches for the time until it
        // is done.
        unsafe {
            let target = to.as_ptr().add(range.start).cast();
            sys::cuMemcpyDtoHAsync_v2(target, from.address(), bytes, stream).result()
        }
        .map_err(failed("copying from the device"))
    }

    /// Copies columns of host memory (rows × cols, from its start) to the device; in either they are so many scalars apart.
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
            // SAFETY: forwarded to the caller.
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
        // SAFETY: forwarded to the caller; the ranges are inside both memories.
        unsafe { self.copy_columns(&copy, "copying to the device") }
    }

    /// Copies columns of the device (rows × cols) to host memory, from its start; in either they are so many scalars apart.
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
            // SAFETY: forwarded to the caller.
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

    /// Copies columns of the device (rows × cols) to others there, so many scalars apart.
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
        // SAFETY: forwarded to the caller.
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
        // SAFETY: forwarded to the caller; both are as long.
        unsafe {
            result::memcpy_dtod_async(to.address(), from.address(), from.len() * size_of::<T>(), stream)
        }
        .map_err(failed("copying on the device"))
    }

    /// Sets all bytes to zero.
    ///
    /// # Safety
    /// Until it is done, the memory lives and nothing but this stream uses it.
    pub unsafe fn clear<T: Plain>(&self, at: DeviceSlice<'_, T>) -> Result<(), Error> {
        // SAFETY: forwarded to the caller.
        unsafe { self.fill(at, 0) }
    }

    /// Sets all bytes to this one.
    ///
    /// # Safety
    /// As [`clear`](Self::clear).
    pub unsafe fn fill<T: Plain>(&self, at: DeviceSlice<'_, T>, byte: u8) -> Result<(), Error> {
        if at.len() == 0 {
            return Ok(());
        }
        let stream = self.bound()?;
        // SAFETY: forwarded to the caller.
        unsafe { result::memset_d8_async(at.address(), byte, at.len() * size_of::<T>(), stream) }
            .map_err(failed("setting memory of the device"))
    }

    /// What is asked for from now on happens after what `event` was last recorded behind. The host does not
    /// wait.
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        let stream = self.bound()?;
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: both handles live for as long as their owners, borrowed here; the driver keeps what it
        // needs.
        unsafe { result::stream::wait_event(stream, event.handle, flags) }
            .map_err(failed("ordering one stream behind another"))
    }

    /// What is asked for from now on happens after what has been asked for so far on somebody else's stream. The host does not wait.
    ///
    /// # Safety
    /// It is a stream of this device, in its primary context.
    pub unsafe fn wait_behind(&self, theirs: u64) -> Result<(), Error> {
        let event = Event::new(&self.device)?;
        // SAFETY: forwarded to the caller; the event lives.
        unsafe { result::event::record(event.handle, theirs as sys::CUstream) }
            .map_err(failed("marking a place in the stream of a view"))?;
        self.wait(&event)
    }

    /// The host waits for everything asked for so far.
    ///
    /// # Errors
    /// [`Error::Device`]: the wait has failed, and everything may still go on. No memory that it uses is used again, by this library,
    /// before the device is known to be idle: every later call on the device sees to that.
    pub fn synchronize(&self) -> Result<(), Error> {
        let wait = |stream| {
            // SAFETY: the stream lives for as long as `self`.
            unsafe { result::stream::synchronize(stream) }.map_err(failed("waiting for the device"))
        };
        self.bound().and_then(wait).inspect_err(|_| self.device.doubt())
    }
}

/// Scalars from the first to the last of columns (rows × cols) so far apart.
fn extent(rows: usize, cols: usize, stride: usize) -> usize {
    cols.checked_sub(1).map_or(0, |before| before * stride + rows)
}

/// A copy of that shape, between nowhere and nowhere.
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
        if self.device.can_free() {
            // SAFETY: made by `new`, destroyed only here.
            let _ = unsafe { result::stream::destroy(self.handle) };
        }
    }
}

/// A mark in a stream that other streams and the host can wait for. It takes no time stamps, which would cost
/// some.
pub(crate) struct Event {
    handle: sys::CUevent,
    device: Device,
}

// SAFETY: the driver takes event handles from any thread.
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

    /// Puts the mark behind what has been asked for on `stream` so far. Waits asked for earlier keep their
    /// old place.
    pub fn record(&self, stream: &Stream) -> Result<(), Error> {
        let stream = stream.bound()?;
        // SAFETY: both handles live for as long as their owners, borrowed here.
        unsafe { result::event::record(self.handle, stream) }.map_err(failed("marking a place in a stream"))
    }

    /// The host waits until the last recorded place is reached; not at all if there is none.
    ///
    /// # Errors
    /// As [`Stream::synchronize`].
    pub fn synchronize(&self) -> Result<(), Error> {
        let wait = |()| {
            // SAFETY: the event lives for as long as `self`.
            unsafe { result::event::synchronize(self.handle) }.map_err(failed("waiting for the device"))
        };
        self.device.bind().and_then(wait).inspect_err(|_| self.device.doubt())
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.device.can_free() {
            // SAFETY: made by `new`, destroyed only here; the driver waits with it for what is still going
            // on.
            let _ = unsafe { result::event::destroy(self.handle) };
        }
    }
}
