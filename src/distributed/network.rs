//! What a distributed factor needs of the processes between which it is distributed.

use crate::real::Real;

/// The processes, seen from one of them. All of them make the same calls in the same order, but for [`start_send`](Self::start_send)
/// and [`receive`](Self::receive), and only from the thread that calls the factor.
pub trait Network {
    /// A message in flight.
    type Pending;

    /// The number of processes.
    fn ranks(&self) -> usize;

    /// This process, from 0.
    fn rank(&self) -> usize;

    /// Replaces each word by the least one that a process has in this place. All processes have the same number of words.
    fn least(&self, words: &mut [u64]);

    /// Copies bytes of process `root` to all others.
    fn broadcast(&self, root: usize, data: &mut [u8]);

    /// Starts to copy `len` bytes of process `root` to all others.
    ///
    /// # Safety
    /// The memory exists until the message has been waited for. It is not written by then, and on other processes than `root` not
    /// read either.
    unsafe fn start_broadcast(&self, root: usize, data: *mut u8, len: usize) -> Self::Pending;

    /// Starts to send bytes to another process, which receives the messages of this one in the order in which they were started.
    ///
    /// # Safety
    /// The memory exists until the message has been waited for, and is not written by then.
    unsafe fn start_send(&self, to: usize, data: *const u8, len: usize) -> Self::Pending;

    /// Receives the next message of another process, which has this length.
    fn receive(&self, from: usize, data: &mut [u8]);

    /// Whether a message is complete. It need not be waited for then.
    fn is_complete(&self, pending: &mut Self::Pending) -> bool;

    /// Waits for a message.
    fn wait(&self, pending: Self::Pending);

    /// Ends all processes: this one cannot go on, and the others would wait for it.
    fn abort(&self) -> !;
}

/// The bytes of scalars or words, which have no padding and no invalid values.
pub(crate) fn bytes_mut<T: Plain>(of: &mut [T]) -> &mut [u8] {
    // SAFETY: a `Plain` type has no padding, and any bytes are a value of it; the slice is borrowed exclusively.
    unsafe { core::slice::from_raw_parts_mut(of.as_mut_ptr().cast(), size_of_val(of)) }
}

/// Types without padding, of which any bytes are a value.
///
/// # Safety
/// That must be so.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: numbers have neither padding nor invalid values.
unsafe impl Plain for u64 {}
// SAFETY: the scalar types are `f32` and `f64`; as above.
unsafe impl<T: Real> Plain for T {}

#[cfg(test)]
pub(crate) mod threads {
    //! Threads of one process as the processes of a network, for tests without MPI.

    use super::*;
    use std::collections::VecDeque;
    use std::sync::{Arc, Condvar, Mutex};
    use std::time::Duration;

    /// Messages that have been sent and not yet received: by sender and receiver, in order.
    #[derive(Default)]
    struct Post {
        boxes: Mutex<Vec<VecDeque<Vec<u8>>>>,
        arrived: Condvar,
    }

    pub(crate) struct Threads {
        ranks: usize,
        rank: usize,
        post: Arc<Post>,
        /// Calls of `is_complete` until a message is found complete, for another order of events.
        delay: core::cell::Cell<u32>,
    }

    pub(crate) enum Waiting {
        Done,
        Here { from: usize, to: *mut u8, len: usize, delay: u32 },
    }

    impl Threads {
        /// Runs `work` as each of so many processes, and returns the results by rank. Panics after a minute.
        pub fn run<R: Send + 'static>(
            ranks: usize,
            work: impl Fn(Threads) -> R + Send + Sync + 'static,
        ) -> Vec<R> {
            let post = Arc::new(Post::default());
            post.boxes.lock().unwrap().resize_with(2 * ranks * ranks, VecDeque::new);
            let (work, (done, results)) = (Arc::new(work), std::sync::mpsc::channel());
            for rank in 0..ranks {
                let (post, work, done) = (post.clone(), work.clone(), done.clone());
                std::thread::spawn(move || {
                    let delay = core::cell::Cell::new(rank as u32);
                    let _ = done.send((rank, work(Threads { ranks, rank, post, delay })));
                });
            }
            drop(done);
            let minute = Duration::from_secs(60);
            let mut all: Vec<_> = (0..ranks).map(|_| None).collect();
            for _ in 0..ranks {
                let (rank, result) = results.recv_timeout(minute).expect("a rank panics, or waits forever");
                all[rank] = Some(result);
            }
            all.into_iter().flatten().collect()
        }

