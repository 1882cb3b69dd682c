//! The CPU engine and its settings.

use crate::host::threads::Threads;
use crate::storage::Safeguard;

/// The CPU engine: the factor in host memory, SIMD micro-kernels, and several threads.
///
/// There are at most as many threads as the current rayon pool has (`RAYON_NUM_THREADS`). They are the library's own, which it
/// starts once in a process, and which one call at a time uses: after a call they stay awake for 50 microseconds, and in a scope
/// of [`keep_awake`](Self::keep_awake) until it ends. A call in a task of a rayon pool, or while another thread's call or scope has
/// the threads, uses those of the current pool. The result does not depend on it.
///
/// While a modification in a task of a pool waits for its threads, rayon may run another task on the waiting thread, as in any
/// library that uses it. If a task holds a lock during a call (a `Mutex<Cholesky<_>>`), rayon may run another task on its thread
/// that waits for the same lock: a deadlock. If tasks of a pool share a factor through a lock, use [`Cpu::sequential`], which never
/// leaves its thread, or make the calls in a separate pool ([`rayon::ThreadPool::install`]).
///
/// The child of a `fork` has none of these threads. If several had been used before, calls in the child use the calling thread
/// alone, with the same result, unless they are made in a pool that the child has built itself.
#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    pub(crate) threads: Threads,
    pub(crate) safeguard: Safeguard,
}

impl Default for Cpu {
    fn default() -> Self {
        Self { threads: Threads::Pool, safeguard: Safeguard::default() }
    }
}

impl Cpu {
    /// One thread: the caller's.
    pub fn sequential() -> Self {
        Self { threads: Threads::Fixed(1), ..Self::default() }
    }

    /// At most `threads` threads, including the caller's, and at most as many as the current rayon pool has. The number is clamped
    /// to 1..=1024.
    pub fn threads(threads: usize) -> Self {
        Self { threads: Threads::at_most(threads), ..Self::default() }
    }

    /// The same engine with another safeguard.
    #[must_use]
    pub fn with_safeguard(self, safeguard: Safeguard) -> Self {
        Self { safeguard, ..self }
    }
}
