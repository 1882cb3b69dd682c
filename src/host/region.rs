//! Threads that stand by for parallel regions of some microseconds, too short to wake anybody for.
//!
//! Protocol. The caller opens a region: a task and a number of work items. Whoever is there takes the next item
//! until none is left; then the caller closes the region and waits until everybody has left it. A worker goes
//! into a region by counting itself in and then looking whether the region is still open. So a worker inside a
//! region has seen its task, and the caller changes the task while nobody is inside.
//!
//! Opening, closing, counting in and looking are sequentially consistent: that a worker counts itself in before it looks,
//! and the caller closes before it counts, are a store and a load of different words each, which release and acquire alone
//! would let change places. `next` hands out numbers, of which the caller alone waits for the outcome, through `inside`;
//! `standing_by` is a hint; `dismissed` is looked at again by whoever has missed it.

use super::pool::{OnPanic, wait_until};
use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What is done with a work item, by its number.
type Task<'a> = dyn Fn(usize) + Sync + 'a;

/// The caller of parallel regions and the workers who stand by for them.
pub(crate) struct StandBy {
    /// Even: open, and which region it is. Odd: closed.
    region: AtomicUsize,
    /// Workers inside the region.
    inside: AtomicUsize,
    /// The task of the open region, and its work items.
    task: UnsafeCell<Option<(*const Task<'static>, usize)>>,
    /// The next item that nobody has taken.
    next: AtomicUsize,
    /// Workers that have turned up.
    standing_by: AtomicUsize,
    dismissed: AtomicBool,
}

// SAFETY: the task is written by the caller alone, while nobody is inside a region, and read inside. There is
// one caller, on one thread.
unsafe impl Sync for StandBy {}

/// The right to open regions, which stays on its thread: a task cannot have it.
#[derive(Clone, Copy)]
pub(crate) struct Caller<'a>(&'a StandBy, PhantomData<*const ()>);

impl Caller<'_> {
    /// `task(0)`, …, `task(items − 1)`, each once, by whoever is there, begun in this order. Returns when
    /// all are done.
    pub fn region(self, items: usize, task: &Task<'_>) {
        self.0.region(items, task);
    }
}

impl StandBy {
    /// Runs `call` while up to `workers` other threads of the current rayon pool stand by for its regions.
    /// With none it does everything itself.
    ///
    /// `call` must not use rayon: a thread that waits there may take up standing by, and never come back.
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
            // However the caller ends, the workers are sent home.
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

    /// As [`Caller::region`], by the caller alone.
    fn region(&self, items: usize, task: &Task<'_>) {
        if items <= 1 || self.standing_by.load(Ordering::Relaxed) == 0 {
            (0..items).for_each(task);
            return;
        }
        let task: *const Task<'_> = task;
        // SAFETY: nobody is inside a closed region. The task is called inside the region that is opened here,
        // which everybody has left before this function returns: the lifetime is only named away.
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

    /// The items that nobody has taken.
    fn take_items(&self) {
        // SAFETY: called inside an open region, or by the caller of it.
        let Some((task, items)) = (unsafe { *self.task.get() }) else { return };
        // An item whose task panics cannot be left behind: others may wait for it, or still use the stack of the
        // caller. As rayon does in such a place, the process ends.
        let guard = OnPanic(|| std::process::abort());
        loop {
            let item = self.next.fetch_add(1, Ordering::AcqRel);
            if item >= items {
                break;
            }
            // SAFETY: the caller keeps the task until everybody has left the region.
            unsafe { (*task)(item) };
        }
        guard.defuse();
    }

    /// `count` workers, woken up two at a time.
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
            // Nothing in between panics but a task, which ends the process.
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

    /// Pieces may wait for items before them.
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
