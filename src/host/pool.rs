//! What the threads of the host share, for all engines: how they wait, and what the others do when one of them panics.

/// Spins before a waiting thread yields its core.
const SPINS: u32 = 1 << 11;

/// A wait in a loop: it spins at first, and later yields.
#[derive(Default)]
pub(crate) struct Backoff {
    spins: u32,
}

impl Backoff {
    /// Waits for a short time.
    pub fn wait(&mut self) {
        if self.spins < SPINS {
            self.spins += 1;
            core::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }

    /// Spins again, after some work has been done.
    pub fn reset(&mut self) {
        self.spins = 0;
    }
}

/// Waits until `ready` returns true.
pub(crate) fn wait_until(ready: impl Fn() -> bool) {
    let mut backoff = Backoff::default();
    while !ready() {
        backoff.wait();
    }
}

/// Calls a function when it is dropped. That happens in a panic: code that completes calls [`defuse`](Self::defuse).
///
/// It does not check whether the thread is unwinding. A destructor may legitimately modify a factor while its thread unwinds.
pub(crate) struct OnPanic<F: FnMut()>(pub F);

impl<F: FnMut()> OnPanic<F> {
    /// Disarms the guard: the code has completed.
    pub fn defuse(self) {
        core::mem::forget(self);
    }
}

impl<F: FnMut()> Drop for OnPanic<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
