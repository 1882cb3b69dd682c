//! Tests of single kernels. The suites of the library are those of all of them together.

#![expect(clippy::unwrap_used, reason = "tests")]

mod at_once;
mod dense;
mod isa;
mod packed;
mod rotation;
