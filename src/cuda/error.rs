//! Driver errors as errors of this library.

use crate::error::{DeviceErrorKind, Error};
use core::ffi::CStr;
use core::fmt;
use cudarc::driver::result::DriverError;
use cudarc::driver::sys::CUresult;

/// Converts a driver error: what was attempted, and the driver's description of the error.
pub(crate) fn failed(attempt: impl fmt::Display) -> impl FnOnce(DriverError) -> Error {
    move |error| {
        let words = error.error_string().map_or("unknown error".into(), CStr::to_string_lossy);
        let message = format!("{attempt}: {words} (driver error {})", error.0 as u32);
        Error::Device { kind: kind(error.0), message }
    }
}

/// The kind of a driver error. After an error of the kind `Lost` a context answers every call with the same error.
fn kind(error: CUresult) -> DeviceErrorKind {
    use CUresult as E;
    match error {
        E::CUDA_ERROR_OUT_OF_MEMORY => DeviceErrorKind::OutOfMemory,
        E::CUDA_ERROR_NO_DEVICE
        | E::CUDA_ERROR_INVALID_DEVICE
        | E::CUDA_ERROR_DEVICE_UNAVAILABLE
        | E::CUDA_ERROR_STUB_LIBRARY
        | E::CUDA_ERROR_SYSTEM_NOT_READY
        | E::CUDA_ERROR_NO_BINARY_FOR_GPU
        | E::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
        | E::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
        | E::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE => DeviceErrorKind::Unavailable,
        E::CUDA_ERROR_DEINITIALIZED
        | E::CUDA_ERROR_CONTEXT_IS_DESTROYED
        | E::CUDA_ERROR_ECC_UNCORRECTABLE
        | E::CUDA_ERROR_NVLINK_UNCORRECTABLE
        | E::CUDA_ERROR_ILLEGAL_ADDRESS
        | E::CUDA_ERROR_LAUNCH_TIMEOUT
        | E::CUDA_ERROR_LAUNCH_FAILED
        | E::CUDA_ERROR_ASSERT
        | E::CUDA_ERROR_HARDWARE_STACK_ERROR
        | E::CUDA_ERROR_ILLEGAL_INSTRUCTION
        | E::CUDA_ERROR_MISALIGNED_ADDRESS
        | E::CUDA_ERROR_INVALID_ADDRESS_SPACE
        | E::CUDA_ERROR_INVALID_PC
        | E::CUDA_ERROR_UNKNOWN => DeviceErrorKind::Lost,
        _ => DeviceErrorKind::Other,
    }
}
