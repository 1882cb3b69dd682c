//! Control-C during a call of seconds.
//!
//! Python's handlers of signals run between two of its instructions, and a call into the library is one. So a call that takes long asks
//! for them itself: the library's sweeps do so between panels, where what they have written is not the factor yet.

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

/// What an interrupted call has left.
pub const NOTHING_CHANGED: &str = "the call was interrupted before it had changed anything";

/// Whether this thread is in a handler that a call has asked for. It must not wait for what that call holds.
pub fn is_handling() -> bool {
    HANDLING.get()
}

/// How long Python does without being asked, as it would between two instructions.
const PATIENCE: Duration = Duration::from_millis(50);

/// Of a sweep: entries of L times columns of V and one. Fewer take some milliseconds.
const WORTH_ASKING: f64 = 5e7;

/// Asks Python's handlers of signals.
struct Handlers {
    asked: Mutex<Instant>,
    /// What a handler has raised.
    raised: Mutex<Option<PyErr>>,
}

impl Handlers {
    /// Whether a handler wants the call to end.
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

/// Runs handlers of signals that have come; what they raise.
fn check(py: Python<'_>) -> Option<PyErr> {
    let before = HANDLING.replace(true);
    let raised = py.check_signals().err();
    HANDLING.set(before);
    raised
}

/// A call that can be stopped, if it is long enough.
#[derive(Clone)]
pub struct Interruptible(Option<Arc<Handlers>>);

impl Interruptible {
    /// For a sweep over L of that order with so many columns of V. Handlers run on the main thread alone.
    pub fn new(py: Python<'_>, order: usize, rank: usize) -> Self {
        let long = (order as f64) * (order as f64) * (1.0 + rank as f64) >= WORTH_ASKING;
        let handlers = Handlers { asked: Mutex::new(Instant::now()), raised: Mutex::new(None) };
        Self((long && is_main_thread(py)).then(|| Arc::new(handlers)))
    }

    /// Runs `call` so that its sweeps ask. To be called without the GIL.
    #[inline]
    pub fn run<R>(&self, call: impl FnOnce() -> R) -> R {
        match self.0.clone() {
            Some(handlers) => cholupdate::interruptible(move || handlers.stop(), call),
            None => call(),
        }
    }

    /// The outcome of the call, in which a signal may have come: what it has left is said.
    pub fn end<R>(self, py: Python<'_>, outcome: Result<R, Error>) -> PyResult<R> {
        self.end_by(py, outcome, NOTHING_CHANGED, exception)
    }

    /// The same with exceptions of the caller's own, and what an interrupted call has left in words.
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

/// A bare `KeyboardInterrupt` with a message; what else a handler raises is its own.
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
