//! How many threads a sweep may use.

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
    pub fn count(self) -> usize {
        match self {
            Self::Pool => rayon::current_num_threads(),
            Self::Fixed(threads) => threads,
        }
    }

    /// The same for faer's routines.
    pub fn par(self) -> Par {
        match self.count() {
            1 => Par::Seq,
            threads => Par::rayon(threads),
        }
    }
}
