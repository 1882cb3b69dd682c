//! Control-C during long calls.
//!
//! Python runs signal handlers between two bytecode instructions, and a call into the library is a single instruction. A long
//! call therefore runs them itself: the sweeps of the library check for signals between panels, while their output is not yet the
//! factor.

use crate::errors::exception;
use cholupdate::Error;
use core::cell::Cell;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

thread_local! {
    static HANDLING: Cell<bool> = const { Cell::new(false) };
}

/// The message of an interrupted call that has changed nothing.
pub const NOTHING_CHANGED: &str = "the call was interrupted before it had changed anything";

/// Whether this thread is in a signal handler that a call has run. It must not wait for a lock that the call holds.
pub fn is_handling() -> bool {
    HANDLING.get()
}

/// The minimum time between two checks for signals.
const PATIENCE: Duration = Duration::from_millis(50);

/// The smallest sweep that checks for signals, in entries of L times (columns of V + 1). Smaller sweeps take a few milliseconds.
const WORTH_ASKING: f64 = 5e7;

/// Runs Python's signal handlers during a call.
struct Handlers {
    asked: Mutex<Instant>,
    /// The exception that a handler has raised.
    raised: Mutex<Option<PyErr>>,
}

impl Handlers {
    /// Whether a handler has raised an exception, which ends the call.
    fn stop(&self) -> bool {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.elapsed() < PATIENCE {
            return false;
        }
        *asked = Instant::now();
        drop(asked);
        let raised = Python::attach(check);
        let stop = raised.is_some();
        *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = raised;
        stop
    }
}

/// Runs the handlers of pending signals, and returns the exception that they raise.
fn check(py: Python<'_>) -> Option<PyErr> {
    let before = HANDLING.replace(true);
    let raised = py.check_signals().err();
    HANDLING.set(before);
    raised
}

/// A call that signals can interrupt, if it is long enough.
#[derive(Clone)]
pub struct Interruptible(Option<Arc<Handlers>>);

impl Interruptible {
    /// For a sweep over L of this order with `rank` columns of V. Python runs handlers only on the main thread.
    pub fn new(py: Python<'_>, order: usize, rank: usize) -> Self {
        let long = (order as f64) * (order as f64) * (1.0 + rank as f64) >= WORTH_ASKING;
        let handlers = Handlers { asked: Mutex::new(Instant::now()), raised: Mutex::new(None) };
        Self((long && is_main_thread(py)).then(|| Arc::new(handlers)))
    }

    /// Runs `call`, whose sweeps check for signals. To be called without the GIL.
    #[inline]
    pub fn run<R>(&self, call: impl FnOnce() -> R) -> R {
        match self.0.clone() {
            Some(handlers) => cholupdate::interruptible(move || handlers.stop(), call),
            None => call(),
        }
    }

    /// The outcome of the call. If a signal arrived, the message of the exception says whether the factor has changed.
    pub fn end<R>(self, py: Python<'_>, outcome: Result<R, Error>) -> PyResult<R> {
        self.end_by(py, outcome, NOTHING_CHANGED, exception)
    }

    /// As `end`, with the caller's mapping of errors to exceptions and its own message for an interrupted call.
    pub fn end_by<R>(
        self,
        py: Python<'_>,
        outcome: Result<R, Error>,
        left: &'static str,
        exception: impl FnOnce(Python<'_>, Error) -> PyErr,
    ) -> PyResult<R> {
        let Some(handlers) = self.0 else { return outcome.map_err(|error| exception(py, error)) };
        let raised = handlers.raised.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (outcome, raised) {
            (Err(Error::Interrupted), Some(raised)) => Err(in_words(py, raised, left)),
            (outcome, _) => {
                let outcome = outcome.map_err(|error| exception(py, error));
                match check(py) {
                    Some(raised) if outcome.is_ok() => Err(in_words(
                        py,
                        raised,
                        "the call had done what it was to do before it could be interrupted",
                    )),
                    Some(raised) => Err(raised),
                    None => outcome,
                }
            }
        }
    }
}

/// A `KeyboardInterrupt` with this message. Exceptions of other types are returned unchanged.
fn in_words(py: Python<'_>, raised: PyErr, message: &'static str) -> PyErr {
    if !raised.get_type(py).is(py.get_type::<PyKeyboardInterrupt>()) {
        return raised;
    }
    let worded = PyKeyboardInterrupt::new_err(message);
    worded.set_traceback(py, raised.traceback(py));
    worded
}

fn is_main_thread(py: Python<'_>) -> bool {
    let asked = || -> PyResult<bool> {
        let threading = py.import("threading")?;
        Ok(threading.call_method0("current_thread")?.is(&threading.call_method0("main_thread")?))
    };
    asked().unwrap_or(false)
}
