//! Checks A, and factors it by a method.

use super::method::Method;
use super::{sequential, threads};
use crate::check::{extent, finite_hermitian, room_for_copy};
use crate::compiled::functions;
#[cfg(feature = "cuda")]
use crate::cuda::{self, Device};
use crate::element::Element;
use crate::error::Error;
use crate::host::blocked;
use crate::host::layout::lower;
use crate::host::threads::Threads;
#[cfg(feature = "opencl")]
use crate::opencl;
use crate::operand::Operand;
use crate::real::Real;
use cholupdate_kernels::number::Float;
use faer::{Mat, MatRef};
use std::time::{Duration, Instant};

functions! {
    /// Initial factors.
    Factorize {
        factorize(a: &Operand<'_, Self>, method: &Method) -> Result<(Mat<Self>, Duration), Error> = timed;
    }
}

/// As [`timed`](super::timed).
fn timed<T: Real>(a: &Operand<'_, T>, method: &Method) -> Result<(Mat<T>, Duration), Error> {
    let a = a.on_host()?;
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
        #[cfg(feature = "opencl")]
        Method::OpenCl { device, variant, cutoff } => opencl::by_column(device, a, *variant, *cutoff),
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
pub(crate) fn check<T: Element>(a: MatRef<'_, T>) -> Result<f64, Error> {
    extent("a", "columns", a.nrows(), a.ncols())?;
    room_for_copy::<T>("a", a.shape())?;
    finite_hermitian("a", a)?;
    let largest = a.diagonal().column_vector().iter().fold(0.0, |m: f64, x| m.max(x.real().to_f64()));
    if largest > T::Part::LARGE_SQUARE.to_f64() {
        Err(Error::Overflow { argument: "a" })
    } else {
        Ok(largest)
    }
}
