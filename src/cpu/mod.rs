//! The CPU engine.
//!
//! | file | holds |
//! |---|---|
//! | `engine`, `awake` | the engine and its settings; threads that stay awake |
//! | `factor` | L in host memory |
//! | `resize` | insertion, removal and reordering of rows and columns |
//! | `moves` | moves of rows and columns within the memory of L |
//! | `in_place`, `out_of_place` | modification of an L in the caller's memory; the same with L' in other memory |
//! | `staged` | V in tiles, and the working memory of a sweep |
//! | `sweep` | a sweep with a staged V: runs one of the schedules |
//! | `signature`, `runs` | a sweep over L S Lᵀ with S = diag(±1); the same for a V of one sign |
//! | `small` | a modification of a small L, without a sweep |
//! | `serial`, `workers` | the schedules: on one thread, and on several |
//! | `solve` | triangular solves, with the same schedule on several threads |
//! | `tuning` | panel widths, chunk heights, thread counts |
//!
//! The steps of a panel, and the micro-kernels of which they consist, are in the crate `cholupdate-kernels` (`kernels/cpu`).

mod awake;
mod carried;
mod engine;
#[allow(unsafe_code, reason = "hands memory of L to the sweep")]
mod factor;
#[allow(unsafe_code, reason = "hands memory of L to the sweep")]
mod in_place;
mod moves;
#[allow(unsafe_code, reason = "hands memory of L to the sweep")]
mod out_of_place;
mod resize;
#[allow(unsafe_code, reason = "hands memory of L to the sweep")]
pub(crate) mod runs;
#[allow(unsafe_code, reason = "asks for the steps of panels")]
mod serial;
#[allow(unsafe_code, reason = "hands memory of L to the sweep")]
pub(crate) mod signature;
#[allow(unsafe_code, reason = "hands memory of L to its kernel")]
mod small;
#[allow(unsafe_code, reason = "threads share the right-hand sides row by row")]
pub(crate) mod solve;
#[allow(unsafe_code, reason = "reads V from raw memory")]
mod staged;
#[allow(unsafe_code, reason = "asks for the steps of panels")]
mod sweep;
pub(crate) mod tuning;
#[allow(unsafe_code, reason = "threads share L and V row by row")]
pub(crate) mod workers;

#[cfg(test)]
#[allow(unsafe_code, reason = "sweeps from inside")]
mod tests;

pub use self::awake::Awake;
pub use self::engine::Cpu;
pub use self::factor::HostFactor;
pub use self::in_place::Workspace;
pub use self::out_of_place::InPlace;
