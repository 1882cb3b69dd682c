//! Derivatives of modifications in device memory of the caller's, on a stream of the caller's.
//!
//! Libraries that own the memory and the stream, such as JAX and PyTorch, differentiate a modification by these calls. They enqueue
//! launches and return: nothing waits, no device memory is allocated, and a stream may capture them, once the kernels have been loaded by a first
//! call. [`cholupdate::gradient`](crate::gradient) has the formulas, the convention, and the same for the CPU.
//!
//! A matrix of order 64 or less has one launch in all, with the rest of its batch. A larger one has launches for each panel of 64 columns,
//! in which a block of threads takes 64 rows through the panel, and one the diagonal block, where each step waits for the one before. The
//! result does not depend on the device.
//!
//! | file | holds |
//! |---|---|
//! | `shape` | how rows are divided among threads |
//! | `given` | what the calls take |
//! | `arguments` | the arguments of the kernels |
//! | `kernels` | the kernels, and how they are launched |
//! | `scratch` | how working memory is divided |
//! | `reverse`, `forward` | the order of the launches |
//!
//! The kernels are in `kernels/gradient/`.

mod arguments;
mod forward;
mod given;
mod kernels;
mod reverse;
mod scratch;
mod shape;

pub use self::given::{
    OnStream, RawCotangents, RawMatrices, RawModification, RawTangents, RawVectors, RawWeights,
};
pub use self::shape::MOST_COLUMNS;

use super::current::keeping_current_context;
use crate::error::Error;
use crate::scalar::RealScalar;

/// The number of bytes of working memory of [`modify_vjp`].
///
/// # Cost
/// For n > 64, 2 n (k + r) + 11 n scalars for each matrix, about, with r the least of 1, 4, 16 and 64 that is not less than k. With weights
/// in device memory, and k > 1, n (2 k + r) + 9 n more and 2 n²; at n ≤ 64 these 2 n² alone.
#[must_use]
pub fn vjp_scratch_bytes<T: RealScalar>(of: &RawModification) -> u64 {
    reverse::scratch_bytes::<T>(of)
}

/// The number of bytes of working memory of [`modify_jvp`].
///
/// # Cost
/// For n > 64, 2 n k + 192 r + 576 scalars for each matrix, about, with r as in [`vjp_scratch_bytes`]. With weights in device memory, and
/// k > 1, 2 n² more; at n ≤ 64 these 2 n² alone.
#[must_use]
pub fn jvp_scratch_bytes<T: RealScalar>(of: &RawModification) -> u64 {
    forward::scratch_bytes::<T>(of)
}

/// Enqueues reverse mode of modifications: the cotangents of L, V and w from that of L'.
///
/// # Shapes
/// In [`RawModification`] and [`RawCotangents`]; the cotangent of L' (n × n), of which the lower triangle is read.
///
/// # Errors
/// `OutOfRange` for more than [`MOST_COLUMNS`] columns of V, or more than 4194304 rows; `Device`. Numbers are not looked at: a pivot of 0 in
/// L' makes infinities or NaN.
///
/// # Cost
/// 6 k n² flops; with weights of both signs 14 k n². For n > 64, five launches for each 64 columns, and ten with weights in device
/// memory, whose signs the host does not know.
///
/// # Source
/// [`cholupdate::gradient`](crate::gradient).
///
/// # Safety
/// The stream is one of the device, in its primary context. Until the work is done, all addresses are of memory of this device that holds
/// what they are said to, with scalars of type `T`, nothing else writes it, nothing else reads what is written, and `scratch` has
/// [`vjp_scratch_bytes`]. What is written overlaps nothing else.
pub unsafe fn modify_vjp<T: RealScalar>(
    on: OnStream<'_>,
    of: &RawModification,
    cotangent: RawMatrices,
    to: &RawCotangents,
) -> Result<(), Error> {
    // SAFETY: the contract of this call is that of `enqueue`.
    keeping_current_context(|| unsafe { reverse::enqueue::<T>(on, of, cotangent, to) })
}

/// Enqueues forward mode of modifications: the tangent of L' from those of L, V and w.
///
/// # Shapes
/// In [`RawModification`] and [`RawTangents`]; the tangent of L' (n × n), written with zeros above the diagonal.
///
/// # Errors
/// As [`modify_vjp`].
///
/// # Cost
/// 5 k n² flops; with weights of both signs 11 k n². For n > 64, two launches for each 64 columns, and four with weights in device
/// memory.
///
/// # Source
/// [`cholupdate::gradient`](crate::gradient).
///
/// # Safety
/// As [`modify_vjp`], with [`jvp_scratch_bytes`].
pub unsafe fn modify_jvp<T: RealScalar>(
    on: OnStream<'_>,
    of: &RawModification,
    along: &RawTangents,
    to: RawMatrices,
) -> Result<(), Error> {
    // SAFETY: the contract of this call is that of `enqueue`.
    keeping_current_context(|| unsafe { forward::enqueue::<T>(on, of, along, to) })
}
