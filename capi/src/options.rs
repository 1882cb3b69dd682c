//! Settings: where a factor is stored, and which processor modifies it.

use crate::status::{Refused, cholupdate_status, status_of};
use cholupdate::cuda::Device;
use cholupdate::{Cpu, EngineKind, EngineSpec, Safeguard};
use core::mem::offset_of;

/// Engines: where a factor is stored, and which processor modifies it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "values for callers; what they pass is a number")]
pub enum cholupdate_engine {
    /// Host memory, and the threads of the CPU.
    CHOLUPDATE_CPU = 0,
    /// Host memory, streamed through a GPU.
    CHOLUPDATE_HYBRID = 1,
    /// The memory of a GPU.
    CHOLUPDATE_CUDA = 2,
    /// Host memory, streamed through an OpenCL device.
    CHOLUPDATE_OPENCL = 3,
    /// The memories of several GPUs of this machine, over which the rows of the factor are distributed.
    CHOLUPDATE_DISTRIBUTED = 4,
}

/// How a modification that may break down preserves the factor. Updates cannot break down, and cost nothing more.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "values for callers; what they pass is a number")]
pub enum cholupdate_safeguard {
    /// The new factor is written to a shadow buffer: costs memory for another factor.
    CHOLUPDATE_SAFEGUARD_SHADOW_BUFFER = 0,
    /// The work is done once without storing the result, and then again: costs twice the time.
    CHOLUPDATE_SAFEGUARD_DRY_RUN = 1,
    /// No safeguard: a breakdown loses the factor, and every later call with it returns CHOLUPDATE_POISONED.
    CHOLUPDATE_SAFEGUARD_NONE = 2,
}

/// Settings of a factor or a workspace. cholupdate_options_init() sets the defaults, which can then be changed. Functions with
/// a pointer to settings accept NULL for the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct cholupdate_options {
    /// sizeof(cholupdate_options): later versions may have more settings.
    pub size: usize,
    /// One of cholupdate_engine; CHOLUPDATE_CPU by default.
    pub engine: i32,
    /// One of cholupdate_safeguard; CHOLUPDATE_SAFEGUARD_SHADOW_BUFFER by default, and always for CHOLUPDATE_CUDA and
    /// CHOLUPDATE_DISTRIBUTED.
    pub safeguard: i32,
    /// Number of the GPU, the first GPU of CHOLUPDATE_DISTRIBUTED, or the OpenCL device, of which GPUs come first; 0 by default.
    pub device: i64,
    /// The most threads that the CPU engine uses; 0, the default, for all available threads. Results do not depend on it.
    pub threads: i64,
    /// Number of GPUs of CHOLUPDATE_DISTRIBUTED, from `device` on; 1 by default, and for every other engine.
    pub devices: i64,
}

const DEFAULT: cholupdate_options = cholupdate_options {
    size: size_of::<cholupdate_options>(),
    engine: cholupdate_engine::CHOLUPDATE_CPU as i32,
    safeguard: cholupdate_safeguard::CHOLUPDATE_SAFEGUARD_SHADOW_BUFFER as i32,
    device: 0,
    threads: 0,
    devices: 1,
};

/// Sets the defaults.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cholupdate_options_init(options: *mut cholupdate_options) -> cholupdate_status {
    status_of(|| {
        if options.is_null() {
            return Err(Refused::null("options"));
        }
        // SAFETY: the pointer is to settings of the caller's, which are plain numbers.
        unsafe { options.write(DEFAULT) };
        Ok(())
    })
}

/// The settings that the caller asks for.
///
/// # Safety
/// `options` is NULL, or points to `size` bytes of settings.
pub unsafe fn settings(options: *const cholupdate_options) -> Result<EngineSpec, Refused> {
    if options.is_null() {
        return checked(DEFAULT);
    }
    // Fields are only ever added at the end, so this one exists in every version.
    const { assert!(offset_of!(cholupdate_options, size) == 0) };
    // SAFETY: the caller guarantees the pointer.
    let size = unsafe { options.cast::<usize>().read() };
    if size != DEFAULT.size {
        return Err(Refused::invalid("options.size", size, DEFAULT.size));
    }
    // SAFETY: the caller guarantees the pointer, and there are as many bytes as this library reads.
    checked(unsafe { options.read() })
}

