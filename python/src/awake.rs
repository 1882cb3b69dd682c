//! Threads that stay awake from one call to the next.

use crate::argument::Argument;
use crate::threads::is_forked;
use cholupdate::{Awake, Cpu};
use core::cell::RefCell;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

thread_local! {
    /// What this thread has entered and not left.
    static ENTERED: RefCell<Vec<Awake>> = const { RefCell::new(Vec::new()) };
}

/// A context in which the threads of the engine "cpu" stay awake, for the calls of the thread that enters it.
///
/// To wake a thread takes longer than many a modification. After a call the threads stay awake for 50 microseconds and then
/// sleep, and a call that comes later has to wake them. In this context they do not sleep. Use it around a loop that modifies a
/// factor again and again with other work in between. Results do not depend on it.
///
/// Parameters
/// ----------
/// threads : int, optional
///     The number of threads, or all for -1 or by default: that of the factors that are modified.
///
/// Raises
/// ------
/// ValueError, TypeError
///     `threads` is invalid.
/// RuntimeError
///     A thread leaves a context that it has not entered.
///
/// Notes
/// -----
/// The threads wait actively, so the context costs as many cores, and leaves one only to other threads that want to run. When the
/// thread has left the last context they sleep, and an idle program uses no processor time. One thread at a time can have them
/// awake: for a second one, and in a process that was forked, the context has no effect.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import cholupdate as cu
/// >>> f = cu.Cholesky(4.0 * np.eye(300))
/// >>> with cu.keep_awake():
/// ...     for step in range(3):
/// ...         report = f.update(np.full(300, 0.1))
/// >>> round(float(f.solve(np.ones(300))[0]), 12)
/// 0.076923076923
#[pyclass(name = "keep_awake", module = "cholupdate", frozen)]
pub struct KeepAwake {
    threads: Option<usize>,
}

#[pymethods]
impl KeepAwake {
    #[new]
    #[pyo3(signature = (threads=Argument::NONE), text_signature = "(threads=None)")]
    fn new(threads: Argument<'_>) -> PyResult<Self> {
        Ok(Self { threads: threads.threads()? })
    }

    fn __enter__(&self) {
        let engine = match self.threads {
            // The calls of a forked process run in a pool of its own, on other threads.
            _ if is_forked() => Cpu::sequential(),
            None => Cpu::default(),
            Some(threads) => Cpu::threads(threads),
        };
        let awake = engine.keep_awake();
        ENTERED.with_borrow_mut(|entered| entered.push(awake));
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        let left = ENTERED.with_borrow_mut(Vec::pop);
        left.map(drop).ok_or_else(|| PyRuntimeError::new_err("this thread has not entered `keep_awake`"))
    }
}
