//! OpenCL as the hybrid engine calls it.

use super::kernels::Kernels;
use crate::error::Error;
use crate::hybrid::api::{Api, LockedMemory, Place, Trailing};
use crate::hybrid::form::Forms;
use crate::hybrid::tuning::Tuning;
use crate::opencl::device::Device;
use crate::opencl::memory::{Locked, Memory};
use crate::opencl::queue::{Columns, Event, Queue};
use crate::real::Real;
use std::sync::Arc;

impl<'a, M> From<Place<'a, M>> for Columns<'a, M> {
    fn from(Place { memory, offset, stride }: Place<'a, M>) -> Self {
        Self { memory, offset, stride }
    }
}

// SAFETY: the driver's memory has the lengths that are asked of it, its waits wait, and the kernels access what their contracts
// in `kernels/opencl` say. After a wait that fails, host memory is neither freed nor given out.
unsafe impl Api for Device {
    const FORMS: Forms = Forms { tensor: false, lanes: &[1] };

    type Queue = Arc<Queue>;
    type Event = Event;
    type Memory<T: Real> = Memory<T>;
    type Locked<T: Real> = Locked<T>;
    type Kernels<T: Real> = Kernels<T>;

    fn queue(&self) -> Result<Arc<Queue>, Error> {
        Queue::new(self).map(Arc::new)
    }

    /// The same queue: commands of two must not change one buffer at the same time, not even other rows of it. OpenCL has no
    /// priorities that this would give up.
    fn queue_ahead_of(&self, work: &Arc<Queue>) -> Result<Arc<Queue>, Error> {
        Ok(work.clone())
    }

    fn event(&self) -> Result<Event, Error> {
        Ok(Event::new(self))
    }

    fn memory<T: Real>(&self, len: usize) -> Result<Memory<T>, Error> {
        Memory::new(self, len)
    }

    fn locked<T: Real>(&self, len: usize) -> Result<Locked<T>, Error> {
        Locked::new(self, len)
    }

    fn kernels<T: Real>(&self) -> Result<Kernels<T>, Error> {
        Kernels::load(self)
    }

    fn len<T: Real>(memory: &Memory<T>) -> usize {
        memory.len()
    }

    fn wait(queue: &Arc<Queue>, event: &Event) -> Result<(), Error> {
        queue.wait(event)
    }

    fn record(event: &Event, queue: &Arc<Queue>) -> Result<(), Error> {
        event.record(queue)
    }

    fn synchronize(event: &Event) -> Result<(), Error> {
        event.synchronize()
    }

    fn drain(queue: &Arc<Queue>) -> Result<(), Error> {
        queue.finish()
    }

    unsafe fn upload<T: Real>(
        queue: &Arc<Queue>,
        (from, from_stride): (&Locked<T>, usize),
        shape: (usize, usize),
        (to, to_stride): (&Memory<T>, usize),
    ) -> Result<(), Error> {
        let from = Columns { memory: from, offset: 0, stride: from_stride };
        // SAFETY: the caller guarantees the memory.
        unsafe { queue.upload(from, shape, Columns { memory: to, offset: 0, stride: to_stride }) }
    }

    unsafe fn download<T: Real>(
        queue: &Arc<Queue>,
        (from, from_stride): (&Memory<T>, usize),
        shape: (usize, usize),
        (to, to_stride): (&Locked<T>, usize),
    ) -> Result<(), Error> {
        let from = Columns { memory: from, offset: 0, stride: from_stride };
        // SAFETY: the caller guarantees the memory.
        unsafe { queue.download(from, shape, Columns { memory: to, offset: 0, stride: to_stride }) }
    }

    unsafe fn upload_at_once<T: Real>(
        queue: &Arc<Queue>,
        _: &Kernels<T>,
        from: Place<'_, Locked<T>>,
        shape: (usize, usize),
        to: Place<'_, Memory<T>>,
    ) -> Result<(), Error> {
        // SAFETY: the caller guarantees the memory.
        unsafe { queue.upload(from.into(), shape, to.into()) }
    }

    unsafe fn download_at_once<T: Real>(
        queue: &Arc<Queue>,
        _: &Kernels<T>,
        from: Place<'_, Memory<T>>,
        shape: (usize, usize),
        to: Place<'_, Locked<T>>,
    ) -> Result<(), Error> {
        // SAFETY: the caller guarantees the memory.
        unsafe { queue.download(from.into(), shape, to.into()) }
    }

    unsafe fn trailing<T: Real>(
        queue: &Arc<Queue>,
        kernels: &Kernels<T>,
        step: &Trailing<'_, T, Self>,
        tuning: &Tuning,
    ) -> Result<(), Error> {
        // SAFETY: the caller guarantees what the kernels require.
        unsafe { kernels.trailing(queue, step, tuning) }
    }
}

// SAFETY: the driver has mapped the memory at one address, with the length asked for, and `new` has set it to zero.
unsafe impl<T: Real> LockedMemory<T> for Locked<T> {
    fn len(&self) -> usize {
        Locked::len(self)
    }

    fn as_ptr(&self) -> *mut T {
        Locked::as_ptr(self)
    }

    fn as_mut_slice(&mut self) -> Result<&mut [T], Error> {
        Locked::as_mut_slice(self)
    }
}
