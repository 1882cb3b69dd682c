//! One batch, shared by threads of Python.

use crate::errors::{exception, in_use};
use crate::numbers::Real;
use cholupdate::{CholeskyBatch as Batch, Error};
use pyo3::prelude::*;
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

/// A batch shared by threads of Python: any number may read it at the same time, or one may change it. The lock is only tried, never
/// waited for.
pub struct Shared<T: Real>(RwLock<Batch<T>>);

impl<T: Real> Shared<T> {
    pub fn new(batch: Batch<T>) -> Self {
        Self(RwLock::new(batch))
    }

    /// Admits a call that leaves the batch unchanged.
    ///
    /// # Errors
    /// `RuntimeError` while another thread changes it; `PoisonedError` after a panic.
    pub fn reader(&self, py: Python<'_>) -> PyResult<RwLockReadGuard<'_, Batch<T>>> {
        self.0.try_read().map_err(|error| refused(py, &error))
    }

    /// Admits a call that changes the batch.
    ///
    /// # Errors
    /// `RuntimeError` while another thread uses it; `PoisonedError` after a panic.
    pub fn writer(&self, py: Python<'_>) -> PyResult<RwLockWriteGuard<'_, Batch<T>>> {
        self.0.try_write().map_err(|error| refused(py, &error))
    }
}

fn refused<G>(py: Python<'_>, error: &TryLockError<G>) -> PyErr {
    match error {
        TryLockError::WouldBlock => in_use("the batch"),
        TryLockError::Poisoned(_) => exception(py, Error::Poisoned),
    }
}
