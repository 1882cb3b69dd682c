//! What all sweeps share: the columns that they process, and V as they read it. This module is data and geometry only. Each
//! engine has its own schedule (`cpu/serial.rs`, `cpu/workers.rs`, `hybrid/schedule.rs`, `cuda/resident/schedule.rs`).

#[cfg(any(feature = "cuda", feature = "distributed"))]
pub mod cyclic;
pub mod outline;
pub mod plan;
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub mod rank_blocks;
pub mod signed;
pub mod stop;
pub mod weights;
