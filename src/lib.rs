//! The Cholesky factor of a symmetric positive definite matrix, kept current while the matrix changes.
//!
//! Given A = L Lᵀ (n × n) and V (n × k), [`Cholesky`] turns L into the factor of A + V Vᵀ, A − V Vᵀ or A + V diag(w) Vᵀ in O(k n²)
//! operations, where factoring again takes O(n³).
//!
//! ```
//! use cholupdate::{Cholesky, Error, faer::mat};
//!
//! # fn main() -> Result<(), Error> {
//! let a = mat![[4.0, 2.0, 0.0], [2.0, 5.0, 1.0], [0.0, 1.0, 3.0]];
//! let mut factor = Cholesky::new(&a)?;
//!
//! let report = factor.update(&[1.0, 0.0, 2.0])?;           // A + v vᵀ
//! assert!(report.log_det_change() > 0.0);
//! factor.downdate(&[1.0, 0.0, 2.0])?;                      // A again
//! let x = factor.solve(&[1.0, 2.0, 3.0])?;                 // A x = b
//! assert!((&a * &x - mat![[1.0], [2.0], [3.0]]).norm_max() < 1e-14);
//!
//! // What is impossible is an error, and the factor stays as it was.
//! let refused = factor.downdate(&[9.0, 0.0, 0.0]);
//! assert_eq!(refused.unwrap_err(), Error::NotPositiveDefinite { column: 0 });
//! # Ok(())
//! # }
//! ```
//!
//! # Engines
//!
//! The second type parameter of [`Cholesky`] is the engine: it determines where the factor is stored and which processor
//! modifies it. The calls are the same for all engines.
//!
//! | engine | the factor is in | constructor |
//! |---|---|---|
//! | [`Cpu`] | host memory | [`Cholesky::new`] |
//! | [`cuda::Resident`] | the memory of a GPU | [`Cholesky::new_in`] |
//! | [`cuda::Hybrid`] | host memory, streamed through a GPU | [`Cholesky::new_in`] |
//! | `opencl::Hybrid` | the same, through an OpenCL device | [`Cholesky::new_in`] |
//!
//! V and right-hand sides may be faer's matrices and views (re-exported as [`faer`]), slices, arrays and vectors of one column,
//! nalgebra's matrices, ndarray's arrays, or matrices in device memory ([`cuda::DeviceMatrix`], [`cuda::DeviceView`]). Matrices that
//! a call returns are faer's, and `Array2::from_shape_fn(x.shape(), |at| x[at])` is one of them as ndarray's. [`Cholesky::submit`]
//! starts a modification, and may return before a GPU has finished it.
//!
//! [`append`](Cholesky::append), [`insert`](Cholesky::insert), [`remove`](Cholesky::remove) and [`replace`](Cholesky::replace)
//! change rows and columns of A; [`shift`](Cholesky::shift) and [`permute`](Cholesky::permute) reorder them.
//! [`extension`](Cholesky::extension) borders A without changing the factor.
//!
//! Scalars are `f32`, `f64` and, on [`Cpu`], the complex [`c32`](faer::c32) and [`c64`](faer::c64), for which A = L Lᴴ is Hermitian.
//!
//! [`CholeskyBatch`] keeps many small factors current together. [`Ldlt`] keeps a factor of a symmetric or Hermitian indefinite matrix,
//! with its inertia.
//!
//! # Errors
//!
//! Every call that can fail returns an [`Error`] and leaves the factor bit for bit as it was. The exception is a device that
//! fails in the middle of a call: the factor is lost, and later calls on it return [`Error::Poisoned`]. [`Safeguard`] chooses
//! what this guarantee costs, or gives it up. No public call panics on its arguments.
//!
//! Every modification returns a [`Modification`]: the smallest ratio of a new squared pivot to the old one, and the change of
//! log det A. About −log₁₀ of the ratio decimal digits are lost.
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `cuda` | yes | the module [`cuda`]; needs no CUDA to build, and loads the driver at run time |
//! | `opencl` | no | the module `opencl`: initial factors and the hybrid engine on OpenCL devices; needs no OpenCL to build, and loads it at run time |
//! | `distributed` | no | the module `distributed`: a factor whose rows are distributed over processes, which `cholupdate-mpi` connects by MPI |
//! | `nalgebra` | no | nalgebra's dense matrices, vectors and views as A, L, V and B |
//! | `ndarray` | no | ndarray's arrays and views of one dimension (a column) and two as A, L, V and B; weights are slices (`as_slice`) |
//! | `serde` | no | factors as plain data, to be kept between runs: `Snapshot`, `BatchSnapshot` and `LdltSnapshot`, and serde's traits for them, `Cholesky`, `CholeskyBatch` and `Ldlt` |
//! | `unstable` | no | the module `unstable`: what an engine in a crate of its own implements |
//!
//! # More
//!
//! The chapters in `docs/` of the repository: engines and their memory, accuracy, benchmarks, design, experiments.
//!
//! # References
//!
//! - P. E. Gill, G. H. Golub, W. Murray, M. A. Saunders, *Methods for modifying matrix factorizations*, Math. Comp. 28 (1974).
//! - J. M. Bennett, *Triangular factors of modified matrices*, Numer. Math. 7 (1965).
//! - G. W. Stewart, *The effects of rounding error on an algorithm for downdating a Cholesky factorization*, J. Inst. Math. Appl. 23 (1979).
//! - J. J. Dongarra, J. R. Bunch, C. B. Moler, G. W. Stewart, *LINPACK Users' Guide*, SIAM (1979): `dchud`, `dchdd`.
//! - C. M. Rader, A. O. Steinhardt, *Hyperbolic Householder transformations*, IEEE Trans. Acoust. Speech Signal Process. 34 (1986).
//! - A. W. Bojanczyk, R. P. Brent, P. Van Dooren, F. R. de Hoog, *A note on downdating the Cholesky factorization*, SIAM J. Sci. Stat. Comput. 8 (1987).
//! - C. Walder, *Rank k Cholesky up/down-dating on the GPU: gpucholmodV0.2* (2010), [arXiv 1011.1173](https://arxiv.org/abs/1011.1173).
//! - J. P. T. Ruschel, *Parallel Implementations of the Cholesky Decomposition on CPUs and GPUs*, UFRGS (2016).
//! - P. Pas, P. Patrinos, *Blocked Cholesky factorization updates of the Riccati recursion using hyperbolic Householder transformations* (2025), [arXiv 2503.15372](https://arxiv.org/abs/2503.15372).

