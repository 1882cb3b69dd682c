//! What the modifications on streams of the caller's need of a device: it is kept until the process ends, since work in flight may use it.

use crate::cuda::device::Device;
use crate::cuda::memory::{DeviceBuffer, Pinned};
use crate::cuda::resident::schedule::Schedule;
use crate::cuda::stream::Stream;
use crate::error::Error;
use core::any::{Any, TypeId};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The device by its number, the type, and a number that tells apart what is of one type.
type Key = (usize, TypeId, usize);
type Entry = (Key, Arc<dyn Any + Send + Sync>);

/// The words of a schedule on a device, and the device's number.
type Words = (usize, Schedule, Arc<DeviceBuffer<i32>>);

static KEPT: Mutex<Vec<Entry>> = Mutex::new(Vec::new());
static TASKS: Mutex<Vec<Words>> = Mutex::new(Vec::new());

fn locked<X>(all: &Mutex<X>) -> MutexGuard<'_, X> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What has been loaded for the device, which `load` does the first time.
///
/// # Errors
/// Those of `load`.
pub(super) fn kept<K: Any + Send + Sync>(
    device: &Device,
    number: usize,
    load: impl FnOnce() -> Result<K, Error>,
) -> Result<Arc<K>, Error> {
    let key = (device.ordinal(), TypeId::of::<K>(), number);
    let mut all = locked(&KEPT);
    let found = all.iter().find(|(other, _)| *other == key).map(|(_, found)| found.clone());
    if let Some(found) = found.and_then(|found| found.downcast().ok()) {
        return Ok(found);
    }
    let loaded = Arc::new(load()?);
    all.push((key, loaded.clone()));
    Ok(loaded)
}

/// The words of a schedule on the device. The first time this waits for their copy.
///
/// # Errors
/// [`Error::Device`] if the device has no memory for them, or fails.
pub(super) fn tasks(device: &Device, schedule: Schedule) -> Result<Arc<DeviceBuffer<i32>>, Error> {
    let mut all = locked(&TASKS);
    let found = all.iter().find(|(ordinal, other, _)| (*ordinal, *other) == (device.ordinal(), schedule));
    if let Some((_, _, words)) = found {
        return Ok(words.clone());
    }
    let len = schedule.len();
    let mut host = Pinned::new(device, len)?;
    host.as_mut_slice()?.iter_mut().zip(schedule.words()).for_each(|(to, word)| *to = word);
    let (words, stream) = (DeviceBuffer::new(device, len)?, Stream::new(device)?);
    // SAFETY: both memories exist until the copy has been waited for, and nothing else uses them.
    let enqueued = unsafe { stream.upload(&host, 0..len, words.slice(0..len)) };
    stream.synchronize().and(enqueued)?;
    let words = Arc::new(words);
    all.push((device.ordinal(), schedule, words.clone()));
    Ok(words)
}
