//! OpenCL platforms and devices, and the programs compiled for a device.

use super::error::failed;
use crate::error::{Error, unavailable};
use crate::real::Real;
use core::fmt;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{
    CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT,
};
use opencl3::error_codes::{CL_PLATFORM_NOT_FOUND_KHR, DLOPEN_RUNTIME_LOAD_FAILED};
use opencl3::program::Program;
use opencl3::types::cl_device_id;
use opencl3::{device, platform};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An implementation of OpenCL that is installed on this machine.
#[derive(Clone, Debug)]
pub struct Platform {
    id: platform::Platform,
    name: String,
    version: String,
}

/// The platforms of this machine, in the order of the OpenCL loader. There is at least one.
///
/// ```
/// use cholupdate::opencl::platforms;
///
/// match platforms() {
///     Ok(platforms) => platforms.iter().for_each(|platform| println!("{}", platform.name())),
///     Err(error) => println!("without OpenCL, then: {error}"),
/// }
/// ```
///
/// # Errors
/// [`Error::Device`], of the kind `Unavailable`, if the loader's library (`libOpenCL`) or any platform is missing.
pub fn platforms() -> Result<Vec<Platform>, Error> {
    let _alone = known_devices();
    let found = platform::get_platforms().map_err(|error| match error.0 {
        DLOPEN_RUNTIME_LOAD_FAILED => unavailable("no OpenCL: its loader (libOpenCL) was not found"),
        CL_PLATFORM_NOT_FOUND_KHR => no_platform(),
        _ => failed("asking the OpenCL loader for platforms")(error),
    })?;
    if found.is_empty() {
        return Err(no_platform());
    }
    let platform = |id: platform::Platform| {
        let property =
            |value: opencl3::Result<String>| value.map_err(failed("asking a platform for its name"));
        Ok(Platform { id, name: property(id.name())?, version: property(id.version())? })
    };
    found.into_iter().map(platform).collect()
}

/// The devices that have been requested. Platforms are asked for devices and properties by the holder of this lock alone: some
/// crash if several threads ask at the same time.
fn known_devices() -> MutexGuard<'static, Vec<Device>> {
    static DEVICES: Mutex<Vec<Device>> = Mutex::new(Vec::new());
    DEVICES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn no_platform() -> Error {
    unavailable("no OpenCL: its loader finds no platform")
}

impl Platform {
    /// The platform's name for itself.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version of OpenCL, and of the platform.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The devices of the platform, in its order; there may be none.
    ///
    /// # Errors
    /// [`Error::Device`] if the platform fails.
    pub fn devices(&self) -> Result<Vec<Device>, Error> {
        let mut known = known_devices();
        let found = self.id.get_devices(CL_DEVICE_TYPE_ALL);
        let found = found.map_err(failed(format_args!("asking {} for devices", self.name)))?;
        found
            .into_iter()
            .map(|id| match known.iter().find(|device| device.id() == id) {
                Some(device) => Ok(device.clone()),
                None => Device::open(self, id).inspect(|device| known.push(device.clone())),
            })
            .collect()
    }
}

/// What a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceKind {
    /// The processor of the host.
    Cpu,
    /// A graphics processor.
    Gpu,
    /// Another kind of device.
    Accelerator,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "CPU",
            Self::Gpu => "GPU",
            Self::Accelerator => "accelerator",
        })
    }
}

/// An OpenCL device.
///
/// Cheap to clone. A device that has been requested is kept until the process ends, with its context and the programs that
/// have been compiled for it.
#[derive(Clone)]
pub struct Device {
    shared: Arc<Shared>,
}

struct Shared {
    id: device::Device,
    context: Context,
    programs: Mutex<Vec<(Source, Arc<Program>)>>,
    kind: DeviceKind,
    name: String,
    platform: String,
    compute_units: usize,
    double_precision: bool,
    rounds_correctly: bool,
    /// For calls that are not part of other work.
    queue: CommandQueue,
    /// A wait has failed, so that commands may still be running.
    doubt: AtomicBool,
}

/// A program's text, and the options that it is compiled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub name: &'static str,
    pub text: &'static str,
    /// DOUBLE of the text.
    pub double: bool,
    /// Another name that the text uses, and its value.
    pub parameter: (&'static str, usize),
}

impl Device {
    /// The device with this number, counted from 0 through all platforms in the loader's order.
    ///
    /// # Errors
    /// [`Error::Device`], as [`platforms`], and of the kind `Unavailable` if there are not so many devices.
    pub fn new(number: usize) -> Result<Self, Error> {
        let mut devices = Vec::new();
        for platform in platforms()? {
            devices.extend(platform.devices()?);
        }
        let count = devices.len();
        devices.into_iter().nth(number).ok_or_else(|| {
            unavailable(format!("there is no OpenCL device {number}: the number of devices is {count}"))
        })
    }

    /// The first device of this kind on any platform.
    ///
    /// # Errors
    /// [`Error::Device`], as [`platforms`], and of the kind `Unavailable` if there is no device of this kind.
    pub fn first(kind: DeviceKind) -> Result<Self, Error> {
        let platforms = platforms()?;
        for platform in &platforms {
            if let Some(device) = platform.devices()?.into_iter().find(|device| device.kind() == kind) {
                return Ok(device);
            }
        }
        let names: Vec<&str> = platforms.iter().map(Platform::name).collect();
        Err(unavailable(format!("no OpenCL device is a {kind} (platforms: {})", names.join(", "))))
    }

