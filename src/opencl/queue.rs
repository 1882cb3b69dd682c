//! Command queues and events: copies and kernels, in order.

use super::device::Device;
use super::error::failed;
use super::handle::Handle;
use super::memory::{Locked, Memory};
use crate::error::Error;
use core::ffi::{CStr, c_void};
use core::ptr::null;
use opencl3::command_queue::{
    create_command_queue, enqueue_barrier_with_wait_list, enqueue_marker_with_wait_list,
    enqueue_nd_range_kernel, enqueue_read_buffer, enqueue_read_buffer_rect, enqueue_write_buffer,
    enqueue_write_buffer_rect, finish, flush,
};
use opencl3::error_codes::ClError;
use opencl3::event::{CL_EVENT_COMMAND_EXECUTION_STATUS, get_event_info, wait_for_events};
use opencl3::kernel::{CL_KERNEL_WORK_GROUP_SIZE, create_kernel, get_kernel_work_group_info, set_kernel_arg};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_event};
use std::sync::{Arc, Mutex, PoisonError};

/// A queue whose commands are executed in order.
pub(crate) struct Queue {
    queue: Handle,
    device: Device,
    /// The command that was enqueued last.
    last: Mutex<Option<Handle>>,
}

/// The status of a command that has ended: negative after an error.
fn status(event: &Handle) -> Result<i32, i32> {
    get_event_info(event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS).map(i32::from)
}

impl Queue {
    pub fn new(device: &Device) -> Result<Self, Error> {
        // SAFETY: the device is the context's.
        let queue = unsafe { create_command_queue(device.context()?, device.id(), 0) };
        let queue = queue.map_err(failed(format_args!("making a queue on {}", device.name())))?;
        // SAFETY: a new queue.
        let queue = unsafe { Handle::queue(queue) };
        Ok(Self { queue, device: device.clone(), last: Mutex::default() })
    }

    /// Keeps the event of a command as that of the last one.
    fn enqueued(&self, outcome: Result<cl_event, i32>, attempt: &str) -> Result<(), Error> {
        // SAFETY: a new event.
        let event = unsafe { Handle::event(outcome.map_err(failed(attempt))?) };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(event);
        Ok(())
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
            enqueue_write_buffer(self.queue.get(), to.handle(), CL_BLOCKING, 0, bytes, start, 0, null())
        };
        self.enqueued(event, "copying to the device")
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
            enqueue_read_buffer(self.queue.get(), from.handle(), CL_BLOCKING, 0, bytes, start, 0, null())
        };
        self.enqueued(event, "copying from the device")
    }

    /// Enqueues a copy of columns from host memory to the device.
    ///
    /// # Safety
    /// Both memories have these columns. Until the copy is done they exist, nothing writes these entries of `from`, and no other
    /// queue uses `to`.
    pub unsafe fn upload<T: Copy>(
        &self,
        from: Columns<'_, Locked<T>>,
        shape: (usize, usize),
        to: Columns<'_, Memory<T>>,
    ) -> Result<(), Error> {
        let Some(rect) = Rect::new::<T>(shape, (to.offset, to.stride), (from.offset, from.stride)) else {
            return Ok(());
        };
        let start = from.memory.as_ptr().cast::<c_void>();
        // SAFETY: the caller guarantees the memory. OpenCL does not write through the pointer.
        let event = unsafe {
            enqueue_write_buffer_rect(
                self.queue.get(),
                to.memory.handle(),
                CL_NON_BLOCKING,
                rect.device.as_ptr(),
                rect.host.as_ptr(),
                rect.region.as_ptr(),
                rect.device_pitch,
                0,
                rect.host_pitch,
                0,
                start,
                0,
                null(),
            )
        };
        self.enqueued(event, "copying columns to the device")
    }

    /// Enqueues a copy of columns from the device to host memory.
    ///
    /// # Safety
    /// Both memories have these columns. Until the copy is done they exist, nothing uses these entries of `to`, and no other
    /// queue uses `from`.
    pub unsafe fn download<T: Copy>(
        &self,
        from: Columns<'_, Memory<T>>,
        shape: (usize, usize),
        to: Columns<'_, Locked<T>>,
    ) -> Result<(), Error> {
        let Some(rect) = Rect::new::<T>(shape, (from.offset, from.stride), (to.offset, to.stride)) else {
            return Ok(());
        };
        let start = to.memory.as_ptr().cast::<c_void>();
        // SAFETY: the caller guarantees the memory.
        let event = unsafe {
            enqueue_read_buffer_rect(
                self.queue.get(),
                from.memory.handle(),
                CL_NON_BLOCKING,
                rect.device.as_ptr(),
                rect.host.as_ptr(),
                rect.region.as_ptr(),
                rect.device_pitch,
                0,
                rect.host_pitch,
                0,
                start,
                0,
                null(),
            )
        };
        self.enqueued(event, "copying columns from the device")
    }

    /// Enqueues a kernel for this many work-items, and as many more as fill the last work-group.
    ///
    /// # Safety
    /// The kernel's arguments are set, their memory exists until the kernel is done, and no other queue uses it. Work-items from
    /// `items` on do nothing.
    pub unsafe fn launch(&self, function: &Function, items: usize, group: usize) -> Result<(), Error> {
        let group = group.min(function.group_limit);
        let global = items.next_multiple_of(group);
        // SAFETY: one dimension of `global` items in groups that divide it; the caller guarantees the arguments.
        let event = unsafe {
            let (queue, kernel) = (self.queue.get(), function.kernel.get());
            enqueue_nd_range_kernel(queue, kernel, 1, null(), &global, &group, 0, null())
        };
        self.enqueued(event, "enqueuing a kernel")
    }

    /// Orders later commands after the last record of the event, if there is one.
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        let Some(last) = event.last() else { return Ok(()) };
        // SAFETY: one event, which exists.
        let barrier = unsafe { enqueue_barrier_with_wait_list(self.queue.get(), 1, &last.get()) };
        self.enqueued(barrier, "waiting for an event on the device")
    }

    /// Waits for all enqueued commands.
    ///
    /// # Errors
    /// [`Error::Device`], also if the last command has failed: drivers end the commands after one that fails.
    pub fn finish(&self) -> Result<(), Error> {
        let attempt = "waiting for the device";
        finish(self.queue.get()).map_err(failed(attempt)).inspect_err(|_| self.device.doubt())?;
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner).take();
        match last.map_or(Ok(0), |event| status(&event)) {
            Ok(0..) => Ok(()),
            Ok(code) | Err(code) => Err(failed(attempt)(ClError(code))),
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // The commands of the queue go on; its memory is freed by the driver after them.
        let _ = flush(self.queue.get());
    }
}

