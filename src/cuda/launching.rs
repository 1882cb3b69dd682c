//! Calls of the driver that must not come between the launches of one sweep on several devices.
//!
//! These launches wait for each other. What waits for a device to be idle, as the release of memory does, would wait for a launch that
//! waits for one on another device, which the driver might not accept by then.

use std::sync::{Mutex, MutexGuard, PoisonError};

static BETWEEN: Mutex<()> = Mutex::new(());

/// While this is held, the launches of no sweep are incomplete, or they are this thread's.
pub(super) fn whole() -> MutexGuard<'static, ()> {
    BETWEEN.lock().unwrap_or_else(PoisonError::into_inner)
}
