//! Threads that stand by for pieces of work of some microseconds, too short to wake anybody for.
//!
//! Protocol. The leader opens a round: a task and a number of pieces. Whoever is there takes the next piece
//! until none is left; then the leader closes the round and waits until everybody has left it. A member goes
//! into a round by counting itself in and then looking whether the round is still open. So a member inside a
//! round has seen its task, and the leader changes the task while nobody is inside.

use super::guard::OnPanic;
use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Polite attempts before a waiting thread gives its core away.
const SPINS: u32 = 1 << 12;

/// A piece of work by its number.
type Task<'a> = dyn Fn(usize) + Sync + 'a;

/// The leader of a crew and those who stand by.
pub(crate) struct Crew {
    /// Even: open, and which one it is. Odd: closed.
    round: AtomicUsize,
    /// Members inside the round.
    inside: AtomicUsize,
    /// The task of the open round, and its pieces.
    task: UnsafeCell<Option<(*const Task<'static>, usize)>>,
    /// The next piece that nobody has taken.
    next: AtomicUsize,
    /// Members that stand by.
    members: AtomicUsize,
    dismissed: AtomicBool,
}

// SAFETY: the task is written by the leader alone, while nobody is inside a round, and read inside. There is
// one leader, on one thread.
unsafe impl Sync for Crew {}

/// The right to open rounds, which stays on its thread: a task cannot have it.
#[derive(Clone, Copy)]
pub(crate) struct Leader<'a>(&'a Crew, PhantomData<*const ()>);

impl Leader<'_> {
    /// `task(0)`, …, `task(pieces − 1)`, each once, by whoever is there, begun in this order. Returns when
    /// all are done.
    pub fn share(self, pieces: usize, task: &Task<'_>) {
        self.0.share(pieces, task);
    }
}

impl Crew {
    /// Runs `lead` while up to `members` other threads of the current rayon pool stand by for its rounds.
    /// With none it does everything itself.
    ///
    /// `lead` must not use rayon: a thread that waits there may take up standing by, and never come back.
    pub fn with<R: Send>(members: usize, lead: impl FnOnce(Leader<'_>) -> R + Send) -> R {
        let crew = Self {
            round: AtomicUsize::new(1),
            inside: AtomicUsize::new(0),
            task: UnsafeCell::new(None),
            next: AtomicUsize::new(0),
            members: AtomicUsize::new(0),
            dismissed: AtomicBool::new(members == 0),
        };
        if members == 0 {
            return lead(Leader(&crew, PhantomData));
        }
        let lead = || {
            let _dismissal = Dismissal(&crew.dismissed);
            lead(Leader(&crew, PhantomData))
        };
        rayon::join(lead, || crew.stand_by(members)).0
    }

    /// As [`Leader::share`], by the leader alone.
    fn share(&self, pieces: usize, task: &Task<'_>) {
        if pieces <= 1 || self.members.load(Ordering::Relaxed) == 0 {
            (0..pieces).for_each(task);
            return;
        }
        let task: *const Task<'_> = task;
        // SAFETY: nobody is inside a closed round. The task is called inside the round that is opened here,
        // which everybody has left before this function returns: the lifetime is only named away.
        unsafe {
            let task = core::mem::transmute::<*const Task<'_>, *const Task<'static>>(task);
            *self.task.get() = Some((task, pieces));
        }
        self.next.store(0, Ordering::Relaxed);
        self.round.fetch_add(1, Ordering::SeqCst);
        self.take_pieces();
        self.round.fetch_add(1, Ordering::SeqCst);
        wait_until(|| self.inside.load(Ordering::SeqCst) == 0);
    }

    /// The pieces that nobody has taken.
    fn take_pieces(&self) {
        // SAFETY: called inside an open round, or by the leader of it.
        let Some((task, pieces)) = (unsafe { *self.task.get() }) else { return };
        // A piece that panics cannot be left behind: others may wait for it, or still use the frame of the
        // leader. As rayon does in such a place, the process ends.
        let guard = OnPanic(|| std::process::abort());
        loop {
            let piece = self.next.fetch_add(1, Ordering::AcqRel);
            if piece >= pieces {
                break;
            }
            // SAFETY: the leader keeps the task until everybody has left the round.
            unsafe { (*task)(piece) };
        }
        guard.defuse();
    }

    /// `count` members, woken up two at a time.
    fn stand_by(&self, count: usize) {
        match count {
            0 => {}
            1 => self.serve(),
            _ => {
                rayon::join(|| self.stand_by(count / 2), || self.stand_by(count - count / 2));
            }
        }
    }

    /// Takes part in rounds until dismissed.
    fn serve(&self) {
        self.members.fetch_add(1, Ordering::Relaxed);
        let mut last = 1;
        loop {
            let open = || {
                let round = self.round.load(Ordering::SeqCst);
                round.is_multiple_of(2) && round != last
            };
            wait_until(|| open() || self.dismissed.load(Ordering::Relaxed));
            if self.dismissed.load(Ordering::Relaxed) {
                return;
            }
            let _place = Place::new(&self.inside);
            if open() {
                last = self.round.load(Ordering::SeqCst);
                self.take_pieces();
            }
        }
    }
}

/// A place inside a round, given up also by a panic.
struct Place<'a>(&'a AtomicUsize);

impl<'a> Place<'a> {
    fn new(inside: &'a AtomicUsize) -> Self {
        inside.fetch_add(1, Ordering::SeqCst);
        Self(inside)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Sends the members home however the leader ends.
struct Dismissal<'a>(&'a AtomicBool);

impl Drop for Dismissal<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Spins, and after a while gives way.
pub(crate) fn wait_until(ready: impl Fn() -> bool) {
    let mut spins = 0;
    while !ready() {
        if spins < SPINS {
            spins += 1;
            core::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicU32;

    #[test]
    fn every_piece_is_done_once_before_the_round_ends() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        for members in [0, 1, 3] {
            pool.install(|| {
                Crew::with(members, |crew| {
                    for round in 0..2000 {
                        let pieces = round % 7;
                        let done: [AtomicU32; 7] = Default::default();
                        crew.share(pieces, &|piece| {
                            done[piece].fetch_add(1, Ordering::Relaxed);
                        });
                        let done = done.map(AtomicU32::into_inner);
                        assert_eq!(done, core::array::from_fn(|piece| u32::from(piece < pieces)));
                    }
                });
            });
        }
    }

    /// Pieces may wait for pieces before them.
    #[test]
    fn pieces_begin_in_order() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        pool.install(|| {
            Crew::with(2, |crew| {
                for _ in 0..500 {
                    let progress = AtomicUsize::new(0);
                    crew.share(6, &|piece| {
                        wait_until(|| progress.load(Ordering::Acquire) == piece);
                        progress.store(piece + 1, Ordering::Release);
                    });
                    assert_eq!(progress.into_inner(), 6);
                }
            });
        });
    }
}
