//! A GPU: the requirements on it, its properties, and the modules loaded on it.

use super::block::Block;
use super::current;
use super::doubt::Doubt;
use super::error::failed;
use super::handles::Handles;
use super::module::Module;
use super::ptx::Ptx;
use crate::error::{DeviceErrorKind, Error, unavailable};
use core::fmt;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use cudarc::driver::{CudaContext, sys::CUresult};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The oldest CUDA version whose drivers translate the shipped PTX (8.7), in the driver's numbering: 12.8.
const DRIVER_VERSION: i32 = 12_080;
/// Idle cuSOLVER handles that are kept: enough for that many threads that make factors at the same time.
const HANDLES_KEPT: usize = 4;
/// Idle blocks of small page-locked memory that are kept: as many as some simultaneous calls use.
const BLOCKS_KEPT: usize = 32;
/// The oldest compute capability for which the PTX is compiled.
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
    /// By the address of their PTX text.
    modules: Mutex<Vec<(usize, Arc<Module>)>>,
    context: Arc<CudaContext>,
    ordinal: usize,
    name: String,
    multiprocessors: usize,
    capability: (i32, i32),
    doubt: Doubt,
    /// Idle handles of cuSOLVER.
    handles: Mutex<Vec<Handles>>,
    /// Idle page-locked memory.
    blocks: Mutex<Vec<Block>>,
}

