//! A global allocator that counts, for each thread on its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

#[global_allocator]
static COUNTING: Counting = Counting;

/// Groups of threads whose allocations are counted together; 0 is everybody else.
const GROUPS: usize = 64;
static COUNTS: [AtomicUsize; GROUPS] = [const { AtomicUsize::new(0) }; GROUPS];
static NEXT_GROUP: AtomicUsize = AtomicUsize::new(1);

thread_local! {
    static GROUP: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

fn count() {
    // A thread that is being taken down has no group any more.
    let group = GROUP.try_with(Cell::get).unwrap_or(0);
    COUNTS[group].fetch_add(1, Ordering::Relaxed);
}

// SAFETY: every call is handed to the system's allocator as it is; counting touches no memory of the caller.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is the one the system asks for.
        unsafe { System.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: as above; `ptr` came from the system's allocator.
        unsafe { System.realloc(ptr, layout, new_size) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
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

    /// Allocations of the group so far.
    pub fn count(self) -> usize {
        COUNTS[self.0].load(Ordering::Relaxed)
    }
}
