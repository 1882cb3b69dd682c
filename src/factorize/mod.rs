//! Initial factors: the fastest methods, and those of the earlier work on which this library is based.
//!
//! ```
//! use cholupdate::factorize::{self, Method, Sequential};
//! use cholupdate::{Error, faer::mat};
//!
//! # fn main() -> Result<(), Error> {
//! let a = mat![[4.0, 2.0], [2.0, 5.0]];
//! let l = factorize::factorize(&a, &Method::default())?;
//! let crout = factorize::factorize(&a, &Method::Sequential(Sequential::CroutInPlace))?;
//! assert_eq!((l[(0, 0)], l[(1, 0)], l[(1, 1)]), (2.0, 1.0, 2.0));
//! assert_eq!(l, crout);
//! # Ok(())
//! # }
//! ```
//!
//! Every method accepts any order n and `f32` or `f64`, reads the lower triangle only, reports the first pivot that is not
//! positive, and is backward stable row by row: |(L Lᵀ − A)_ij| ≤ c n u √(a_ii a_jj) with c about 1. All of them do n³/3 flops
//! (`ColumnKernels::Single` twice as many); they differ in the order of memory accesses and in the processor.
//! `docs/experiments.md` in the repository compares them.

mod method;
mod run;
mod sequential;
mod storage;
mod threads;

pub use self::method::Method;
pub(crate) use self::run::{Factorize, check};
pub use self::sequential::Sequential;
pub use self::threads::Threaded;
#[cfg(feature = "opencl")]
#[doc(no_inline)]
pub use crate::opencl;

use crate::error::Error;
use crate::operand::Operand;
use crate::scalar::RealScalar;
use faer::Mat;
use std::time::Duration;

/// L with A = L Lᵀ, zero above the diagonal.
///
/// Shapes: A, L (n × n); of A only the lower triangle is read.
///
/// # Errors
/// `Shape`, `NonFinite`, `Overflow` or `NotPositiveDefinite`; `Tuning` for a number of threads out of range; `Device` from a
/// GPU or an OpenCL device, and if cuSOLVER is asked for and not found. Cost: n³/3 flops.
pub fn factorize<'a, T: RealScalar>(a: impl Into<Operand<'a, T>>, method: &Method) -> Result<Mat<T>, Error> {
    timed(a, method).map(|(l, _)| l)
}

/// As [`factorize`], and the time of the algorithm alone, as Ruschel's thesis measures it. It excludes the checks of A, the
/// conversion of A and L to the method's layout, the allocation of their memory, and the start of threads and of a device. It
/// includes the transfers to a GPU and back, what faer and cuSOLVER allocate themselves, and, in the first call, what an OpenCL
/// driver compiles when a kernel is first enqueued.
///
/// # Errors
/// As [`factorize`].
pub fn timed<'a, T: RealScalar>(
    a: impl Into<Operand<'a, T>>,
    method: &Method,
) -> Result<(Mat<T>, Duration), Error> {
    T::factorize(&a.into(), method)
}
