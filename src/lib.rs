#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
#![deny(clippy::undocumented_unsafe_blocks)]
#![warn(missing_docs)]

mod check;
mod cholesky;
mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod engine;
mod error;
pub mod factorize;
mod host;
mod input;
mod modify;
mod pending;
mod report;
#[allow(unsafe_code, reason = "loads and stores of registers")]
mod scalar;
mod sweep;

pub use crate::cholesky::Cholesky;
pub use crate::cpu::{Cpu, Workspace, modify_in_place};
pub use crate::engine::Engine;
pub use crate::error::{DeviceErrorKind, Error};
pub use crate::input::{AsMatrix, AsMatrixMut, Operand, OperandMut};
pub use crate::modify::Safeguard;
pub use crate::pending::Pending;
pub use crate::report::Modification;
pub use crate::scalar::Scalar;
pub use crate::sweep::signed::Weights;
pub use faer;
