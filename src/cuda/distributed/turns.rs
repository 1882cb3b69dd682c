//! Launches on several devices, of one factor after the other.
//!
//! A launch fills a device, and waits for those of the same sweep on other devices. If two factors had launches on the same devices, each
//! could have one device and wait for the other. So a sweep or a solve is launched when the one before it is done, whichever factor
//! it was of.

use super::stop::all_done;
use crate::cuda::launching;
use crate::cuda::stream::Event;
use crate::error::Error;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The ends of the last launches. An event that no longer exists has been waited for.
static LAST: Mutex<Vec<Weak<Event>>> = Mutex::new(Vec::new());

/// Calls `launch`, which launches on all devices and records these events, after the last launches of any factor are done.
///
/// # Errors
/// Those of `launch`.
pub(super) fn in_turn(
    events: Vec<Weak<Event>>,
    launch: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let before: Vec<Arc<Event>> = last.iter().filter_map(Weak::upgrade).collect();
    // If a device has failed, the thread that waits for those launches finds it, and ends them.
    let _ = all_done(before.iter().map(Arc::as_ref));
    let _launches = launching::launches();
    *last = events;
    launch()
}
