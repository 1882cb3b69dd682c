//! The shapes of the micro-kernels: how many columns of L and rows of V one call works on.

use crate::host::isa::Isa;
use crate::scalar::Scalar;
use core::marker::PhantomData;
use pulp::{Simd, WithSimd};

/// What a micro-kernel works on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Columns of L in one micro reflector.
    pub block: usize,
    /// Rows in one register.
    pub lanes: usize,
    /// Rows in a tile of V.
    pub tile: usize,
}

/// Registers of rows and columns of L of a micro-kernel call, with 32 registers: 24 hold U, 3 rows of V,
/// the rest operands.
pub(crate) const WIDE: (usize, usize) = (3, 8);

/// The same with 16 registers. Three by four would just fit, and spills.
pub(crate) const NARROW: (usize, usize) = (2, 4);

/// Scalars in the widest register.
pub(crate) const MAX_LANES: usize = 16;

/// Most columns of V of which each goes through L by itself, whatever the order: `low_rank/`.
const LOW_RANK: usize = 2;

/// The same where L has no more rows than [`SMALL_ORDER`]. There the chain of diagonal steps decides, and elsewhere the arithmetic.
const LOW_RANK_AT_SMALL_ORDERS: usize = 3;
const SMALL_ORDER: usize = 128;

/// Most columns of V that stay in registers together: `in_registers.rs`.
pub(crate) const IN_REGISTERS: usize = 4;

/// Columns of L in a panel for V of as few columns.
pub(crate) const IN_REGISTERS_COLS: usize = 24;

/// Tiles ahead of the one at work that L is brought near where it is larger than the caches and V has few
/// columns.
pub(crate) const TILES_AHEAD: usize = 3;

/// Registers of rows in a tile for V with `rank` ≤ [`IN_REGISTERS`] columns. With what a column of L takes they just fit.
pub(crate) const fn row_registers(rank: usize) -> usize {
    if rank < IN_REGISTERS { 5 } else { 4 }
}

/// Whether `S` has the registers for [`WIDE`].
#[inline(always)]
pub(crate) const fn wide<S: Simd>() -> bool {
    S::REGISTER_COUNT >= 32 && S::F64_LANES >= 8
}

/// Whether each column of V goes through L, of so many rows, by itself.
#[inline(always)]
pub(crate) fn by_column(rank: usize, rows: usize) -> bool {
    rank <= if rows <= SMALL_ORDER { LOW_RANK_AT_SMALL_ORDERS } else { LOW_RANK }
}

/// Shape of the micro-kernels under this instruction set, for V with `rank` columns that go through L together.
pub(crate) fn shape<T: Scalar>(isa: Isa, rank: usize) -> Shape {
    struct Ask<T> {
        rank: usize,
        scalar: PhantomData<T>,
    }
    impl<T: Scalar> WithSimd for Ask<T> {
        type Output = Shape;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> Shape {
            let lanes = T::lanes::<S>();
            let (registers, block) = match wide::<S>() {
                true if (LOW_RANK + 1..=IN_REGISTERS).contains(&self.rank) => {
                    (row_registers(self.rank), WIDE.1)
                }
                true => WIDE,
                false => NARROW,
            };
            Shape { block, lanes, tile: registers * lanes }
        }
    }
    isa.run(Ask { rank, scalar: PhantomData::<T> })
}