impl Device {
    /// The GPU with this number, counted from 0 as the driver does (`CUDA_VISIBLE_DEVICES` applies).
    ///
    /// # Errors
    /// [`Error::Device`] with a message that names what is missing: the driver, a sufficiently new driver (570: CUDA 12.8), a
    /// device, a device with this number, or compute capability 8.0. Never a panic.
    pub fn new(ordinal: usize) -> Result<Self, Error> {
        start_driver()?;
        let device = find(ordinal)?;
        // SAFETY: `find` received the device from the driver.
        let attribute = |which| unsafe { result::device::get_attribute(device, which) };
        let major = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
        let minor = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        let count = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        let describe = "asking the driver for properties of the device";
        let capability = (major.map_err(failed(describe))?, minor.map_err(failed(describe))?);
        let multiprocessors = usize::try_from(count.map_err(failed(describe))?).unwrap_or(1);
        let name = result::device::get_name(device).map_err(failed(describe))?;
        if capability < COMPUTE_CAPABILITY {
            return Err(unavailable(format!(
                "device {ordinal} ({name}) has compute capability {}.{}, needed is {}.{} or later",
                capability.0, capability.1, COMPUTE_CAPABILITY.0, COMPUTE_CAPABILITY.1
            )));
        }
        // This turns to the device.
        let context = current::note().and_then(|()| CudaContext::new(ordinal));
        let context = context.map_err(failed("making a context on the device"))?;
        // SAFETY: nothing is allocated through cudarc's tracked types, here or later; the engines order their streams by their
        // own events.
        unsafe { context.disable_event_tracking() };
        let modules = Mutex::default();
        let (doubt, handles, blocks) = (Doubt::default(), Mutex::default(), Mutex::default());
        let shared =
            Shared { modules, context, ordinal, name, multiprocessors, capability, doubt, handles, blocks };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// As [`Device::new`]. A device that has been requested is kept until the process ends, with the kernels that the driver
    /// has translated.
    ///
    /// # Errors
    /// As [`Device::new`].
    pub fn kept(ordinal: usize) -> Result<Self, Error> {
        static DEVICES: Mutex<Vec<Device>> = Mutex::new(Vec::new());
        let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(device) = devices.iter().find(|device| device.ordinal() == ordinal) {
            return Ok(device.clone());
        }
        let device = Self::new(ordinal)?;
        devices.push(device.clone());
        Ok(device)
    }

    /// The device of a stream, by its handle in the driver; kept as by [`Device::kept`].
    ///
    /// # Errors
    /// [`Error::Device`] as [`Device::new`], or if the driver does not know the stream, or if it is not in the primary context of its
    /// device, in which other libraries work.
    ///
    /// # Safety
    /// The stream exists.
    pub unsafe fn of_stream(stream: u64) -> Result<Self, Error> {
        static STARTED: OnceLock<()> = OnceLock::new();
        if STARTED.get().is_none() {
            start_driver()?;
            let _ = STARTED.set(());
        }
        let asking = "asking for the device of a stream";
        let mut context = core::ptr::null_mut();
        // SAFETY: the caller guarantees the stream; the driver writes one handle.
        unsafe { sys::cuStreamGetCtx(stream as sys::CUstream, &raw mut context) }
            .result()
            .map_err(failed(asking))?;
        current::keeping_current_context(|| {
            // SAFETY: the stream is in the context.
            let ordinal = unsafe { current::turn_to_device_of(context) }.map_err(failed(asking))?;
            let device = Self::kept(ordinal)?;
            if device.shared.context.cu_ctx() != context {
                return Err(unavailable(format!(
                    "a stream is not in the primary context of device {ordinal}"
                )));
            }
            Ok(device)
        })
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

    /// Bytes of shared memory that a block of threads can use.
    pub(super) fn shared_bytes(&self) -> Result<usize, Error> {
        let which = Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        let bytes = self.shared.context.attribute(which).map_err(failed("asking for shared memory"))?;
        Ok(usize::try_from(bytes).unwrap_or(0))
    }

    /// Bytes of device memory: those currently free, and all.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver fails.
    pub fn memory_bytes(&self) -> Result<(usize, usize), Error> {
        self.bind()?;
        result::mem_get_info().map_err(failed("asking the driver for its free memory"))
    }

    /// Makes this device the current one for driver calls of the calling thread. Every driver call needs this; it costs one
    /// read of a thread-local value if nothing changes. After a wait that failed, it first waits for the device.
    ///
    /// # Errors
    /// [`Error::Device`], also if the device is not known to be idle after such a wait.
    pub(super) fn bind(&self) -> Result<(), Error> {
        self.turn_to()?;
        self.shared.doubt.clear_by(|| result::ctx::synchronize().map_err(failed("waiting for the device")))
    }

    fn turn_to(&self) -> Result<(), Error> {
        current::turn_to(&self.shared.context).map_err(failed("turning to the device"))
    }

    /// Records that a wait for work of this device has failed, so that the work may still be running. It is waited for once
    /// more, here or before the next call.
    pub(super) fn doubt(&self) {
        self.shared.doubt.raise();
        // If this fails, the next call tries again, and can report the error.
        let _ = self.bind();
    }

    /// Checks that all work before the last waits is done, so that its memory can be used again. No driver call unless a wait
    /// has failed.
    ///
    /// # Errors
    /// [`Error::Device`] if that is not known.
    pub(super) fn doubtless(&self) -> Result<(), Error> {
        if self.shared.doubt.is_raised() { self.bind() } else { Ok(()) }
    }

    /// Whether memory of this device, or page-locked for it, can be freed now, with the device current: either no work is in
    /// flight, or the context is lost and nothing runs any more.
    pub(super) fn can_free(&self) -> bool {
        let bound = self.bind().or_else(|_| self.bind());
        bound.map_or_else(|error| is_lost(&error), |()| true)
    }

    /// Lets work on this device access the memory of another one.
    ///
    /// # Errors
    /// [`Error::Device`] if that is not possible.
    pub(super) fn access(&self, other: &Self) -> Result<(), Error> {
        let (own, others) = (&self.shared.context, &other.shared.context);
        let attempt = || format!("letting device {} access device {}", self.ordinal(), other.ordinal());
        let mut can = 0;
        // SAFETY: the driver writes one int; both devices exist.
        unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, own.cu_device(), others.cu_device()) }
            .result()
            .map_err(failed(attempt()))?;
        if can == 0 {
            let (here, there) = (self.ordinal(), other.ordinal());
            return Err(unavailable(format!("device {here} cannot access the memory of device {there}")));
        }
        self.bind()?;
        // SAFETY: the context exists for as long as the device.
        match unsafe { sys::cuCtxEnablePeerAccess(others.cu_ctx(), 0) } {
            // Another engine has done so.
            CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(()),
            outcome => outcome.result().map_err(failed(attempt())),
        }
    }

