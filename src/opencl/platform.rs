//! The platforms and devices of this machine.

use super::device::{Device, DeviceKind, known};
use super::error::failed;
use crate::error::{Error, unavailable};
use core::fmt;
use opencl3::device::CL_DEVICE_TYPE_ALL;
use opencl3::error_codes::{CL_PLATFORM_NOT_FOUND_KHR, DLOPEN_RUNTIME_LOAD_FAILED};
use opencl3::platform;

/// An implementation of OpenCL that is installed on this machine.
#[derive(Clone)]
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
/// On Linux the loader is `libOpenCL.so.1`, or the library that the environment variable `OPENCL_DYLIB_PATH` names.
///
/// # Errors
/// [`Error::Device`], of the kind `Unavailable`, if the loader's library (`libOpenCL`) is missing or it finds no platform.
pub fn platforms() -> Result<Vec<Platform>, Error> {
    let _alone = known();
    let none = || unavailable("no OpenCL: its loader finds no platform");
    let found = platform::get_platforms().map_err(|error| match error.0 {
        DLOPEN_RUNTIME_LOAD_FAILED => {
            unavailable("no OpenCL: its loader (libOpenCL) was not found, or could not be loaded")
        }
        CL_PLATFORM_NOT_FOUND_KHR => none(),
        _ => failed("asking the OpenCL loader for platforms")(error),
    })?;
    if found.is_empty() {
        return Err(none());
    }
    let platform = |id: platform::Platform| {
        let property =
            |value: opencl3::Result<String>| value.map_err(failed("asking a platform for its name"));
        Ok(Platform { id, name: property(id.name())?, version: property(id.version())? })
    };
    found.into_iter().map(platform).collect()
}

impl fmt::Debug for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Platform").field("name", &self.name).field("version", &self.version).finish()
    }
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
        let mut known = known();
        let found = self.id.get_devices(CL_DEVICE_TYPE_ALL);
        let found = found.map_err(failed(format_args!("asking {} for devices", self.name)))?;
        found
            .into_iter()
            .map(|id| match known.iter().find(|device| device.id() == id) {
                Some(device) => Ok(device.clone()),
                None => Device::described(&self.name, id).inspect(|device| known.push(device.clone())),
            })
            .collect()
    }
}

impl Device {
    /// The device with this number, counted from 0: GPUs first, then accelerators, then CPUs, each through all platforms in the
    /// loader's order.
    ///
    /// A platform that fails has no devices, unless all fail.
    ///
    /// # Errors
    /// [`Error::Device`], as [`platforms`], and of the kind `Unavailable` if there are not so many devices.
    pub fn new(number: usize) -> Result<Self, Error> {
        let devices = all()?;
        let none =
            || unavailable(format!("there is no OpenCL device {number}; there are: {}", names(&devices)));
        devices.get(number).cloned().ok_or_else(none)
    }

    /// The first device of this kind on any platform.
    ///
    /// # Errors
    /// [`Error::Device`], as [`platforms`], and of the kind `Unavailable` if there is no device of this kind.
    pub fn first(kind: DeviceKind) -> Result<Self, Error> {
        let devices = all()?;
        let none =
            || unavailable(format!("no OpenCL device is of the kind {kind}; there are: {}", names(&devices)));
        devices.iter().find(|device| device.kind() == kind).cloned().ok_or_else(none)
    }
}

/// All devices, in the order of their numbers; there is at least one.
fn all() -> Result<Vec<Device>, Error> {
    let (platforms, mut devices, mut failure) = (platforms()?, Vec::new(), None);
    for platform in &platforms {
        match platform.devices() {
            Ok(some) => devices.extend(some),
            Err(error) => drop(failure.get_or_insert(error)),
        }
    }
    devices.sort_by_key(Device::kind);
    if !devices.is_empty() {
        return Ok(devices);
    }
    let names: Vec<&str> = platforms.iter().map(Platform::name).collect();
    let none = || unavailable(format!("no OpenCL platform has a device (platforms: {})", names.join(", ")));
    Err(failure.unwrap_or_else(none))
}

/// The devices with their numbers and kinds.
fn names(devices: &[Device]) -> String {
    let name =
        |(number, device): (usize, &Device)| format!("{number}: {} ({})", device.name(), device.kind());
    devices.iter().enumerate().map(name).collect::<Vec<_>>().join(", ")
}
