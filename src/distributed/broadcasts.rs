//! The messages of a sweep or a solve: one from each diagonal step to all other processes, in the order of the panels.
//!
//! The messages of the panels that come next are expected before they are needed ([`AHEAD`]), so that two are in flight while the
//! rows below are transformed. After a breakdown all processes complete the broadcasts that any of them may have started, which the
//! panel determines.

use super::network::Network;
use super::plan::LocalPlan;
use crate::sweep::plan::Panels;
use cholupdate_kernels::buffer::Buffer;
use cholupdate_kernels::panel::Panel;
use core::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// Broadcasts that are started before their panel is needed.
const AHEAD: usize = 2;

/// The memory for the messages. Each is in cache lines of its own.
#[derive(Default)]
pub(super) struct Messages {
    memory: Buffer<u64>,
    words: usize,
}

impl Messages {
    /// Reserves room for this number of messages of so many words.
    pub fn make_room(&mut self, count: usize, words: usize) {
        self.words = words.next_multiple_of(8);
        self.memory.reserve(count * self.words);
    }
}

/// The words of so many scalars, in cache lines of their own.
pub(super) fn words_of<T>(scalars: usize) -> usize {
    (scalars * size_of::<T>()).div_ceil(8).next_multiple_of(8)
}

/// The broadcasts of the panels of a plan. All but [`message`](Self::message) is for the thread that runs the sweep.
pub(super) struct Broadcasts<'a, N: Network> {
    net: &'a N,
    pub plan: &'a LocalPlan,
    memory: *mut u64,
    words: usize,
    /// Broadcasts in flight, in order, and the number of those that have been started and completed.
    pending: RefCell<VecDeque<N::Pending>>,
    started: Cell<usize>,
    completed: Cell<usize>,
}

impl<'a, N: Network> Broadcasts<'a, N> {
    /// # Safety
    /// The messages have room for all panels.
    pub unsafe fn new(net: &'a N, plan: &'a LocalPlan, messages: &'a mut Messages) -> Self {
        Self {
            net,
            plan,
            memory: messages.memory.as_mut_ptr(),
            words: messages.words,
            pending: RefCell::new(VecDeque::with_capacity(AHEAD + 1)),
            started: Cell::new(0),
            completed: Cell::new(0),
        }
    }

    /// Whether this process makes the diagonal step of a panel.
    pub fn is_mine(&self, panel: Panel) -> bool {
        self.plan.cyclic.is_mine(panel.first)
    }

    /// The message of a panel.
    pub fn message(&self, panel: usize) -> *mut u64 {
        self.memory.wrapping_add(panel * self.words)
    }

    /// Starts the broadcast of a panel. All processes start them in the order of the panels.
    fn start(&self, panel: Panel) {
        debug_assert_eq!(panel.index, self.started.get());
        let (root, bytes) = (self.plan.cyclic.owner(panel.first), 8 * self.words);
        // SAFETY: the message is in memory that `new` was given, and is used only when the broadcast is complete. This is not dropped
        // before.
        let pending = unsafe { self.net.start_broadcast(root, self.message(panel.index).cast(), bytes) };
        self.pending.borrow_mut().push_back(pending);
        self.started.set(self.started.get() + 1);
    }

    /// Starts the broadcasts that other processes begin, up to the one of the panel at `limit`.
    fn expect(&self, limit: usize) {
        while self.started.get() <= limit {
            match self.plan.panel(self.started.get()) {
                Some(panel) if !self.is_mine(panel) => self.start(panel),
                _ => return,
            }
        }
    }

    /// Sends the message of a panel of this process, which has been written.
    pub fn send(&self, panel: Panel) {
        self.start(panel);
        self.progress();
        self.expect(panel.index + AHEAD);
    }

    /// Waits for the message of a panel of another process.
    pub fn receive(&self, panel: Panel) {
        self.expect(panel.index + AHEAD);
        while self.completed.get() <= panel.index {
            let pending = self.pending.borrow_mut().pop_front();
            self.net.wait(pending.expect("the broadcast has been started"));
            self.completed.set(self.completed.get() + 1);
        }
    }

    /// Whether [`receive`](Self::receive) would not wait.
    pub fn is_ready(&self, panel: Panel) -> bool {
        if self.is_mine(panel) {
            return true;
        }
        self.expect(panel.index + AHEAD);
        self.progress();
        self.completed.get() > panel.index
    }

    pub fn progress(&self) {
        let mut pending = self.pending.borrow_mut();
        while pending.front_mut().is_some_and(|first| self.net.is_complete(first)) {
            pending.pop_front();
            self.completed.set(self.completed.get() + 1);
        }
    }

    /// Completes all broadcasts that any process may have started before it reached the end of `panel`, also those whose message is
    /// of no use.
    pub fn end_at(&self, panel: Panel) {
        while self.started.get() <= panel.index + AHEAD
            && let Some(next) = self.plan.panel(self.started.get())
        {
            self.start(next);
        }
        for pending in self.pending.borrow_mut().drain(..) {
            self.net.wait(pending);
        }
        self.completed.set(self.started.get());
    }
}

impl<N: Network> Drop for Broadcasts<'_, N> {
    /// All have been completed, except after a panic. It cannot leave messages in flight into memory that is released, nor other
    /// processes waiting, or with messages that were made of unfinished rows.
    fn drop(&mut self) {
        if !self.pending.borrow().is_empty() || std::thread::panicking() {
            self.net.abort();
        }
    }
}