    fn open(platform: &Platform, id: cl_device_id) -> Result<Self, Error> {
        let id = device::Device::new(id);
        let attempt = || failed("asking an OpenCL device for its properties");
        let kind = match id.dev_type().map_err(attempt())? {
            kind if kind & CL_DEVICE_TYPE_CPU != 0 => DeviceKind::Cpu,
            kind if kind & CL_DEVICE_TYPE_GPU != 0 => DeviceKind::Gpu,
            _ => DeviceKind::Accelerator,
        };
        let name = id.name().map_err(attempt())?.trim().to_string();
        let extensions = id.extensions().map_err(attempt())?;
        let context =
            Context::from_device(&id).map_err(failed(format_args!("making a context on {name}")))?;
        // SAFETY: the device is the context's.
        let queue = unsafe { CommandQueue::create(&context, id.id(), 0) };
        let queue = queue.map_err(failed(format_args!("making a queue on {name}")))?;
        let shared = Shared {
            context,
            queue,
            doubt: AtomicBool::new(false),
            programs: Mutex::default(),
            kind,
            platform: platform.name.clone(),
            compute_units: id.max_compute_units().map_err(attempt())? as usize,
            double_precision: extensions.split_whitespace().any(|extension| extension == "cl_khr_fp64"),
            rounds_correctly: id.single_fp_config().map_err(attempt())? & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
                != 0,
            name,
            id,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The platform's name for the device.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// The name of its platform.
    #[must_use]
    pub fn platform(&self) -> &str {
        &self.shared.platform
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> DeviceKind {
        self.shared.kind
    }

    /// Its number of compute units: cores, or multiprocessors.
    #[must_use]
    pub fn compute_units(&self) -> usize {
        self.shared.compute_units
    }

    /// Whether it computes in double precision (`cl_khr_fp64`). Without it, calls in `f64` return an [`Error::Device`].
    #[must_use]
    pub fn has_double_precision(&self) -> bool {
        self.shared.double_precision
    }

    pub(super) fn id(&self) -> cl_device_id {
        self.shared.id.id()
    }

    pub(super) fn context(&self) -> &Context {
        &self.shared.context
    }

    /// A queue for calls that are not part of other work.
    pub(super) fn queue(&self) -> &CommandQueue {
        &self.shared.queue
    }

    /// Records that a wait has failed, so that commands of this device may still be running.
    pub(super) fn doubt(&self) {
        self.shared.doubt.store(true, Ordering::Release);
    }

    /// Whether host memory that commands have used is free again after the last waits.
    pub(super) fn is_doubtless(&self) -> bool {
        !self.shared.doubt.load(Ordering::Acquire)
    }

    /// Checks that the device computes in the precision of `T`.
    ///
    /// # Errors
    /// [`Error::Device`], of the kind `Unavailable`.
    pub(super) fn supports<T: Real>(&self) -> Result<(), Error> {
        if size_of::<T>() == 8 && !self.has_double_precision() {
            let name = self.name();
            return Err(unavailable(format!(
                "{name} has no double precision (cl_khr_fp64); f32 works there"
            )));
        }
        Ok(())
    }

    /// A program, compiled at the first call.
    ///
    /// # Errors
    /// [`Error::Device`], with the compiler's log if it refuses the program.
    pub(super) fn program(&self, source: Source) -> Result<Arc<Program>, Error> {
        let mut programs = self.shared.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, program)) = programs.iter().find(|(known, _)| *known == source) {
            return Ok(program.clone());
        }
        let program = Arc::new(self.compile(source)?);
        programs.push((source, program.clone()));
        Ok(program)
    }

    fn compile(&self, source: Source) -> Result<Program, Error> {
        let Source { name, text, double, parameter: (parameter, value) } = source;
        let attempt = format_args!("compiling {name} for {}", self.name());
        let mut program = Program::create_from_source(self.context(), text).map_err(failed(attempt))?;
        // Without the option a quotient may be wrong by 2.5 units in the last place, a root by 3.
        let rounding =
            if self.shared.rounds_correctly { " -cl-fp32-correctly-rounded-divide-sqrt" } else { "" };
        let options =
            format!("-cl-std=CL1.2 -D DOUBLE={} -D {parameter}={value}{rounding}", u8::from(double));
        match program.build(self.context().devices(), &options) {
            Ok(()) => Ok(program),
            Err(error) => Err(with_log(failed(attempt)(error), program.get_build_log(self.id()).ok())),
        }
    }
}

/// Appends the compiler's log to the message.
fn with_log(mut error: Error, log: Option<String>) -> Error {
    if let (Error::Device { message, .. }, Some(log)) = (&mut error, log) {
        message.push_str("; the compiler's log:\n");
        message.push_str(log.trim());
    }
    error
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("name", &self.name()).field("platform", &self.platform()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device of this machine, if there is one, as if it had no double precision.
    fn without_double_precision() -> Option<Device> {
        let platform = platforms().ok()?.into_iter().next()?;
        let id = platform.devices().ok()?.first()?.id();
        let _alone = known_devices();
        let mut shared = Arc::into_inner(Device::open(&platform, id).ok()?.shared)?;
        shared.double_precision = false;
        Some(Device { shared: Arc::new(shared) })
    }

    #[test]
    fn what_a_device_cannot_do_is_said() {
        let Some(device) = without_double_precision() else { return };
        let double = device.supports::<f64>().unwrap_err();
        assert!(
            double.to_string().contains("has no double precision (cl_khr_fp64); f32 works there"),
            "{double}"
        );
        assert_eq!(device.supports::<f32>(), Ok(()));
    }

    #[test]
    fn the_log_of_the_compiler_is_in_the_error() {
        let Some(device) = without_double_precision() else { return };
        let text = "__kernel void wrong(__global float* x) { *x = undeclared_name; }";
        let source = Source { name: "wrong.cl", text, double: false, parameter: ("UNUSED", 0) };
        let error = device.program(source).unwrap_err().to_string();
        assert!(error.contains("compiling wrong.cl for") && error.contains("undeclared_name"), "{error}");
    }
}
