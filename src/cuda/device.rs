//! The one GPU: what it must be able to do, what it is, and the modules loaded on it.

use super::layout::{Exports, Layout};
use super::memory::Plain;
use crate::error::Error;
use core::ffi::CStr;
use core::fmt;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use cudarc::driver::{CudaContext, sys::CUresult};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The CUDA version whose drivers translate the PTX that is shipped (8.7), as the driver counts: 12.8.
const DRIVER_VERSION: i32 = 12_080;
/// The oldest compute capability that the PTX is for.
const COMPUTE_CAPABILITY: (i32, i32) = (8, 0);

/// An NVIDIA GPU that can run this library's kernels.
///
/// Cheap to clone: clones share the driver's context and the kernels loaded so far.
///
/// ```
/// use cholupdate::cuda::Device;
///
/// match Device::new(0) {
///     Ok(device) => println!("{}", device.name()),
///     Err(error) => println!("on the CPU, then: {error}"),
/// }
/// ```
#[derive(Clone)]
pub struct Device {
    shared: Arc<Shared>,
}

struct Shared {
    /// By the address of their PTX.
    modules: Mutex<Vec<(usize, Arc<Module>)>>,
    context: Arc<CudaContext>,
    ordinal: usize,
    name: String,
    multiprocessors: usize,
    capability: (i32, i32),
}

impl Device {
    /// The GPU with this number, counted from 0 as the driver does (`CUDA_VISIBLE_DEVICES` applies).
    ///
    /// # Errors
    /// [`Error::Device`] that names what is missing: the driver, a driver new enough (570: CUDA 12.8), a
    /// device, a device of this number, or compute capability 8.0. Never a panic.
    pub fn new(ordinal: usize) -> Result<Self, Error> {
        start_driver()?;
        let device = find(ordinal)?;
        // SAFETY: `find` got the device from the driver.
        let attribute = |which| unsafe { result::device::get_attribute(device, which) };
        let major = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        let minor = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        let count = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        let describe = "asking the driver for properties of the device";
        let capability = (major.map_err(failed(describe))?, minor.map_err(failed(describe))?);
        let multiprocessors = usize::try_from(count.map_err(failed(describe))?).unwrap_or(1);
        let name = result::device::get_name(device).map_err(failed(describe))?;
        if capability < COMPUTE_CAPABILITY {
            return Err(unfit(format!(
                "device {ordinal} ({name}) has compute capability {}.{}, needed is {}.{} or later",
                capability.0, capability.1, COMPUTE_CAPABILITY.0, COMPUTE_CAPABILITY.1
            )));
        }
        let context = CudaContext::new(ordinal).map_err(failed("making a context on the device"))?;
        // SAFETY: nothing is allocated through cudarc's tracked types, here or later; the engines order their
        // streams with events of their own.
        unsafe { context.disable_event_tracking() };
        let modules = Mutex::default();
        Ok(Self { shared: Arc::new(Shared { modules, context, ordinal, name, multiprocessors, capability }) })
    }

    /// The driver's name for the GPU.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// The number that [`Device::new`] was given.
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.shared.ordinal
    }

    /// Multiprocessors of the GPU.
    #[must_use]
    pub fn multiprocessors(&self) -> usize {
        self.shared.multiprocessors
    }

    /// Major and minor.
    pub(super) fn compute_capability(&self) -> (i32, i32) {
        self.shared.capability
    }

    /// Bytes of shared memory that a block of threads can have.
    pub(super) fn shared_bytes(&self) -> Result<usize, Error> {
        let which = Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        let bytes = self.shared.context.attribute(which).map_err(failed("asking for shared memory"))?;
        Ok(usize::try_from(bytes).unwrap_or(0))
    }

    /// Bytes of device memory: those free now, and all.
    ///
    /// # Errors
    /// [`Error::Device`] where the driver fails.
    pub fn memory_bytes(&self) -> Result<(usize, usize), Error> {
        self.bind()?;
        result::mem_get_info().map_err(failed("asking the driver for its free memory"))
    }

    /// Makes this device the one that the calling thread's driver calls are for. Every driver call needs it;
    /// it costs one look at a thread-local value where nothing changes.
    pub(super) fn bind(&self) -> Result<(), Error> {
        self.shared.context.bind_to_thread().map_err(failed("turning to the device"))
    }

    /// The module of this PTX text, which ends in a zero: loaded (and translated for the GPU) at the first
    /// call, shared afterwards.
    pub(super) fn module(&self, ptx: &'static str) -> Result<Arc<Module>, Error> {
        let mut modules = self.shared.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let key = ptx.as_ptr().addr();
        if let Some((_, module)) = modules.iter().find(|(loaded, _)| *loaded == key) {
            return Ok(module.clone());
        }
        let module = Arc::new(Module::load(&self.shared.context, ptx)?);
        modules.push((key, module.clone()));
        Ok(module)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("ordinal", &self.ordinal()).field("name", &self.name()).finish()
    }
}

/// Kernels that the driver has translated for the GPU. Unloaded when dropped.
pub(super) struct Module {
    handle: sys::CUmodule,
    layout: OnceLock<Layout>,
    context: Arc<CudaContext>,
}