/// The location of columns in a memory, in scalars from its start.
pub(crate) struct Columns<'a, M> {
    pub memory: &'a M,
    pub offset: usize,
    /// From one column to the next.
    pub stride: usize,
}

/// The arguments of a copy of columns, in bytes. OpenCL's rows are columns here.
struct Rect {
    device: [usize; 3],
    host: [usize; 3],
    region: [usize; 3],
    device_pitch: usize,
    host_pitch: usize,
}

impl Rect {
    /// `None` if there is nothing to copy. Columns that follow each other without gaps are one.
    fn new<T>((rows, cols): (usize, usize), device: (usize, usize), host: (usize, usize)) -> Option<Self> {
        if rows == 0 || cols == 0 {
            return None;
        }
        let whole = device.1 == rows && host.1 == rows;
        let (rows, cols) = if whole { (rows * cols, 1) } else { (rows, cols) };
        let bytes = |scalars: usize| scalars * size_of::<T>();
        let pitch = |stride: usize| bytes(if whole { rows } else { stride });
        let place = |(offset, stride): (usize, usize)| match whole {
            true => [bytes(offset), 0, 0],
            // An offset in bytes of a row, and in rows.
            false => [bytes(offset % stride), offset / stride, 0],
        };
        Some(Self {
            device: place(device),
            host: place(host),
            region: [bytes(rows), cols, 1],
            device_pitch: pitch(device.1),
            host_pitch: pitch(host.1),
        })
    }
}

/// A point in a queue. It can be recorded again and again.
pub(crate) struct Event {
    /// Shared with waits, which go on while it is recorded again.
    last: Mutex<Option<Arc<Handle>>>,
    device: Device,
}

impl Event {
    /// An event that has not been recorded.
    pub fn new(device: &Device) -> Self {
        Self { last: Mutex::default(), device: device.clone() }
    }

    fn last(&self) -> Option<Arc<Handle>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records the event after all commands enqueued so far.
    pub fn record(&self, queue: &Queue) -> Result<(), Error> {
        // SAFETY: no events to wait for.
        let marker = unsafe { enqueue_marker_with_wait_list(queue.queue.get(), 0, null()) };
        // SAFETY: a new event.
        let marker = unsafe { Handle::event(marker.map_err(failed("recording an event"))?) };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(marker));
        // Other queues may wait only for commands that have been given to the device.
        flush(queue.queue.get()).map_err(failed("starting enqueued commands"))
    }

    /// Waits on the host until the last record is reached; does not wait if there is none.
    ///
    /// # Errors
    /// [`Error::Device`], also if the work before it has failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        let Some(last) = self.last() else { return Ok(()) };
        let waited = wait_for_events(&[last.get()]);
        waited.map_err(failed("waiting for an event")).inspect_err(|_| self.device.doubt())
    }
}

/// A kernel with arguments of its own.
pub(crate) struct Function {
    kernel: Handle,
    /// The most work-items of a work-group.
    group_limit: usize,
}

impl Function {
    /// # Errors
    /// [`Error::Device`] if the program has no kernel of this name.
    pub fn new(device: &Device, program: &Program, name: &CStr) -> Result<Self, Error> {
        let attempt = || failed(format!("preparing the kernel {}", name.to_string_lossy()));
        let kernel = create_kernel(program.get(), name).map_err(attempt())?;
        // SAFETY: a new kernel.
        let kernel = unsafe { Handle::kernel(kernel) };
        let limit = get_kernel_work_group_info(kernel.get(), device.id(), CL_KERNEL_WORK_GROUP_SIZE);
        let group_limit = usize::from(limit.map_err(attempt())?).min(device.group_limit()).max(1);
        Ok(Self { kernel, group_limit })
    }

    /// Sets an argument.
    ///
    /// # Safety
    /// The value has the type of the kernel's parameter; a buffer is given by its handle. No other thread sets arguments of
    /// this function or launches it.
    pub unsafe fn set<A>(&self, index: u32, value: &A) -> Result<(), Error> {
        let (bytes, value) = (size_of::<A>(), (&raw const *value).cast::<c_void>());
        // SAFETY: the value has these bytes; the caller guarantees the type.
        unsafe { set_kernel_arg(self.kernel.get(), index, bytes, value) }
            .map_err(failed("setting an argument of a kernel"))
    }
}
