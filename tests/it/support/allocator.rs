//! A global allocator that counts allocations of each thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};

#[global_allocator]
static COUNTING: Counting = Counting;

/// Groups of threads whose allocations are counted together; 0 is all other threads.
const GROUPS: usize = 64;
static COUNTS: [AtomicUsize; GROUPS] = [const { AtomicUsize::new(0) }; GROUPS];
static NEXT_GROUP: AtomicUsize = AtomicUsize::new(1);

/// Allocated bytes, and their maximum.
static LIVE: [AtomicIsize; GROUPS] = [const { AtomicIsize::new(0) }; GROUPS];
static MOST: [AtomicIsize; GROUPS] = [const { AtomicIsize::new(0) }; GROUPS];

thread_local! {
    static GROUP: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

fn count(bytes: usize) {
    // A thread that is being destroyed has no group any more.
    let group = GROUP.try_with(Cell::get).unwrap_or(0);
    COUNTS[group].fetch_add(1, Ordering::Relaxed);
    let live = LIVE[group].fetch_add(bytes as isize, Ordering::Relaxed) + bytes as isize;
    MOST[group].fetch_max(live, Ordering::Relaxed);
}

fn freed(bytes: usize) {
    let group = GROUP.try_with(Cell::get).unwrap_or(0);
    LIVE[group].fetch_sub(bytes as isize, Ordering::Relaxed);
}

// SAFETY: every call is passed unchanged to the system's allocator; counting touches no memory of the caller.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is the one that the system requires.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(new_size);
        freed(layout.size());
        // SAFETY: as above; `ptr` came from the system's allocator.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        freed(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(ptr, layout) }
    }
}

/// Threads whose allocations are counted together.
#[derive(Clone, Copy)]
pub struct Group(usize);

impl Group {
    pub fn new() -> Self {
        let group = NEXT_GROUP.fetch_add(1, Ordering::Relaxed);
        assert!(group < GROUPS, "more groups than counters");
        Self(group)
    }

    /// The calling thread belongs to this group from now on.
    pub fn join(self) {
        GROUP.with(|group| group.set(self.0));
    }

    /// The largest number of bytes that the group has had allocated at a time, of its own allocations.
    pub fn most_bytes(self) -> isize {
        MOST[self.0].load(Ordering::Relaxed)
    }

    /// Allocations of the group so far.
    pub fn count(self) -> usize {
        COUNTS[self.0].load(Ordering::Relaxed)
    }
}
