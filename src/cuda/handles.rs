//! Handles of cuSOLVER, whose library is loaded at run time.

use super::current;
use super::error::failed;
use crate::error::{Error, other, unavailable};
use cudarc::cusolver::sys::{self, cusolverDnHandle_t, cusolverDnParams_t, cusolverStatus_t};
use cudarc::driver::CudaContext;
use std::sync::{Arc, OnceLock};

/// The library's handles. Creating them takes longer than many a factorization, so a device keeps idle ones.
pub(super) struct Handles {
    pub handle: cusolverDnHandle_t,
    pub params: cusolverDnParams_t,
    context: Arc<CudaContext>,
}

// SAFETY: the library accepts a handle from any thread, one at a time: calls borrow it, and it is not `Sync`.
unsafe impl Send for Handles {}

impl Handles {
    pub fn new(context: Arc<CudaContext>) -> Result<Self, Error> {
        if !is_present() {
            return Err(unavailable("cuSOLVER was not found (libcusolver, of CUDA 11.1 or later)"));
        }
        current::turn_to(&context).map_err(failed("turning to the device"))?;
        let (handle, params) = (core::ptr::null_mut(), core::ptr::null_mut());
        let mut made = Self { handle, params, context };
        // SAFETY: the functions have been found; the handles are written before they are used.
        unsafe {
            check(sys::cusolverDnCreate(&raw mut made.handle), "starting cuSOLVER")?;
            check(sys::cusolverDnCreateParams(&raw mut made.params), "starting cuSOLVER")?;
        }
        Ok(made)
    }
}

impl Drop for Handles {
    fn drop(&mut self) {
        if current::turn_to(&self.context).is_err() {
            return;
        }
        // SAFETY: made by `new`, destroyed only here; the library waits for work in flight.
        unsafe {
            if !self.params.is_null() {
                sys::cusolverDnDestroyParams(self.params);
            }
            if !self.handle.is_null() {
                sys::cusolverDnDestroy(self.handle);
            }
        }
    }
}

/// Whether the loader finds the library, with all functions that are called here.
pub(super) fn is_present() -> bool {
    static PRESENT: OnceLock<bool> = OnceLock::new();
    const FUNCTIONS: [&[u8]; 8] = [
        b"cusolverDnCreate\0",
        b"cusolverDnDestroy\0",
        b"cusolverDnSetStream\0",
        b"cusolverDnCreateParams\0",
        b"cusolverDnDestroyParams\0",
        b"cusolverDnXpotrf_bufferSize\0",
        b"cusolverDnXpotrf\0",
        b"cusolverDnXpotrs\0",
    ];
    *PRESENT.get_or_init(|| {
        // SAFETY: opens the library by its names; its initializers have no preconditions. Functions are only looked up.
        unsafe {
            sys::is_culib_present()
                && FUNCTIONS.iter().all(|name| sys::culib().get::<*const ()>(*name).is_ok())
        }
    })
}

/// # Errors
/// [`Error::Device`] with the status, and what was attempted.
pub(super) fn check(status: cusolverStatus_t, attempt: &str) -> Result<(), Error> {
    match status {
        cusolverStatus_t::CUSOLVER_STATUS_SUCCESS => Ok(()),
        status => Err(other(format!("{attempt}: {status:?}"))),
    }
}
