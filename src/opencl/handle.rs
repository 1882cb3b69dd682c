//! Objects of OpenCL that this crate owns.

use core::ffi::c_void;
use opencl3::command_queue::release_command_queue;
use opencl3::event::release_event;
use opencl3::kernel::release_kernel;
use opencl3::memory::release_mem_object;

/// An object that is released when it is dropped. An error of the release is ignored (`opencl3` panics): after the loss of a
/// device every call may return one.
pub(super) struct Handle {
    object: *mut c_void,
    release: unsafe fn(*mut c_void) -> Result<(), i32>,
}

// SAFETY: OpenCL's objects may be used from any thread. (Arguments of a kernel are set by its owner alone.)
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident = $release:path;)*) => {
        impl Handle {
            $(
                $(#[$doc])*
                ///
                /// # Safety
                /// It is such an object, and nothing else releases it.
                pub unsafe fn $name(object: *mut c_void) -> Self {
                    Self { object, release: $release }
                }
            )*
        }
    };
}

handles! {
    /// A command queue.
    queue = release_command_queue;
    /// An event.
    event = release_event;
    /// A kernel.
    kernel = release_kernel;
    /// A buffer.
    buffer = release_mem_object;
}

impl Handle {
    /// The object, for calls during which `self` exists.
    pub fn get(&self) -> *mut c_void {
        self.object
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the constructor's caller guarantees the kind of the object, and that this is its only release.
        let _ = unsafe { (self.release)(self.object) };
    }
}
