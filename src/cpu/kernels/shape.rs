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

/// Most columns of V that stay in registers: `low_rank.rs`.
pub(crate) const LOW_RANK: usize = 4;

/// Columns of L in a panel for V of as few columns.
pub(crate) const LOW_RANK_PANEL_COLS: usize = 24;

/// Tiles ahead of the one at work that L is brought near where it is larger than the caches and V has few
/// columns.
pub(crate) const TILES_AHEAD: usize = 3;

/// Registers of rows in a tile for V with `rank` ≤ [`LOW_RANK`] columns. With what a column of L takes they just fit.
pub(crate) const fn row_registers(rank: usize) -> usize {
    match rank {
        0..=2 => 6,
        3 => 5,
        _ => 4,
    }
}

/// Whether `S` has the registers for [`WIDE`].
#[inline(always)]
pub(crate) const fn wide<S: Simd>() -> bool {
    S::REGISTER_COUNT >= 32 && S::F64_LANES >= 8
}

/// Shape of the micro-kernels under this instruction set, for V with `rank` columns.
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
                true if (2..=LOW_RANK).contains(&self.rank) => (row_registers(self.rank), WIDE.1),
                true => WIDE,
                false => NARROW,
            };
            Shape { block, lanes, tile: registers * lanes }
        }
    }
    isa.run(Ask { rank, scalar: PhantomData::<T> })
}
