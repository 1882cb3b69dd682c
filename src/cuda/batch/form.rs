//! How the matrices of an order are divided among threads.

use super::arguments::{IN_PLACE, SIDE_BY_SIDE};

/// The largest order of which a multiprocessor has some matrices in shared memory, for a solution.
const SHARED: usize = 128;
/// The largest order of which a lane of a warp has eight rows.
const OF_A_WARP: usize = 256;

/// How the matrices of an order are divided among threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A thread has a matrix of this order or less, in registers.
    Thread { order: usize },
    /// Some lanes have a matrix, each this many rows of it, in shared memory.
    Lanes { lanes: usize, rows: usize },
    /// The same, with columns that pass through shared memory.
    Stream { lanes: usize, rows: usize },
    /// A block has a matrix.
    Block,
}

impl Form {
    /// For modifications of matrices of order n.
    pub fn of_modifications(n: usize) -> Self {
        match n {
            0..=4 => Self::Thread { order: 4 },
            5..=SIDE_BY_SIDE => Self::Thread { order: 8 },
            9..=16 => Self::Lanes { lanes: 4, rows: 4 },
            17..=IN_PLACE => Self::Lanes { lanes: 8, rows: 4 },
            33..=64 => Self::Stream { lanes: 16, rows: 4 },
            65..=SHARED => Self::Stream { lanes: 32, rows: 4 },
            129..=OF_A_WARP => Self::Stream { lanes: 32, rows: 8 },
            _ => Self::Block,
        }
    }

    /// For solutions.
    pub fn of_solutions(n: usize) -> Self {
        match n {
            33..=64 => Self::Lanes { lanes: 32, rows: 2 },
            65..=SHARED => Self::Lanes { lanes: 32, rows: 4 },
            _ => Self::of_modifications(n),
        }
    }

    /// For rows that come and go, with so many bytes of shared memory for a block: a matrix is in it as a whole if it fits.
    pub fn of_rows<T>(n: usize, stride: usize, shared: usize) -> Self {
        match Self::of_modifications(n) {
            Self::Stream { lanes, rows } => {
                let form = Self::Lanes { lanes, rows };
                let fits = form.shared::<T>(stride, 0) * size_of::<T>() <= shared;
                if fits { form } else { Self::Block }
            }
            form => form,
        }
    }

    /// The scalars of shared memory of a matrix: room for its triangle of `stride` scalars, or for so many columns.
    pub fn shared<T>(self, stride: usize, columns: usize) -> usize {
        match self {
            Self::Thread { .. } | Self::Block => 0,
            Self::Lanes { lanes, .. } => padded::<T>(stride, lanes),
            Self::Stream { lanes, rows } => (columns + 1) * lanes * rows + if lanes < 32 { lanes } else { 0 },
        }
    }
}

/// Scalars from one triangle in shared memory to the next: such that all lanes of a warp access different banks.
fn padded<T>(stride: usize, lanes: usize) -> usize {
    let line = 128 / size_of::<T>();
    stride + (line + lanes % line - stride % line) % line
}
