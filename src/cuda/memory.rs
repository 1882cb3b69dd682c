//! Device memory and page-locked host memory.
//!
//! Copies and launches are asynchronous: see [`stream`](super::stream). Of this module, only the freeing of memory waits for
//! the whole device.

use super::block::Block;
use super::device::Device;
use super::error::failed;
use super::launching;
use super::plain::Plain;
use crate::error::{Error, other, out_of_memory};
use core::marker::PhantomData;
use core::ops::Range;
use core::ptr::NonNull;
use cudarc::driver::result;
use cudarc::driver::sys::CUdeviceptr;

/// Bytes of `len` scalars, at least one, because the driver does not allocate empty memory.
fn bytes_of<T>(len: usize) -> Result<usize, Error> {
    len.checked_mul(size_of::<T>())
        .map(|bytes| bytes.max(1))
        .ok_or_else(|| out_of_memory(format!("{len} scalars are more bytes than can be counted")))
}

/// Memory of the device for `len` scalars, not initialized. Aligned to 256 bytes.
///
/// Dropping it waits until the device is idle, so it must not be dropped in the middle of a sweep.
pub(crate) struct DeviceBuffer<T> {
    address: CUdeviceptr,
    len: usize,
    device: Device,
    scalar: PhantomData<T>,
}

