//! How launches on several devices end: by themselves, or by a word in host memory once a device has failed.

use crate::cuda::device::Device;
use crate::cuda::memory::Pinned;
use crate::cuda::stream::Event;
use crate::error::Error;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Thread blocks that wait for other devices read it. Once a device has failed, nothing else would end them.
pub(super) struct Stop {
    word: Pinned<i32>,
}

impl Stop {
    pub fn new(device: &Device) -> Result<Self, Error> {
        Ok(Self { word: Pinned::new(device, 1)? })
    }

    /// For kernels.
    pub fn address(&self) -> u64 {
        self.word.address(0)
    }

    /// Ends the launches that are in flight.
    pub fn set(&self) {
        self.store(1);
    }

    /// Before launches.
    pub fn clear(&self) {
        self.store(0);
    }

    fn store(&self, value: i32) {
        // SAFETY: the word exists as long as `self`, is aligned, and all accesses of the host are atomic.
        unsafe { AtomicI32::from_ptr(self.word.as_ptr()) }.store(value, Ordering::SeqCst);
    }
}

/// Work that is in flight on several devices at once.
pub(super) trait Launches: Send + 'static {
    /// Ends it, and waits for that. An error has been reported, or does not matter any more.
    fn end(&self);
}

/// Work, and the devices that do it.
struct Work<W> {
    launches: W,
    devices: Vec<Device>,
}

/// Work of any kind.
trait AnyWork: Send {
    /// Ends it. Whether no device can be doing it any more.
    fn has_ended(&self) -> bool;
}

impl<W: Launches> AnyWork for Work<W> {
    fn has_ended(&self) -> bool {
        self.launches.end();
        self.devices.iter().all(Device::can_free)
    }
}

/// Dropped work that a device may still be doing, because waiting for it has failed.
static NOT_ENDED: Mutex<Vec<Box<dyn AnyWork>>> = Mutex::new(Vec::new());

/// Memory that all devices write, with the work that does so. It is freed once none of them is working any more: at the latest
/// when other such memory is allocated after that.
pub(super) struct WrittenByAll<W: Launches>(ManuallyDrop<Work<W>>);

impl<W: Launches> WrittenByAll<W> {
    pub fn new(launches: W, devices: &[Device]) -> Self {
        NOT_ENDED.lock().unwrap_or_else(PoisonError::into_inner).retain(|work| !work.has_ended());
        Self(ManuallyDrop::new(Work { launches, devices: devices.to_vec() }))
    }
}

impl<W: Launches> Deref for WrittenByAll<W> {
    type Target = W;

    fn deref(&self) -> &W {
        &self.0.launches
    }
}

impl<W: Launches> DerefMut for WrittenByAll<W> {
    fn deref_mut(&mut self) -> &mut W {
        &mut self.0.launches
    }
}

impl<W: Launches> Drop for WrittenByAll<W> {
    fn drop(&mut self) {
        // SAFETY: taken only here, and not used afterwards.
        let work = unsafe { ManuallyDrop::take(&mut self.0) };
        if !work.has_ended() {
            NOT_ENDED.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(work));
        }
    }
}

/// Waits until all events are reached, each on its device. The devices are asked in turn: one that waits for another one is done
/// only after it.
///
/// # Errors
/// [`Error::Device`] of the first device that fails. Others may be waiting for it.
pub(super) fn all_done<'a>(events: impl Iterator<Item = &'a Event>) -> Result<(), Error> {
    let mut left: Vec<_> = events.collect();
    while !left.is_empty() {
        let mut failed = Ok(());
        left.retain(|event| match event.is_done() {
            Ok(done) => !done,
            Err(error) => {
                failed = Err(error);
                false
            }
        });
        failed?;
        core::hint::spin_loop();
    }
    Ok(())
}