// SAFETY: the driver takes module handles from any thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    fn load(context: &Arc<CudaContext>, ptx: &'static str) -> Result<Self, Error> {
        let loading = "loading the kernels";
        let ptx = CStr::from_bytes_with_nul(ptx.as_bytes())
            .map_err(|_| unfit("PTX that does not end in a zero"))?;
        context.bind_to_thread().map_err(failed(loading))?;
        // SAFETY: PTX text that ends in a zero, as the driver takes it.
        let handle = unsafe { result::module::load_data(ptx.as_ptr().cast()) }.map_err(failed(loading))?;
        Ok(Self { handle, layout: OnceLock::new(), context: context.clone() })
    }

    /// The kernel of this name; good for as long as the module is.
    pub(super) fn function(&self, name: &str) -> Result<sys::CUfunction, Error> {
        let missing = |_| unfit(format!("the kernel `{name}` has no name that the driver can take"));
        let text = std::ffi::CString::new(name).map_err(missing)?;
        self.context.bind_to_thread().map_err(failed("looking up a kernel"))?;
        // SAFETY: the module is loaded for as long as `self`.
        unsafe { result::module::get_function(self.handle, text) }
            .map_err(failed(format_args!("looking up the kernel `{name}`")))
    }
}

impl Module {
    /// What the kernels export as `{name}_layout`. A module has one layout; it is copied at the first call.
    ///
    /// # Errors
    /// [`Error::Device`] where the module has none of this name.
    pub(super) fn layout(&self, name: &str) -> Result<&Layout, Error> {
        if let Some(layout) = self.layout.get() {
            return Ok(layout);
        }
        let layout = Exports::read(self, format!("{name}_layout"))?;
        Ok(self.layout.get_or_init(|| layout))
    }

    /// The values of a global of the module.
    ///
    /// # Errors
    /// [`Error::Device`] where the module has no such global.
    pub(super) fn global<V: Plain + Default>(&self, name: &str) -> Result<Vec<V>, Error> {
        let attempt = || format!("reading `{name}` of the kernels");
        let text = std::ffi::CString::new(name).map_err(|_| unfit(attempt()))?;
        self.context.bind_to_thread().map_err(failed(attempt()))?;
        // SAFETY: the module is loaded for as long as `self`.
        let (address, bytes) =
            unsafe { result::module::get_global(self.handle, text) }.map_err(failed(attempt()))?;
        let mut values = vec![V::default(); bytes / size_of::<V>()];
        // SAFETY: the global has as many bytes and any bits are values; the copy is done when the call returns.
        unsafe { result::memcpy_dtoh_sync(&mut values, address) }.map_err(failed(attempt()))?;
        Ok(values)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // An error here has nobody to go to, and the driver frees everything with the context.
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: loaded by `load`, unloaded only here.
            let _ = unsafe { result::module::unload(self.handle) };
        }
    }
}

/// Finds the driver's library, new enough, and starts it. In this order: cudarc panics where the library is
/// missing, and every other question is only allowed once the driver is started.
fn start_driver() -> Result<(), Error> {
    // SAFETY: opens the library by the names that the driver is installed under, and closes it again.
    if !unsafe { sys::is_culib_present() } {
        return Err(unfit("no NVIDIA driver: its library (libcuda) was not found"));
    }
    let mut version = 0;
    // SAFETY: the driver writes one int; this call is allowed before the driver is started.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }
        .result()
        .map_err(failed("asking the NVIDIA driver for its version"))?;
    if version < DRIVER_VERSION {
        return Err(unfit(format!(
            "the NVIDIA driver supports CUDA {}.{}, needed is {}.{} (driver 570) or later",
            version / 1000,
            version % 1000 / 10,
            DRIVER_VERSION / 1000,
            DRIVER_VERSION % 1000 / 10
        )));
    }
    match result::init() {
        Err(DriverError(CUresult::CUDA_ERROR_NO_DEVICE)) => Err(unfit("the NVIDIA driver finds no device")),
        outcome => outcome.map_err(failed("starting the NVIDIA driver")),
    }
}

/// The device with this number, of those that the driver has.
fn find(ordinal: usize) -> Result<sys::CUdevice, Error> {
    let count = result::device::get_count().map_err(failed("counting the devices"))?;
    match i32::try_from(ordinal) {
        _ if count < 1 => Err(unfit("the NVIDIA driver finds no device")),
        Ok(number) if number < count => {
            result::device::get(number).map_err(failed("asking the driver for the device"))
        }
        _ => Err(unfit(format!("there is no device {ordinal}: devices are numbered 0 to {}", count - 1))),
    }
}

/// What a driver error becomes: what was attempted, and the driver's words for what came of it.
pub(super) fn failed(attempt: impl fmt::Display) -> impl FnOnce(DriverError) -> Error {
    move |error| {
        let words = error.error_string().map_or("unknown error".into(), CStr::to_string_lossy);
        unfit(format!("{attempt}: {words} (driver error {})", error.0 as u32))
    }
}

/// An [`Error::Device`] in these words.
pub(super) fn unfit(message: impl Into<String>) -> Error {
    Error::Device { message: message.into() }
}
