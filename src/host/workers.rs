//! Threads of the library's own, which stay awake for a short time after each parallel region.
//!
//! To wake a thread takes longer than most calls, and a thread that is awake joins in some microseconds. A worker that has left
//! a region therefore spins for [`LINGER`] before it sleeps, and while a [`Scope`] exists until that ends.
//!
//! Protocol. A process has these workers once, and one caller at a time has them: the one with the [`Claim`]. The caller opens a
//! region, that is, a task and a number of threads, takes part as thread 0, closes the region, and waits until all workers have
//! left it. A worker enters by incrementing `inside` and then checking that the region is still open. So a worker inside a
//! region sees its task, and the caller changes the task only while no worker is inside. The caller never waits for a worker
//! that has not entered; a task must not do so either.
//!
//! Worker s has seat s, from 1 on. The caller wakes the first [`WAKES`], and each of these the next ones, as a tree, so that no
//! thread has to wake very many others. A worker announces in `asleep` that it goes to sleep, and then checks once more for a region or a scope.
//!
//! Orderings. Opening and closing a region, entering and checking, beginning a scope, and announcing sleep and checking are
//! sequentially consistent: each is a store and a load of different words, which release and acquire alone would allow to be
//! reordered. `busy` passes the workers from one caller to the next: it is taken with acquire and returned with release.
//! Relaxed accesses carry no data: a worker that spins looks at `kept_awake` to know how long, and `seated` is written by the
//! caller alone.

use super::pool::wait_until;
use core::any::Any;
use core::cell::{Cell, UnsafeCell};
use core::marker::PhantomData;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{Builder, Thread};
use std::time::{Duration, Instant};

/// How long a worker stays awake after a region.
const LINGER: Duration = Duration::from_micros(50);

/// Workers that a thread wakes. To wake one takes a few microseconds, and until it runs, several tens: with 16 threads a Xeon is
/// faster if the caller wakes all than if each thread wakes two.
const WAKES: usize = 16;

/// The largest number of threads, including the caller's.
const SEATS: usize = 256;

/// The work of one thread, given its number.
type Task<'a> = dyn Fn(usize) + Sync + 'a;

/// A value in cache lines of its own.
#[repr(align(128))]
#[derive(Default)]
struct Apart<T>(T);

/// A worker's place.
#[repr(align(128))]
#[derive(Default)]
struct Seat {
    /// The worker is asleep, or about to be.
    asleep: AtomicBool,
    thread: OnceLock<Thread>,
}

