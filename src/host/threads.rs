//! The number of threads of a sweep.

use super::fork;
use super::share;
use faer::Par;

/// The number of threads that a sweep may use, including the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// As many as the current rayon pool has.
    Pool,
    /// A number from 1 to the limit of [`at_most`](Self::at_most).
    Fixed(usize),
}

/// More than any pool has. Schedules keep some state for each thread.
const MOST: usize = 1024;

impl Threads {
    /// This number of threads, clamped to the possible range.
    pub fn at_most(threads: usize) -> Self {
        Self::Fixed(threads.clamp(1, MOST))
    }

    #[inline]
    pub fn count(self) -> usize {
        match self {
            Self::Fixed(1) => 1,
            _ if fork::pool_is_missing() || share::is_in_its_part() => 1,
            Self::Pool => rayon::current_num_threads(),
            Self::Fixed(threads) => threads,
        }
    }

    /// The same for faer's routines, which divide their work into this many parts. So it is at most the number of threads of
    /// the current pool.
    #[inline]
    pub fn par(self) -> Par {
        let threads = match self {
            Self::Fixed(1) => 1,
            _ => self.count().min(rayon::current_num_threads()),
        };
        if threads > 1 { Par::rayon(threads) } else { Par::Seq }
    }
}

/// Returns these threads for a product or a triangular solve of this many multiply-adds, or a single one if waking the others
/// would cost more time than they save.
pub(crate) fn where_it_pays(par: Par, multiply_adds: usize) -> Par {
    const WORTH_SHARING: usize = 1 << 25;
    if multiply_adds < WORTH_SHARING { Par::Seq } else { par }
}
