//! Functions of loaded modules, and how they are launched.

use super::device::{Module, failed};
use super::stream::Stream;
use crate::error::Error;
use core::ffi::{c_int, c_uint, c_void};
use cudarc::driver::{result, sys};
use std::sync::Arc;

/// The shape of a launch. What is asked for keeps all of it far below 2³².
#[derive(Clone, Copy)]
pub(super) struct Launch {
    /// Blocks along x and y.
    pub blocks: (usize, usize),
    pub threads: usize,
    pub shared_bytes: usize,
}

/// Asks for a launch.
///
/// # Errors
/// [`Error::Device`] where the driver refuses it or an earlier launch has failed.
///
/// # Safety
/// `arguments` point to values of the types of the kernel's parameters, and its contract holds for them until
/// it is done.
pub(super) unsafe fn launch(
    function: sys::CUfunction,
    stream: &Stream,
    Launch { blocks, threads, shared_bytes }: Launch,
    arguments: &mut [*mut c_void],
) -> Result<(), Error> {
    let grid = (blocks.0 as c_uint, blocks.1 as c_uint, 1);
    let block = (threads as c_uint, 1, 1);
    let stream = stream.bound()?;
    // SAFETY: forwarded to the caller; the driver copies the arguments before it returns.
    unsafe { result::launch_kernel(function, grid, block, shared_bytes as c_uint, stream, arguments) }
        .map_err(failed("launching a kernel"))
}

/// A pointer to an argument of a kernel, which lives until the launch.
pub(super) fn argument<A>(value: &mut A) -> *mut c_void {
    core::ptr::from_mut(value).cast()
}

/// A kernel, which keeps its module loaded.
pub(super) struct Function {
    handle: sys::CUfunction,
    shared_bytes: usize,
    _module: Arc<Module>,
}

// SAFETY: the driver takes function handles from any thread, and the module is kept.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    pub fn load(module: &Arc<Module>, name: &str, scalar: &str) -> Result<Self, Error> {
        Ok(Self {
            handle: module.function(&format!("{name}_{scalar}"))?,
            shared_bytes: 0,
            _module: module.clone(),
        })
    }

    /// With so many bytes of dynamic shared memory.
    pub fn with_shared(self, shared_bytes: usize) -> Result<Self, Error> {
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the module of the handle is kept, and loading it has bound the thread.
        unsafe { result::function::set_function_attribute(self.handle, attribute, shared_bytes as c_int) }
            .map_err(failed("asking for shared memory for a kernel"))?;
        Ok(Self { shared_bytes, ..self })
    }

    /// # Safety
    /// As [`launch`].
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        (blocks, threads): ((usize, usize), usize),
        arguments: &mut [*mut c_void],
    ) -> Result<(), Error> {
        let shape = Launch { blocks, threads, shared_bytes: self.shared_bytes };
        // SAFETY: forwarded to the caller.
        unsafe { launch(self.handle, stream, shape, arguments) }
    }
}
