//! Engines as Python names them.

use crate::argument::Argument;
use crate::errors::{exception, wrong_value};
use crate::threads::without_gil;
use cholupdate::cuda::Device;
use cholupdate::{Error, Safeguard};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Which engine, on which device.
#[derive(Clone, Copy, PartialEq)]
pub enum Name {
    Cpu,
    Hybrid(usize),
    Cuda(usize),
}

/// What a factor was asked to be on.
#[derive(Clone, Copy)]
pub struct Settings {
    pub name: Name,
    /// Of the CPU engine; `None` for all of the pool.
    pub threads: Option<usize>,
    pub safeguard: Safeguard,
}

const SAFEGUARDS: [(&str, Safeguard); 3] =
    [("shadow_buffer", Safeguard::ShadowBuffer), ("dry_run", Safeguard::DryRun), ("none", Safeguard::None)];

impl Settings {
    /// As keywords of a call.
    pub fn given(engine: &Argument<'_>, threads: &Argument<'_>, safeguard: &Argument<'_>) -> PyResult<Self> {
        let (engine, safeguard) =
            (engine.text("engine", "cpu")?, safeguard.text("safeguard", "shadow_buffer")?);
        Self::new(&engine, threads.threads()?, &safeguard)
    }

    pub fn new(engine: &str, threads: Option<usize>, safeguard: &str) -> PyResult<Self> {
        let unknown = || {
            wrong_value(format!(
                "`engine` is {engine:?}, expected \"cpu\", \"hybrid\", \"cuda\", or \"cuda:1\" for another device"
            ))
        };
        let (kind, ordinal) = match engine.split_once(':') {
            Some((kind, ordinal)) => (kind, ordinal.parse().map_err(|_| unknown())?),
            None => (engine, 0),
        };
        let name = match kind {
            "cpu" if kind == engine => Name::Cpu,
            "hybrid" => Name::Hybrid(ordinal),
            "cuda" => Name::Cuda(ordinal),
            _ => return Err(unknown()),
        };
        if threads.is_some() && name != Name::Cpu {
            return Err(wrong_value("`threads` is for the engine \"cpu\" alone"));
        }
        let found = SAFEGUARDS.iter().find(|(word, _)| *word == safeguard);
        let &(_, safeguard) = found.ok_or_else(|| {
            wrong_value(format!(
                "`safeguard` is {safeguard:?}, expected \"shadow_buffer\", \"dry_run\" or \"none\""
            ))
        })?;
        if matches!(name, Name::Cuda(_)) && safeguard != Safeguard::ShadowBuffer {
            return Err(wrong_value("`safeguard` must be \"shadow_buffer\" for the engine \"cuda\""));
        }
        Ok(Self { name, threads, safeguard })
    }

    /// The engine's name.
    pub fn engine(&self) -> String {
        match self.name {
            Name::Cpu => "cpu".into(),
            Name::Hybrid(0) => "hybrid".into(),
            Name::Cuda(0) => "cuda".into(),
            Name::Hybrid(ordinal) => format!("hybrid:{ordinal}"),
            Name::Cuda(ordinal) => format!("cuda:{ordinal}"),
        }
    }

    /// The safeguard's name.
    pub fn safeguard(&self) -> &'static str {
        SAFEGUARDS.iter().find(|(_, safeguard)| *safeguard == self.safeguard).map_or("", |(word, _)| word)
    }
}

/// The device of this number. Devices that have been asked for are kept until the process ends, and with them the kernels that
/// the driver has translated.
pub fn device(ordinal: usize) -> Result<Device, Error> {
    static DEVICES: Mutex<Vec<Device>> = Mutex::new(Vec::new());
    let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(device) = devices.iter().find(|device| device.ordinal() == ordinal) {
        return Ok(device.clone());
    }
    let device = Device::new(ordinal)?;
    devices.push(device.clone());
    Ok(device)
}

/// The same for Python.
pub fn device_for(py: Python<'_>, ordinal: usize) -> PyResult<Device> {
    without_gil(py, || device(ordinal)).map_err(|error| exception(py, error))
}
