//! Where a batch is, and how it begins.

use super::on_host::OnHost;
use super::shared::Shared;
use super::stacks::{Any, Given, Stack};
use super::stored::Stored;
use super::{CholeskyBatch, Kept};
use crate::argument::{self, Argument};
use crate::errors::{exception, wrong_type, wrong_value};
use crate::numbers::{Number, Real};
use crate::settings::{device_for, settings};
use crate::there::library;
use crate::threads::without_gil;
use cholupdate::cuda::Device;
use cholupdate::{Cpu, EngineKind};
use pyo3::prelude::*;

/// Where a batch is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Host,
    /// In the memory of this device.
    Gpu(usize),
}

/// The place and, in host memory, the engine that these settings name.
fn place(engine: &str, threads: Option<usize>) -> PyResult<(Place, Cpu)> {
    let spec = settings(engine, threads, "shadow_buffer")?;
    match spec.kind {
        EngineKind::Cpu => Ok((Place::Host, threads.map_or_else(Cpu::default, Cpu::threads))),
        EngineKind::Cuda { device } => Ok((Place::Gpu(device), Cpu::default())),
        _ => Err(wrong_value(format!("`engine` is {engine:?}, expected \"cpu\" or \"cuda\" for a batch"))),
    }
}

/// The orders of all matrices.
pub fn orders(object: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let entries = object.try_iter().map_err(|_| {
        let kind = argument::kind(object);
        wrong_type(format!("`orders` must be integers, one for each matrix, not {kind}"))
    })?;
    entries.map(|entry| argument::count(&entry?, "orders")).collect()
}

/// Where a batch begins, by the keywords of a call.
pub struct Begin {
    place: Place,
    engine: Cpu,
    device: Option<Device>,
}

impl Begin {
    /// The settings that the keywords name.
    pub fn new(py: Python<'_>, engine: &Argument<'_>, threads: &Argument<'_>) -> PyResult<Self> {
        let (place, cpu) = place(&engine.text("engine", "cpu")?, threads.threads()?)?;
        let device = match place {
            Place::Host => None,
            Place::Gpu(device) => Some(device_for(py, device)?),
        };
        Ok(Self { place, engine: cpu, device })
    }

    /// A batch of A, or, without orders, of L.
    pub fn made(
        self,
        py: Python<'_>,
        (object, name): (&Bound<'_, PyAny>, &'static str),
        of: Of<'_>,
    ) -> PyResult<CholeskyBatch> {
        fn one<T: Real>(
            begin: &Begin,
            py: Python<'_>,
            (given, name): (&Given<'_, T>, &'static str),
            of: Of<'_>,
        ) -> PyResult<Shared<Stored<T>>> {
            let (given, engine) = (given.operand(py, name)?, (begin.engine, begin.device.as_ref()));
            let made = without_gil(py, || match of {
                Of::Matrices(orders) => Stored::new(given, orders, engine),
                Of::Factors => Stored::from_factors(given, engine),
            });
            made.map(Shared::new).map_err(|error| exception(py, error))
        }
        fn complex<T: Number>(
            begin: &Begin,
            py: Python<'_>,
            given: &Stack<'_, T>,
            of: Of<'_>,
        ) -> PyResult<Shared<OnHost<T>>> {
            let (given, engine) = (given.view(), begin.engine);
            let made = without_gil(py, || match of {
                Of::Matrices(orders) => OnHost::new(given, orders, engine),
                Of::Factors => OnHost::from_factors(given, engine),
            });
            made.map(Shared::new).map_err(|error| exception(py, error))
        }
        let kept = match Any::new(object, name, self.place)? {
            Any::Single(given) => Kept::Single(one(&self, py, (&given, name), of)?),
            Any::Double(given) => Kept::Double(one(&self, py, (&given, name), of)?),
            Any::ComplexSingle(given) => Kept::ComplexSingle(complex(&self, py, &given, of)?),
            Any::ComplexDouble(given) => Kept::ComplexDouble(complex(&self, py, &given, of)?),
        };
        let library = if self.device.is_some() { library(object, name)? } else { None };
        Ok(CholeskyBatch { kept, place: self.place, library })
    }
}

/// What a batch is made of.
#[derive(Clone, Copy)]
pub enum Of<'a> {
    /// A, and the orders.
    Matrices(Option<&'a [usize]>),
    /// L.
    Factors,
}
