//! What is compiled in this crate, once for each scalar type and instruction set. All other code is generic, and is compiled in
//! the program that uses it. Compiling this there as well would take minutes.

use crate::cpu::kernels::copy::Copy;
use crate::cpu::kernels::low_rank;
use crate::cpu::kernels::packed::Pack;
use crate::cpu::kernels::panel_steps::ByReflectors;
use crate::cpu::kernels::reflection::Reflection;
use crate::host::isa::Isa;
use crate::host::rotation::Apply;
use crate::report::Modification;
use crate::storage::Stop;
use crate::wide::Recurrence;

macro_rules! compiled {
    ($($name:ident: $work:ty => $output:ty,)*) => {
        /// Runs work under an instruction set, by scalar type. Private in effect: the module is not exported.
        pub trait Compiled: Sized {
            $(#[doc(hidden)] fn $name(isa: Isa, work: $work) -> $output;)*
        }

        compiled!(f32: $($name: $work => $output,)*);
        compiled!(f64: $($name: $work => $output,)*);
    };
    ($scalar:ident: $($name:ident: $work:ty => $output:ty,)*) => {
        impl Compiled for $scalar {
            $(fn $name(isa: Isa, work: $work) -> $output {
                isa.run(work)
            })*
        }
    };
}

compiled! {
    pack: Pack<'_, Self> => Self,
    copy: Copy<'_, Self, false> => bool,
    copy_negated: Copy<'_, Self, true> => bool,
    diagonal: ByReflectors<'_, Self> => Result<(), usize>,
    trailing: Reflection<'_, Self> => (),
    low_rank_diagonal: low_rank::Diagonal<'_, Self> => Result<(), usize>,
    low_rank_trailing: low_rank::Trailing<Self> => (),
    rotate: Apply<'_, Self> => (),
    modify_again: Recurrence<'_, '_, Self> => Result<Modification, Stop>,
}
