//! One factor L S Lᵀ, shared by threads of Python, with the two locks of `crate::shared`.

use super::report::LdltModification;
use crate::errors::{exception, in_use};
use crate::interrupts::Interruptible;
use crate::numbers::Number;
use crate::shared::{unpoisoned, wait};
use crate::threads::without_gil;
use cholupdate::{Error, Ldlt};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

/// The factor and its two locks.
pub struct Shared<T: Number> {
    factor: RwLock<RwLock<Ldlt<T>>>,
    /// Changes of A so far.
    changes: AtomicU64,
}

impl<T: Number> Shared<T> {
    pub fn new(factor: Ldlt<T>) -> Self {
        Self { factor: RwLock::new(RwLock::new(factor)), changes: AtomicU64::new(0) }
    }

    /// The number of changes of A so far.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Admits a call that leaves the factor unchanged.
    ///
    /// # Errors
    /// `RuntimeError` while another thread changes it; `PoisonedError` after a panic.
    pub fn reader(&self, py: Python<'_>) -> PyResult<Reader<'_, T>> {
        self.factor.try_read().map(Reader).map_err(|error| refused(py, &error))
    }

    /// Admits a call that changes the factor.
    ///
    /// # Errors
    /// `RuntimeError` while another thread uses it; `PoisonedError` after a panic.
    pub fn writer(&self, py: Python<'_>) -> PyResult<Writer<'_, T>> {
        let factor = self.factor.try_write().map_err(|error| refused(py, &error))?;
        Ok(Writer { factor, changes: &self.changes })
    }

    /// Reads the factor by `call`, without the GIL.
    pub fn look<R: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&Ldlt<T>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let reader = self.reader(py)?;
        without_gil(py, || reader.look(call)).map_err(|error| exception(py, error))
    }
}

fn refused<G>(py: Python<'_>, error: &TryLockError<G>) -> PyErr {
    match error {
        TryLockError::WouldBlock => in_use("the factor"),
        TryLockError::Poisoned(_) => exception(py, Error::Poisoned),
    }
}

/// The factor does not change while this lives.
pub struct Reader<'a, T: Number>(RwLockReadGuard<'a, RwLock<Ldlt<T>>>);

impl<T: Number> Reader<'_, T> {
    /// Reads the factor, concurrently with other readers. To be called without the GIL.
    ///
    /// # Errors
    /// Those of `call`.
    pub fn look<R>(&self, call: impl FnOnce(&Ldlt<T>) -> Result<R, Error>) -> Result<R, Error> {
        let factor = wait(&self.0, RwLock::try_read, RwLock::read)?;
        call(&factor)
    }

    /// Calls `call` with exclusive use of the factor's working memory; the factor must not change. To be called without the GIL.
    ///
    /// # Errors
    /// Those of `call`.
    pub fn work<R>(&self, call: impl FnOnce(&mut Ldlt<T>) -> Result<R, Error>) -> Result<R, Error> {
        let mut factor = wait(&self.0, RwLock::try_write, RwLock::write)?;
        call(&mut factor)
    }
}

/// No other thread uses the factor while this lives.
pub struct Writer<'a, T: Number> {
    factor: RwLockWriteGuard<'a, RwLock<Ldlt<T>>>,
    changes: &'a AtomicU64,
}

impl<T: Number> Writer<'_, T> {
    pub fn factor(&mut self) -> &mut Ldlt<T> {
        unpoisoned(self.factor.get_mut())
    }

    /// Changes A by `call`, without the GIL. Control-C can interrupt it: every change is written to other memory first. `rank` is that of
    /// the change, for an estimate of the time.
    pub fn change(
        mut self,
        py: Python<'_>,
        rank: usize,
        call: impl FnOnce(&mut Ldlt<T>) -> Result<cholupdate::LdltModification, Error> + Send,
    ) -> PyResult<LdltModification> {
        let factor = self.factor();
        let interruptible = Interruptible::new(py, factor.order(), rank);
        let changed = without_gil(py, || interruptible.run(|| call(factor)));
        let report = interruptible.end(py, changed).map(LdltModification::from)?;
        self.changes.fetch_add(1, Ordering::Relaxed);
        Ok(report)
    }
}
