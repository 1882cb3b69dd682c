//! One factor, shared by threads of Python: any number may read it at the same time, or one may change it.
//!
//! There are two locks, one inside the other. The outer lock admits threads. It is only tried, never waited for: a thread that
//! waited with the GIL could deadlock, and the documentation promises an error. The inner lock serializes the work, and threads
//! wait for it without the GIL. Calls that read the factor hold both locks as readers, so that they run concurrently. A call that
//! changes A holds the outer lock exclusively, and needs no inner lock. A call that leaves A unchanged but needs the working
//! memory of the factor (`can_downdate`), or waits for a submitted modification, holds the outer lock as a reader and the inner
//! lock exclusively: other readers wait for it and are not refused.

use crate::current::KeepsCurrent;
use crate::errors::{exception, in_use};
use crate::interrupts::is_handling;
use crate::numbers::Number;
use crate::threads::without_gil;
use cholupdate::{Cholesky, Error, Modification, OperandMut};
use pyo3::prelude::*;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

/// A factor on any engine of its numbers.
pub type Factor<T> = Cholesky<T, <T as Number>::Engine>;

/// The outcome of a modification.
pub type Changed = Result<Modification, Error>;

/// The factor and its two locks.
pub struct Shared<T: Number>(RwLock<RwLock<State<T>>>);

/// The outcome of a submitted modification, once it is known.
pub type Outcome = OnceLock<Changed>;

/// The state that the locks guard.
pub struct State<T: Number> {
    factor: KeepsCurrent<Factor<T>>,
    /// The number of changes of A. An extension is valid while it equals the number at which the extension was made.
    changes: u64,
    /// The outcome of the modification in flight, to be set.
    in_flight: Option<Arc<Outcome>>,
}

impl<T: Number> State<T> {
    pub fn factor(&self) -> &Factor<T> {
        &self.factor
    }

    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Waits for the modification in flight, if there is one, and stores its outcome for its `Pending`.
    fn land(&mut self) {
        if let Some(outcome) = self.in_flight.take() {
            let ended = self.factor.pending().wait();
            self.ended(&outcome, ended);
        }
    }

    fn ended(&mut self, outcome: &Outcome, ended: Changed) {
        self.changes += u64::from(ended.is_ok());
        // The modification was in flight until now, so that its outcome is not yet set.
        let _ = outcome.set(ended);
    }
}

/// The guard of a lock, poisoned or not. After a panic the factor itself records whether it is lost.
pub fn unpoisoned<G>(locked: Result<G, PoisonError<G>>) -> G {
    locked.unwrap_or_else(PoisonError::into_inner)
}

/// As `unpoisoned`, for a lock that was tried.
fn tried<G>(locked: Result<G, TryLockError<G>>) -> Option<G> {
    match locked {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Waits for an inner lock. A signal handler only tries it, because the interrupted call of its thread may hold it.
///
/// # Errors
/// `Interrupted`, in a signal handler.
#[inline]
pub fn wait<'s, S, G>(
    lock: &'s RwLock<S>,
    attempt: impl FnOnce(&'s RwLock<S>) -> Result<G, TryLockError<G>>,
    wait: impl FnOnce(&'s RwLock<S>) -> Result<G, PoisonError<G>>,
) -> Result<G, Error> {
    if is_handling() {
        return tried(attempt(lock)).ok_or(Error::Interrupted);
    }
    Ok(unpoisoned(wait(lock)))
}

impl<T: Number> Shared<T> {
    pub fn new(factor: Factor<T>) -> Self {
        Self(RwLock::new(RwLock::new(State {
            factor: KeepsCurrent::new(factor),
            changes: 0,
            in_flight: None,
        })))
    }

    /// Admits a call that leaves A unchanged.
    ///
    /// # Errors
    /// `RuntimeError` while another thread changes the factor.
    #[inline]
    pub fn reader(&self) -> PyResult<Reader<'_, T>> {
        tried(self.0.try_read()).map(Reader).ok_or_else(|| in_use("the factor"))
    }

    /// Admits a call that changes the factor.
    ///
    /// # Errors
    /// `RuntimeError` while another thread uses the factor.
    #[inline]
    pub fn writer(&self) -> PyResult<Writer<'_, T>> {
        tried(self.0.try_write()).map(Writer).ok_or_else(|| in_use("the factor"))
    }

    /// Reads the factor by `call`, without the GIL.
    #[inline]
    pub fn look<R: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&Factor<T>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let reader = self.reader()?;
        without_gil(py, || reader.look(|state| call(state.factor()))).map_err(|error| exception(py, error))
    }

    /// Changes the factor by `call`, without the GIL.
    #[inline]
    pub fn change<R: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut Factor<T>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        self.writer()?.change(py, call)
    }
}

