//! Kernels, and the one way in which all of them are launched.
//!
//! A kernel's contract is at the top of its file in `kernels/`. Each kernel has one function in this crate that launches it,
//! and that alone knows the order of its arguments and which thread uses what.

use super::error::failed;
use super::module::Module;
use super::stream::Stream;
use crate::error::Error;
use core::ffi::{c_int, c_uint, c_void};
use cudarc::driver::{result, sys};
use std::sync::Arc;

/// The shape of a launch. All numbers that callers use are far below 2³².
#[derive(Clone, Copy)]
pub(super) struct Launch {
    /// Blocks along x and y.
    pub blocks: (usize, usize),
    pub threads: usize,
    pub shared_bytes: usize,
}

impl Launch {
    /// Without dynamic shared memory.
    pub fn new(blocks: (usize, usize), threads: usize) -> Self {
        Self { blocks, threads, shared_bytes: 0 }
    }
}

/// A pointer to an argument of a kernel, which lives until the launch.
pub(super) fn argument<A>(value: &mut A) -> *mut c_void {
    core::ptr::from_mut(value).cast()
}

/// A kernel, which keeps its module loaded. Cheap to clone.
#[derive(Clone)]
pub(super) struct Function {
    handle: sys::CUfunction,
    _module: Arc<Module>,
}

// SAFETY: the driver accepts function handles from any thread, and the module is kept.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    /// Finds the kernel of this name.
    ///
    /// # Errors
    /// [`Error::Device`] if the module has none.
    pub fn load(module: &Arc<Module>, name: &str) -> Result<Self, Error> {
        Ok(Self { handle: module.function(name)?, _module: module.clone() })
    }

    /// Permits launches with this many bytes of dynamic shared memory, also if that is more than the default limit.
    ///
    /// # Errors
    /// [`Error::Device`] if a block cannot have that much.
    pub fn with_shared(self, shared_bytes: usize) -> Result<Self, Error> {
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the module of the handle is kept, and loading it has bound the thread.
        unsafe { result::function::set_function_attribute(self.handle, attribute, shared_bytes as c_int) }
            .map_err(failed("asking for shared memory for a kernel"))?;
        Ok(self)
    }

    /// Enqueues a launch.
    ///
    /// # Errors
    /// [`Error::Device`] if the driver refuses it or an earlier launch has failed.
    ///
    /// # Safety
    /// `arguments` point to values of the types of the kernel's parameters, and its contract holds for them until
    /// it is done.
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        Launch { blocks, threads, shared_bytes }: Launch,
        arguments: &mut [*mut c_void],
    ) -> Result<(), Error> {
        let grid = (blocks.0 as c_uint, blocks.1 as c_uint, 1);
        let block = (threads as c_uint, 1, 1);
        let stream = stream.bound()?;
        // SAFETY: the caller guarantees the arguments and the kernel's contract; the driver copies the arguments before it
        // returns.
        unsafe { result::launch_kernel(self.handle, grid, block, shared_bytes as c_uint, stream, arguments) }
            .map_err(failed("launching a kernel"))
    }
}
