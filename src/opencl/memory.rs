//! Device memory.

use super::device::Device;
use super::error::failed;
use crate::error::{DeviceErrorKind, Error};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use opencl3::types::cl_mem;

/// Memory of the device for `len` scalars, not initialized.
pub(super) struct Memory<T> {
    buffer: Buffer<T>,
    len: usize,
}

impl<T> Memory<T> {
    /// # Errors
    /// [`Error::Device`] if the device does not have that much memory, or not in one piece.
    pub fn new(device: &Device, len: usize) -> Result<Self, Error> {
        // OpenCL allocates no empty buffers.
        let count = len.max(1);
        let Some(bytes) = count.checked_mul(size_of::<T>()) else {
            let message = format!("{len} scalars are more bytes than can be counted");
            return Err(Error::Device { kind: DeviceErrorKind::OutOfMemory, message });
        };
        // SAFETY: without a flag that names host memory, none is used.
        let buffer =
            unsafe { Buffer::create(device.context(), CL_MEM_READ_WRITE, count, core::ptr::null_mut()) };
        let buffer = buffer.map_err(failed(format_args!("allocating {bytes} bytes on {}", device.name())))?;
        Ok(Self { buffer, len })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The handle, as the value of a kernel's argument.
    pub fn handle(&self) -> cl_mem {
        self.buffer.get()
    }
}
