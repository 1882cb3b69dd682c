//! The Cholesky routines of qrupdate and LINPACK under their original names: a program that is started with this library
//! preloaded, or linked with it before the original library, calls these.
//!
//! All routines use R (n × n), upper triangular and column-major, with A = RᴴR, and plane rotations whose cosines and sines are
//! returned to the caller. R stays in place, and every entry is read and written once: all rotations are applied to eight
//! columns at a time. Cosines are real, and sines are numbers of R.
//!
//! | file | holds |
//! |---|---|
//! | `symbols` | the names and arguments that Fortran programs use |
//! | `qrupdate`, `linpack` | the two contracts |
//! | `rank_one`, `columns` | the algorithms of both |
//! | `chain` | rotations, one after the other, applied to many columns: most of the time is spent there |
//! | `number`, `lanes` | real and complex numbers, and registers of them |

#![deny(clippy::undocumented_unsafe_blocks)]
#![deny(unsafe_op_in_unsafe_fn)]

#[cfg(target_arch = "x86_64")]
mod avx2;
mod chain;
mod columns;
mod complex;
mod lanes;
mod linpack;
mod number;
mod qrupdate;
mod rank_one;
mod real;
mod rotation;
mod solve;
mod symbols;
mod upper;
mod xerbla;
