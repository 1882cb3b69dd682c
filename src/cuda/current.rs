//! The CUDA context that is current on a thread, to which the driver's calls refer.
//!
//! A thread turns to a device before each of the driver's calls, and leaves its context current. For code that must not see that,
//! [`keeping_current_context`] makes the one before it current again.

use core::cell::Cell;
use cudarc::driver::{
    CudaContext,
    result::{DriverError, ctx},
    sys::{self, CUcontext},
};

/// What was current before a thread turned to a device.
#[derive(Clone, Copy)]
enum Before {
    /// Nobody asks.
    Any,
    /// It is still current.
    Unchanged,
    /// This context, or null if there was none.
    Context(CUcontext),
}

thread_local! {
    static BEFORE: Cell<Before> = const { Cell::new(Before::Any) };
}

/// Makes a context current on the calling thread.
///
/// # Errors
/// Those of the driver.
pub(super) fn turn_to(context: &CudaContext) -> Result<(), DriverError> {
    note()?;
    context.bind_to_thread()
}

/// Notes which context is current, before a call that may make another one current.
///
/// # Errors
/// Those of the driver.
pub(super) fn note() -> Result<(), DriverError> {
    if matches!(BEFORE.get(), Before::Unchanged) {
        BEFORE.set(Before::Context(current()?));
    }
    Ok(())
}

/// The current context, or null.
fn current() -> Result<CUcontext, DriverError> {
    Ok(ctx::get_current()?.unwrap_or(core::ptr::null_mut()))
}

/// The number of the device whose primary context, or another one, this is; the context is current on the calling thread afterwards.
///
/// # Errors
/// Those of the driver.
///
/// # Safety
/// The context exists.
pub(super) unsafe fn turn_to_device_of(context: CUcontext) -> Result<usize, DriverError> {
    note()?;
    let mut device = 0;
    // SAFETY: as the caller guarantees; the driver writes one number.
    unsafe {
        ctx::set_current(context)?;
        sys::cuCtxGetDevice(&raw mut device).result()?;
    }
    Ok(usize::try_from(device).unwrap_or(0))
}

/// Runs `call`, and leaves the CUDA context current on this thread that was so before it, or none.
///
/// Calls of this library leave the context of their device current. Code that works on the current context or device, as the CUDA
/// runtime and therefore PyTorch and CuPy do, would then work on another device than before. Bindings to other languages run each call by
/// this function. No driver call is made if `call` makes none.
///
/// ```
/// use cholupdate::cuda::{Device, keeping_current_context};
///
/// let device = keeping_current_context(|| Device::new(1));
/// // The device that was current still is.
/// # drop(device);
/// ```
pub fn keeping_current_context<R>(call: impl FnOnce() -> R) -> R {
    /// Also where `call` panics.
    struct End {
        /// Of the call around this one.
        outer: Before,
    }
    impl Drop for End {
        fn drop(&mut self) {
            if let Before::Context(before) = BEFORE.replace(self.outer)
                && current() != Ok(before)
            {
                // SAFETY: the context was current, so that it is one of the driver's, or null. The driver refuses it if it has been
                // destroyed since; then no context of the caller's is left to be current.
                let _ = unsafe { ctx::set_current(before) };
            }
        }
    }
    let _end = End { outer: BEFORE.replace(Before::Unchanged) };
    call()
}
