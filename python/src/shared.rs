//! One factor and the threads of Python that use it: any number may read it at a time, or one change it.
//!
//! There are two locks, one inside the other. The outer one says who is there. It is only ever tried, never waited for: a thread that
//! waited with the GIL could wait for ever, and the documentation promises an error. The inner one says who works, and is waited for
//! without the GIL. Readers hold both as readers, so that they go on side by side. Who changes A holds the outer one alone, and needs no
//! inner one. Who leaves A as it is and needs the factor's working memory (`can_downdate`), or has to wait for a modification that was
//! submitted, is a reader outside and alone inside: other readers wait for it and are not turned away.

use crate::errors::{exception, in_use};
use crate::interrupts::is_handling;
use crate::numbers::Real;
use crate::threads::without_gil;
use cholupdate::{AnyEngine, Cholesky, Error, Modification, OperandMut};
use core::ops::Deref;
use pyo3::prelude::*;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};

/// A factor on any engine.
pub type Factor<T> = Cholesky<T, AnyEngine>;

/// The outcome of a modification.
pub type Changed = Result<Modification, Error>;

/// The factor, as threads share it.
pub struct Shared<T: Real>(RwLock<RwLock<State<T>>>);

/// What came of a modification that was submitted, once it is known.
pub type Outcome = OnceLock<Changed>;

/// What a call uses.
pub struct State<T: Real> {
    factor: Factor<T>,
    /// How often A has changed, for what was made of it before.
    changes: u64,
    /// Of the modification that is in flight.
    in_flight: Option<Arc<Outcome>>,
}

impl<T: Real> State<T> {
    pub fn factor(&self) -> &Factor<T> {
        &self.factor
    }

    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Waits for the modification in flight, if there is one, and keeps its outcome for who has submitted it.
    fn land(&mut self) {
        if let Some(outcome) = self.in_flight.take() {
            let ended = self.factor.pending().wait();
            self.ended(&outcome, ended);
        }
    }

    fn ended(&mut self, outcome: &Outcome, ended: Changed) {
        self.changes += u64::from(ended.is_ok());
        // It was in flight until now, and has not been set.
        let _ = outcome.set(ended);
    }
}

/// A panic has not made a factor what it should not be: it knows by itself whether it is lost.
fn whatever<G>(locked: Result<G, PoisonError<G>>) -> G {
    locked.unwrap_or_else(PoisonError::into_inner)
}

/// The same of a lock that was tried.
fn tried<G>(locked: Result<G, TryLockError<G>>) -> Option<G> {
    match locked {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl<T: Real> Shared<T> {
    pub fn new(factor: Factor<T>) -> Self {
        Self(RwLock::new(RwLock::new(State { factor, changes: 0, in_flight: None })))
    }

    /// For who leaves A as it is.
    ///
    /// # Errors
    /// `RuntimeError` while another thread changes it.
    #[inline]
    pub fn reader(&self) -> PyResult<Reader<'_, T>> {
        tried(self.0.try_read()).map(Reader).ok_or_else(|| in_use("the factor"))
    }

    /// For who changes it.
    ///
    /// # Errors
    /// `RuntimeError` while another thread uses it.
    #[inline]
    pub fn writer(&self) -> PyResult<Writer<'_, T>> {
        tried(self.0.try_write()).map(Writer).ok_or_else(|| in_use("the factor"))
    }

    /// Has the library look at the factor, without the GIL.
    #[inline]
    pub fn look<R: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&Factor<T>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let reader = self.reader()?;
        without_gil(py, || reader.look(|state| call(state.factor()))).map_err(|error| exception(py, error))
    }

    /// Has the library change the factor, without the GIL.
    #[inline]
    pub fn change<R: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut Factor<T>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        self.writer()?.change(py, call)
    }
}

/// A is what it is for as long as this lives.
pub struct Reader<'a, T: Real>(RwLockReadGuard<'a, RwLock<State<T>>>);

impl<T: Real> Reader<'_, T> {
    /// Looks at the factor, beside others. To be called without the GIL.
    ///
    /// # Errors
    /// Those of `call`.
    #[inline]
    pub fn look<R>(&self, call: impl FnOnce(&State<T>) -> Result<R, Error>) -> Result<R, Error> {
        loop {
            let state = self.wait(RwLock::try_read, RwLock::read)?;
            if state.in_flight.is_none() {
                return call(&state);
            }
            drop(state);
            self.work(|_| Ok(()))?;
        }
    }

    /// Has the factor alone, and leaves A as it is. To be called without the GIL.
    ///
    /// # Errors
    /// Those of `call`.
    pub fn work<R>(&self, call: impl FnOnce(&mut Factor<T>) -> Result<R, Error>) -> Result<R, Error> {
        let mut state = self.wait(RwLock::try_write, RwLock::write)?;
        state.land();
        call(&mut state.factor)
    }

    /// The outcome of what was submitted. To be called without the GIL.
    ///
    /// # Errors
    /// Those of the modification.
    pub fn wait_for(&self, outcome: &Outcome) -> Changed {
        if outcome.get().is_none() {
            self.work(|_| Ok(()))?;
        }
        outcome.get().cloned().unwrap_or(Err(Error::Poisoned))
    }

    /// The same, and a solve behind it with the A that it leads to. To be called without the GIL.
    ///
    /// # Errors
    /// Those of the modification, or of the solve.
    pub fn wait_and_solve(&self, outcome: &Arc<Outcome>, mut rhs: OperandMut<'_, T>) -> Result<(), Error> {
        let mut state = self.wait(RwLock::try_write, RwLock::write)?;
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

    /// The inner lock, waited for; unless this thread handles a signal, and may have been interrupted with it.
    #[inline]
    fn wait<'s, G>(
        &'s self,
        attempt: impl FnOnce(&'s RwLock<State<T>>) -> Result<G, TryLockError<G>>,
        wait: impl FnOnce(&'s RwLock<State<T>>) -> Result<G, PoisonError<G>>,
    ) -> Result<G, Error>
    where
        G: Deref<Target = State<T>>,
    {
        if is_handling() {
            return tried(attempt(&self.0)).ok_or(Error::Interrupted);
        }
        Ok(whatever(wait(&self.0)))
    }
}

/// No other thread uses the factor for as long as this lives.
pub struct Writer<'a, T: Real>(RwLockWriteGuard<'a, RwLock<State<T>>>);

impl<T: Real> Writer<'_, T> {
    fn state(&mut self) -> &mut State<T> {
        whatever(self.0.get_mut())
    }

    /// n, behind whatever was in flight.
    pub fn order(&mut self, py: Python<'_>) -> usize {
        let state = self.state();
        if state.in_flight.is_some() {
            without_gil(py, || state.land());
        }
        state.factor.order()
    }

    /// Has the library work on the factor, without the GIL. A stays as it is.
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

    /// Has the library change the factor, without the GIL.
    #[inline]
    pub fn change<R: Send>(
        self,
        py: Python<'_>,
        call: impl FnOnce(&mut Factor<T>) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        self.try_change(py, call).map_err(|error| exception(py, error))
    }

    /// The same, with the error as the library's.
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

    /// Has the library begin a modification, without the GIL.
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
