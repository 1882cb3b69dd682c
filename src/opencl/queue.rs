//! Command queues: copies and kernels, one after the other.

use super::device::Device;
use super::error::failed;
use super::memory::Memory;
use crate::error::Error;
use core::ffi::c_void;
use opencl3::command_queue::{
    CommandQueue, enqueue_nd_range_kernel, enqueue_read_buffer, enqueue_write_buffer,
};
use opencl3::event::Event;
use opencl3::kernel::Kernel;
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;

/// Work-items of a work-group, unless the kernel or the device permits fewer. Always the same: some drivers compile a kernel
/// again for each size.
const GROUP: usize = 64;

/// A queue whose commands are executed in order.
pub(super) struct Queue {
    queue: CommandQueue,
}

impl Queue {
    pub fn new(device: &Device) -> Result<Self, Error> {
        // SAFETY: the device is the context's.
        let queue = unsafe { CommandQueue::create(device.context(), device.id(), 0) };
        Ok(Self { queue: queue.map_err(failed(format_args!("making a queue on {}", device.name())))? })
    }

    /// Copies scalars to the start of device memory, after all earlier commands, and waits for it.
    pub fn write<T: Copy>(&self, from: &[T], to: &Memory<T>) -> Result<(), Error> {
        assert!(from.len() <= to.len());
        if from.is_empty() {
            return Ok(());
        }
        let (bytes, start) = (size_of_val(from), from.as_ptr().cast::<c_void>());
        // SAFETY: both memories have that many scalars, and the copy is done when the call returns.
        let event = unsafe {
            let (queue, to) = (self.queue.get(), to.handle());
            enqueue_write_buffer(queue, to, CL_BLOCKING, 0, bytes, start, 0, core::ptr::null())
        };
        event.map(|event| drop(Event::new(event))).map_err(failed("copying to the device"))
    }

    /// Copies scalars from the start of device memory, after all earlier commands, and waits for it.
    pub fn read<T: Copy>(&self, from: &Memory<T>, to: &mut [T]) -> Result<(), Error> {
        assert!(to.len() <= from.len());
        if to.is_empty() {
            return Ok(());
        }
        let (bytes, start) = (size_of_val(to), to.as_mut_ptr().cast::<c_void>());
        // SAFETY: as in `write`; any bits are a scalar.
        let event = unsafe {
            let (queue, from) = (self.queue.get(), from.handle());
            enqueue_read_buffer(queue, from, CL_BLOCKING, 0, bytes, start, 0, core::ptr::null())
        };
        event.map(|event| drop(Event::new(event))).map_err(failed("copying from the device"))
    }

    /// Enqueues a kernel for this many work-items, and as many more as fill the last work-group.
    ///
    /// # Safety
    /// The kernel's arguments are set, their memory exists until the kernel is done, and no other queue uses it.
    pub unsafe fn launch(&self, function: &Function, items: usize) -> Result<(), Error> {
        let group = function.group;
        let global = items.next_multiple_of(group);
        let no_offset = core::ptr::null();
        // SAFETY: one dimension of `global` items in groups that divide it; the caller guarantees the arguments.
        let event = unsafe {
            let (queue, kernel) = (self.queue.get(), function.kernel.get());
            enqueue_nd_range_kernel(queue, kernel, 1, no_offset, &global, &group, 0, core::ptr::null())
        };
        event.map(|event| drop(Event::new(event))).map_err(failed("enqueuing a kernel"))
    }

    /// Waits for all enqueued commands.
    pub fn finish(&self) -> Result<(), Error> {
        self.queue.finish().map_err(failed("waiting for the device"))
    }
}

/// A kernel with arguments of its own.
pub(super) struct Function {
    kernel: Kernel,
    /// Work-items of a work-group.
    group: usize,
}

impl Function {
    /// # Errors
    /// [`Error::Device`] if the program has no kernel of this name.
    pub fn new(device: &Device, program: &Program, name: &str) -> Result<Self, Error> {
        let attempt = || failed(format!("preparing the kernel {name}"));
        let kernel = Kernel::create(program, name).map_err(attempt())?;
        let most = kernel.get_work_group_size(device.id()).map_err(attempt())?;
        Ok(Self { kernel, group: GROUP.min(most).min(device.group_limit()).max(1) })
    }

    /// Sets an argument.
    ///
    /// # Safety
    /// The value has the type of the kernel's parameter; a buffer is given by its handle. No other thread sets arguments of
    /// this function or launches it.
    pub unsafe fn set<A>(&self, index: u32, value: &A) -> Result<(), Error> {
        // SAFETY: the caller guarantees the type.
        unsafe { self.kernel.set_arg(index, value) }.map_err(failed("setting an argument of a kernel"))
    }
}
