//! How many threads a sweep may use.

use super::fork;
use faer::Par;

/// How many threads a sweep may use, the caller's among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Threads {
    /// As many as the current rayon pool has.
    Pool,
    /// At least one.
    Fixed(usize),
}

impl Threads {
    #[inline]
    pub fn count(self) -> usize {
        match self {
            Self::Fixed(1) => 1,
            _ if fork::pool_is_missing() => 1,
            Self::Pool => rayon::current_num_threads(),
            Self::Fixed(threads) => threads,
        }
    }

    /// The same for faer's routines.
    #[inline]
    pub fn par(self) -> Par {
        match self.count() {
            1 => Par::Seq,
            threads => Par::rayon(threads),
        }
    }
}

/// These threads for a product or a triangular solve of so many multiply-adds, or one where waking others takes longer than they
/// spare.
pub(crate) fn where_it_pays(par: Par, multiply_adds: usize) -> Par {
    const WORTH_SHARING: usize = 1 << 25;
    if multiply_adds < WORTH_SHARING { Par::Seq } else { par }
}
