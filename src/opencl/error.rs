//! OpenCL errors as errors of this library.

use crate::error::{DeviceErrorKind, Error};
use core::fmt;
use opencl3::error_codes as codes;
use opencl3::error_codes::ClError;

/// Converts an OpenCL error: what was attempted, and the name of the error.
pub(super) fn failed<E: Into<ClError>>(attempt: impl fmt::Display) -> impl FnOnce(E) -> Error {
    move |error| {
        let error: ClError = error.into();
        let message = format!("{attempt}: {error} (OpenCL error {})", error.0);
        Error::Device { kind: kind(error.0), message }
    }
}

fn kind(code: i32) -> DeviceErrorKind {
    match code {
        codes::CL_MEM_OBJECT_ALLOCATION_FAILURE
        | codes::CL_OUT_OF_HOST_MEMORY
        | codes::CL_INVALID_BUFFER_SIZE => DeviceErrorKind::OutOfMemory,
        codes::CL_DEVICE_NOT_FOUND
        | codes::CL_DEVICE_NOT_AVAILABLE
        | codes::CL_COMPILER_NOT_AVAILABLE
        | codes::CL_PLATFORM_NOT_FOUND_KHR
        | codes::DLOPEN_RUNTIME_LOAD_FAILED
        | codes::DLOPEN_FUNCTION_NOT_AVAILABLE => DeviceErrorKind::Unavailable,
        // Handles are valid here unless the context has failed.
        codes::CL_CONTEXT_TERMINATED_KHR | codes::CL_INVALID_CONTEXT | codes::CL_INVALID_COMMAND_QUEUE => {
            DeviceErrorKind::Lost
        }
        _ => DeviceErrorKind::Other,
    }
}
