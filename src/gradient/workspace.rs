//! The working memory that a caller keeps.

use crate::cpu::Workspace;
use crate::scalar::RealScalar;
use cholupdate_kernels::buffer::Buffer;

/// Working memory of [`modify_vjp_into`](super::modify_vjp_into) and [`modify_jvp_into`](super::modify_jvp_into). It grows to the largest
/// size needed so far, and never shrinks.
#[derive(Clone)]
pub struct GradientWorkspace<T: RealScalar> {
    memory: Buffer<T>,
    sweep: Workspace<T>,
}

impl<T: RealScalar> Default for GradientWorkspace<T> {
    fn default() -> Self {
        Self { memory: Buffer::default(), sweep: Workspace::new() }
    }
}

impl<T: RealScalar> core::fmt::Debug for GradientWorkspace<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("GradientWorkspace").finish_non_exhaustive()
    }
}

impl<T: RealScalar> GradientWorkspace<T> {
    /// Allocates nothing. The first call of a shape allocates, later ones do not.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) fn parts(&mut self) -> (&mut Buffer<T>, &mut Workspace<T>) {
        (&mut self.memory, &mut self.sweep)
    }
}
