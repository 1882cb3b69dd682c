//! Engines, made from settings.

use crate::options::{Place, Settings};
use crate::status::Refused;
use cholupdate::cuda::{Device, Hybrid, Resident, Tuning};
use cholupdate::{Cpu, Error};
use std::sync::{Mutex, PoisonError};

/// An engine.
pub enum Built {
    Cpu(Cpu),
    Hybrid(Hybrid),
    Resident(Resident),
}

impl Built {
    pub fn new(settings: &Settings) -> Result<Self, Error> {
        Ok(match settings.place {
            Place::Cpu => Self::Cpu(cpu(settings)),
            Place::Hybrid(ordinal) => {
                let device = device(ordinal)?;
                let engine = Hybrid::new(&device, Tuning::for_device(&device))?;
                Self::Hybrid(engine.with_safeguard(settings.safeguard))
            }
            Place::Cuda(ordinal) => Self::Resident(Resident::new(&device(ordinal)?)),
        })
    }
}

fn cpu(&Settings { threads, safeguard, .. }: &Settings) -> Cpu {
    threads.map_or_else(Cpu::default, Cpu::threads).with_safeguard(safeguard)
}

/// The engine of a workspace, which works on arrays in host memory.
pub fn cpu_alone(settings: &Settings) -> Result<Cpu, Refused> {
    match settings.place {
        Place::Cpu => Ok(cpu(settings)),
        Place::Hybrid(_) => Err(Refused::invalid("options.engine", 1, "0 (CPU) for a workspace")),
        Place::Cuda(_) => Err(Refused::invalid("options.engine", 2, "0 (CPU) for a workspace")),
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
