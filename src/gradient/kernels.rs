//! The kernels, compiled in this crate for each scalar and each instruction set.

use super::diagonal::{EliminateDiagonal, PullDiagonal, PushDiagonal};
use super::eliminate::Eliminate;
use super::lanes::Lanes;
use super::pull::{Pull, Totals};
use super::push::Push;
use cholupdate_kernels::isa::Isa;

/// Runs the kernels under the best instruction set of this machine.
pub trait Kernels: Lanes {
    fn eliminate(work: Eliminate<'_, Self>);
    fn pull(work: Pull<'_, Self>);
    fn add_up(work: Totals<'_, Self>);
    fn push(work: Push<'_, Self>);
    fn eliminate_diagonal(work: EliminateDiagonal<'_, Self>);
    fn pull_diagonal(work: PullDiagonal<'_, Self>);
    fn push_diagonal(work: PushDiagonal<'_, Self>);
}

macro_rules! kernels {
    ($($t:ident)*) => {
        $(impl Kernels for $t {
            fn eliminate(work: Eliminate<'_, Self>) {
                Isa::detect().run(work);
            }
            fn pull(work: Pull<'_, Self>) {
                Isa::detect().run(work);
            }
            fn add_up(work: Totals<'_, Self>) {
                Isa::detect().run(work);
            }
            fn push(work: Push<'_, Self>) {
                Isa::detect().run(work);
            }
            fn eliminate_diagonal(work: EliminateDiagonal<'_, Self>) {
                Isa::detect().run(work);
            }
            fn pull_diagonal(work: PullDiagonal<'_, Self>) {
                Isa::detect().run(work);
            }
            fn push_diagonal(work: PushDiagonal<'_, Self>) {
                Isa::detect().run(work);
            }
        })*
    };
}

kernels!(f32 f64);
