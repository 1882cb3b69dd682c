//! Device memory, page-locked host memory, streams, events, and the copies between them.
//!
//! Copies and launches are asked for on a [`Stream`] and go on after the call. What is asked for on one
//! stream happens in that order; an [`Event`] orders streams among each other and the host after a stream.
//! Nothing here waits for the whole device but the dropping of memory.

use super::device::{Device, failed, unfit};
use crate::error::Error;
use crate::scalar::Scalar;
use core::ffi::c_int;
use core::marker::PhantomData;
use core::ops::Range;
use core::ptr::NonNull;
use cudarc::driver::result;
use cudarc::driver::sys::{self, CUdeviceptr};

/// What copies and kernels may read and write.
///
/// # Safety
/// Any bits are a value.
pub(crate) unsafe trait Plain: Copy + Send + Sync + 'static {}

// SAFETY: f32 and f64.
unsafe impl<T: Scalar> Plain for T {}
// SAFETY: an integer.
unsafe impl Plain for i32 {}
// SAFETY: an integer.
unsafe impl Plain for u8 {}

/// Bytes of `len` scalars, at least one: the driver allocates no empty memory.
fn bytes_of<T>(len: usize) -> Result<usize, Error> {
    len.checked_mul(size_of::<T>())
        .map(|bytes| bytes.max(1))
        .ok_or_else(|| unfit(format!("{len} scalars are more bytes than can be counted")))
}

/// Memory of the device for `len` scalars, not initialized. Aligned to 256 bytes.
///
/// Dropping it waits until the device is idle, so that is nothing to do in the middle of a sweep.
pub(crate) struct DeviceBuffer<T> {
    address: CUdeviceptr,
    len: usize,
    device: Device,
    scalar: PhantomData<T>,
}

impl<T: Plain> DeviceBuffer<T> {
    /// # Errors
    /// [`Error::Device`] where the device has not that much memory left.
    pub fn new(device: &Device, len: usize) -> Result<Self, Error> {
        let bytes = bytes_of::<T>(len)?;
        device.bind()?;
        // SAFETY: nothing reads the memory as scalars before it has been written by a copy or a kernel.
        let address = unsafe { result::malloc_sync(bytes) }
            .map_err(failed(format_args!("allocating {bytes} bytes on the device")))?;
        Ok(Self { address, len, device: device.clone(), scalar: PhantomData })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The scalars in `range`.
    pub fn slice(&self, range: Range<usize>) -> DeviceSlice<'_, T> {
        debug_assert!(range.start <= range.end && range.end <= self.len);
        let address = self.address + (range.start * size_of::<T>()) as CUdeviceptr;
        DeviceSlice { address, len: range.len(), buffer: PhantomData }
    }
}

impl<T> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            // SAFETY: allocated by `new` on this device, freed only here. The driver waits for what still
            // uses it.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

/// A place in a [`DeviceBuffer`]. What may be done to it when is the business of whoever asks for copies and
/// launches.
pub(crate) struct DeviceSlice<'a, T> {
    address: CUdeviceptr,
    len: usize,
    buffer: PhantomData<&'a DeviceBuffer<T>>,
}

impl<T> Clone for DeviceSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for DeviceSlice<'_, T> {}

impl<T> DeviceSlice<'_, T> {
    pub fn len(&self) -> usize {
        self.len
    }

    /// The scalars in `range` of these.
    #[cfg(feature = "fake-cuda")]
    pub fn part(&self, range: Range<usize>) -> Self {
        debug_assert!(range.start <= range.end && range.end <= self.len);
        let address = self.address + (range.start * size_of::<T>()) as CUdeviceptr;
        Self { address, len: range.len(), buffer: PhantomData }
    }

    /// What a kernel takes as a pointer.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }
}

/// Page-locked host memory for scalars, zero at first, aligned to a page: the only host memory that is copied
/// at the link's rate and while the host goes on. Good for reading and writing by the host (not
/// write-combined).
pub(crate) struct Pinned<T> {
    start: NonNull<T>,
    len: usize,
    device: Device,
}

// SAFETY: it owns its memory, and scalars may be used from any thread.
unsafe impl<T: Plain> Send for Pinned<T> {}
// SAFETY: shared references only read; copies and raw writes are unsafe to ask for.
unsafe impl<T: Plain> Sync for Pinned<T> {}

