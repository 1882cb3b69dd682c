//! Work for several threads: the library's workers, or those of a rayon pool.

use super::workers::Claim;
use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering};

/// The work of one thread, given its number.
type Task<'a> = dyn Fn(usize) + Sync + 'a;

thread_local! {
    /// This thread is in its own part of work for several threads.
    static IN_ITS_PART: Cell<bool> = const { Cell::new(false) };
}

/// Whether the caller of [`on_threads`] does its part on this thread. It may call code of the user there, which may call the
/// library. That call must work on this thread alone: the others may all be waiting for this one.
pub(super) fn is_in_its_part() -> bool {
    IN_ITS_PART.get()
}

/// Does the caller's part.
fn own_part(task: &Task<'_>) {
    /// Also after a panic.
    struct Left(bool);
    impl Drop for Left {
        fn drop(&mut self) {
            IN_ITS_PART.set(self.0);
        }
    }
    let _left = Left(IN_ITS_PART.replace(true));
    task(0);
}

/// Calls `task` on this thread, as number 0, and on up to `threads` − 1 others, each with a number of its own. The others are the
/// library's workers or, in a rayon pool or while another caller has these, threads of the current pool. The
/// library's workers and the caller are not more than the current pool has; those of the pool come in addition to a caller from
/// outside. They may come late or not at all, so nothing may wait for them.
pub(crate) fn on_threads(threads: usize, task: &Task<'_>) {
    if let Some(claim) = Claim::new() {
        let part = |number| if number == 0 { own_part(task) } else { task(number) };
        return claim.region(at_most_the_pool(threads), &part);
    }
    let arrived = AtomicUsize::new(1);
    let others = || wake(threads - 1, &|| task(arrived.fetch_add(1, Ordering::Relaxed)));
    if rayon::current_thread_index().is_some() {
        rayon::join(|| own_part(task), others);
    } else {
        // A caller from outside the pool starts at once, without waiting for a thread of the pool to wake up.
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| others());
            own_part(task);
        });
    }
}

/// The current rayon pool has the number of threads that the user allows; the library's workers are not more.
pub(crate) fn at_most_the_pool(threads: usize) -> usize {
    threads.min(rayon::current_num_threads())
}

/// Calls `task` on `count` threads of the current rayon pool, two of which wake two at a time.
fn wake(count: usize, task: &(dyn Fn() + Sync)) {
    match count {
        0 => {}
        1 => task(),
        _ => {
            rayon::join(|| wake(count / 2, task), || wake(count - count / 2, task));
        }
    }
}

/// The right to share work among several of the library's workers.
pub(crate) struct Share {
    claim: Claim,
    threads: usize,
}

impl Share {
    /// `None` with one thread, or if another caller has the workers.
    pub fn among(threads: usize) -> Option<Self> {
        if threads <= 1 {
            return None;
        }
        Some(Self { claim: Claim::new()?, threads: at_most_the_pool(threads) })
    }

    /// Calls `work` once for each of 0..`parts`, on any of the threads.
    pub fn each(&self, parts: usize, work: &Task<'_>) {
        let next = AtomicUsize::new(0);
        // The region orders all accesses of its threads before its end; the counter only hands out numbers.
        self.claim.region(self.threads.min(parts), &|_| {
            loop {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part >= parts {
                    break;
                }
                work(part);
            }
        });
    }

    /// Calls `work` once for each item and its index, on any of the threads.
    pub fn each_of<N: Send>(&self, items: &mut [N], work: &(dyn Fn(usize, &mut N) + Sync)) {
        struct Items<N>(*mut N);
        // SAFETY: each item is used by one thread.
        unsafe impl<N: Send> Sync for Items<N> {}
        let (at, len) = (Items(items.as_mut_ptr()), items.len());
        let at = &at;
        self.each(len, &|index| {
            // SAFETY: `each` calls this once for each index below `len`; the items are borrowed exclusively until it returns.
            work(index, unsafe { &mut *at.0.add(index) });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::Mutex;
    use std::time::Duration;

    #[test]
    fn numbers_are_distinct_and_the_callers_is_zero() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for threads in [1, 2, 3, 9] {
            let check = || {
                let (seen, caller) = (Mutex::new(BTreeSet::new()), std::thread::current().id());
                on_threads(threads, &|number| {
                    assert!(number < threads && seen.lock().unwrap().insert(number));
                    assert!(number != 0 || std::thread::current().id() == caller);
                });
                assert!(seen.into_inner().unwrap().contains(&0));
            };
            check();
            pool.install(check);
            let _claim = Claim::new();
            check();
        }
    }

    #[test]
    fn every_item_is_done_once() {
        let share = loop {
            if let Some(share) = Share::among(3) {
                break share;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        for len in [0, 1, 2, 7, 100] {
            let mut items = vec![0; len];
            for _ in 0..50 {
                share.each_of(&mut items, &|index, item| *item += index + 1);
            }
            assert!(items.iter().enumerate().all(|(index, &item)| item == 50 * (index + 1)), "{items:?}");
        }
    }
}
