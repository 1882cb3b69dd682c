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

mod sequential;
mod storage;
mod threads;

pub use self::sequential::Sequential;
pub use self::threads::Threaded;

use crate::check::{extent, finite_lower, room_for_copy};
#[cfg(feature = "cuda")]
use crate::cuda::{self, Device};
use crate::error::Error;
use crate::host::blocked;
use crate::host::layout::lower;
use crate::host::threads::Threads;
use crate::operand::Operand;
use crate::real::Real;
use faer::{Mat, MatRef};
use std::time::{Duration, Instant};

/// How to factor A.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Method {
    /// faer's blocked LLᵀ on the threads of the current rayon pool, in the place of LAPACK in the thesis. The fastest on the
    /// CPU from a few hundred rows on.
    #[default]
    Blocked,
    /// One thread, entry by entry.
    Sequential(Sequential),
    /// Several threads, column after column.
    Threads {
        /// The algorithm of the threads.
        variant: Threaded,
        /// Number of threads, 1 to 1024, in a pool of their own.
        threads: usize,
        /// Number of columns at the end that one thread computes.
        cutoff: usize,
    },
    /// Kernels on a GPU, column after column.
    #[cfg(feature = "cuda")]
    Cuda {
        /// The GPU.
        device: Device,
        /// Which kernels.
        kernels: cuda::ColumnKernels,
        /// Number of threads in a block, 1 to 1024.
        threads_per_block: usize,
        /// Number of columns at the end that the host computes.
        cutoff: usize,
    },
    /// cuSOLVER's `potrf`, whose library is loaded at run time. The fastest on a GPU.
    #[cfg(feature = "cuda")]
    CuSolver {
        /// The GPU.
        device: Device,
    },
    /// Kernels of this library on a GPU: 64 columns at a time on its tensor cores, in double precision for either scalar. The
    /// fastest on a GPU without cuSOLVER.
    #[cfg(feature = "cuda")]
    CudaBlocked {
        /// The GPU.
        device: Device,
    },
}

impl Method {
    /// The fastest method for a large matrix that fits the device: cuSOLVER if its library is found, otherwise the blocked
    /// kernels of this library.
    #[cfg(feature = "cuda")]
    #[must_use]
    pub fn fastest_on(device: &Device) -> Self {
        let device = device.clone();
        if cuda::has_cusolver() { Self::CuSolver { device } } else { Self::CudaBlocked { device } }
    }
}

/// L with A = L Lᵀ, zero above the diagonal.
///
/// Shapes: A, L (n × n); of A only the lower triangle is read.
///
/// # Errors
/// `Shape`, `NonFinite`, `Overflow` or `NotPositiveDefinite`; `Tuning` for a number of threads out of range; `Device` from a
/// GPU, and if cuSOLVER is asked for and not found. Cost: n³/3 flops.
pub fn factorize<'a, T: Real>(a: impl Into<Operand<'a, T>>, method: &Method) -> Result<Mat<T>, Error> {
    timed(a, method).map(|(l, _)| l)
}

/// As [`factorize`], and the time of the algorithm alone, as Ruschel's thesis measures it. It excludes the checks of A, the
/// conversion of A and L to the method's layout, the allocation of their memory, and the start of threads and of a device. It
/// includes the transfers to a GPU and back, and what faer and cuSOLVER allocate themselves.
///
/// # Errors
/// As [`factorize`].
pub fn timed<'a, T: Real>(
    a: impl Into<Operand<'a, T>>,
    method: &Method,
) -> Result<(Mat<T>, Duration), Error> {
    let a = a.into().on_host()?;
    let a = a.as_ref();
    check(a)?;
    match method {
        Method::Blocked => {
            let mut l = lower(a);
            let start = Instant::now();
            blocked::factorize(l.as_mut(), Threads::Pool.par())?;
            Ok((l, start.elapsed()))
        }
        Method::Sequential(variant) => sequential::factorize(a, *variant),
        Method::Threads { variant, threads, cutoff } => threads::factorize(a, *variant, *threads, *cutoff),
        #[cfg(feature = "cuda")]
        Method::Cuda { device, kernels, threads_per_block, cutoff } => {
            cuda::by_column(device, a, *kernels, *threads_per_block, *cutoff)
        }
        #[cfg(feature = "cuda")]
        Method::CuSolver { device } => in_device_memory(device, a, cuda::By::CuSolver),
        #[cfg(feature = "cuda")]
        Method::CudaBlocked { device } => in_device_memory(device, a, cuda::By::Blocked),
    }
}

#[cfg(feature = "cuda")]
fn in_device_memory<T: Real>(
    device: &Device,
    a: MatRef<'_, T>,
    by: cuda::By,
) -> Result<(Mat<T>, Duration), Error> {
    let mut l = lower(a);
    let elapsed = cuda::in_device_memory(device, l.as_mut(), by)?;
    Ok((l, elapsed))
}

/// Checks A, and returns the largest entry of its diagonal.
///
/// # Errors
/// `Shape`, `NonFinite` or `Overflow`.
pub(crate) fn check<T: Real>(a: MatRef<'_, T>) -> Result<f64, Error> {
    extent("a", "columns", a.nrows(), a.ncols())?;
    room_for_copy::<T>("a", a.shape())?;
    finite_lower("a", a)?;
    let largest = a.diagonal().column_vector().iter().fold(0.0, |m: f64, x| m.max(x.to_f64()));
    if largest > T::LARGE_SQUARE.to_f64() { Err(Error::Overflow { argument: "a" }) } else { Ok(largest) }
}
