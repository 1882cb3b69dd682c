//! The CPU engine and its settings.

use super::factor::HostFactor;
use crate::engine::{Engine, sealed::Sealed};
use crate::error::Error;
use crate::host::threads::Threads;
use crate::scalar::Scalar;
use crate::storage::Safeguard;
use faer::{Mat, Par};

/// The CPU engine: the factor in host memory, SIMD micro-kernels, threads of the current rayon pool.
///
/// While a modification waits for its threads, rayon may have the waiting thread take up another task, as it may in any
/// library that uses it. A task that holds a lock during a call (a `Mutex<Cholesky<_>>`) may so be made to run another
/// that wants the same lock, and wait for itself for ever. Where tasks of a pool share a factor behind a lock, give it
/// [`Cpu::sequential`], which never leaves its thread, or have the calls made in a pool of their own
/// ([`rayon::ThreadPool::install`]).
///
/// The child of a `fork` has none of the pool's threads. Where the pool had been used before, calls in the child work on the calling
/// thread alone, with the same result, unless they are made in a pool that the child has built itself.
#[derive(Clone, Copy, Debug)]
pub struct Cpu {
    pub(super) threads: Threads,
    pub(super) safeguard: Safeguard,
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

    /// At most `threads` threads of the current rayon pool, the caller's among them; 0 is taken for 1, and what is beyond 1024 for 1024.
    pub fn threads(threads: usize) -> Self {
        Self { threads: Threads::at_most(threads), ..Self::default() }
    }

    /// The same engine with another safeguard.
    #[must_use]
    pub fn with_safeguard(self, safeguard: Safeguard) -> Self {
        Self { safeguard, ..self }
    }
}

impl Sealed for Cpu {}

impl<T: Scalar> Engine<T> for Cpu {
    type Factor = HostFactor<T>;

    fn adopt(&self, l: Mat<T>) -> Result<HostFactor<T>, Error> {
        Ok(HostFactor::new(self.threads, self.safeguard, l))
    }

    fn par(&self) -> Par {
        self.threads.par()
    }
}
