//! Engines, by their names in Python.

use crate::argument::Argument;
use crate::errors::{exception, wrong_value};
use crate::threads::without_gil;
use cholupdate::cuda::Device;
use cholupdate::{EngineSpec, Error};
use pyo3::prelude::*;

/// The settings from the keywords of a call.
pub fn given(
    engine: &Argument<'_>,
    threads: &Argument<'_>,
    safeguard: &Argument<'_>,
) -> PyResult<EngineSpec> {
    let (engine, safeguard) = (engine.text("engine", "cpu")?, safeguard.text("safeguard", "shadow_buffer")?);
    settings(&engine, threads.threads()?, &safeguard)
}

/// The settings from their names in Python.
pub fn settings(engine: &str, threads: Option<usize>, safeguard: &str) -> PyResult<EngineSpec> {
    let unknown = |argument: &str, found: &str, error: &Error| {
        let Error::OutOfRange { rule, .. } = error else { return wrong_value(error.to_string()) };
        wrong_value(format!("`{argument}` is {found:?}, expected {rule}"))
    };
    let kind = engine.parse().map_err(|error| unknown("engine", engine, &error))?;
    let safeguard = safeguard.parse().map_err(|error| unknown("safeguard", safeguard, &error))?;
    let spec = EngineSpec { kind, threads, safeguard };
    spec.validate().map_err(|error| match error.argument() {
        Some("threads") => wrong_value("`threads` is for the engine \"cpu\" alone"),
        _ => wrong_value("`safeguard` must be \"shadow_buffer\" for the engine \"cuda\""),
    })?;
    Ok(spec)
}

/// The device of this number. The library keeps it until the process ends.
pub fn device_for(py: Python<'_>, ordinal: usize) -> PyResult<Device> {
    without_gil(py, || Device::kept(ordinal)).map_err(|error| exception(py, error))
}
