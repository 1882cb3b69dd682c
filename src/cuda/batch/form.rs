//! How the matrices of an order are divided among threads.

use super::arguments::SIDE_BY_SIDE;

/// The largest order of which a lane of a warp has eight rows.
const OF_A_WARP: usize = 256;

/// How the matrices of an order are divided among threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A thread has a matrix of this order or less, in registers.
    Thread { order: usize },
    /// Some lanes have a matrix, each this many rows of it.
    Lanes { lanes: usize, rows: usize },
    /// A block has a matrix.
    Block,
}

impl Form {
    /// For matrices of order n, with so many bytes of shared memory for a block.
    pub fn new<T>(n: usize, stride: usize, shared: usize) -> Self {
        let fits = |lanes: usize| padded::<T>(stride, lanes) * size_of::<T>() <= shared;
        match n {
            0..=4 => Self::Thread { order: 4 },
            5..=SIDE_BY_SIDE => Self::Thread { order: 8 },
            9..=16 => Self::Lanes { lanes: 4, rows: 4 },
            17..=32 => Self::Lanes { lanes: 8, rows: 4 },
            33..=64 => Self::Lanes { lanes: 16, rows: 4 },
            65..=128 if fits(32) => Self::Lanes { lanes: 32, rows: 4 },
            129..=OF_A_WARP if fits(32) => Self::Lanes { lanes: 32, rows: 8 },
            _ => Self::Block,
        }
    }
}

/// Scalars from one triangle in shared memory to the next: such that all lanes of a warp access different banks.
pub(super) fn padded<T>(stride: usize, lanes: usize) -> usize {
    let line = 128 / size_of::<T>();
    stride + (line + lanes % line - stride % line) % line
}
