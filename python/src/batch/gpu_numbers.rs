//! What calls have found, and their numbers on a GPU.

use super::stored::Stored;
use super::{CholeskyBatch, Kept, Shared, with_batch};
use crate::current::KeepsCurrent;
use crate::device::{DeviceArray, Unfinished};
use crate::dlpack::{self, Offered};
use crate::numbers::Real;
use cholupdate::cuda::DeviceNumbers;
use cholupdate::{Error, Modification};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::{Arc, OnceLock};

/// What a call has found for each matrix.
pub struct Numbers {
    /// The matrices for which it has failed, in order, and why.
    pub failures: Vec<(usize, Error)>,
    /// Of a modification, one for each matrix; `None` for those that failed.
    pub reports: Vec<Option<Modification>>,
}

/// Calls whose numbers stay on a GPU until the next one.
#[derive(Clone, Copy)]
pub enum Call {
    Modification,
    Solve,
}

/// The numbers of a call on a GPU, which are copied when they are asked for.
pub struct There {
    batch: Py<CholeskyBatch>,
    call: Call,
    /// Which of these calls it was.
    number: u64,
    /// A stream on which later work comes after the call, if the call has not been waited for.
    stream: Option<u64>,
    copied: OnceLock<Numbers>,
}

impl There {
    /// Of the call with this number on a batch. `stream` is one on which later work comes after it, if it was not waited for.
    pub fn new(batch: &Bound<'_, CholeskyBatch>, (call, number): (Call, u64), stream: Option<u64>) -> Self {
        Self { batch: batch.clone().unbind(), call, number, stream, copied: OnceLock::new() }
    }

    /// The numbers, if they have been copied.
    pub fn copied(&self) -> Option<&Numbers> {
        self.copied.get()
    }

    pub fn numbers(&self, py: Python<'_>) -> PyResult<&Numbers> {
        if let Some(copied) = self.copied.get() {
            return Ok(copied);
        }
        let called = (self.call, self.number);
        let numbers =
            with_batch!(self.batch.get(), shared => shared.look(py, |stored| stored.numbers(called)))?;
        let numbers = numbers.ok_or_else(|| self.gone())?;
        Ok(self.copied.get_or_init(|| numbers))
    }

    fn gone(&self) -> PyErr {
        let next = match self.call {
            Call::Modification => "modification",
            Call::Solve => "solve",
        };
        let message = format!(
            "the numbers of this call are gone: they stay on the GPU until the next {next} of the batch, `replace` or `reserve`"
        );
        PyRuntimeError::new_err(message)
    }

    /// Arrays of the status, the least ratio and the change of log det A.
    pub fn on_device(&self, py: Python<'_>) -> PyResult<[DeviceArray; 3]> {
        match &self.batch.get().kept {
            Kept::Single(shared) => self.arrays_of(py, shared),
            Kept::Double(shared) => self.arrays_of(py, shared),
            Kept::ComplexSingle(_) | Kept::ComplexDouble(_) => Err(self.gone()),
        }
    }

    fn arrays_of<T: Real>(&self, py: Python<'_>, shared: &Shared<Stored<T>>) -> PyResult<[DeviceArray; 3]> {
        let numbers = shared.look(py, |stored| Ok(stored.on_device(self.number)))?;
        Ok(self.arrays(py, numbers.ok_or_else(|| self.gone())?))
    }

    /// Arrays of the numbers.
    fn arrays<T: Real>(&self, py: Python<'_>, numbers: DeviceNumbers<T>) -> [DeviceArray; 3] {
        let batch = self.batch.get();
        let (shape, [status, ratio, log_det]) = (vec![numbers.count()], numbers.addresses());
        let device_id = i32::try_from(batch.ordinal()).unwrap_or(0);
        let memory = Arc::new(KeepsCurrent::new(numbers));
        let array = |address, code, bits| {
            let (shape, memory) = (shape.clone(), memory.clone());
            let offered = Offered { address, device_id, code, bits, shape, by_rows: true, memory };
            let unfinished = self.stream.map(|stream| {
                let batch = self.batch.clone_ref(py);
                let wait = move |py: Python<'_>| {
                    with_batch!(batch.get(), shared => shared.look(py, |stored| stored.wait()))
                };
                Unfinished { stream, wait: Box::new(wait) }
            });
            DeviceArray::unfinished(offered, unfinished)
        };
        let [ratio, log_det] = [ratio, log_det].map(|address| array(address, dlpack::FLOAT, T::BITS));
        [array(status, dlpack::INT, 32), ratio, log_det]
    }
}
