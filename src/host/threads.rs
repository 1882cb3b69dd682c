//! How many threads a sweep may use.

use faer::Par;

/// How many threads a sweep may use, the caller's among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// As many as the current rayon pool has.
    Pool,
    /// From one on to what [`at_most`](Self::at_most) has.
    Fixed(usize),
}

/// More than any pool has; schedules keep something for each.
const MOST: usize = 1024;

impl Threads {
    /// So many, within what there can be.
    pub fn at_most(threads: usize) -> Self {
        Self::Fixed(threads.clamp(1, MOST))
    }

    #[inline]
    pub fn count(self) -> usize {
        match self {
            Self::Pool => rayon::current_num_threads(),
            Self::Fixed(threads) => threads,
        }
    }

    /// The same for faer's routines, which cut their work into as many parts, however few threads the current pool has.
    #[inline]
    pub fn par(self) -> Par {
        let threads = match self {
            Self::Fixed(1) => 1,
            _ => self.count().min(rayon::current_num_threads()),
        };
        if threads > 1 { Par::rayon(threads) } else { Par::Seq }
    }
}

/// These threads for a product or a triangular solve of so many multiply-adds, or one where waking others takes longer than they
/// spare.
pub(crate) fn where_it_pays(par: Par, multiply_adds: usize) -> Par {
    const WORTH_SHARING: usize = 1 << 25;
    if multiply_adds < WORTH_SHARING { Par::Seq } else { par }
}
