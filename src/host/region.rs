//! Threads on standby for parallel regions of some microseconds, too short to wake threads for.
//!
//! Protocol. The caller opens a region: a task and a number of work items. The threads present take the next item until none is
//! left; then the caller closes the region and waits until all workers have left it. A worker enters a region by incrementing
//! `inside` and then checking that the region is still open. So a worker inside a region sees its task, and the caller changes
//! the task only while no worker is inside.
//!
//! Opening, closing, incrementing and checking are sequentially consistent: a worker increments before it checks, and the
//! caller closes before it reads the count. Each is a store and a load of different words, which release and acquire alone
//! would allow to be reordered. `next` hands out numbers; the caller alone waits for the outcome, through `inside`.
//! `standing_by` is a hint; a worker that misses `dismissed` reads it again.

use super::pool::{OnPanic, wait_until};
use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The work on one item, given its number.
type Task<'a> = dyn Fn(usize) + Sync + 'a;

/// The caller of parallel regions, and the workers on standby for them.
pub(crate) struct StandBy {
    /// Even: open, and the number of the region. Odd: closed.
    region: AtomicUsize,
    /// Workers inside the region.
    inside: AtomicUsize,
    /// The task of the open region, and its work items.
    task: UnsafeCell<Option<(*const Task<'static>, usize)>>,
    /// The next item that no thread has taken.
    next: AtomicUsize,
    /// Workers that have arrived.
    standing_by: AtomicUsize,
    dismissed: AtomicBool,
}

// SAFETY: the task is written by the caller alone, while no worker is inside a region, and read inside. There is one caller, on
// one thread.
unsafe impl Sync for StandBy {}

/// The right to open regions. It stays on its thread, so a task cannot use it.
#[derive(Clone, Copy)]
pub(crate) struct Caller<'a>(&'a StandBy, PhantomData<*const ()>);

impl Caller<'_> {
    /// Runs `task(0)`, …, `task(items − 1)`, each once, on the threads present, started in this order. Returns when all are
    /// done.
    pub fn region(self, items: usize, task: &Task<'_>) {
        self.0.region(items, task);
    }
}

impl StandBy {
    /// Runs `call` while up to `workers` other threads of the current rayon pool are on standby for its regions. With no
    /// workers the caller does all items.
    ///
    /// `call` must not use rayon: a thread that waits there may be given the work of a standby worker, and never return.
    pub fn with<R: Send>(workers: usize, call: impl FnOnce(Caller<'_>) -> R + Send) -> R {
        let all = Self {
            region: AtomicUsize::new(1),
            inside: AtomicUsize::new(0),
            task: UnsafeCell::new(None),
            next: AtomicUsize::new(0),
            standing_by: AtomicUsize::new(0),
            dismissed: AtomicBool::new(workers == 0),
        };
        if workers == 0 {
            return call(Caller(&all, PhantomData));
        }
        let call = || {
            // The workers are dismissed also if the caller panics.
            let guard = OnPanic(|| all.dismiss());
            let outcome = call(Caller(&all, PhantomData));
            guard.defuse();
            all.dismiss();
            outcome
        };
        rayon::join(call, || all.wake(workers)).0
    }

    fn dismiss(&self) {
        self.dismissed.store(true, Ordering::Relaxed);
    }

    /// As [`Caller::region`]; called by the caller alone.
    fn region(&self, items: usize, task: &Task<'_>) {
        if items <= 1 || self.standing_by.load(Ordering::Relaxed) == 0 {
            (0..items).for_each(task);
            return;
        }
        let task: *const Task<'_> = task;
        // SAFETY: no worker is inside a closed region. The task is called only inside the region that is opened here, which all
        // workers have left before this function returns; so the extended lifetime is never used beyond the real one.
        unsafe {
            let task = core::mem::transmute::<*const Task<'_>, *const Task<'static>>(task);
            *self.task.get() = Some((task, items));
        }
        self.next.store(0, Ordering::Relaxed);
        self.region.fetch_add(1, Ordering::SeqCst);
        self.take_items();
        self.region.fetch_add(1, Ordering::SeqCst);
        wait_until(|| self.inside.load(Ordering::SeqCst) == 0);
    }

    /// Works on items until none is left.
    fn take_items(&self) {
        // SAFETY: called inside an open region, or by its caller.
        let Some((task, items)) = (unsafe { *self.task.get() }) else { return };
        // If the task of an item panics, the process aborts, as with rayon in such a place: other threads may wait for the
        // item, or still use the caller's stack.
        let guard = OnPanic(|| std::process::abort());
        loop {
            let item = self.next.fetch_add(1, Ordering::AcqRel);
            if item >= items {
                break;
            }
            // SAFETY: the caller keeps the task until all workers have left the region.
            unsafe { (*task)(item) };
        }
        guard.defuse();
    }

    /// Wakes `count` workers, two at a time.
    fn wake(&self, count: usize) {
        match count {
            0 => {}
            1 => self.work(),
            _ => {
                rayon::join(|| self.wake(count / 2), || self.wake(count - count / 2));
            }
        }
    }

    /// Takes part in regions until dismissed.
    fn work(&self) {
        self.standing_by.fetch_add(1, Ordering::Relaxed);
        let mut last = 1;
        loop {
            let open = || {
                let region = self.region.load(Ordering::SeqCst);
                region.is_multiple_of(2) && region != last
            };
            wait_until(|| open() || self.dismissed.load(Ordering::Relaxed));
            if self.dismissed.load(Ordering::Relaxed) {
                return;
            }
            // Nothing from here to the decrement can panic except a task, which aborts the process.
            self.inside.fetch_add(1, Ordering::SeqCst);
            if open() {
                last = self.region.load(Ordering::SeqCst);
                self.take_items();
            }
            self.inside.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicU32;

    #[test]
    fn every_item_is_done_once_before_the_region_ends() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        for workers in [0, 1, 3] {
            pool.install(|| {
                StandBy::with(workers, |caller| {
                    for region in 0..2000 {
                        let items = region % 7;
                        let done: [AtomicU32; 7] = Default::default();
                        caller.region(items, &|item| {
                            done[item].fetch_add(1, Ordering::Relaxed);
                        });
                        let done = done.map(AtomicU32::into_inner);
                        assert_eq!(done, core::array::from_fn(|item| u32::from(item < items)));
                    }
                });
            });
        }
    }

    /// Items may wait for earlier items.
    #[test]
    fn items_begin_in_order() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        pool.install(|| {
            StandBy::with(2, |caller| {
                for _ in 0..500 {
                    let progress = AtomicUsize::new(0);
                    caller.region(6, &|item| {
                        wait_until(|| progress.load(Ordering::Acquire) == item);
                        progress.store(item + 1, Ordering::Release);
                    });
                    assert_eq!(progress.into_inner(), 6);
                }
            });
        });
    }
}