/// A does not change while this lives.
pub struct Reader<'a, T: Number>(RwLockReadGuard<'a, RwLock<State<T>>>);

impl<T: Number> Reader<'_, T> {
    /// Reads the factor, concurrently with other readers. To be called without the GIL.
    ///
    /// # Errors
    /// Those of `call`.
    #[inline]
    pub fn look<R>(&self, call: impl FnOnce(&State<T>) -> Result<R, Error>) -> Result<R, Error> {
        loop {
            let state = wait(&self.0, RwLock::try_read, RwLock::read)?;
            if state.in_flight.is_none() {
                return call(&state);
            }
            drop(state);
            self.work(|_| Ok(()))?;
        }
    }

    /// Calls `call` with exclusive use of the factor; A must not change. To be called without the GIL.
    ///
    /// # Errors
    /// Those of `call`.
    pub fn work<R>(&self, call: impl FnOnce(&mut Factor<T>) -> Result<R, Error>) -> Result<R, Error> {
        let mut state = wait(&self.0, RwLock::try_write, RwLock::write)?;
        state.land();
        call(&mut state.factor)
    }

    /// Waits for the outcome of a submitted modification. To be called without the GIL.
    ///
    /// # Errors
    /// Those of the modification.
    pub fn wait_for(&self, outcome: &Outcome) -> Changed {
        if outcome.get().is_none() {
            self.work(|_| Ok(()))?;
        }
        outcome.get().cloned().unwrap_or(Err(Error::Poisoned))
    }

    /// Waits for a submitted modification, then solves with the new A. To be called without the GIL.
    ///
    /// # Errors
    /// Those of the modification, or of the solve.
    pub fn wait_and_solve(&self, outcome: &Arc<Outcome>, mut rhs: OperandMut<'_, T>) -> Result<(), Error> {
        let mut state = wait(&self.0, RwLock::try_write, RwLock::write)?;
        match state.in_flight.take_if(|in_flight| Arc::ptr_eq(in_flight, outcome)) {
            Some(outcome) => {
                let (ended, solved) = state.factor.pending().solve_in_place(&mut rhs);
                state.ended(&outcome, ended.clone());
                ended.and(solved)
            }
            None => {
                state.land();
                outcome.get().cloned().unwrap_or(Err(Error::Poisoned))?;
                state.factor().solve_in_place(&mut rhs)
            }
        }
    }
}

/// No other thread uses the factor while this lives.
pub struct Writer<'a, T: Number>(RwLockWriteGuard<'a, RwLock<State<T>>>);

impl<T: Number> Writer<'_, T> {
    fn state(&mut self) -> &mut State<T> {
        unpoisoned(self.0.get_mut())
    }

    /// The order n, after the modification in flight has ended.
    pub fn order(&mut self, py: Python<'_>) -> usize {
        let state = self.state();
        if state.in_flight.is_some() {
            without_gil(py, || state.land());
        }
        state.factor.order()
    }

    /// Calls `call` with the factor, without the GIL. A must not change.
    pub fn work<R: Send>(
        mut self,
        py: Python<'_>,
        call: impl FnOnce(&mut Factor<T>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let state = self.state();
        let outcome = without_gil(py, || {
            state.land();
            call(&mut state.factor)
        });
        outcome.map_err(|error| exception(py, error))
    }

    /// Changes the factor by `call`, without the GIL.
    #[inline]
    pub fn change<R: Send>(
        self,
        py: Python<'_>,
        call: impl FnOnce(&mut Factor<T>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        self.try_change(py, call).map_err(|error| exception(py, error))
    }

    /// As `change`, with the error of the library.
    ///
    /// # Errors
    /// Those of `call`.
    #[inline]
    pub fn try_change<R: Send>(
        mut self,
        py: Python<'_>,
        call: impl FnOnce(&mut Factor<T>) -> Result<R, Error> + Send,
    ) -> Result<R, Error> {
        let state = self.state();
        without_gil(py, || {
            state.land();
            let outcome = call(&mut state.factor);
            state.changes += u64::from(outcome.is_ok());
            outcome
        })
    }

    /// Submits a modification by `call`, without the GIL.
    pub fn submit(
        mut self,
        py: Python<'_>,
        call: impl FnOnce(&mut Factor<T>) -> Result<(), Error> + Send,
    ) -> PyResult<Arc<Outcome>> {
        let state = self.state();
        let begun = without_gil(py, || {
            state.land();
            call(&mut state.factor)?;
            let outcome = Arc::new(Outcome::new());
            state.in_flight = Some(outcome.clone());
            Ok(outcome)
        });
        begun.map_err(|error: Error| exception(py, error))
    }
}
