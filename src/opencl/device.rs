//! OpenCL devices, with what is made for each: a context, and the programs compiled so far.

use super::error::failed;
use super::handle::Handle;
use super::program::{Source, compile};
use crate::error::{Error, unavailable};
use core::ffi::c_void;
use core::fmt;
use opencl3::command_queue::create_command_queue;
use opencl3::context::Context;
use opencl3::device;
use opencl3::device::{CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT};
use opencl3::program::Program;
use opencl3::types::{cl_context, cl_device_id};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What a device is. In the order of the numbers of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DeviceKind {
    /// A graphics processor.
    Gpu,
    /// A device that is neither of the others.
    Accelerator,
    /// The processor of the host.
    Cpu,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gpu => "GPU",
            Self::Accelerator => "accelerator",
            Self::Cpu => "CPU",
        })
    }
}

/// An OpenCL device.
///
/// Cheap to clone. A device that has been requested is kept until the process ends, with its context and the programs that have
/// been compiled for it. If a wait for it fails, work may go on in memory that is in use: factors on it then return errors, and
/// a device that is requested anew has a context of its own.
#[derive(Clone)]
pub struct Device {
    shared: Arc<Shared>,
}

struct Shared {
    id: device::Device,
    kind: DeviceKind,
    name: String,
    platform: String,
    compute_units: usize,
    group_limit: usize,
    double_precision: bool,
    rounds_correctly: bool,
    opened: OnceLock<Opened>,
    programs: Mutex<Vec<(Source, Arc<Program>)>>,
    /// A wait has failed, so that commands may still be running.
    doubt: AtomicBool,
}

/// What takes memory of the device: it is made when it is first needed.
struct Opened {
    /// For calls that are not part of other work.
    queue: Handle,
    context: Context,
}

