//! Page-locked host memory that a device keeps while nothing uses it.

use super::current;
use core::ptr::NonNull;
use cudarc::driver::{CudaContext, result};
use std::sync::Arc;

/// Idle page-locked host memory of this size.
pub(super) struct Block {
    pub bytes: usize,
    /// `None` once another owner has it.
    pub start: Option<NonNull<u8>>,
    pub context: Arc<CudaContext>,
}

// SAFETY: it owns its memory.
unsafe impl Send for Block {}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(start) = self.start.take().filter(|_| current::turn_to(&self.context).is_ok()) {
            // SAFETY: allocated by `Pinned::new`, freed only here; no copy uses an idle block.
            let _ = unsafe { result::free_host(start.as_ptr().cast()) };
        }
    }
}