/// The workers, and the region that they take part in.
struct Workers {
    /// Even: open, and the number of the region. Odd: closed.
    region: Apart<AtomicUsize>,
    /// Workers inside the region.
    inside: Apart<AtomicUsize>,
    /// The task of the region, and its number of threads.
    task: UnsafeCell<Option<(*const Task<'static>, usize)>>,
    /// A caller has the workers.
    busy: Apart<AtomicBool>,
    /// The caller has a scope.
    kept_awake: AtomicBool,
    /// Workers that have been started.
    seated: AtomicUsize,
    seats: Box<[Seat]>,
    /// What a worker has panicked with in the region.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: the task is written by the caller alone, while no worker is inside a region, and read inside.
unsafe impl Sync for Workers {}

/// The workers of this process. The child of a fork has none of these threads; where it may use several, it starts its own.
static WORKERS: AtomicPtr<Workers> = AtomicPtr::new(core::ptr::null_mut());

/// What this thread has by its scopes.
#[derive(Clone, Copy)]
struct Kept {
    /// Scopes that have not ended.
    scopes: usize,
    /// The workers, unless another caller had them when the scopes began.
    workers: Option<&'static Workers>,
    /// There is a [`Claim`] on them. In a region the caller may call code of the user, which may call the library.
    claimed: bool,
}

thread_local! {
    static KEPT: Cell<Kept> = const { Cell::new(Kept { scopes: 0, workers: None, claimed: false }) };
}

impl Kept {
    /// Changes what this thread has.
    fn change(change: impl FnOnce(&mut Self)) {
        let mut kept = KEPT.get();
        change(&mut kept);
        if kept.scopes == 0
            && !kept.claimed
            && let Some(workers) = kept.workers.take()
        {
            workers.kept_awake.store(false, Ordering::SeqCst);
            workers.release();
        }
        KEPT.set(kept);
    }
}

/// The right to open regions. It stays on its thread.
pub(super) struct Claim {
    workers: &'static Workers,
    /// The workers are not this thread's by a scope, and are released at the end.
    released: bool,
    on_this_thread: PhantomData<*const ()>,
}

impl Claim {
    /// Returns the workers if no other caller has them. Threads of a rayon pool get them only in a scope: the others of that pool
    /// are as many already.
    pub fn new() -> Option<Self> {
        let claim = |workers, released| Self { workers, released, on_this_thread: PhantomData };
        match KEPT.get() {
            Kept { claimed: true, .. } => None,
            Kept { workers: Some(workers), .. } => {
                Kept::change(|kept| kept.claimed = true);
                Some(claim(workers, false))
            }
            _ if rayon::current_thread_index().is_some() => None,
            _ => Workers::claimed().map(|workers| claim(workers, true)),
        }
    }

    /// Calls `task` on this thread, as number 0, and on up to `threads` − 1 workers, while it lasts on this thread. Each
    /// number is used at most once. Panics if a worker does.
    pub fn region(&self, threads: usize, task: &Task<'_>) {
        self.workers.region(threads, task);
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.released {
            self.workers.release();
        } else {
            Kept::change(|kept| kept.claimed = false);
        }
    }
}

/// Until it is dropped, workers stay awake and are this thread's alone, unless another caller has them.
#[derive(Debug)]
pub(crate) struct Scope(PhantomData<*const ()>);

impl Scope {
    /// For regions of this number of threads.
    pub fn new(threads: usize) -> Self {
        Kept::change(|kept| {
            kept.scopes += 1;
            if kept.workers.is_none() && threads > 1 {
                kept.workers = Workers::claimed();
            }
            if let Some(workers) = kept.workers.filter(|_| !kept.claimed) {
                workers.keep_awake(threads);
            }
        });
        Self(PhantomData)
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        Kept::change(|kept| kept.scopes -= 1);
    }
}

/// Whether the workers are awake, and this thread's.
#[inline]
pub(crate) fn are_awake() -> bool {
    matches!(KEPT.get(), Kept { workers: Some(_), claimed: false, .. })
}

/// Called by `fork` in the child. Its scopes go on, without workers.
#[cfg(unix)]
pub(super) fn forget() {
    WORKERS.store(core::ptr::null_mut(), Ordering::Relaxed);
    KEPT.set(Kept { workers: None, claimed: false, ..KEPT.get() });
}

impl Workers {
    fn new() -> Self {
        Self {
            region: Apart(AtomicUsize::new(1)),
            inside: Apart::default(),
            task: UnsafeCell::new(None),
            busy: Apart::default(),
            kept_awake: AtomicBool::new(false),
            seated: AtomicUsize::new(0),
            seats: (0..SEATS).map(|_| Seat::default()).collect(),
            panic: Mutex::new(None),
        }
    }

    /// The workers, if no other caller has them.
    fn claimed() -> Option<&'static Self> {
        let mut all = WORKERS.load(Ordering::Acquire);
        if all.is_null() {
            let new = Box::into_raw(Box::new(Self::new()));
            match WORKERS.compare_exchange(all, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => all = new,
                Err(other) => {
                    // SAFETY: made above, and not published.
                    drop(unsafe { Box::from_raw(new) });
                    all = other;
                }
            }
        }
        // SAFETY: what the static has pointed to is never freed.
        let all = unsafe { &*all };
        let busy = all.busy.0.load(Ordering::Relaxed) || all.busy.0.swap(true, Ordering::Acquire);
        (!busy).then_some(all)
    }

    /// Lets the next caller have the workers.
    fn release(&self) {
        self.busy.0.store(false, Ordering::Release);
    }

    /// Starts workers up to number `threads` − 1, if the system lets it.
    fn seat(&'static self, threads: usize) {
        for seat in self.seated.load(Ordering::Relaxed) + 1..threads.min(SEATS) {
            let worker = Builder::new().name(format!("cholupdate-{seat}")).spawn(move || self.work(seat));
            if worker.is_err() {
                return;
            }
            self.seated.store(seat, Ordering::Relaxed);
        }
    }

    /// Wakes workers up to number `threads` − 1; none goes to sleep before the scope ends.
    fn keep_awake(&'static self, threads: usize) {
        self.seat(threads);
        self.kept_awake.store(true, Ordering::SeqCst);
        (1..threads).for_each(|seat| self.wake(seat));
    }

    /// As [`Claim::region`].
    fn region(&'static self, threads: usize, task: &Task<'_>) {
        self.seat(threads);
        let task: *const Task<'_> = task;
        // SAFETY: no worker is inside a closed region. The task is called only inside the region that is opened here, which all
        // workers have left before this function returns; so the extended lifetime is never used beyond the real one.
        unsafe {
            let task = core::mem::transmute::<*const Task<'_>, *const Task<'static>>(task);
            *self.task.get() = Some((task, threads));
        }
        self.region.0.fetch_add(1, Ordering::SeqCst);
        self.wake_next(0, threads);
        // SAFETY: the caller's own task.
        let outcome = catch_unwind(AssertUnwindSafe(|| unsafe { (*task)(0) }));
        self.region.0.fetch_add(1, Ordering::SeqCst);
        wait_until(|| self.inside.0.load(Ordering::SeqCst) == 0);
        let of_a_worker = || self.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Also if the caller panics, what a worker has panicked with must not be left to the next region.
        let of_a_worker = of_a_worker();
        if let Some(panic) = outcome.err().or(of_a_worker) {
            resume_unwind(panic);
        }
    }

    /// Wakes worker `seat` if it sleeps.
    fn wake(&self, seat: usize) {
        let Some(Seat { asleep, thread }) = self.seats.get(seat) else { return };
        if asleep.load(Ordering::SeqCst)
            && asleep.swap(false, Ordering::SeqCst)
            && let Some(thread) = thread.get()
        {
            thread.unpark();
        }
    }

    /// Wakes those of `threads` that thread `seat` is to wake.
    fn wake_next(&self, seat: usize, threads: usize) {
        let first = seat * WAKES + 1;
        (first..threads.min(first + WAKES)).for_each(|other| self.wake(other));
    }

    /// The life of a worker.
    fn work(&self, seat: usize) {
        let _ = self.seats[seat].thread.set(std::thread::current());
        let (mut last, mut worked) = (1, Instant::now());
        loop {
            last = self.next_region(seat, last, worked);
            self.inside.0.fetch_add(1, Ordering::SeqCst);
            if self.region.0.load(Ordering::SeqCst) == last && self.take_part(seat) {
                worked = Instant::now();
            }
            self.inside.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Takes part in the region that this worker is inside of, if it is one of its threads.
    fn take_part(&self, seat: usize) -> bool {
        // SAFETY: called inside a region.
        let Some((task, threads)) = (unsafe { *self.task.get() }) else { return false };
        if seat >= threads {
            return false;
        }
        self.wake_next(seat, threads);
        // SAFETY: the caller keeps the task until all workers have left the region.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| unsafe { (*task)(seat) })) {
            *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
        true
    }

    /// Waits for an open region other than `last`, and returns its number. Goes to sleep if the last work was some time ago and
    /// there is no scope.
    fn next_region(&self, seat: usize, last: usize, worked: Instant) -> usize {
        /// Checks between two looks at the clock.
        const SPINS: u32 = 128;
        let open = || {
            let region = self.region.0.load(Ordering::SeqCst);
            (region.is_multiple_of(2) && region != last).then_some(region)
        };
        let asleep = &self.seats[seat].asleep;
        loop {
            for _ in 0..SPINS {
                if let Some(region) = open() {
                    return region;
                }
                core::hint::spin_loop();
            }
            if worked.elapsed() <= LINGER {
                continue;
            }
            if self.kept_awake.load(Ordering::Relaxed) {
                // In a scope the wait may be long, and other threads may need the core.
                std::thread::yield_now();
                continue;
            }
            asleep.store(true, Ordering::SeqCst);
            if self.kept_awake.load(Ordering::SeqCst) || open().is_some() {
                asleep.store(false, Ordering::SeqCst);
                continue;
            }
            while asleep.load(Ordering::SeqCst) {
                std::thread::park();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tests share the workers of the process, so another one may have them.
    fn claim() -> Claim {
        loop {
            if let Some(claim) = Claim::new() {
                return claim;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// A scope that has the workers.
    fn scope(threads: usize) -> Scope {
        loop {
            let scope = Scope::new(threads);
            if are_awake() {
                return scope;
            }
            drop(scope);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// A region that ends when all its threads have entered it.
    fn all_come(claim: &Claim, threads: usize) {
        let here = AtomicUsize::new(0);
        claim.region(threads, &|_| {
            here.fetch_add(1, Ordering::Relaxed);
            wait_until(|| here.load(Ordering::Relaxed) == threads);
        });
    }

    #[test]
    fn each_number_is_used_once_and_none_after_the_region() {
        let claim = claim();
        for region in 0..3000 {
            let threads = 1 + region % 5;
            let done: [AtomicUsize; 5] = Default::default();
            let waits = region % 3 == 0;
            claim.region(threads, &|thread| {
                done[thread].fetch_add(1, Ordering::Relaxed);
                if thread == 0 && waits {
                    let begin = Instant::now();
                    while begin.elapsed() < Duration::from_micros(20) {}
                }
            });
            let done = done.map(AtomicUsize::into_inner);
            assert!(done[0] == 1 && done.iter().all(|&times| times <= 1), "{done:?}");
            assert!(done[threads..].iter().all(|&times| times == 0), "{done:?}");
            if region % 500 == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    #[test]
    fn all_workers_come_if_there_is_time() {
        let claim = claim();
        for pause in [0, 0, 2, 0, 2] {
            std::thread::sleep(Duration::from_millis(pause));
            all_come(&claim, 4);
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_workers_go_on() {
        for of in [0, 1, 2] {
            let claim = claim();
            let panicked = catch_unwind(AssertUnwindSafe(|| {
                let here = AtomicUsize::new(0);
                claim.region(2, &|thread| {
                    here.fetch_add(1, Ordering::Relaxed);
                    wait_until(|| here.load(Ordering::Relaxed) == 2);
                    assert!(thread != of && of != 2, "of the test");
                });
            }));
            assert!(panicked.is_err());
            claim.region(2, &|_| {});
            all_come(&claim, 3);
        }
    }

    #[test]
    fn one_caller_at_a_time() {
        let first = claim();
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(Claim::new().is_none()));
        });
        assert!(Claim::new().is_none());
        drop(first);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(|| {
            assert!(Claim::new().is_none(), "a pool has threads of its own");
            let _scope = scope(3);
            all_come(&claim(), 3);
        });
    }

    #[test]
    fn in_a_scope_the_workers_are_this_threads_until_the_last_one_ends() {
        let outer = scope(2);
        let inner = Scope::new(4);
        let others = || std::thread::scope(|scope| scope.spawn(|| Claim::new().is_some()).join().unwrap());
        for pause in [0, 2] {
            std::thread::sleep(Duration::from_millis(pause));
            let claim = claim();
            assert!(!are_awake() && Claim::new().is_none(), "a region is not opened inside another");
            all_come(&claim, 4);
            drop(claim);
            assert!(are_awake() && !others());
        }
        drop(outer);
        assert!(are_awake() && !others());
        // Scopes may end in any order, and inside a region.
        let last = claim();
        drop(inner);
        assert!(!others());
        drop(last);
        assert!(!are_awake());
        drop(claim());
    }

    /// A scope that begins while another caller has the workers does without them.
    #[test]
    fn a_scope_does_not_wait() {
        let all = scope(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _scope = Scope::new(2);
                assert!(!are_awake() && Claim::new().is_none());
            });
        });
        drop(all);
    }
}