/// The devices that have been requested. Platforms are asked for devices and properties by the holder of this lock alone: some
/// crash if several threads ask at the same time.
pub(super) fn known() -> MutexGuard<'static, Vec<Device>> {
    static DEVICES: Mutex<Vec<Device>> = Mutex::new(Vec::new());
    DEVICES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Device {
    /// Asks the platform for the device's properties.
    pub(super) fn described(platform: &str, id: cl_device_id) -> Result<Self, Error> {
        let id = device::Device::new(id);
        let attempt = || failed("asking an OpenCL device for its properties");
        let kind = match id.dev_type().map_err(attempt())? {
            kind if kind & CL_DEVICE_TYPE_CPU != 0 => DeviceKind::Cpu,
            kind if kind & CL_DEVICE_TYPE_GPU != 0 => DeviceKind::Gpu,
            _ => DeviceKind::Accelerator,
        };
        let extensions = id.extensions().map_err(attempt())?;
        let rounding = id.single_fp_config().map_err(attempt())? & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
        let shared = Shared {
            kind,
            name: id.name().map_err(attempt())?.trim().to_string(),
            platform: platform.to_string(),
            compute_units: id.max_compute_units().map_err(attempt())? as usize,
            group_limit: id.max_work_group_size().map_err(attempt())?.max(1),
            double_precision: extensions.split_whitespace().any(|extension| extension == "cl_khr_fp64"),
            rounds_correctly: rounding != 0,
            id,
            opened: OnceLock::new(),
            programs: Mutex::default(),
            doubt: AtomicBool::new(false),
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

    /// The most work-items of a work-group.
    pub(super) fn group_limit(&self) -> usize {
        self.shared.group_limit
    }

    pub(super) fn id(&self) -> cl_device_id {
        self.shared.id.id()
    }

    fn opened(&self) -> Result<&Opened, Error> {
        let shared = &*self.shared;
        if let Some(opened) = shared.opened.get() {
            return Ok(opened);
        }
        let attempt = format!("making a context on {}", self.name());
        let context = Context::from_device(&shared.id).map_err(failed(&attempt))?;
        // SAFETY: the device is the context's.
        let queue = unsafe { create_command_queue(context.get(), self.id(), 0) };
        let queue = queue.map_err(failed(attempt))?;
        // SAFETY: a new queue.
        let queue = unsafe { Handle::queue(queue) };
        Ok(shared.opened.get_or_init(|| Opened { queue, context }))
    }

    pub(super) fn context(&self) -> Result<cl_context, Error> {
        Ok(self.opened()?.context.get())
    }

    /// A queue for calls that are not part of other work.
    pub(super) fn queue(&self) -> Result<*mut c_void, Error> {
        Ok(self.opened()?.queue.get())
    }

    /// Records that a wait has failed, so that commands of this device may still be running.
    pub(super) fn doubt(&self) {
        self.shared.doubt.store(true, Ordering::Release);
        known().retain(|device| !Arc::ptr_eq(&device.shared, &self.shared));
    }

    /// Whether host memory that commands have used is free again after the last waits.
    pub(super) fn is_doubtless(&self) -> bool {
        !self.shared.doubt.load(Ordering::Acquire)
    }

    /// Checks that the device computes in the precision of `T`.
    ///
    /// # Errors
    /// [`Error::Device`], of the kind `Unavailable`.
    pub(super) fn supports<T>(&self) -> Result<(), Error> {
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
        let context = &self.opened()?.context;
        let program =
            Arc::new(compile((self.shared.id, self.name()), context, &source, self.shared.rounds_correctly)?);
        programs.push((source, program.clone()));
        Ok(program)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("name", &self.name()).field("platform", &self.platform()).finish()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::factorize::{Method, factorize};
    use crate::opencl::{ColumnKernels, Hybrid};
    use crate::{Cholesky, DeviceErrorKind};
    use faer::Mat;
    use std::sync::RwLockReadGuard;

    /// A device of this machine, if there is one, as if it had other properties.
    fn altered(alter: impl FnOnce(&mut Shared)) -> Option<Device> {
        let required = std::env::var_os("CHOLUPDATE_REQUIRE_OPENCL").is_some_and(|value| value == "1");
        let device = Device::new(0);
        if device.is_err() && !required {
            return None;
        }
        let id = device.unwrap().id();
        let _alone = known();
        let mut shared = Arc::into_inner(Device::described("any", id).unwrap().shared).unwrap();
        alter(&mut shared);
        Some(Device { shared: Arc::new(shared) })
    }

    fn without_double_precision() -> Option<Device> {
        altered(|shared| shared.double_precision = false)
    }

    /// For as long as it exists, no test omits waits of the hybrid engine.
    pub fn all_waits() -> RwLockReadGuard<'static, ()> {
        crate::hybrid::waits::omitted::GATE.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that shares nothing with other tests.
    pub fn unaltered() -> Option<Device> {
        altered(|_| {})
    }

    pub fn with_work_groups_of(limit: usize) -> Option<Device> {
        altered(|shared| shared.group_limit = limit)
    }

    #[test]
    fn what_a_device_cannot_do_is_said() {
        let _waits = all_waits();
        let Some(device) = without_double_precision() else { return };
        let method = Method::OpenCl { device: device.clone(), variant: ColumnKernels::Single, cutoff: 0 };
        let a = Mat::<f64>::identity(20, 20);
        let engine = Hybrid::on(&device);
        for refused in [factorize(&a, &method).err(), Cholesky::new_in(&a, engine.clone()).err()] {
            let Some(Error::Device { kind: DeviceErrorKind::Unavailable, message }) = refused else {
                panic!("{refused:?}")
            };
            assert!(message.contains("has no double precision (cl_khr_fp64); f32 works there"), "{message}");
        }
        let a = Mat::<f32>::identity(20, 20);
        assert_eq!(factorize(&a, &method).unwrap(), a);
        Cholesky::new_in(&a, engine).unwrap().update(&[1.0_f32; 20]).unwrap();
    }

    #[test]
    fn the_log_of_the_compiler_is_in_the_error() {
        let Some(device) = without_double_precision() else { return };
        let text = "__kernel void wrong(__global float* x) { *x = undeclared_name; }";
        let source = Source { name: "wrong.cl", text, parameters: Vec::new() };
        let error = device.program(source).unwrap_err().to_string();
        assert!(error.contains("compiling wrong.cl for") && error.contains("undeclared_name"), "{error}");
    }

    #[test]
    fn after_a_failed_wait_memory_is_not_given_out_and_the_device_can_be_had_again() {
        let Some(device) = without_double_precision() else { return };
        let mut locked = crate::opencl::memory::Locked::<f32>::new(&device, 10).unwrap();
        assert_eq!(locked.as_mut_slice().unwrap(), [0.0; 10]);
        device.doubt();
        assert!(locked.as_mut_slice().is_err());
        let doubted = Device::new(0).unwrap();
        doubted.doubt();
        let again = Device::new(0).unwrap();
        assert!(again.is_doubtless() && !Arc::ptr_eq(&again.shared, &doubted.shared));
        assert_eq!(again.name(), doubted.name());
    }
}
