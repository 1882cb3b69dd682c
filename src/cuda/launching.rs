//! Calls of the driver that must not come between the launches of one sweep on several devices.
//!
//! These launches wait for each other. A call that waits until a device is idle, as the release of memory does, would wait for a launch
//! that waits for one on another device, which the driver might not accept until the call returns.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static LAUNCHING: RwLock<()> = RwLock::new(());

/// Held during a call that may wait until a device is idle. Such calls do not exclude each other.
pub(super) fn no_launches() -> RwLockReadGuard<'static, ()> {
    LAUNCHING.read().unwrap_or_else(PoisonError::into_inner)
}

/// Held from the first to the last launch of a sweep. The thread makes no call that takes [`no_launches`] meanwhile.
pub(super) fn launches() -> RwLockWriteGuard<'static, ()> {
    LAUNCHING.write().unwrap_or_else(PoisonError::into_inner)
}
