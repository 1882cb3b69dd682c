//! CUDA as the hybrid engine calls it.

use super::kernels::Kernels;
use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, Pinned};
use crate::cuda::plain::Plain;
use crate::cuda::stream::{Event, Stream};
use crate::error::Error;
use crate::hybrid::api::{Api, LockedMemory, Place, Trailing};
use crate::hybrid::form::Forms;
use crate::hybrid::tuning::Tuning;
use crate::real::Real;

// SAFETY: the driver's memory has the lengths that are asked of it, its waits wait, and the kernels access what their contracts
// in `kernels/` say.
unsafe impl Api for Device {
    /// With more threads to a row, the CPU would have too few rank blocks to divide among its threads.
    const FORMS: Forms = Forms { tensor: true, lanes: &[1, 2, 4] };

    type Queue = Stream;
    type Event = Event;
    type Memory<T: Real> = DeviceBuffer<T>;
    type Locked<T: Real> = Pinned<T>;
    type Kernels<T: Real> = Kernels<T>;

    fn queue(&self) -> Result<Stream, Error> {
        Stream::new(self)
    }

    fn queue_ahead_of(&self, _: &Stream) -> Result<Stream, Error> {
        Stream::first(self)
    }

    fn event(&self) -> Result<Event, Error> {
        Event::new(self)
    }

    fn memory<T: Real>(&self, len: usize) -> Result<DeviceBuffer<T>, Error> {
        DeviceBuffer::new(self, len)
    }

    fn locked<T: Real>(&self, len: usize) -> Result<Pinned<T>, Error> {
        Pinned::new(self, len)
    }

    fn kernels<T: Real>(&self) -> Result<Kernels<T>, Error> {
        Kernels::load(self)
    }

    fn len<T: Real>(memory: &DeviceBuffer<T>) -> usize {
        memory.len()
    }

    fn wait(queue: &Stream, event: &Event) -> Result<(), Error> {
        queue.wait(event)
    }

    fn record(event: &Event, queue: &Stream) -> Result<(), Error> {
        event.record(queue)
    }

    fn synchronize(event: &Event) -> Result<(), Error> {
        event.synchronize()
    }

    fn drain(queue: &Stream) -> Result<(), Error> {
        queue.synchronize()
    }

    unsafe fn upload<T: Real>(
        queue: &Stream,
        from: (&Pinned<T>, usize),
        shape: (usize, usize),
        (to, stride): (&DeviceBuffer<T>, usize),
    ) -> Result<(), Error> {
        // SAFETY: the caller guarantees the memory.
        unsafe { queue.upload_columns(from, shape, (to.slice(0..to.len()), stride)) }
    }

    unsafe fn download<T: Real>(
        queue: &Stream,
        (from, stride): (&DeviceBuffer<T>, usize),
        shape: (usize, usize),
        to: (&Pinned<T>, usize),
    ) -> Result<(), Error> {
        // SAFETY: the caller guarantees the memory.
        unsafe { queue.download_columns((from.slice(0..from.len()), stride), shape, to) }
    }

    unsafe fn upload_at_once<T: Real>(
        queue: &Stream,
        kernels: &Kernels<T>,
        from: Place<'_, Pinned<T>>,
        shape: (usize, usize),
        to: Place<'_, DeviceBuffer<T>>,
    ) -> Result<(), Error> {
        // SAFETY: the caller guarantees the memory.
        unsafe { kernels.upload(queue, from, shape, to) }
    }

    unsafe fn download_at_once<T: Real>(
        queue: &Stream,
        kernels: &Kernels<T>,
        from: Place<'_, DeviceBuffer<T>>,
        shape: (usize, usize),
        to: Place<'_, Pinned<T>>,
    ) -> Result<(), Error> {
        // SAFETY: the caller guarantees the memory.
        unsafe { kernels.download(queue, from, shape, to) }
    }

    unsafe fn trailing<T: Real>(
        queue: &Stream,
        kernels: &Kernels<T>,
        step: &Trailing<'_, T, Self>,
        tuning: &Tuning,
    ) -> Result<(), Error> {
        // SAFETY: the caller guarantees what the kernels require.
        unsafe { kernels.trailing(queue, step, tuning) }
    }
}

// SAFETY: the driver's memory is where it was allocated, with the length asked for, and `new` has set it to zero.
unsafe impl<T: Plain> LockedMemory<T> for Pinned<T> {
    fn len(&self) -> usize {
        Pinned::len(self)
    }

    fn as_ptr(&self) -> *mut T {
        Pinned::as_ptr(self)
    }

    fn as_mut_slice(&mut self) -> Result<&mut [T], Error> {
        Pinned::as_mut_slice(self)
    }
}
