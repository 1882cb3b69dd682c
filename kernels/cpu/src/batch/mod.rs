//! Steps on as many matrices as a register has lanes, one in each lane.
//!
//! A lane is never combined with another one, so the result of a matrix depends neither on its neighbours nor on its place.
//!
//! | file | holds |
//! |---|---|
//! | `view` | matrices in the caller's memory |
//! | `packed` | where the entries of L are |
//! | `given` | a batch of matrices in the caller's memory, to lanes and back |
//! | `runs`, `transpose` | the same by registers, where entries are next to each other |
//! | `change` | what a modification adds |
//! | `modify` | a modification of the factors of a tile |
//! | `pivots` | the pivots of L, before and after it |
//! | `reflection`, `reflections` | the reflections of which it consists |
//! | `factorize` | initial factors |
//! | `border` | a further row and column |
//! | `removal` | a row and column less |
//! | `interchanged` | the reflections for that |
//! | `solve` | triangular systems |

pub mod border;
pub mod change;
pub mod factorize;
pub mod given;
mod interchanged;
pub mod modify;
pub mod packed;
mod pivots;
mod reflection;
mod reflections;
pub mod removal;
mod runs;
pub mod solve;
mod transpose;
pub mod view;

use self::border::AppendTile;
use self::factorize::FactorizeTile;
use self::modify::ModifyTile;
use self::removal::RemoveTile;
use self::solve::SolveTile;
use crate::compiled;
use crate::isa::Isa;
use crate::number::Number;
use pulp::{Simd, WithSimd};

compiled! {
    /// The steps on a tile.
    BatchKernel of numbers {
        modify_tile: ModifyTile<'_, Self> => (),
        factorize_tile: FactorizeTile<'_, Self> => (),
        append_tile: AppendTile<'_, Self> => (),
        remove_tile: RemoveTile<'_, Self> => (),
        solve_tile: SolveTile<'_, Self> => (),
    }
}

/// The lanes of a register for scalars of type T.
pub fn lanes<T: Number>() -> usize {
    struct Count<T>(core::marker::PhantomData<T>);
    impl<T: Number> WithSimd for Count<T> {
        type Output = usize;

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> usize {
            T::lanes::<S>()
        }
    }
    Isa::detect().run(Count::<T>(core::marker::PhantomData))
}
