//! Calls into the library without the GIL, and with threads to share the work with.

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// This process was forked by one that had this module.
static FORKED: AtomicBool = AtomicBool::new(false);
/// The pool of such a process.
static POOL: Mutex<Option<Arc<ThreadPool>>> = Mutex::new(None);

/// Runs `call` without the GIL.
///
/// A process that is forked has none of the threads of its parent, and whoever gave work to the parent's pool there would wait for
/// ever: it has a pool of its own.
#[inline]
pub fn without_gil<R: Send>(py: Python<'_>, call: impl FnOnce() -> R + Send) -> R {
    if FORKED.load(Ordering::Relaxed) { py.detach(|| in_own_pool(call)) } else { py.detach(call) }
}

#[cold]
fn in_own_pool<R: Send>(call: impl FnOnce() -> R + Send) -> R {
    let pool = {
        let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
        if pool.is_none() {
            *pool = ThreadPoolBuilder::new().build().ok().map(Arc::new);
        }
        pool.clone()
    };
    match pool {
        Some(pool) => pool.install(call),
        // Where not even one thread can be had, rayon works on the calling one.
        None => call(),
    }
}

/// Called in a process that has just been forked.
#[pyfunction]
pub fn forked() {
    FORKED.store(true, Ordering::Relaxed);
    // The threads of a pool that its parent had as a forked process are not here to be ended.
    core::mem::forget(POOL.lock().unwrap_or_else(PoisonError::into_inner).take());
}
