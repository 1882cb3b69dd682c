//! An OpenCL device whose calls are counted, and fail from some number on.

use crate::Engine;
use crate::engine::sealed::Sealed;
use crate::erased::AnyStorage;
use crate::error::{Error, other};
use crate::hybrid::api::{Api, Place, Trailing};
use crate::hybrid::factor::HybridFactor;
use crate::hybrid::form::Forms;
use crate::opencl::hybrid::kernels::Kernels;
use crate::opencl::memory::{Locked, Memory};
use crate::opencl::queue::{Event, Queue};
use crate::opencl::{Device, Tuning};
use crate::real::Real;
use crate::storage::Safeguard;
use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering};
use faer::{Mat, Par};
use std::sync::Arc;

/// Counts calls, and the bytes of device memory that they have asked for.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    made: Arc<AtomicUsize>,
    /// Calls from this one on fail.
    limit: Arc<AtomicUsize>,
    next_limit: Arc<AtomicUsize>,
    bytes: Arc<AtomicUsize>,
}

impl Calls {
    pub fn fail_after(&self, calls: usize) {
        self.limit.store(calls, Ordering::Relaxed);
    }

    /// The limit after the next restart.
    pub fn next_limit(&self, calls: usize) {
        self.next_limit.store(calls, Ordering::Relaxed);
    }

    pub fn restart(&self) {
        self.made.store(0, Ordering::Relaxed);
        self.fail_after(self.next_limit.load(Ordering::Relaxed));
    }

    pub fn device_bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    fn call(&self) -> Result<(), Error> {
        let made = self.made.fetch_add(1, Ordering::Relaxed);
        if made < self.limit.load(Ordering::Relaxed) { Ok(()) } else { Err(other("a failure of this test")) }
    }
}

#[derive(Clone)]
pub struct Failing {
    device: Device,
    calls: Calls,
}

impl fmt::Debug for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Failing")
    }
}

// SAFETY: what `Device` guarantees: calls fail before they reach it, except for waits, which are made in any case.
unsafe impl Api for Failing {
    const FORMS: Forms = <Device as Api>::FORMS;

    type Queue = (Arc<Queue>, Calls);
    type Event = (Event, Calls);
    type Memory<T: Real> = Memory<T>;
    type Locked<T: Real> = Locked<T>;
    type Kernels<T: Real> = Kernels<T>;

    fn queue(&self) -> Result<Self::Queue, Error> {
        self.calls.call()?;
        Ok((Api::queue(&self.device)?, self.calls.clone()))
    }

    fn queue_ahead_of(&self, work: &Self::Queue) -> Result<Self::Queue, Error> {
        Ok((self.device.queue_ahead_of(&work.0)?, self.calls.clone()))
    }

    fn event(&self) -> Result<Self::Event, Error> {
        self.calls.call()?;
        Ok((self.device.event()?, self.calls.clone()))
    }

    fn memory<T: Real>(&self, len: usize) -> Result<Memory<T>, Error> {
        self.calls.call()?;
        self.calls.bytes.fetch_add(len * size_of::<T>(), Ordering::Relaxed);
        self.device.memory(len)
    }

    fn locked<T: Real>(&self, len: usize) -> Result<Locked<T>, Error> {
        self.calls.call()?;
        self.device.locked(len)
    }

    fn kernels<T: Real>(&self) -> Result<Kernels<T>, Error> {
        self.calls.call()?;
        self.device.kernels()
    }

    fn len<T: Real>(memory: &Memory<T>) -> usize {
        Device::len(memory)
    }

    fn wait((queue, calls): &Self::Queue, event: &Self::Event) -> Result<(), Error> {
        calls.call()?;
        Device::wait(queue, &event.0)
    }

    fn record((event, calls): &Self::Event, queue: &Self::Queue) -> Result<(), Error> {
        calls.call()?;
        Device::record(event, &queue.0)
    }

    fn synchronize((event, calls): &Self::Event) -> Result<(), Error> {
        Device::synchronize(event)?;
        calls.call()
    }

    fn drain((queue, calls): &Self::Queue) -> Result<(), Error> {
        Device::drain(queue)?;
        calls.call()
    }

    unsafe fn upload<T: Real>(
        (queue, calls): &Self::Queue,
        from: (&Locked<T>, usize),
        shape: (usize, usize),
        to: (&Memory<T>, usize),
    ) -> Result<(), Error> {
        calls.call()?;
        // SAFETY: the caller guarantees the memory.
        unsafe { Device::upload(queue, from, shape, to) }
    }

    unsafe fn download<T: Real>(
        (queue, calls): &Self::Queue,
        from: (&Memory<T>, usize),
        shape: (usize, usize),
        to: (&Locked<T>, usize),
    ) -> Result<(), Error> {
        calls.call()?;
        // SAFETY: the caller guarantees the memory.
        unsafe { Device::download(queue, from, shape, to) }
    }

    unsafe fn upload_at_once<T: Real>(
        (queue, calls): &Self::Queue,
        kernels: &Kernels<T>,
        from: Place<'_, Locked<T>>,
        shape: (usize, usize),
        to: Place<'_, Memory<T>>,
    ) -> Result<(), Error> {
        calls.call()?;
        // SAFETY: the caller guarantees the memory.
        unsafe { Device::upload_at_once(queue, kernels, from, shape, to) }
    }

    unsafe fn download_at_once<T: Real>(
        (queue, calls): &Self::Queue,
        kernels: &Kernels<T>,
        from: Place<'_, Memory<T>>,
        shape: (usize, usize),
        to: Place<'_, Locked<T>>,
    ) -> Result<(), Error> {
        calls.call()?;
        // SAFETY: the caller guarantees the memory.
        unsafe { Device::download_at_once(queue, kernels, from, shape, to) }
    }

    unsafe fn trailing<T: Real>(
        (queue, calls): &Self::Queue,
        kernels: &Kernels<T>,
        step: &Trailing<'_, T, Self>,
        tuning: &Tuning,
    ) -> Result<(), Error> {
        calls.call()?;
        let Trailing { panel, panel_stride, v, v_first, v_stride, reflectors, cols, blocking, .. } = *step;
        let (rank_blocks, interchanged, rows) =
            (step.rank_blocks.clone(), step.interchanged, step.rows.clone());
        let step = Trailing {
            panel,
            panel_stride,
            v,
            v_first,
            v_stride,
            reflectors,
            cols,
            blocking,
            rank_blocks,
            interchanged,
            rows,
        };
        // SAFETY: the caller guarantees what the kernels require.
        unsafe { Device::trailing(queue, kernels, &step, tuning) }
    }
}

/// The hybrid engine on such a device.
#[derive(Clone)]
pub struct FailingEngine {
    device: Failing,
    tuning: Tuning,
    pub calls: Calls,
}

impl FailingEngine {
    pub fn new(device: &Device, tuning: Tuning) -> Self {
        let calls = Calls::default();
        calls.fail_after(usize::MAX);
        Self { device: Failing { device: device.clone(), calls: calls.clone() }, tuning, calls }
    }
}

impl Sealed for FailingEngine {}

impl Engine<f64> for FailingEngine {
    type Factor = AnyStorage<f64>;

    fn adopt(&self, l: Mat<f64>) -> Result<AnyStorage<f64>, Error> {
        Ok(Box::new(HybridFactor::new(&self.device, self.tuning, Safeguard::ShadowBuffer, l)?))
    }

    fn par(&self) -> Par {
        Par::Seq
    }
}