    pub(super) fn context(&self) -> Arc<CudaContext> {
        self.shared.context.clone()
    }

    /// Removes and returns idle handles of cuSOLVER, if there are any.
    pub(super) fn idle_handles(&self) -> Option<Handles> {
        self.shared.handles.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Keeps idle handles.
    pub(super) fn keep_idle(&self, handles: Handles) {
        let mut kept = self.shared.handles.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < HANDLES_KEPT {
            kept.push(handles);
        }
    }

    /// Removes and returns idle page-locked memory of this size, if there is any.
    pub(super) fn idle_block(&self, bytes: usize) -> Option<Block> {
        let mut kept = self.shared.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().rposition(|block| block.bytes == bytes)?;
        Some(kept.swap_remove(at))
    }

    /// Keeps idle memory, or frees it if enough is kept.
    pub(super) fn keep_block(&self, block: Block) {
        let mut kept = self.shared.blocks.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < BLOCKS_KEPT {
            kept.push(block);
        }
    }

    /// The module of this PTX: loaded (and translated for the GPU) at the first call, shared afterwards.
    pub(super) fn module(&self, ptx: &'static Ptx) -> Result<Arc<Module>, Error> {
        let mut modules = self.shared.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let key = ptx.key();
        if let Some((_, module)) = modules.iter().find(|(loaded, _)| *loaded == key) {
            return Ok(module.clone());
        }
        let module = Arc::new(Module::load(&self.shared.context, ptx)?);
        modules.push((key, module.clone()));
        Ok(module)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The end of the context turns to the device.
        let _ = current::note();
    }
}

fn is_lost(error: &Error) -> bool {
    matches!(error, Error::Device { kind: DeviceErrorKind::Lost, .. })
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("ordinal", &self.ordinal()).field("name", &self.name()).finish()
    }
}

/// Finds the driver's library, checks its version, and starts it. The order matters: cudarc panics if the library is missing,
/// and other queries are allowed only after the driver has been started.
fn start_driver() -> Result<(), Error> {
    // SAFETY: opens the library by the names under which the driver is installed, and closes it again.
    if !unsafe { sys::is_culib_present() } {
        return Err(unavailable("no NVIDIA driver: its library (libcuda) was not found"));
    }
    let mut version = 0;
    // SAFETY: the driver writes one int; this call is allowed before the driver is started.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }
        .result()
        .map_err(failed("asking the NVIDIA driver for its version"))?;
    if version < DRIVER_VERSION {
        return Err(unavailable(format!(
            "the NVIDIA driver supports CUDA {}.{}, needed is {}.{} (driver 570) or later",
            version / 1000,
            version % 1000 / 10,
            DRIVER_VERSION / 1000,
            DRIVER_VERSION % 1000 / 10
        )));
    }
    match result::init() {
        Err(DriverError(CUresult::CUDA_ERROR_NO_DEVICE)) => {
            Err(unavailable("the NVIDIA driver finds no device"))
        }
        outcome => outcome.map_err(failed("starting the NVIDIA driver")),
    }
}

/// The driver's device with this number.
fn find(ordinal: usize) -> Result<sys::CUdevice, Error> {
    let count = result::device::get_count().map_err(failed("counting the devices"))?;
    match i32::try_from(ordinal) {
        _ if count < 1 => Err(unavailable("the NVIDIA driver finds no device")),
        Ok(number) if number < count => {
            result::device::get(number).map_err(failed("asking the driver for the device"))
        }
        _ => {
            Err(unavailable(format!("there is no device {ordinal}: devices are numbered 0 to {}", count - 1)))
        }
    }
}
