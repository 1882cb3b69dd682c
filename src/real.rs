//! All that is compiled in this crate for a scalar type: the bound of generic code below the public interface.

use crate::batch::kernels::BatchKernel;
use crate::cpu::kernels::copy::CopyKernel;
use crate::cpu::kernels::packed::PackKernel;
use crate::cpu::kernels::panel_steps::PanelKernels;
use crate::cpu::kernels::signature::SignatureKernels;
use crate::cpu::kernels::small::SmallKernel;
use crate::host::dense::Dense;
use crate::host::rotation::RotationKernel;
use crate::ldlt::squares::SquaresKernel;
use crate::wide::recurrence::RecurrenceKernel;

/// The kernels of the CPU, and dense linear algebra.
pub trait Real:
    Dense
    + BatchKernel
    + CopyKernel
    + PackKernel
    + PanelKernels
    + SignatureKernels
    + SmallKernel
    + SquaresKernel
    + RotationKernel
    + RecurrenceKernel
{
}

impl Real for f32 {}
impl Real for f64 {}