#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]
#![deny(clippy::undocumented_unsafe_blocks)]
#![warn(missing_docs)]

mod any;
mod batch;
mod carried;
mod check;
mod cholesky;
mod compiled;
mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(feature = "distributed")]
pub mod distributed;
mod element;
mod engine;
mod engines;
mod erased;
mod error;
mod factor;
pub mod factorize;
pub mod gradient;
mod guarded;
mod history;
mod host;
#[cfg(any(feature = "cuda", feature = "opencl"))]
#[allow(unsafe_code, reason = "packed panels, and copies and launches on them")]
mod hybrid;
mod in_place;
mod ldlt;
#[cfg(feature = "opencl")]
pub mod opencl;
mod operand;
mod real;
mod report;
mod scalar;
#[cfg(feature = "serde")]
mod snapshot;
mod storage;
mod structure;
mod sweep;
mod wide;

pub use crate::any::{AnyEngine, EngineKind, EngineSpec};
#[cfg(feature = "serde")]
pub use crate::batch::BatchSnapshot;
pub use crate::batch::{BatchMut, BatchOutcome, BatchRef, BatchWeights, CholeskyBatch};
pub use crate::carried::Carried;
#[cfg(feature = "serde")]
pub use crate::cholesky::Snapshot;
pub use crate::cholesky::{Cholesky, Extension, Pending, RefactorPolicy};
pub use crate::cpu::{Awake, Cpu, Workspace};
pub use crate::engine::Engine;
pub use crate::error::{DeviceErrorKind, Error};
pub use crate::host::interrupt::interruptible;
pub use crate::in_place::{modify_checked_in_place, modify_in_place, modify_into};
#[cfg(feature = "serde")]
pub use crate::ldlt::LdltSnapshot;
pub use crate::ldlt::{Ldlt, LdltExtension, LdltModification};
pub use crate::operand::{Operand, OperandMut, RemoteView, RemoteViewMut};
pub use crate::report::Modification;
pub use crate::scalar::{RealScalar, Scalar};
pub use crate::storage::Safeguard;
pub use crate::sweep::weights::Weights;
pub use faer;

/// What an engine outside this crate implements: storage, sweeps, and the making of factors. These items may change in any
/// version.
#[cfg(feature = "unstable")]
pub mod unstable {
    pub use crate::engine::sealed::Sealed;
    pub use crate::factor::verbs::Verbs;
    pub use crate::operand::RemoteMatrix;
    pub use crate::storage::{
        Direct, Edit, Made, Op, Origin, Room, Side, Solved, Staged, Storage, Swept, Target, Traits,
    };
    pub use crate::structure::{Border, BorderThere, ColumnsAsV, Part, Parts, Rearrangement, Run};
    pub use crate::sweep::outline::Outline;
    pub use crate::sweep::stop::Stop;
}

/// The README's examples, as tests.
#[cfg(all(doctest, feature = "cuda"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// The examples of this chapter, as tests.
#[cfg(all(doctest, feature = "cuda"))]
#[doc = include_str!("../docs/batch.md")]
struct Batches;

/// The examples of this chapter, as tests.
#[cfg(all(doctest, feature = "nalgebra", feature = "ndarray", feature = "serde"))]
#[doc = include_str!("../docs/arrays.md")]
struct Arrays;

/// The example of this chapter, as a test.
#[cfg(doctest)]
#[doc = include_str!("../docs/complex.md")]
struct Complex;

/// The example of this chapter, as a test.
#[cfg(doctest)]
#[doc = include_str!("../docs/ldlt.md")]
struct Indefinite;

/// The example of this chapter, as a test.
#[cfg(doctest)]
#[doc = include_str!("../docs/gradient.md")]
struct Gradients;
