//! A batch in the memory of a GPU, used by threads of Python.

use super::stored::Done;
use crate::current::KeepsCurrent;
use crate::numbers::Real;
use cholupdate::Error;
use cholupdate::cuda::{self, DeviceOutcome};
use cholupdate::faer::MatRef;
use core::mem::ManuallyDrop;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A batch in the memory of a GPU. A solve needs it exclusively, so that threads that read it take turns. No thread waits for its turn
/// while it has the GIL, or for the GIL while it has its turn.
pub struct OnGpu<T: Real> {
    /// The number of matrices and their largest order, which change under an exclusive reference alone.
    count: usize,
    order: usize,
    gpu: ManuallyDrop<KeepsCurrent<Box<Mutex<Gpu<T>>>>>,
}

/// The batch, and how many calls have written the numbers of outcomes there, or dropped them.
pub struct Gpu<T> {
    pub batch: cuda::CholeskyBatch<T>,
    pub modifications: u64,
    pub solves: u64,
}

impl<T: Real> OnGpu<T> {
    pub fn new(batch: cuda::CholeskyBatch<T>) -> Self {
        let (count, order) = (batch.count(), batch.order());
        let gpu = Mutex::new(Gpu { batch, modifications: 0, solves: 0 });
        Self { count, order, gpu: ManuallyDrop::new(KeepsCurrent::new(Box::new(gpu))) }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn order(&self) -> usize {
        self.order
    }

    /// The batch, poisoned or not: a call that panics has not begun, or has been enqueued. The thread does not have the GIL.
    pub fn locked(&self) -> MutexGuard<'_, Gpu<T>> {
        self.gpu.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for matrices of this order.
    pub fn reserve(&mut self, order: usize) -> Result<(), Error> {
        let mut gpu = self.locked();
        let reserved = gpu.batch.reserve(order);
        let order = gpu.batch.order();
        drop(gpu);
        self.order = order;
        reserved
    }
}

impl<T: Real> Drop for OnGpu<T> {
    /// Waits for the device without the GIL.
    fn drop(&mut self) {
        // SAFETY: the field is taken here alone, and nothing uses it afterwards.
        let gpu = unsafe { ManuallyDrop::take(&mut self.gpu) };
        let mut gpu = Some(gpu);
        // Without an interpreter, as at its end, `gpu` is dropped at the end of this function.
        Python::try_attach(|py| py.detach(|| drop(gpu.take())));
    }
}

impl<T: Real> Gpu<T> {
    /// The outcome of this modification, if it is the last one.
    pub fn outcome(&self, number: u64) -> Option<DeviceOutcome<'_, T>> {
        self.batch.outcome().filter(|_| self.modifications == number)
    }

    /// Factors another matrix in place of one. The numbers of calls before are of matrices that are not there any more.
    pub fn replace(&mut self, matrix: usize, a: MatRef<'_, T>) -> Result<(), Error> {
        self.batch.replace(matrix, a)?;
        self.modifications += 1;
        self.solves += 1;
        Ok(())
    }

    /// Counts a modification, and waits for it if it `waits`.
    pub fn modified(&mut self, waits: bool) -> Result<Done, Error> {
        self.modifications += 1;
        if waits {
            self.batch.wait()?;
        }
        Ok(Done::There(self.modifications))
    }

    /// Counts a solve, and waits for it if it `waits`.
    pub fn solved(&mut self, waits: bool) -> Result<Done, Error> {
        self.solves += 1;
        if waits {
            self.batch.wait()?;
        }
        Ok(Done::There(self.solves))
    }
}
