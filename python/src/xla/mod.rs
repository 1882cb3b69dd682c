//! Handlers of XLA's custom calls (its "FFI"), which the programs of JAX contain. They run without Python and the GIL.
//!
//! | file | contents |
//! |---|---|
//! | `api` | the structures of XLA's C interface |
//! | `frame` | the arguments, results and attributes of a call |
//! | `modify` | L' of each matrix |
//! | `gradient` | its derivatives |
//! | `device` | the stream of a call, and working memory on its device |
//! | `on_gpu` | L' of each matrix, on CUDA |

#[allow(unsafe_code, reason = "structures that XLA describes")]
mod api;
#[allow(unsafe_code, reason = "structures that XLA describes")]
mod frame;
#[allow(unsafe_code, reason = "memory that XLA describes")]
mod gradient;
#[allow(unsafe_code, reason = "memory that XLA describes")]
mod modify;

#[allow(unsafe_code, reason = "functions of XLA's")]
mod device;
#[allow(unsafe_code, reason = "memory that XLA describes")]
mod on_gpu;

use core::ffi::c_void;
use core::ptr::NonNull;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

type Handler = unsafe extern "C" fn(*mut api::CallFrame) -> *mut api::Error;

/// The handlers of the CPU, by name, as capsules for ``jax.ffi.register_ffi_target``.
#[pyfunction]
pub fn xla_handlers(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all: [(&str, Handler); 3] = [
        ("cholupdate_modify", modify::handler),
        ("cholupdate_modify_jvp", gradient::jvp),
        ("cholupdate_modify_vjp", gradient::vjp),
    ];
    capsules(py, &all)
}

/// The handlers of CUDA.
#[pyfunction]
pub fn xla_handlers_on_cuda(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    capsules(py, &[("cholupdate_modify", on_gpu::handler)])
}

fn capsules<'py>(py: Python<'py>, all: &[(&str, Handler)]) -> PyResult<Bound<'py, PyDict>> {
    let handlers = PyDict::new(py);
    for &(name, handler) in all {
        handlers.set_item(name, capsule(py, handler as *mut c_void)?)?;
    }
    Ok(handlers)
}

#[allow(unsafe_code, reason = "the address of a function")]
fn capsule(py: Python<'_>, address: *mut c_void) -> PyResult<Bound<'_, PyCapsule>> {
    let address = NonNull::new(address).unwrap_or(NonNull::dangling());
    // SAFETY: a function lives as long as the process.
    unsafe { PyCapsule::new_with_pointer(py, address, c"xla._CUSTOM_CALL_TARGET") }
}