impl<T: Plain> Pinned<T> {
    /// Cost: locking and clearing pages, about a second for some gigabytes.
    ///
    /// # Errors
    /// [`Error::Device`] where the host has not that much memory that can be locked.
    pub fn new(device: &Device, len: usize) -> Result<Self, Error> {
        let bytes = bytes_of::<T>(len)?;
        device.bind()?;
        let flags = 0;
        // SAFETY: the memory is written below before anything reads it.
        let start = unsafe { result::malloc_host(bytes, flags) }
            .map_err(failed(format_args!("allocating {bytes} bytes of page-locked host memory")))?;
        let start = NonNull::new(start.cast::<T>())
            .ok_or_else(|| unfit("the driver allocated page-locked host memory at no address"))?;
        // SAFETY: `bytes` bytes were just allocated and are nobody else's.
        unsafe { start.cast::<u8>().write_bytes(0, bytes) };
        Ok(Self { start, len, device: device.clone() })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// For writing while copies to or from other parts are going on.
    pub fn as_ptr(&self) -> *mut T {
        self.start.as_ptr()
    }

    /// What a kernel takes as a pointer to the scalar at `offset`: the device reaches page-locked memory by
    /// the host's addresses.
    pub fn address(&self, offset: usize) -> u64 {
        debug_assert!(offset <= self.len);
        (self.start.as_ptr().addr() + offset * size_of::<T>()) as u64
    }

    /// Not for memory that a copy is still writing to: see [`Stream::download`].
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: `len` scalars were allocated and set; all-zero bytes are a scalar. Whoever asks for a copy
        // into them has promised not to come here before it is done.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// Not for memory that takes part in a copy: see [`Stream::upload`] and [`Stream::download`].
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as for `as_slice`, and borrowed alone.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            // SAFETY: allocated by `new`, freed only here. Whoever asked for copies has promised that they
            // are done.
            let _ = unsafe { result::free_host(self.start.as_ptr().cast()) };
        }
    }
}

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
        debug_assert!(range.start <= range.end && range.end <= from.len && range.len() == to.len);
        if range.is_empty() {
            return Ok(());
        }
        let bytes = range.len() * size_of::<T>();
        let stream = self.bound()?;
        // SAFETY: the range lies in `from` and is as long as `to`; the caller vouches for the time until it
        // is done.
        unsafe {
            let source = from.as_ptr().add(range.start).cast();
            sys::cuMemcpyHtoDAsync_v2(to.address, source, bytes, stream).result()
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
        debug_assert!(range.start <= range.end && range.end <= to.len && range.len() == from.len);
        if range.is_empty() {
            return Ok(());
        }
        let bytes = range.len() * size_of::<T>();
        let stream = self.bound()?;
        // SAFETY: the range lies in `to` and is as long as `from`; the caller vouches for the time until it
        // is done.
        unsafe {
            let target = to.as_ptr().add(range.start).cast();
            sys::cuMemcpyDtoHAsync_v2(target, from.address, bytes, stream).result()
        }
        .map_err(failed("copying from the device"))
    }

    /// Copies a packed matrix of host memory (rows × cols, from its start) to the device, where columns are
    /// `stride` apart.
    ///
    /// # Safety
    /// As [`upload`](Self::upload), for the columns at `to`.
    pub unsafe fn upload_columns<T: Plain>(
        &self,
        from: &Pinned<T>,
        (rows, cols): (usize, usize),
        to: DeviceSlice<'_, T>,
        stride: usize,
    ) -> Result<(), Error> {
        debug_assert!(rows * cols <= from.len && (cols == 0 || (cols - 1) * stride + rows <= to.len));
        let copy = sys::CUDA_MEMCPY2D_st {
            srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
            srcHost: from.as_ptr().cast_const().cast(),
            srcPitch: rows * size_of::<T>(),
            dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstDevice: to.address,
            dstPitch: stride * size_of::<T>(),
            ..columns::<T>(rows, cols)
        };
        // SAFETY: forwarded to the caller; the ranges are inside both memories.
        unsafe { self.copy_columns(&copy, "copying to the device") }
    }

    /// Copies columns of the device, `stride` apart, to a packed matrix of host memory (rows × cols, from its
    /// start).
    ///
    /// # Safety
    /// As [`download`](Self::download), for the columns at `from`.
    pub unsafe fn download_columns<T: Plain>(
        &self,
        from: DeviceSlice<'_, T>,
        stride: usize,
        (rows, cols): (usize, usize),
        to: &Pinned<T>,
    ) -> Result<(), Error> {
        debug_assert!(rows * cols <= to.len && (cols == 0 || (cols - 1) * stride + rows <= from.len));
        let copy = sys::CUDA_MEMCPY2D_st {
            srcMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcDevice: from.address,
            srcPitch: stride * size_of::<T>(),
            dstMemoryType: sys::CUmemorytype::CU_MEMORYTYPE_HOST,
            dstHost: to.as_ptr().cast(),
            dstPitch: rows * size_of::<T>(),
            ..columns::<T>(rows, cols)
        };
        // SAFETY: as in `upload_columns`.
        unsafe { self.copy_columns(&copy, "copying from the device") }
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
    #[cfg(feature = "fake-cuda")]
    pub unsafe fn copy<T: Plain>(
        &self,
        from: DeviceSlice<'_, T>,
        to: DeviceSlice<'_, T>,
    ) -> Result<(), Error> {
        debug_assert!(from.len == to.len);
        let stream = self.bound()?;
        // SAFETY: forwarded to the caller; both are as long.
        unsafe { result::memcpy_dtod_async(to.address, from.address, from.len * size_of::<T>(), stream) }
            .map_err(failed("copying on the device"))
    }

    /// Sets all bytes to zero.
    ///
    /// # Safety
    /// Until it is done, the memory lives and nothing but this stream uses it.
    pub unsafe fn clear<T: Plain>(&self, at: DeviceSlice<'_, T>) -> Result<(), Error> {
        let stream = self.bound()?;
        // SAFETY: forwarded to the caller.
        unsafe { result::memset_d8_async(at.address, 0, at.len * size_of::<T>(), stream) }
            .map_err(failed("clearing memory of the device"))
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

    /// The host waits for everything asked for so far.
    pub fn synchronize(&self) -> Result<(), Error> {
        let stream = self.bound()?;
        // SAFETY: the stream lives for as long as `self`.
        unsafe { result::stream::synchronize(stream) }.map_err(failed("waiting for the device"))
    }
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
        if self.device.bind().is_ok() {
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
    pub fn synchronize(&self) -> Result<(), Error> {
        self.device.bind()?;
        // SAFETY: the event lives for as long as `self`.
        unsafe { result::event::synchronize(self.handle) }.map_err(failed("waiting for the device"))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.device.bind().is_ok() {
            // SAFETY: made by `new`, destroyed only here; the driver waits with it for what is still going
            // on.
            let _ = unsafe { result::event::destroy(self.handle) };
        }
    }
}
