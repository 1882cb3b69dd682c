//! Rank-k Cholesky up- and downdating.
mod change;
mod check;
mod cholesky;
mod cpu;
mod engine;
mod error;
mod initial;
mod input;
mod plan;
mod report;
mod scalar;
mod sweep;

pub use crate::cholesky::Cholesky;
pub use crate::cpu::{Cpu, Safeguard, Workspace, modify_in_place};
pub use crate::engine::Engine;
pub use crate::error::Error;
pub use crate::input::{AsMatrix, AsMatrixMut};
pub use crate::report::Modification;
pub use crate::scalar::Scalar;
pub use faer;
