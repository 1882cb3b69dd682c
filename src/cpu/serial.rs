//! The CPU backend of the sweep on one thread.

use super::kernels::job::{Chain, Job};
use crate::scalar::Scalar;
use crate::sweep::plan::Panel;
use crate::sweep::{Backend, Breakdown};
use core::ops::Range;

/// Does each step when it is asked for.
pub(crate) struct Sequential<'a, T> {
    job: &'a Job<T>,
    pub chain: Chain<T>,
}

impl<'a, T: Scalar> Sequential<'a, T> {
    /// # Safety
    /// All memory that `job` describes is the backend's alone while it lives.
    pub unsafe fn new(job: &'a Job<T>) -> Self {
        Self { job, chain: Chain::default() }
    }
}

impl<T: Scalar> Backend for Sequential<'_, T> {
    type Stop = Breakdown;

    fn fetch(&mut self, _: Panel) -> Result<(), Breakdown> {
        Ok(())
    }

    fn work(&mut self, panel: Panel, head: Range<usize>, tail: Range<usize>) -> Result<(), Breakdown> {
        // SAFETY: the driver has asked for all earlier panels on these rows, and each request was done at
        // once.
        unsafe {
            self.job.diagonal(panel, &mut self.chain).map_err(|column| Breakdown { column })?;
            self.job.trailing(panel, head.start..tail.end);
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Breakdown> {
        Ok(())
    }
}
