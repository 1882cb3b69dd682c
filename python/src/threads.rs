//! Calls into the library without the GIL, on a thread pool of its own in a forked process.

use cholupdate::cuda::keeping_current_context;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Whether this process was forked from one that had loaded this module.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Whether this process is the child of a `fork`.
pub fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}
/// The thread pool of a forked process.
static POOL: Mutex<Option<Arc<ThreadPool>>> = Mutex::new(None);

/// Runs `call` without the GIL, and leaves the CUDA context current that is so.
///
/// A forked process has none of its parent's threads, and a task that is given to the parent's pool would never run. It uses a
/// pool of its own.
#[inline]
pub fn without_gil<R: Send>(py: Python<'_>, call: impl FnOnce() -> R + Send) -> R {
    let call = || keeping_current_context(call);
    if is_forked() { py.detach(|| in_own_pool(call)) } else { py.detach(call) }
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
        // If no thread can be started, rayon works on the calling thread.
        None => call(),
    }
}

/// Called in a child process after a fork.
#[pyfunction]
pub fn forked() {
    FORKED.store(true, Ordering::Relaxed);
    // The threads of a pool that the parent had as a forked process do not exist here, and cannot be ended.
    core::mem::forget(POOL.lock().unwrap_or_else(PoisonError::into_inner).take());
}
