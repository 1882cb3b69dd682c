//! The shipped kernels.

use super::device::Device;

/// The PTX of this name with a terminating zero, as the driver requires.
macro_rules! ptx {
    ($file:literal) => {
        concat!(include_str!(concat!("../../kernels/ptx/", $file)), "\0")
    };
}

pub(super) static TRAILING_F32: &str = ptx!("trailing_f32.compute_80.ptx");
pub(super) static TRAILING_F64: &str = ptx!("trailing_f64.compute_80.ptx");
pub(super) static TRAILING_TENSOR: &str = ptx!("trailing_tensor.compute_80.ptx");
pub(super) static COPY_F32: &str = ptx!("copy_f32.compute_80.ptx");
pub(super) static COPY_F64: &str = ptx!("copy_f64.compute_80.ptx");
/// Both scalar types in one module.
pub(super) static INTERCHANGED: &str = ptx!("interchanged.compute_80.ptx");
/// The column-by-column factorizations, each with both scalar types in one module.
pub(super) static CROUT: &str = ptx!("crout.compute_80.ptx");
pub(super) static TILED: &str = ptx!("tiled.compute_80.ptx");
pub(super) static PIVOT_ROWS: &str = ptx!("pivot_rows.compute_80.ptx");
/// The kernels of the resident engine, each with both scalar types in one module.
pub(super) static SWEEP: ByCapability =
    ByCapability { any: ptx!("sweep.compute_80.ptx"), hopper: ptx!("sweep.compute_90.ptx") };
/// The same for rank blocks of 32 columns, which need more shared memory than devices before compute capability 9.0 have.
pub(super) static SWEEP_WIDE: &str = ptx!("sweep_wide.compute_90.ptx");
pub(super) static BORDER: &str = ptx!("border.compute_80.ptx");
pub(super) static INVERT: &str = ptx!("invert.compute_80.ptx");
pub(super) static MULTIPLY: &str = ptx!("multiply.compute_80.ptx");
pub(super) static REARRANGE: &str = ptx!("rearrange.compute_80.ptx");
pub(super) static SQUARE: &str = ptx!("square.compute_80.ptx");
pub(super) static TAKE: &str = ptx!("take.compute_80.ptx");
pub(super) static TRIANGLE: &str = ptx!("triangle.compute_80.ptx");
pub(super) static SOLVE: ByCapability =
    ByCapability { any: ptx!("solve.compute_80.ptx"), hopper: ptx!("solve.compute_90.ptx") };

/// The blocked factorization, both scalar types in one module.
pub(super) static FACTOR: ByCapability =
    ByCapability { any: ptx!("factor.compute_80.ptx"), hopper: ptx!("factor.compute_90.ptx") };

/// PTX with a variant for compute capability 9.0, which uses its features.
pub(super) struct ByCapability {
    any: &'static str,
    hopper: &'static str,
}

impl ByCapability {
    pub fn on(&self, device: &Device) -> &'static str {
        if device.compute_capability() >= (9, 0) { self.hopper } else { self.any }
    }
}
