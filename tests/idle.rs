//! Threads that have nothing to do sleep, and while a scope keeps them awake they do not. A test of its own, since it measures the
//! processor time of its process.

#![cfg(unix)]

use cholupdate::{Cholesky, Cpu, faer::Mat};
use std::time::Duration;

/// The processor time that the process has used.
fn used() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is written to the memory of the variable.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    assert_eq!(failed, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The processor time that the process uses while this thread sleeps.
fn used_in_sleep() -> Duration {
    // Threads stay awake for a short time after their last call.
    std::thread::sleep(Duration::from_millis(50));
    let before = used();
    std::thread::sleep(Duration::from_millis(300));
    used() - before
}

#[test]
fn threads_sleep_when_no_scope_keeps_them_awake() {
    const LITTLE: Duration = Duration::from_millis(15);
    let (n, k) = (1000, 20);
    let engine = Cpu::threads(4);
    let mut factor = Cholesky::new_in(&Mat::<f64>::identity(n, n), engine).unwrap();
    let v = Mat::from_fn(n, k, |i, r| ((7 * i + 5 * r) % 13) as f64 / 13.0 - 0.4);
    assert!(used_in_sleep() < LITTLE, "before the first call");
    factor.update(&v).unwrap();
    assert!(used_in_sleep() < LITTLE, "after a call");
    for _ in 0..2 {
        let (outer, inner) = (engine.keep_awake(), engine.keep_awake());
        factor.update(&v).unwrap();
        drop(outer);
        // Threads that are awake let others go first, so that on a busy machine they may use no time for a while.
        let awake = || (0..20).any(|_| used_in_sleep() > 2 * LITTLE);
        let several = rayon::current_num_threads() > 1;
        assert!(!several || awake(), "in a scope");
        drop(inner);
        let asleep = used_in_sleep();
        assert!(asleep < LITTLE, "after a scope: {asleep:?}");
    }
    drop(engine.keep_awake());
    assert!(used_in_sleep() < LITTLE, "after a scope without calls");
}
