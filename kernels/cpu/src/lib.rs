//! The CPU kernels of [`cholupdate`](https://docs.rs/cholupdate), compiled once for each scalar type and instruction set. They do not
//! depend on the features of the library. This crate has no interface of its own and no promise of stability: use `cholupdate`.
//!
//! | module | holds |
//! |---|---|
//! | `number` | arithmetic of a number, real or complex, and of a register of numbers |
//! | `isa` | the instruction set, detected at run time |
//! | `sweep` | the two steps of a panel of L |
//! | `batch` | steps on as many matrices as a register has lanes |
//! | `gradient` | derivatives of a modification, on the rows of a panel of L |
//! | `dense` | dense linear algebra by faer |
//! | `rotation`, `squares` | a plane rotation of two columns; sums of squares of the rows of L |
//! | `panel`, `steps`, `health`, `buffer` | what the kernels work on and report |
//! | `compiled` | the macro that declares compiled functions |

#![deny(clippy::undocumented_unsafe_blocks)]
#![allow(
    clippy::len_without_is_empty,
    clippy::new_without_default,
    clippy::result_unit_err,
    reason = "rules for an interface that others use"
)]

pub mod batch;
pub mod buffer;
pub mod compiled;
pub mod dense;
pub mod gradient;
pub mod health;
pub mod isa;
pub mod number;
pub mod panel;
pub mod rotation;
pub mod squares;
pub mod steps;
pub mod sweep;

use faer::{c32, c64};

/// All that is compiled in this crate for an element of L, real or complex.
pub trait Kernels:
    dense::Dense
    + number::Number
    + batch::BatchKernel
    + sweep::small::SmallKernel
    + sweep::packed::PackKernel
    + sweep::panel_steps::PanelKernels
    + rotation::RotationKernel
    + sweep::signature::SignatureKernels
    + squares::SquaresKernel
{
}

impl Kernels for f32 {}
impl Kernels for f64 {}
impl Kernels for c32 {}
impl Kernels for c64 {}
