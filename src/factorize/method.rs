//! The methods by name, with their parameters.

use super::sequential::Sequential;
use super::threads::Threaded;
#[cfg(feature = "cuda")]
use crate::cuda::{self, Device};
#[cfg(feature = "opencl")]
use crate::opencl;

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
    /// Kernels on an OpenCL device, column after column.
    #[cfg(feature = "opencl")]
    OpenCl {
        /// The device.
        device: opencl::Device,
        /// Which kernels.
        variant: opencl::ColumnKernels,
        /// Number of columns at the end that the host computes.
        cutoff: usize,
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
