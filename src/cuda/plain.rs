//! The types that copies and kernels may read and write.

use crate::real::Real;

/// The types that copies and kernels may read and write.
///
/// # Safety
/// Any bits are a valid value.
pub(crate) unsafe trait Plain: Copy + Send + Sync + 'static {}

// SAFETY: f32 and f64.
unsafe impl<T: Real> Plain for T {}
// SAFETY: an integer.
unsafe impl Plain for i32 {}
// SAFETY: an integer.
unsafe impl Plain for i64 {}
// SAFETY: an integer.
unsafe impl Plain for u8 {}
// SAFETY: an integer.
unsafe impl Plain for u64 {}
