//! The shipped kernels.

use crate::error::{Error, other};
use miniz_oxide::inflate::decompress_to_vec;
use std::ffi::CString;

/// PTX as it is embedded: compressed by `build.rs`.
pub(super) struct Ptx(&'static [u8]);

impl Ptx {
    /// The text, which ends in a zero, as the driver takes it.
    ///
    /// # Errors
    /// [`Error::Device`] where it cannot be decompressed.
    pub fn text(&self) -> Result<CString, Error> {
        let text =
            decompress_to_vec(self.0).map_err(|error| other(format!("PTX that is damaged: {error}")))?;
        CString::from_vec_with_nul(text).map_err(|_| other("PTX that does not end in a zero"))
    }

    /// Another number for each PTX.
    pub fn key(&'static self) -> usize {
        self.0.as_ptr().addr()
    }
}

macro_rules! ptx {
    ($file:literal) => {
        Ptx(include_bytes!(concat!(env!("OUT_DIR"), "/", $file)))
    };
}

pub(super) static TRAILING_F32: Ptx = ptx!("trailing_f32.compute_80.ptx");
pub(super) static TRAILING_F64: Ptx = ptx!("trailing_f64.compute_80.ptx");
pub(super) static TRAILING_TENSOR: Ptx = ptx!("trailing_tensor.compute_80.ptx");
pub(super) static COPY_F32: Ptx = ptx!("copy_f32.compute_80.ptx");
pub(super) static COPY_F64: Ptx = ptx!("copy_f64.compute_80.ptx");
/// Both scalar types in one module.
pub(super) static INTERCHANGED: Ptx = ptx!("interchanged.compute_80.ptx");
/// The column-by-column factorizations, both scalar types in one module each.
pub(super) static CROUT: Ptx = ptx!("crout.compute_80.ptx");
pub(super) static TILED: Ptx = ptx!("tiled.compute_80.ptx");
pub(super) static PIVOT_ROWS: Ptx = ptx!("pivot_rows.compute_80.ptx");
/// The steps of the resident engine, both scalar types in one module each.
pub(super) static SWEEP: ByCapability =
    ByCapability { any: ptx!("sweep.compute_80.ptx"), hopper: ptx!("sweep.compute_90.ptx") };
/// The same for rank blocks of 32 columns, which take more shared memory than there is before compute capability 9.0.
pub(super) static SWEEP_WIDE: Ptx = ptx!("sweep_wide.compute_90.ptx");
/// Both for launches over several devices.
pub(super) static SWEEP_DISTRIBUTED: ByCapability = ByCapability {
    any: ptx!("sweep_distributed.compute_80.ptx"),
    hopper: ptx!("sweep_distributed.compute_90.ptx"),
};
pub(super) static SWEEP_WIDE_DISTRIBUTED: Ptx = ptx!("sweep_wide_distributed.compute_90.ptx");
/// The steps of a batch of small factors, both scalar types in one module each, but for the largest.
pub(super) static BATCH_AGAIN: Ptx = ptx!("batch_again.compute_80.ptx");
pub(super) static BATCH_APPEND: Ptx = ptx!("batch_append.compute_80.ptx");
pub(super) static BATCH_APPEND_AGAIN: Ptx = ptx!("batch_append_again.compute_80.ptx");
pub(super) static BATCH_BEGIN: Ptx = ptx!("batch_begin.compute_80.ptx");
pub(super) static BATCH_COPIES: Ptx = ptx!("batch_copies.compute_80.ptx");
pub(super) static BATCH_EXCHANGE: Ptx = ptx!("batch_exchange.compute_80.ptx");
pub(super) static BATCH_MODIFY_BLOCK: Ptx = ptx!("batch_modify_block.compute_80.ptx");
pub(super) static BATCH_MODIFY_LANES_F32: Ptx = ptx!("batch_modify_lanes_f32.compute_80.ptx");
pub(super) static BATCH_MODIFY_LANES_F64: Ptx = ptx!("batch_modify_lanes_f64.compute_80.ptx");
pub(super) static BATCH_MODIFY_STREAM_F32: Ptx = ptx!("batch_modify_stream_f32.compute_80.ptx");
pub(super) static BATCH_MODIFY_STREAM_F64: Ptx = ptx!("batch_modify_stream_f64.compute_80.ptx");
pub(super) static BATCH_MODIFY_THREAD: Ptx = ptx!("batch_modify_thread.compute_80.ptx");
pub(super) static BATCH_READ: Ptx = ptx!("batch_read.compute_80.ptx");
pub(super) static BATCH_REMOVE_BLOCK: Ptx = ptx!("batch_remove_block.compute_80.ptx");
pub(super) static BATCH_REMOVE_LANES: Ptx = ptx!("batch_remove_lanes.compute_80.ptx");
pub(super) static BATCH_REMOVE_THREAD: Ptx = ptx!("batch_remove_thread.compute_80.ptx");
pub(super) static BATCH_SOLVE: Ptx = ptx!("batch_solve.compute_80.ptx");
pub(super) static BATCH_SOLVE_STREAM: Ptx = ptx!("batch_solve_stream.compute_80.ptx");
pub(super) static BORDER: Ptx = ptx!("border.compute_80.ptx");
/// Derivatives, reverse mode and forward mode.
pub(super) static GRADIENT_REVERSE_F32: Ptx = ptx!("gradient_reverse_f32.compute_80.ptx");
pub(super) static GRADIENT_REVERSE_F64: Ptx = ptx!("gradient_reverse_f64.compute_80.ptx");
pub(super) static GRADIENT_FORWARD_F32: Ptx = ptx!("gradient_forward_f32.compute_80.ptx");
pub(super) static GRADIENT_FORWARD_F64: Ptx = ptx!("gradient_forward_f64.compute_80.ptx");
pub(super) static INVERT: Ptx = ptx!("invert.compute_80.ptx");
pub(super) static MULTIPLY: Ptx = ptx!("multiply.compute_80.ptx");
pub(super) static ON_STREAM: Ptx = ptx!("on_stream.compute_80.ptx");
pub(super) static REARRANGE: Ptx = ptx!("rearrange.compute_80.ptx");
pub(super) static SQUARE: Ptx = ptx!("square.compute_80.ptx");
pub(super) static TAKE: Ptx = ptx!("take.compute_80.ptx");
pub(super) static TRIANGLE: Ptx = ptx!("triangle.compute_80.ptx");
pub(super) static SOLVE: ByCapability =
    ByCapability { any: ptx!("solve.compute_80.ptx"), hopper: ptx!("solve.compute_90.ptx") };

pub(super) static SOLVE_DISTRIBUTED: ByCapability = ByCapability {
    any: ptx!("solve_distributed.compute_80.ptx"),
    hopper: ptx!("solve_distributed.compute_90.ptx"),
};

/// The blocked factorization, both scalar types in one module.
pub(super) static FACTOR: ByCapability =
    ByCapability { any: ptx!("factor.compute_80.ptx"), hopper: ptx!("factor.compute_90.ptx") };

/// PTX with a variant for compute capability 9.0, which uses its features.
pub(super) struct ByCapability {
    any: Ptx,
    hopper: Ptx,
}

impl ByCapability {
    pub fn on(&'static self, compute_capability: (i32, i32)) -> &'static Ptx {
        if compute_capability >= (9, 0) { &self.hopper } else { &self.any }
    }
}
