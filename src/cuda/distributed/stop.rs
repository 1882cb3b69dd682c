//! How launches on several devices end: by themselves, or by a word in host memory once a device has failed.

use crate::cuda::device::Device;
use crate::cuda::memory::Pinned;
use crate::cuda::stream::Event;
use crate::error::Error;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicI32, Ordering};

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
pub(super) trait Launches {
    /// Ends it, and waits for that. An error has been reported, or does not matter any more.
    fn end(&self);
}

/// Memory that all devices write, with the work that does so. It is freed once none of them is working any more; if that is not
/// known, it is leaked.
pub(super) struct WrittenByAll<W: Launches> {
    work: ManuallyDrop<W>,
    devices: Vec<Device>,
}

impl<W: Launches> WrittenByAll<W> {
    pub fn new(work: W, devices: &[Device]) -> Self {
        Self { work: ManuallyDrop::new(work), devices: devices.to_vec() }
    }
}

impl<W: Launches> Deref for WrittenByAll<W> {
    type Target = W;

    fn deref(&self) -> &W {
        &self.work
    }
}

impl<W: Launches> DerefMut for WrittenByAll<W> {
    fn deref_mut(&mut self) -> &mut W {
        &mut self.work
    }
}

impl<W: Launches> Drop for WrittenByAll<W> {
    fn drop(&mut self) {
        self.work.end();
        if self.devices.iter().all(Device::can_free) {
            // SAFETY: dropped only here, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.work) };
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
