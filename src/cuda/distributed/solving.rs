//! What solves use besides L, kept between calls.

use super::solver::Solver;
use super::stop::WrittenByAll;
use crate::cuda::memory::Pinned;
use crate::cuda::resident::inverses::Inverses;
use crate::cuda::resident::take::Take;
use crate::real::Real;

/// What solves use, besides L.
pub(super) struct Solving<T: Real> {
    /// Of each part.
    pub inverses: Vec<Inverses>,
    pub solver: Option<WrittenByAll<Solver<T>>>,
    /// Right-hand sides in host memory.
    pub host: Option<Pinned<T>>,
    /// For right-hand sides on a device.
    pub take: Option<(usize, Option<Take<T>>)>,
}

impl<T: Real> Solving<T> {
    pub fn new(inverses: Vec<Inverses>) -> Self {
        Self { inverses, solver: None, host: None, take: None }
    }

    pub fn forget(&mut self) {
        self.inverses.iter_mut().for_each(Inverses::forget);
    }
}
