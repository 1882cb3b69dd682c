//! Command queues and events: copies and kernels, in order.

use super::device::Device;
use super::error::failed;
use super::memory::{Locked, Memory};
use crate::error::Error;
use core::ffi::c_void;
use core::ptr::null;
use opencl3::command_queue::{
    CommandQueue, enqueue_barrier_with_wait_list, enqueue_marker_with_wait_list, enqueue_nd_range_kernel,
    enqueue_read_buffer, enqueue_read_buffer_rect, enqueue_write_buffer, enqueue_write_buffer_rect,
};
use opencl3::event;
use opencl3::kernel::Kernel;
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_event};
use std::sync::{Arc, Mutex, PoisonError};

/// A queue whose commands are executed in order.
pub(crate) struct Queue {
    queue: CommandQueue,
    device: Device,
}

/// Drops the event of a command that nothing waits for.
fn enqueued(outcome: Result<cl_event, i32>, attempt: &str) -> Result<(), Error> {
    outcome.map(|event| drop(event::Event::new(event))).map_err(failed(attempt))
}

impl Queue {
    pub fn new(device: &Device) -> Result<Self, Error> {
        // SAFETY: the device is the context's.
        let queue = unsafe { CommandQueue::create(device.context(), device.id(), 0) };
        let queue = queue.map_err(failed(format_args!("making a queue on {}", device.name())))?;
        Ok(Self { queue, device: device.clone() })
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
        enqueued(event, "copying to the device")
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
        enqueued(event, "copying from the device")
    }

    /// Enqueues a copy of columns from host memory to the device.
    ///
    /// # Safety
    /// Both memories have these columns. Until the copy is done they exist, nothing writes `from`, and only this queue uses
    /// `to`.
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
        enqueued(event, "copying columns to the device")
    }

    /// Enqueues a copy of columns from the device to host memory.
    ///
    /// # Safety
    /// Both memories have these columns. Until the copy is done they exist, nothing uses `to`, and only this queue writes
    /// `from`.
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
        enqueued(event, "copying columns from the device")
    }

    /// Enqueues a kernel for this many work-items, and as many more as fill the last work-group.
    ///
    /// # Safety
    /// The kernel's arguments are set, their memory exists until the kernel is done, and no other queue uses it.
    pub unsafe fn launch(&self, function: &Function, items: usize, group: usize) -> Result<(), Error> {
        let group = group.min(function.group_limit);
        let global = items.next_multiple_of(group);
        // SAFETY: one dimension of `global` items in groups that divide it; the caller guarantees the arguments.
        let event = unsafe {
            let (queue, kernel) = (self.queue.get(), function.kernel.get());
            enqueue_nd_range_kernel(queue, kernel, 1, null(), &global, &group, 0, null())
        };
        enqueued(event, "enqueuing a kernel")
    }

    /// Orders later commands after the last record of the event, if there is one.
    pub fn wait(&self, event: &Event) -> Result<(), Error> {
        let Some(last) = event.last() else { return Ok(()) };
        // SAFETY: one event, which exists.
        let barrier = unsafe { enqueue_barrier_with_wait_list(self.queue.get(), 1, &last.get()) };
        enqueued(barrier, "waiting for an event on the device")
    }

    /// Waits for all enqueued commands.
    pub fn finish(&self) -> Result<(), Error> {
        self.queue.finish().map_err(failed("waiting for the device")).inspect_err(|_| self.device.doubt())
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // The commands of the queue go on; its memory is freed by the driver after them.
        let _ = self.queue.flush();
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
    last: Mutex<Option<Arc<event::Event>>>,
    device: Device,
}

impl Event {
    /// An event that has not been recorded.
    pub fn new(device: &Device) -> Self {
        Self { last: Mutex::default(), device: device.clone() }
    }

    fn last(&self) -> Option<Arc<event::Event>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records the event after all commands enqueued so far.
    pub fn record(&self, queue: &Queue) -> Result<(), Error> {
        let attempt = || failed("recording an event");
        // SAFETY: no events to wait for.
        let marker = unsafe { enqueue_marker_with_wait_list(queue.queue.get(), 0, null()) };
        let marker = Arc::new(event::Event::new(marker.map_err(attempt())?));
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(marker);
        // Other queues may wait only for commands that have been given to the device.
        queue.queue.flush().map_err(failed("starting enqueued commands"))
    }

    /// Waits on the host until the last record is reached; does not wait if there is none.
    pub fn synchronize(&self) -> Result<(), Error> {
        let Some(last) = self.last() else { return Ok(()) };
        last.wait().map_err(failed("waiting for an event")).inspect_err(|_| self.device.doubt())
    }
}

/// A kernel with arguments of its own.
pub(crate) struct Function {
    kernel: Kernel,
    /// The most work-items of a work-group.
    group_limit: usize,
}

impl Function {
    /// # Errors
    /// [`Error::Device`] if the program has no kernel of this name.
    pub fn new(device: &Device, program: &Program, name: &str) -> Result<Self, Error> {
        let attempt = || failed(format!("preparing the kernel {name}"));
        let kernel = Kernel::create(program, name).map_err(attempt())?;
        let group_limit = kernel.get_work_group_size(device.id()).map_err(attempt())?.max(1);
        Ok(Self { kernel, group_limit })
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
