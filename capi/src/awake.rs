//! Threads that stay awake from one call to the next.

use crate::status::{Refused, cholupdate_status, status_of};
use cholupdate::{Awake, Cpu};
use core::cell::RefCell;

thread_local! {
    /// What this thread has begun and not ended.
    static BEGUN: RefCell<Vec<Awake>> = const { RefCell::new(Vec::new()) };
}

/// Keeps the threads of the engine CHOLUPDATE_CPU awake for the calls of this thread, until it calls cholupdate_let_sleep() as
/// many times as this. To wake a thread takes longer than many a modification. After a call the threads stay awake for 50
/// microseconds and then sleep; this is for loops that modify a factor again and again with other work in between. Results do not
/// depend on it.
///
/// `threads` is the number of threads, 0 for all: that of the factors that are modified. They wait actively, so this costs as many
/// cores, and leaves one only to other threads that want to run. One thread at a time can have them awake: for a second one this has no
/// effect, nor in a process that was forked after its parent had used several threads.
///
/// Returns INVALID_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn cholupdate_keep_awake(threads: i64) -> cholupdate_status {
    status_of(|| {
        let engine = match usize::try_from(threads) {
            Ok(0) => Cpu::default(),
            Ok(threads) => Cpu::threads(threads),
            Err(_) => return Err(Refused::invalid("threads", threads, "0 or more")),
        };
        BEGUN.with_borrow_mut(|begun| begun.push(engine.keep_awake()));
        Ok(())
    })
}

/// Ends the last cholupdate_keep_awake() of this thread. When all have ended the threads sleep, and an idle program uses no
/// processor time. The end of the thread ends them as well.
///
/// Returns INVALID_ARGUMENT if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn cholupdate_let_sleep() -> cholupdate_status {
    status_of(|| {
        let ended = BEGUN.with_borrow_mut(Vec::pop);
        ended
            .map(drop)
            .ok_or_else(|| Refused::not_so("cholupdate_keep_awake() was not called on this thread"))
    })
}
