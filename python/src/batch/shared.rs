//! One batch, shared by threads of Python.

use crate::errors::{exception, in_use};
use crate::threads::without_gil;
use cholupdate::Error;
use pyo3::prelude::*;
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

/// A batch shared by threads of Python: any number may read it at the same time, or one may change it. The lock is only tried, never
/// waited for.
pub struct Shared<B>(RwLock<B>);

impl<B: Send + Sync> Shared<B> {
    pub fn new(stored: B) -> Self {
        Self(RwLock::new(stored))
    }

    /// Admits a call that leaves the batch unchanged.
    ///
    /// # Errors
    /// `RuntimeError` while another thread changes it; `PoisonedError` after a panic.
    pub fn reader(&self, py: Python<'_>) -> PyResult<RwLockReadGuard<'_, B>> {
        self.0.try_read().map_err(|error| refused(py, &error))
    }

    /// Admits a call that changes the batch.
    ///
    /// # Errors
    /// `RuntimeError` while another thread uses it; `PoisonedError` after a panic.
    pub fn writer(&self, py: Python<'_>) -> PyResult<RwLockWriteGuard<'_, B>> {
        self.0.try_write().map_err(|error| refused(py, &error))
    }

    /// Reads the batch by `call`, without the GIL.
    pub fn look<R: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&B) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let guard = self.reader(py)?;
        let stored = &*guard;
        without_gil(py, || call(stored)).map_err(|error| exception(py, error))
    }
}

fn refused<G>(py: Python<'_>, error: &TryLockError<G>) -> PyErr {
    match error {
        TryLockError::WouldBlock => in_use("the batch"),
        TryLockError::Poisoned(_) => exception(py, Error::Poisoned),
    }
}
