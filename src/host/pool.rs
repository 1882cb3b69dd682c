//! What all threads of the host share, whichever engine they work for: how they wait, and what becomes of the others when
//! one of them panics.

/// Polite attempts before a waiting thread gives its core away.
const SPINS: u32 = 1 << 11;

/// A wait in a loop: spins at first, and after a while gives way.
#[derive(Default)]
pub(crate) struct Backoff {
    spins: u32,
}

impl Backoff {
    /// Lets some time pass.
    pub fn wait(&mut self) {
        if self.spins < SPINS {
            self.spins += 1;
            core::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }

    /// Something has been done meanwhile: spins again.
    pub fn reset(&mut self) {
        self.spins = 0;
    }
}

/// Waits until something is so.
#[cfg(feature = "cuda")]
pub(crate) fn wait_until(ready: impl Fn() -> bool) {
    let mut backoff = Backoff::default();
    while !ready() {
        backoff.wait();
    }
}

/// Does something when it is dropped: in a panic, since whoever gets through calls [`defuse`](Self::defuse).
///
/// It does not ask whether the thread is unwinding. A caller may be, which modifies a factor in a destructor, and
/// nothing is wrong with that.
pub(crate) struct OnPanic<F: FnMut()>(pub F);

impl<F: FnMut()> OnPanic<F> {
    /// All went well.
    pub fn defuse(self) {
        core::mem::forget(self);
    }
}

impl<F: FnMut()> Drop for OnPanic<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
