//! The steps of a sweep over L S Lᵀ, where S is diagonal with entries ±1: A may be indefinite.
//!
//! Column j of L has the pivot l and the sign s, a is the row of V there, F are the columns of V with the sign s and G the others.
//! First F is eliminated, by a reflection of the plus kind, and then G, by one of the minus kind (for complex numbers every transpose is
//! a conjugate transpose):
//!
//! ```text
//! l₁² = l² + a_F a_Fᵀ        l₂² = l₁² − a_G a_Gᵀ
//! ```
//!
//! No number between the first pivot and the last is smaller than both, so nothing cancels that does not cancel in A. If l₂² < 0 the
//! pivot changes its sign. Column j of L and the column p of G with the largest entry a then change places, with their signs, and p is
//! multiplied by the conjugate of a over its magnitude, which
//! leaves L S Lᵀ + V W Vᵀ as it is: the new pivot, of the sign −s, is eliminated against the rest of G by the plus kind, and against
//! the old column of L, which is now a column of V with the sign s, by the minus kind. So one column of V changes its sign. The plus
//! columns of V stay before the others: where p is not the one at the boundary, the two change places.
//!
//! The columns of a block are eliminated together, by the reflectors of a positive definite L, if they have one sign and keep it, and
//! one by one otherwise.
//!
//! | file | holds |
//! |---|---|
//! | `change` | how blocks and columns of L change |
//! | `job` | the memory of a sweep |
//! | `diagonal` | the diagonal step |
//! | `columns` | the columns of a block one by one |
//! | `rows` | the trailing step |

mod change;
mod columns;
mod diagonal;
mod job;
mod rows;

pub use self::change::{BlockChange, OneColumn};
pub use self::job::SignatureJob;

use self::diagonal::Diagonal;
use self::rows::Trailing;
use crate::compiled;
use crate::health::Health;
use crate::isa::fence;
use crate::panel::Panel;
use crate::steps::{Breakdown, Steps};
use core::ops::Range;

compiled! {
    /// The two steps of a panel.
    SignatureKernels of numbers {
        signature_diagonal: Diagonal<'_, Self> => Result<(), usize>,
        signature_trailing: Trailing<'_, Self> => (),
    }
}

impl<T: SignatureKernels> Steps for SignatureJob<T> {
    type Report = Health<T::Part>;

    unsafe fn diagonal(&self, panel: Panel, health: &mut Health<T::Part>) -> Result<(), Breakdown> {
        // SAFETY: the caller guarantees the rows of the block.
        let step = unsafe { Diagonal::new(self, panel, health) };
        T::signature_diagonal(self.job.isa, step).map_err(|column| Breakdown { column })
    }

    unsafe fn trailing(&self, panel: Panel, rows: Range<usize>) {
        if rows.is_empty() {
            return;
        }
        let blocks = 0..panel.cols.div_ceil(self.job.block);
        // SAFETY: the caller guarantees the rows.
        T::signature_trailing(self.job.isa, unsafe { Trailing::new(self, panel, blocks, rows) });
        if self.job.stream {
            fence();
        }
    }
}
