//! All that is compiled for an element of L, real or complex: the bound of generic code below the public interface.

use crate::wide::recurrence::RecurrenceKernel;
use cholupdate_kernels::Kernels;
use faer::{c32, c64};

/// The kernels of the CPU, and dense linear algebra.
pub trait Element: Kernels + RecurrenceKernel {}

impl Element for f32 {}
impl Element for f64 {}
impl Element for c32 {}
impl Element for c64 {}
