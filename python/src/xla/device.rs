//! What XLA gives to a call on a device: its stream, and working memory.

use super::api::{Api, Error, Function, MemoryAllocateArgs, MemoryFreeArgs, StreamGetArgs};
use super::frame::{Call, Failure};
use core::mem::offset_of;
use core::ptr::{NonNull, null_mut};

/// The largest alignment for which XLA can be asked. In fact its memory begins at multiples of 256 bytes.
const ALIGNMENT: usize = 16;

/// Working memory that XLA has given.
pub struct DeviceMemory {
    data: *mut core::ffi::c_void,
    bytes: usize,
}

impl DeviceMemory {
    pub fn address(&self) -> u64 {
        self.data.addr() as u64
    }
}

impl Call<'_> {
    /// The stream of the call.
    ///
    /// # Errors
    /// Those of XLA.
    pub fn stream(&self) -> Result<u64, Failure> {
        let mut arguments = StreamGetArgs {
            struct_size: size_of::<StreamGetArgs>(),
            extension_start: null_mut(),
            context: self.0.context,
            stream: null_mut(),
        };
        // SAFETY: the structure is that of the function, and the context that of the call.
        unsafe { call(self.functions()?.stream_get, &mut arguments)? };
        Ok(arguments.stream.addr() as u64)
    }

    /// Working memory on the device, for the call's own work on its stream.
    ///
    /// # Errors
    /// Those of XLA.
    pub fn device_memory(&self, bytes: usize) -> Result<DeviceMemory, Failure> {
        let mut arguments = MemoryAllocateArgs {
            struct_size: size_of::<MemoryAllocateArgs>(),
            extension_start: null_mut(),
            context: self.0.context,
            size: bytes,
            alignment: ALIGNMENT,
            data: null_mut(),
        };
        // SAFETY: as above.
        unsafe { call(self.functions()?.memory_allocate, &mut arguments)? };
        Ok(DeviceMemory { data: arguments.data, bytes })
    }

    /// Returns working memory to XLA, which gives it to work on the stream that comes later.
    ///
    /// # Errors
    /// Those of XLA.
    pub fn free(&self, memory: DeviceMemory) -> Result<(), Failure> {
        let mut arguments = MemoryFreeArgs {
            struct_size: size_of::<MemoryFreeArgs>(),
            extension_start: null_mut(),
            context: self.0.context,
            size: memory.bytes,
            data: memory.data,
        };
        // SAFETY: as above; the memory is that which has been allocated.
        unsafe { call(self.functions()?.memory_free, &mut arguments) }
    }

    /// XLA's functions, if it has those of a device.
    fn functions(&self) -> Result<&Api, Failure> {
        // SAFETY: the table lives as long as XLA, and has as many functions as its size tells.
        let api = unsafe { self.0.api.as_ref() }.filter(|api| {
            api.struct_size >= offset_of!(Api, memory_free) + size_of::<Function<MemoryFreeArgs>>()
        });
        api.ok_or(Failure::Refused("XLA has no functions for memory of a device"))
    }
}

/// # Safety
/// The arguments are those of the function.
unsafe fn call<A>(function: Function<A>, arguments: &mut A) -> Result<(), Failure> {
    let function = function.ok_or(Failure::Refused("XLA lacks a function"))?;
    // SAFETY: as the caller guarantees.
    let error: *mut Error = unsafe { function(arguments) };
    NonNull::new(error).map_or(Ok(()), |error| Err(Failure::Theirs(error)))
}
