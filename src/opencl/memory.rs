//! Device memory, and host memory that is copied at the link's rate.

use super::device::Device;
use super::error::failed;
use crate::error::{Error, other, out_of_memory};
use core::ptr::NonNull;
use opencl3::memory::{Buffer, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE, ClMem};
use opencl3::types::{CL_BLOCKING, cl_mem, cl_mem_flags};

/// A buffer for `len` scalars, at least one, because OpenCL does not allocate empty ones.
fn buffer<T>(device: &Device, flags: cl_mem_flags, len: usize) -> Result<Buffer<T>, Error> {
    let count = len.max(1);
    let Some(bytes) = count.checked_mul(size_of::<T>()) else {
        return Err(out_of_memory(format!("{len} scalars are more bytes than can be counted")));
    };
    // SAFETY: without a flag that names host memory, none is used.
    let buffer = unsafe { Buffer::create(device.context(), flags, count, core::ptr::null_mut()) };
    buffer.map_err(failed(format_args!("allocating {bytes} bytes on {}", device.name())))
}

/// Memory of the device for `len` scalars, not initialized.
pub(crate) struct Memory<T> {
    buffer: Buffer<T>,
    len: usize,
}

impl<T> Memory<T> {
    /// # Errors
    /// [`Error::Device`] if the device does not have that much memory, or not in one piece.
    pub fn new(device: &Device, len: usize) -> Result<Self, Error> {
        Ok(Self { buffer: buffer(device, CL_MEM_READ_WRITE, len)?, len })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The handle, as the value of a kernel's argument.
    pub fn handle(&self) -> cl_mem {
        self.buffer.get()
    }
}

/// Host memory that the driver has allocated, for `len` scalars, initially zero: most drivers lock its pages, and copy from and
/// to it at the link's rate.
pub(crate) struct Locked<T> {
    /// Mapped at `start` for as long as it exists.
    buffer: Buffer<T>,
    start: NonNull<T>,
    len: usize,
    device: Device,
}

// SAFETY: it owns its memory, and scalars may be used from any thread.
unsafe impl<T: Send> Send for Locked<T> {}
// SAFETY: shared references only read; copies and raw writes are requested by unsafe calls.
unsafe impl<T: Sync> Sync for Locked<T> {}

impl<T: Copy> Locked<T> {
    /// # Errors
    /// [`Error::Device`] if the host does not have that much memory.
    pub fn new(device: &Device, len: usize) -> Result<Self, Error> {
        let buffer = buffer::<T>(device, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, len)?;
        let (bytes, mut start) = (len.max(1) * size_of::<T>(), core::ptr::null_mut());
        let flags = CL_MAP_READ | CL_MAP_WRITE;
        // SAFETY: the buffer has these bytes, and `Drop` unmaps it.
        let mapped = unsafe {
            device.queue().enqueue_map_buffer(&buffer, CL_BLOCKING, flags, 0, bytes, &mut start, &[])
        };
        mapped.map_err(failed(format_args!("mapping {bytes} bytes of host memory")))?;
        let start = NonNull::new(start.cast::<T>())
            .ok_or_else(|| other("the driver mapped host memory at no address"))?;
        // SAFETY: the driver has mapped `bytes` bytes there, and this is their only owner.
        unsafe { start.cast::<u8>().write_bytes(0, bytes) };
        Ok(Self { buffer, start, len, device: device.clone() })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn as_ptr(&self) -> *mut T {
        self.start.as_ptr()
    }

    /// # Errors
    /// [`Error::Device`] if a wait has failed: a copy may still be running.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T], Error> {
        if !self.device.is_doubtless() {
            return Err(other("a wait for the device has failed, so its memory may be in use"));
        }
        // SAFETY: `len` scalars are mapped and initialized, and borrowed exclusively; no copy is in flight, as callers guarantee.
        Ok(unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) })
    }
}

impl<T> Drop for Locked<T> {
    fn drop(&mut self) {
        if self.device.is_doubtless() {
            let (queue, start) = (self.device.queue(), self.start.as_ptr().cast());
            // SAFETY: mapped there by `new`, unmapped only here; copies have been waited for, as callers guarantee.
            let _ = unsafe { queue.enqueue_unmap_mem_object(self.buffer.get(), start, &[]) };
        } else {
            // A copy may still use the memory: another reference keeps it, and it stays mapped.
            // SAFETY: the buffer exists.
            let _ = unsafe { opencl3::memory::retain_mem_object(self.buffer.get()) };
        }
    }
}
