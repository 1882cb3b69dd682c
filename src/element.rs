//! All that is compiled in this crate for an element of L, real or complex: the bound of generic code below the public interface.

use crate::batch::kernels::BatchKernel;
use crate::cpu::kernels::packed::PackKernel;
use crate::cpu::kernels::panel_steps::PanelKernels;
use crate::cpu::kernels::signature::SignatureKernels;
use crate::cpu::kernels::small::SmallKernel;
use crate::host::dense::Dense;
use crate::host::rotation::RotationKernel;
use crate::ldlt::squares::SquaresKernel;
use crate::number::Number;
use crate::wide::recurrence::RecurrenceKernel;
use faer::{c32, c64};

/// The kernels of the CPU, and dense linear algebra.
pub trait Element:
    Dense
    + Number
    + BatchKernel
    + SmallKernel
    + PackKernel
    + PanelKernels
    + RecurrenceKernel
    + RotationKernel
    + SignatureKernels
    + SquaresKernel
{
}

impl Element for f32 {}
impl Element for f64 {}
impl Element for c32 {}
impl Element for c64 {}
