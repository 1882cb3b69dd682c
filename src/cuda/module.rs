//! Modules: kernels that the driver has translated.

use super::current;
use super::error::failed;
use super::launching;
use super::layout::{Exports, Layout};
use super::plain::Plain;
use super::ptx::Ptx;
use crate::error::{Error, other};
use cudarc::driver::{CudaContext, result, sys};
use std::sync::{Arc, OnceLock};

/// Kernels that the driver has translated for the GPU. Unloaded when dropped.
pub(crate) struct Module {
    handle: sys::CUmodule,
    layout: OnceLock<Layout>,
    context: Arc<CudaContext>,
}

// SAFETY: the driver accepts module handles from any thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// # Errors
    /// [`Error::Device`] where the driver refuses the PTX.
    pub(super) fn load(context: &Arc<CudaContext>, ptx: &Ptx) -> Result<Self, Error> {
        let loading = "loading the kernels";
        let ptx = ptx.text()?;
        current::turn_to(context).map_err(failed(loading))?;
        let handle = {
            let _guard = launching::no_launches();
            // SAFETY: PTX text that ends in a zero byte, as the driver requires.
            unsafe { result::module::load_data(ptx.as_ptr().cast()) }.map_err(failed(loading))?
        };
        Ok(Self { handle, layout: OnceLock::new(), context: context.clone() })
    }

    /// The kernel of this name. The handle is valid for as long as the module.
    pub(crate) fn function(&self, name: &str) -> Result<sys::CUfunction, Error> {
        let missing = |_| other(format!("the kernel `{name}` has no name that the driver can take"));
        let text = std::ffi::CString::new(name).map_err(missing)?;
        current::turn_to(&self.context).map_err(failed("looking up a kernel"))?;
        // SAFETY: the module is loaded for as long as `self` exists.
        unsafe { result::module::get_function(self.handle, text) }
            .map_err(failed(format_args!("looking up the kernel `{name}`")))
    }

    /// The values that the kernels export as `{name}_layout`. A module has one layout; it is copied at the first call.
    ///
    /// # Errors
    /// [`Error::Device`] if the module has none of this name.
    pub(crate) fn layout(&self, name: &str) -> Result<&Layout, Error> {
        if let Some(layout) = self.layout.get() {
            return Ok(layout);
        }
        let layout = self.exports(format!("{name}_layout"))?;
        Ok(self.layout.get_or_init(|| layout))
    }

    /// The named values at a symbol.
    ///
    /// # Errors
    /// [`Error::Device`] if the module has no such symbol, or not one name for each value.
    pub(crate) fn exports<V: Plain + Default>(&self, symbol: String) -> Result<Exports<V>, Error> {
        let (values, names) = (self.global(&symbol)?, self.global::<u8>(&format!("{symbol}_names"))?);
        Exports::new(symbol, values, &names)
    }

    /// The values of a global of the module.
    fn global<V: Plain + Default>(&self, name: &str) -> Result<Vec<V>, Error> {
        let attempt = || format!("reading `{name}` of the kernels");
        let text = std::ffi::CString::new(name).map_err(|_| other(attempt()))?;
        current::turn_to(&self.context).map_err(failed(attempt()))?;
        // SAFETY: the module is loaded for as long as `self` exists.
        let found = unsafe { result::module::get_global(self.handle, text) };
        let (address, bytes) = found.map_err(failed(attempt()))?;
        let mut values = vec![V::default(); bytes / size_of::<V>()];
        // SAFETY: the global has this many bytes, and any bits are valid values; the copy is done when the call returns.
        unsafe { result::memcpy_dtoh_sync(&mut values, address) }.map_err(failed(attempt()))?;
        Ok(values)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // An error here cannot be reported, and the driver frees everything with the context.
        if current::turn_to(&self.context).is_ok() {
            let _guard = launching::no_launches();
            // SAFETY: loaded by `load`, unloaded only here.
            let _ = unsafe { result::module::unload(self.handle) };
        }
    }
}
