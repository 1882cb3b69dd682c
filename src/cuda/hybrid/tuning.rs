//! Parameters of the hybrid engine for a device.

use crate::cuda::device::Device;
use crate::hybrid::tuning::Tuning;

impl Tuning {
    /// Parameters for a device: enough blocks to fill it, and panels of a few megabytes.
    ///
    /// The blocks are small, so that a few thousand rows are enough for most multiprocessors.
    #[must_use]
    pub fn for_device(device: &Device) -> Self {
        const BLOCKS_PER_MULTIPROCESSOR: usize = 16;
        Self {
            blocks_per_kernel: (BLOCKS_PER_MULTIPROCESSOR * device.multiprocessors()).clamp(1, 65_535),
            threads_per_block: 128,
            elements_per_thread: 16,
            panel_cols: 96,
            slots: 3,
        }
    }
}
