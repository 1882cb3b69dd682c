//! The Cholesky routines of qrupdate and of LINPACK, under their own names: a program that is started with this library preloaded, or
//! linked with it before the original, calls these.
//!
//! All work on R (n × n), upper triangular and column-major, with A = RᵀR, by plane rotations whose cosines and sines the caller
//! gets. So R stays where it is, and every entry is read and written once: columns are taken eight at a time through all
//! rotations.
//!
//! | file | has |
//! |---|---|
//! | `symbols` | the names and arguments that Fortran programs know |
//! | `qrupdate`, `linpack` | the two contracts |
//! | `rank_one`, `columns` | what both do |
//! | `chain` | rotations, one after the other, through many columns: where the time goes |

#![deny(clippy::undocumented_unsafe_blocks)]
#![deny(unsafe_op_in_unsafe_fn)]

mod chain;
mod columns;
mod lanes;
mod linpack;
mod qrupdate;
mod rank_one;
mod real;
mod rotation;
mod solve;
mod symbols;
mod upper;
mod xerbla;
