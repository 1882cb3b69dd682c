//! The shapes of the micro-kernels: the numbers of columns of L and rows of V that one call processes.

use crate::isa::Isa;
use crate::number::Number;
use core::marker::PhantomData;
use pulp::{Simd, WithSimd};

/// The shape of a micro-kernel call.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Columns of L in one micro reflector.
    pub block: usize,
    /// Rows in one register.
    pub lanes: usize,
    /// Rows in a tile of V.
    pub tile: usize,
}

/// Registers of rows and columns of L of a micro-kernel call, with 32 registers: 16 for four columns of U, 4 for rows of V, the
/// rest for operands. A register of complex numbers is two of these.
pub const WIDE: (usize, usize) = (4, 8);

/// The same with 16 registers. Three by four would just fit, but the compiler spills.
pub const NARROW: (usize, usize) = (2, 4);

/// Scalars in the widest register.
pub const MAX_LANES: usize = 16;

/// A number of columns of V for which the shape is that of any number of them.
pub const ANY: usize = usize::MAX;

/// The largest number of columns of V for which the steps are those of `low_rank/`, for any order.
const LOW_RANK: usize = 2;

/// The same if L has at most [`SMALL_ORDER`] rows. There the chain of diagonal steps is the limit; for larger L it is the
/// arithmetic.
pub const LOW_RANK_AT_SMALL_ORDERS: usize = 4;
pub const SMALL_ORDER: usize = 128;

/// The largest number of columns of V that stay in registers together (`in_registers.rs`).
pub const IN_REGISTERS: usize = 4;

/// Columns of L in a panel for such a V.
pub const IN_REGISTERS_COLS: usize = 24;

/// The distance in tiles at which L is prefetched, if L is larger than the caches and V has few columns.
pub const TILES_AHEAD: usize = 3;

/// Registers of rows in a tile, for a V with `rank` ≤ [`IN_REGISTERS`] columns of numbers of this many parts. Together with the
/// operands of a column of L they just fit in 32. On Arm these are pairs of NEON registers; three for a V of three columns would fit,
/// but the compiler spills.
pub const fn row_registers(rank: usize, parts: usize) -> usize {
    let registers = match rank < IN_REGISTERS {
        _ if cfg!(target_arch = "aarch64") => 2,
        true => 5,
        false => 4,
    };
    registers / parts
}

/// Whether `S` has enough registers for [`WIDE`].
#[inline(always)]
pub const fn wide<S: Simd>() -> bool {
    S::REGISTER_COUNT >= 32 && S::F64_LANES >= 8
}

/// Whether `S` has enough registers for V of few columns to stay in them.
#[inline(always)]
pub const fn in_registers<S: Simd>() -> bool {
    S::REGISTER_COUNT >= 32
}

/// Whether the steps for an L of this many rows are those of `low_rank/`.
#[inline(always)]
pub fn by_column(rank: usize, rows: usize) -> bool {
    rank <= if rows <= SMALL_ORDER { LOW_RANK_AT_SMALL_ORDERS } else { LOW_RANK }
}

/// Whether, for real numbers, these apply the columns of V of a sign together, as long as that is accurate.
#[inline(always)]
pub fn together(rank: usize, rows: usize) -> bool {
    rows <= SMALL_ORDER && (2..=LOW_RANK_AT_SMALL_ORDERS).contains(&rank)
}

/// Shape of the micro-kernels under this instruction set, for `rank` columns of V that are applied together.
pub fn shape<T: Number>(isa: Isa, rank: usize) -> Shape {
    struct Ask<T> {
        rank: usize,
        scalar: PhantomData<T>,
    }
    impl<T: Number> WithSimd for Ask<T> {
        type Output = Shape;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> Shape {
            let lanes = T::lanes::<S>();
            let (registers, block) = if wide::<S>() { WIDE } else { NARROW };
            let mut registers = registers / T::PARTS;
            if in_registers::<S>() && (LOW_RANK + 1..=IN_REGISTERS).contains(&self.rank) {
                registers = row_registers(self.rank, T::PARTS);
            }
            Shape { block, lanes, tile: registers * lanes }
        }
    }
    isa.run(Ask { rank, scalar: PhantomData::<T> })
}
