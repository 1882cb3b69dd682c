//! Derivatives of a modification: the kernels on the rows of a panel of L, and on its diagonal block. `docs/gradient.md` of the library
//! derives the formulas.
//!
//! | file | holds |
//! |---|---|
//! | `step` | the step of one column |
//! | `eliminate`, `pull`, `push` | the rows below a diagonal block: forward, back, and forward with tangents |
//! | `diagonal` | the same on the diagonal block of a panel, where each step waits for the sums of the one before |
//! | `columns`, `tile` | how they read and write L and V |
//!
//! Below the diagonal block, steps are made four at a time if V has several columns, none of these steps interchanges any, and there
//! are 32 registers: an entry of V is then read once for four columns of L.

pub mod columns;
pub mod diagonal;
pub mod eliminate;
pub mod pull;
pub mod push;
pub mod step;
pub mod tile;

use self::diagonal::{EliminateDiagonal, PullDiagonal, PushDiagonal};
use self::eliminate::Eliminate;
use self::pull::{AddUp, Pull};
use self::push::Push;
use self::tile::Clear;
use crate::compiled;

compiled! {
    /// The kernels of derivatives.
    GradientKernels {
        eliminate: Eliminate<'_, Self> => (),
        pull: Pull<'_, Self> => (),
        clear: Clear<'_, Self> => (),
        add_up: AddUp<'_, Self> => (),
        push: Push<'_, Self> => (),
        eliminate_diagonal: EliminateDiagonal<'_, Self> => (),
        pull_diagonal: PullDiagonal<'_, Self> => (),
        push_diagonal: PushDiagonal<'_, Self> => (),
    }
}