impl<T: Plain> DeviceBuffer<T> {
    /// # Errors
    /// [`Error::Device`] if the device does not have that much memory left.
    pub fn new(device: &Device, len: usize) -> Result<Self, Error> {
        let bytes = bytes_of::<T>(len)?;
        device.bind()?;
        let guard = launching::no_launches();
        // SAFETY: no code reads the memory as scalars before a copy or a kernel has written it.
        let address = unsafe { result::malloc_sync(bytes) }
            .map_err(failed(format_args!("allocating {bytes} bytes on the device")))?;
        drop(guard);
        Ok(Self { address, len, device: device.clone(), scalar: PhantomData })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn device(&self) -> &Device {
        &self.device
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
        if self.device.can_free() {
            let _guard = launching::no_launches();
            // SAFETY: allocated by `new` on this device, freed only here. The driver waits for work that still uses it.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

/// A range of a [`DeviceBuffer`], or of other memory that kernels access. Callers that enqueue copies and launches are responsible for
/// when it may be used.
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
    /// An empty slice.
    pub fn empty() -> Self {
        Self { address: 0, len: 0, buffer: PhantomData }
    }

    /// A slice of memory that the caller manages.
    ///
    /// # Safety
    /// There are this many scalars in device memory, for the lifetime of the slice.
    pub(super) unsafe fn at(address: u64, len: usize) -> Self {
        Self { address, len, buffer: PhantomData }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The scalars in `range` of these.
    pub fn part(&self, range: Range<usize>) -> Self {
        debug_assert!(range.start <= range.end && range.end <= self.len);
        let address = self.address + (range.start * size_of::<T>()) as CUdeviceptr;
        Self { address, len: range.len(), buffer: PhantomData }
    }

    /// The same memory for a kernel that finds each scalar by a distance from the address of `offset`, which may be outside.
    pub(super) fn moved(&self, offset: usize) -> Self {
        Self { address: self.address.wrapping_add((offset * size_of::<T>()) as CUdeviceptr), ..*self }
    }

    /// The address, as the value of a kernel's pointer parameter.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }
}

/// Bytes of page-locked memory up to which idle memory is kept: allocating and freeing it takes a millisecond.
const KEPT_BYTES: usize = 1 << 20;

/// Bytes that are allocated for a request of this many. Memory that is kept has only a few sizes.
fn block_bytes(bytes: usize) -> usize {
    /// A page.
    const LEAST: usize = 4 << 10;
    if bytes <= KEPT_BYTES { bytes.next_power_of_two().max(LEAST) } else { bytes }
}

/// Page-locked host memory for scalars, initially zero, aligned to a page. Only such memory is copied at the link's rate and
/// asynchronously. The host can read and write it at full speed (it is not write-combined).
pub(crate) struct Pinned<T> {
    start: NonNull<T>,
    len: usize,
    device: Device,
}

// SAFETY: it owns its memory, and scalars may be used from any thread.
unsafe impl<T: Plain> Send for Pinned<T> {}
// SAFETY: shared references only read; copies and raw writes are requested by unsafe calls.
unsafe impl<T: Plain> Sync for Pinned<T> {}

impl<T: Plain> Pinned<T> {
    /// Cost: locking and clearing pages, about a second for some gigabytes. A small request uses an idle block of the device,
    /// if there is one.
    ///
    /// # Errors
    /// [`Error::Device`] if the host does not have that much memory that can be locked.
    pub fn new(device: &Device, len: usize) -> Result<Self, Error> {
        let bytes = bytes_of::<T>(len)?;
        device.bind()?;
        let bytes = block_bytes(bytes);
        let idle = if bytes <= KEPT_BYTES { device.idle_block(bytes) } else { None };
        let start = match idle.and_then(|mut block| block.start.take()) {
            Some(start) => start.cast::<T>(),
            None => {
                let flags = 0;
                let _guard = launching::no_launches();
                // SAFETY: the memory is written below before any code reads it.
                let start = unsafe { result::malloc_host(bytes, flags) }
                    .map_err(failed(format_args!("allocating {bytes} bytes of page-locked host memory")))?;
                NonNull::new(start.cast::<T>())
                    .ok_or_else(|| other("the driver allocated page-locked host memory at no address"))?
            }
        };
        // SAFETY: `bytes` bytes were allocated, and this is their only owner.
        unsafe { start.cast::<u8>().write_bytes(0, bytes) };
        Ok(Self { start, len, device: device.clone() })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// For writing while copies from or to other parts are in flight.
    pub fn as_ptr(&self) -> *mut T {
        self.start.as_ptr()
    }

    /// The address of the scalar at `offset`, as the value of a kernel's pointer parameter: the device accesses page-locked
    /// memory by the host's addresses.
    pub fn address(&self, offset: usize) -> u64 {
        debug_assert!(offset <= self.len);
        (self.start.as_ptr().addr() + offset * size_of::<T>()) as u64
    }

    /// The memory as kernels access it.
    pub fn mapped(&self) -> DeviceSlice<'_, T> {
        DeviceSlice { address: self.address(0), len: self.len, buffer: PhantomData }
    }

    /// Some of the scalars, while copies of others may be in flight.
    ///
    /// # Errors
    /// As [`as_mut_slice`](Self::as_mut_slice).
    ///
    /// # Safety
    /// No copy in flight reads or writes these.
    pub unsafe fn part_mut(&mut self, range: Range<usize>) -> Result<&mut [T], Error> {
        self.device.doubtless()?;
        debug_assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: they were allocated and initialized, as for `as_slice`, and are borrowed exclusively; the caller guarantees the
        // rest.
        Ok(unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr().add(range.start), range.len()) })
    }

    /// Not for memory that a copy in flight writes: see [`Stream::download`](super::stream::Stream::download).
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: `len` scalars were allocated and initialized; zero bytes are a valid scalar. Callers that enqueue a copy to
        // this memory guarantee that they do not call this before it is done.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// Not for memory of a copy that has not been waited for: see [`Stream::upload`](super::stream::Stream::upload) and
    /// [`Stream::download`](super::stream::Stream::download).
    ///
    /// # Errors
    /// [`Error::Device`] if a wait has failed and the device is not known to have been idle since.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T], Error> {
        self.device.doubtless()?;
        // SAFETY: as for `as_slice`, and borrowed exclusively; after a failed wait no copy is in flight.
        Ok(unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) })
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        // Otherwise it is leaked: a copy may still write to it.
        if !self.device.can_free() {
            return;
        }
        // Copies have been waited for, as their callers guarantee, or the device has been idle since a wait failed. The product
        // does not overflow: `new` has checked it.
        let bytes = block_bytes((self.len * size_of::<T>()).max(1));
        if bytes <= KEPT_BYTES {
            let (start, context) = (Some(self.start.cast()), self.device.context());
            self.device.keep_block(Block { bytes, start, context });
        } else {
            let _guard = launching::no_launches();
            // SAFETY: allocated by `new`, freed only here; no copy is in flight.
            let _ = unsafe { result::free_host(self.start.as_ptr().cast()) };
        }
    }
}
