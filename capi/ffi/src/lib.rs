//! Arguments and errors of C functions, for the C libraries of this project: `capi/` and `mpi/src/capi/`.
//!
//! Each library declares its functions, statuses and reports itself, because their names and their documentation are those of its
//! header.

#![deny(clippy::undocumented_unsafe_blocks)]

pub mod arguments;
pub mod status;
