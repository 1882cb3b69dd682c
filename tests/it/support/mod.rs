//! Shared by the tests: engines, scalars, problems, the accuracy oracle, memory layouts, peers.

#[macro_use]
pub mod engines;
pub mod allocator;
#[cfg(feature = "unstable")]
pub mod batched;
pub mod compensated;
pub mod contract;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod exact;
pub mod layout;
pub mod linpack;
pub mod model;
#[cfg(feature = "opencl")]
pub mod opencl;
pub mod peers;
pub mod problem;
pub mod real;
pub mod sources;
