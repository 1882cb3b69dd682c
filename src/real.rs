//! All that is compiled in this crate for a real scalar type, beyond what is for every [`Element`].

use crate::element::Element;
use cholupdate_kernels::gradient::GradientKernels;
use cholupdate_kernels::number::Float;
use cholupdate_kernels::sweep::copy::CopyKernel;
use faer::traits::RealField;

/// The kernels of the CPU for real numbers.
pub trait Real: Element + Float + RealField + CopyKernel + GradientKernels {}

impl Real for f32 {}
impl Real for f64 {}