        /// Collective messages have boxes of their own.
        fn put(&self, to: usize, collective: bool, data: &[u8]) {
            let at = 2 * (self.rank * self.ranks + to) + usize::from(collective);
            self.post.boxes.lock().unwrap()[at].push_back(data.to_vec());
            self.post.arrived.notify_all();
        }

        fn get(&self, from: usize, collective: bool) -> Vec<u8> {
            let at = 2 * (from * self.ranks + self.rank) + usize::from(collective);
            let mut boxes = self.post.boxes.lock().unwrap();
            loop {
                match boxes[at].pop_front() {
                    Some(data) => return data,
                    None => boxes = self.post.arrived.wait(boxes).unwrap(),
                }
            }
        }

        fn is_there(&self, from: usize) -> bool {
            !self.post.boxes.lock().unwrap()[2 * (from * self.ranks + self.rank) + 1].is_empty()
        }
    }

    impl Network for Threads {
        type Pending = Waiting;

        fn ranks(&self) -> usize {
            self.ranks
        }

        fn rank(&self) -> usize {
            self.rank
        }

        fn least(&self, words: &mut [u64]) {
            let mine = words.to_vec();
            for root in 0..self.ranks {
                let mut theirs = mine.clone();
                self.broadcast(root, bytes_mut(&mut theirs));
                words.iter_mut().zip(theirs).for_each(|(least, word)| *least = word.min(*least));
            }
        }

        fn broadcast(&self, root: usize, data: &mut [u8]) {
            // SAFETY: the slice outlives the call, which waits.
            let pending = unsafe { self.start_broadcast(root, data.as_mut_ptr(), data.len()) };
            self.wait(pending);
        }

        unsafe fn start_broadcast(&self, root: usize, data: *mut u8, len: usize) -> Waiting {
            if root != self.rank {
                let delay = self.delay.replace((self.delay.get() * 5 + 3) % 7);
                return Waiting::Here { from: root, to: data, len, delay };
            }
            // SAFETY: the caller guarantees the memory.
            let data = unsafe { core::slice::from_raw_parts(data, len) };
            (0..self.ranks).filter(|&to| to != root).for_each(|to| self.put(to, true, data));
            Waiting::Done
        }

        unsafe fn start_send(&self, to: usize, data: *const u8, len: usize) -> Waiting {
            // SAFETY: the caller guarantees the memory.
            self.put(to, false, unsafe { core::slice::from_raw_parts(data, len) });
            Waiting::Done
        }

        fn receive(&self, from: usize, data: &mut [u8]) {
            data.copy_from_slice(&self.get(from, false));
        }

        fn is_complete(&self, pending: &mut Waiting) -> bool {
            match pending {
                Waiting::Done => true,
                Waiting::Here { delay, .. } if *delay > 0 => {
                    *delay -= 1;
                    false
                }
                Waiting::Here { from, .. } if !self.is_there(*from) => false,
                _ => {
                    self.wait(core::mem::replace(pending, Waiting::Done));
                    true
                }
            }
        }

        fn abort(&self) -> ! {
            std::process::abort()
        }

        fn wait(&self, pending: Waiting) {
            if let Waiting::Here { from, to, len, .. } = pending {
                let data = self.get(from, true);
                assert_eq!(data.len(), len, "the processes make different calls");
                // SAFETY: who started the broadcast guarantees the memory.
                unsafe { core::ptr::copy_nonoverlapping(data.as_ptr(), to, len) };
            }
        }
    }
}
