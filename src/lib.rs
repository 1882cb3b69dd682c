#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
#![warn(missing_docs)]

mod check;
mod cholesky;
#[allow(unsafe_code, reason = "kernels on raw memory; threads share it row by row")]
mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod engine;
mod error;
pub mod factorize;
#[allow(unsafe_code, reason = "working memory, instruction sets, threads that share a task")]
mod host;
mod input;
mod report;
#[allow(unsafe_code, reason = "loads and stores of registers")]
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