fn checked(options: cholupdate_options) -> Result<EngineSpec, Refused> {
    let device = usize::try_from(options.device)
        .map_err(|_| Refused::invalid("options.device", options.device, "the number of a device"))?;
    let kind = match options.engine {
        0 => EngineKind::Cpu,
        1 => EngineKind::Hybrid { device },
        2 => EngineKind::Cuda { device },
        3 => EngineKind::OpenCl { device },
        4 => {
            let more = usize::try_from(options.devices).ok().and_then(|devices| devices.checked_sub(1));
            let last = more.and_then(|more| device.checked_add(more));
            let Some(last) = last else {
                return Err(Refused::invalid("options.devices", options.devices, "a number of devices"));
            };
            EngineKind::Distributed { first: device, last }
        }
        other => {
            let rule = "0 to 4 (CPU, hybrid, CUDA, OpenCL, distributed)";
            return Err(Refused::invalid("options.engine", other, rule));
        }
    };
    if !matches!(kind, EngineKind::Distributed { .. }) && options.devices != 1 {
        let rule = "1 for every engine but 4 (distributed)";
        return Err(Refused::invalid("options.devices", options.devices, rule));
    }
    let on_gpus = matches!(kind, EngineKind::Cuda { .. } | EngineKind::Distributed { .. });
    let safeguard = match options.safeguard {
        0 => Safeguard::ShadowBuffer,
        1 if !on_gpus => Safeguard::DryRun,
        2 if !on_gpus => Safeguard::None,
        other if on_gpus => {
            let rule = "0 (shadow buffer) for the engines CUDA and distributed";
            return Err(Refused::invalid("options.safeguard", other, rule));
        }
        other => {
            let rule = "0, 1 or 2 (shadow buffer, dry run, none)";
            return Err(Refused::invalid("options.safeguard", other, rule));
        }
    };
    let threads = match usize::try_from(options.threads) {
        Ok(threads) if threads > 0 && kind == EngineKind::Cpu => Some(threads),
        Ok(_) => None,
        Err(_) => return Err(Refused::invalid("options.threads", options.threads, "0 or more")),
    };
    Ok(EngineSpec { kind, threads, safeguard })
}

/// The engine of `what`, which is in host memory.
pub fn cpu_alone(settings: &EngineSpec, what: &str) -> Result<Cpu, Refused> {
    let rule = || format!("0 (CPU) for {what}");
    cpu(settings).ok_or_else(|| Refused::invalid("options.engine", number(settings.kind), rule()))
}

/// Where the factors of a batch are, and what modifies them.
pub enum BatchEngine {
    Host(Cpu),
    Device(Device),
}

/// The engine of a batch.
pub fn engine_of_batch(settings: &EngineSpec) -> Result<BatchEngine, Refused> {
    match settings.kind {
        EngineKind::Cuda { device } => Ok(BatchEngine::Device(Device::kept(device)?)),
        kind => cpu(settings).map(BatchEngine::Host).ok_or_else(|| {
            Refused::invalid("options.engine", number(kind), "0 (CPU) or 2 (CUDA) for a batch")
        }),
    }
}

/// The CPU engine, if that is the one.
fn cpu(&EngineSpec { kind, threads, safeguard }: &EngineSpec) -> Option<Cpu> {
    let engine = || threads.map_or_else(Cpu::default, Cpu::threads).with_safeguard(safeguard);
    (kind == EngineKind::Cpu).then(engine)
}

/// The number of an engine in the options.
fn number(kind: EngineKind) -> i32 {
    let name = match kind {
        EngineKind::Cpu => cholupdate_engine::CHOLUPDATE_CPU,
        EngineKind::Hybrid { .. } => cholupdate_engine::CHOLUPDATE_HYBRID,
        EngineKind::OpenCl { .. } => cholupdate_engine::CHOLUPDATE_OPENCL,
        EngineKind::Distributed { .. } => cholupdate_engine::CHOLUPDATE_DISTRIBUTED,
        _ => cholupdate_engine::CHOLUPDATE_CUDA,
    };
    name as i32
}
