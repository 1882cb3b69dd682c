//! Device memory, and host memory that is copied at the link's rate.

use super::device::Device;
use super::error::failed;
use super::handle::Handle;
use crate::error::{DeviceErrorKind, Error, other, out_of_memory};
use core::ffi::c_void;
use core::ptr::{NonNull, null, null_mut};
use opencl3::command_queue::{enqueue_map_buffer, enqueue_unmap_mem_object, enqueue_write_buffer, flush};
use opencl3::error_codes::CL_OUT_OF_RESOURCES;
use opencl3::memory::{
    CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE, create_buffer, retain_mem_object,
};
use opencl3::types::{CL_BLOCKING, cl_mem_flags};

/// An allocation that fails, as an error.
fn no_room(device: &Device, bytes: usize) -> impl FnOnce(i32) -> Error {
    move |code| {
        let error = failed(format_args!("allocating {bytes} bytes on {}", device.name()))(code);
        match error {
            // Elsewhere it may mean anything.
            Error::Device { message, .. } if code == CL_OUT_OF_RESOURCES => {
                Error::Device { kind: DeviceErrorKind::OutOfMemory, message }
            }
            error => error,
        }
    }
}

/// A buffer for `len` scalars, at least one, because OpenCL does not allocate empty ones; and its bytes.
fn buffer<T>(device: &Device, flags: cl_mem_flags, len: usize) -> Result<(Handle, usize), Error> {
    let bytes = len.max(1).checked_mul(size_of::<T>());
    let bytes =
        bytes.ok_or_else(|| out_of_memory(format!("{len} scalars are more bytes than can be counted")))?;
    // SAFETY: without a flag that names host memory, none is used.
    let buffer = unsafe { create_buffer(device.context()?, flags, bytes, null_mut()) };
    // SAFETY: a new buffer.
    buffer.map(|buffer| (unsafe { Handle::buffer(buffer) }, bytes)).map_err(no_room(device, bytes))
}

/// Memory of the device for `len` scalars, not initialized.
pub(crate) struct Memory<T> {
    buffer: Handle,
    len: usize,
    scalar: core::marker::PhantomData<T>,
}

impl<T> Memory<T> {
    /// # Errors
    /// [`Error::Device`] if the device does not have that much memory, or not in one piece.
    pub fn new(device: &Device, len: usize) -> Result<Self, Error> {
        let (buffer, bytes) = buffer::<T>(device, CL_MEM_READ_WRITE, len)?;
        let zeros = [0_u8; 8];
        let first = zeros.len().min(bytes);
        // Drivers allocate a buffer when it is first used. This must not fail later, in the middle of a modification.
        // SAFETY: the buffer has these bytes, and the copy is done when the call returns.
        let event = unsafe {
            let (queue, zeros) = (device.queue()?, zeros.as_ptr().cast::<c_void>());
            enqueue_write_buffer(queue, buffer.get(), CL_BLOCKING, 0, first, zeros, 0, null())
        };
        // SAFETY: a new event.
        event.map(|event| drop(unsafe { Handle::event(event) })).map_err(no_room(device, bytes))?;
        Ok(Self { buffer, len, scalar: core::marker::PhantomData })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The buffer, as the value of a kernel's argument.
    pub fn handle(&self) -> *mut c_void {
        self.buffer.get()
    }
}

/// Host memory that the driver has allocated, for `len` scalars, initially zero: most drivers lock its pages, and copy from and
/// to it at the link's rate.
pub(crate) struct Locked<T> {
    /// Mapped at `start` for as long as it exists.
    buffer: Handle,
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
        let (buffer, bytes) = buffer::<T>(device, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, len)?;
        let (mut start, flags) = (null_mut(), CL_MAP_READ | CL_MAP_WRITE);
        // SAFETY: the buffer has these bytes, and `Drop` unmaps it.
        let mapped = unsafe {
            let queue = device.queue()?;
            enqueue_map_buffer(queue, buffer.get(), CL_BLOCKING, flags, 0, bytes, &mut start, 0, null())
        };
        // SAFETY: a new event.
        mapped.map(|event| drop(unsafe { Handle::event(event) })).map_err(no_room(device, bytes))?;
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
        // SAFETY: `len` scalars are mapped and initialized, and borrowed exclusively; no copy is in flight, as callers
        // guarantee.
        Ok(unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) })
    }
}

impl<T> Drop for Locked<T> {
    fn drop(&mut self) {
        if !self.device.is_doubtless() {
            // A copy may still use the memory: another reference keeps it, and it stays mapped.
            // SAFETY: the buffer exists.
            let _ = unsafe { retain_mem_object(self.buffer.get()) };
        } else if let Ok(queue) = self.device.queue() {
            // SAFETY: mapped there by `new`, unmapped only here; copies have been waited for, as callers guarantee.
            let unmapped = unsafe {
                enqueue_unmap_mem_object(queue, self.buffer.get(), self.start.as_ptr().cast(), 0, null())
            };
            // SAFETY: a new event.
            drop(unmapped.map(|event| unsafe { Handle::event(event) }));
            let _ = flush(queue);
        }
    }
}
