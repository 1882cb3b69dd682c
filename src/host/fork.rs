//! Threads in a forked process.
//!
//! The child of `fork` has only the thread that called it. The threads of its parent's rayon pool do not exist there, and a
//! call that gave them work would wait forever. So a child works on its single thread, unless it calls from a pool that it has
//! started itself.
//!
//! `fork` runs a handler in the child. It is registered before the pool is first used: a pool that was never used has not been
//! started, and the child starts its own.

use core::cell::Cell;
use core::sync::atomic::{AtomicU8, Ordering};

/// The state of the threads of rayon's global pool.
static THREADS: AtomicU8 = AtomicU8::new(NOT_ASKED_FOR);
const NOT_ASKED_FOR: u8 = 0;
/// They may exist, and `fork` runs the handler.
const WATCHED: u8 = 1;
/// They exist only in the process from which this one was forked.
const MISSING: u8 = 2;

thread_local! {
    /// This thread belonged to a pool when it forked. The other threads of that pool do not exist here, although rayon reports
    /// them.
    static LEFT_ITS_POOL: Cell<bool> = const { Cell::new(false) };
}

/// Whether the threads of the current rayon pool are missing in this process. Must be checked before they are given work.
#[inline]
pub(super) fn pool_is_missing() -> bool {
    match THREADS.load(Ordering::Relaxed) {
        WATCHED => false,
        MISSING => rayon::current_thread_index().is_none() || LEFT_ITS_POOL.get(),
        _ => {
            watch();
            false
        }
    }
}

/// Registers the handler. Two threads that do so at once register it twice, which is harmless.
#[cold]
fn watch() {
    // SAFETY: the handler stores to an atomic flag and to a variable of its thread, which is permitted in a child of a process
    // with any number of threads.
    #[cfg(unix)]
    if unsafe { libc::pthread_atfork(None, None, Some(in_child)) } != 0 {
        // There was no memory for it: the next call tries again.
        return;
    }
    THREADS.store(WATCHED, Ordering::Relaxed);
}

/// Called by `fork` in the child.
#[cfg(unix)]
extern "C" fn in_child() {
    THREADS.store(MISSING, Ordering::Relaxed);
    LEFT_ITS_POOL.set(rayon::current_thread_index().is_some());
    super::workers::forget();
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::threads::Threads;
    use crate::{Cholesky, Cpu};
    use faer::Mat;
    use rayon::{ThreadPool, ThreadPoolBuilder};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// A problem large enough for several threads.
    fn work(engine: Cpu) -> Mat<f64> {
        let n = 700;
        let a = Mat::from_fn(n, n, |i, j| if i == j { n as f64 } else { 1.0 / (1 + i + j) as f64 });
        let v = Mat::from_fn(n, 16, |i, j| ((7 * i + 5 * j) % 11) as f64 / 11.0);
        let mut factor = Cholesky::new_in(&a, engine).unwrap();
        factor.update(&v).unwrap();
        factor.remove(&[3, 50]).unwrap();
        factor.downdate(&vec![100.0; n - 2]).unwrap_err();
        factor.solve(v.as_ref().subrows(2, n - 2)).unwrap()
    }

    fn pool() -> ThreadPool {
        ThreadPoolBuilder::new().num_threads(3).build().unwrap()
    }

    /// Whether `claim` is true in a child process. The child is killed after a minute.
    fn holds_in_a_child(claim: impl FnOnce() -> bool) -> bool {
        // SAFETY: the child has this thread alone, and the C library makes allocation usable in it. It exits without returning
        // to the test runner, whose locks may be held by threads that it does not have.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::alarm(60);
                let holds = catch_unwind(AssertUnwindSafe(claim)).unwrap_or(false);
                libc::_exit(if holds { 0 } else { 1 });
            }
            let mut status = -1;
            assert!(child > 0 && libc::waitpid(child, &mut status, 0) == child);
            libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
        }
    }

    #[test]
    fn a_child_process_works_on_the_thread_that_it_has() {
        let wanted = work(Cpu::default());
        for engine in [Cpu::default(), Cpu::threads(4)] {
            assert!(holds_in_a_child(|| work(engine) == wanted));
        }
        assert!(holds_in_a_child(|| Threads::Pool.count() == 1 && Threads::Fixed(4).count() == 1));
        assert!(holds_in_a_child(|| holds_in_a_child(|| work(Cpu::default()) == wanted)));
    }

    /// Scopes of the parent have no effect in the child, and may end there.
    #[test]
    fn a_child_process_has_no_threads_that_are_awake() {
        let wanted = work(Cpu::default());
        let engine = Cpu::threads(4);
        let mut awake = Some(engine.keep_awake());
        assert!(work(engine) == wanted);
        let in_child = || {
            let same = work(engine) == wanted;
            let inner = engine.keep_awake();
            let still_the_same = work(engine) == wanted;
            drop(awake.take());
            drop(inner);
            same && still_the_same && work(engine) == wanted
        };
        assert!(holds_in_a_child(in_child));
        assert!(work(engine) == wanted);
    }

    #[test]
    fn a_child_process_works_in_a_pool_of_its_own() {
        let wanted = work(Cpu::default());
        let in_pool = || pool().install(|| Threads::Pool.count() == 3 && work(Cpu::default()) == wanted);
        assert!(holds_in_a_child(in_pool));
        let awake = || {
            let engine = Cpu::threads(3);
            let _awake = engine.keep_awake();
            work(engine) == wanted
        };
        assert!(holds_in_a_child(|| pool().install(awake)));
        // If a thread of a pool forks, the other threads do not exist in the child.
        let forks = || holds_in_a_child(|| Threads::Pool.count() == 1 && work(Cpu::default()) == wanted);
        assert!(pool().install(forks));
        assert!(holds_in_a_child(|| pool().install(forks)));
    }
}
