//! What the calls take: memory of the caller's, by its addresses.

use super::shape::{BLOCKS, MOST_COLUMNS, PANEL_COLS};
use crate::cuda::device::Device;
use crate::error::Error;

/// The matrices of a batch in device memory: entry (i, j) of matrix b is `b * matrix + i * row + j * column` scalars after the first one.
/// A `matrix` of 0 is one matrix that all have in common.
#[derive(Clone, Copy, Debug)]
pub struct RawMatrices {
    /// Of entry (0, 0) of the first matrix.
    pub address: u64,
    /// From one matrix to the next.
    pub matrix: i64,
    /// From one row to the next. Kernels are fastest where it is 1.
    pub row: i64,
    /// From one column to the next.
    pub column: i64,
}

/// The vectors of a batch in device memory; entries of one vector are contiguous.
#[derive(Clone, Copy, Debug)]
pub struct RawVectors {
    /// Of the first entry of the first vector.
    pub address: u64,
    /// From one vector to the next, in scalars.
    pub vector: i64,
}

impl RawVectors {
    pub(super) const NONE: Self = Self { address: 0, vector: 0 };
}

/// The weights of the columns of V.
#[derive(Clone, Copy, Debug)]
pub enum RawWeights {
    /// All are 1.
    Plus,
    /// All are −1.
    Minus,
    /// Numbers in device memory, of any signs. (k)
    Each(RawVectors),
}

/// Modifications that have been made: L' L'ᵀ = L Lᵀ + V diag(w) Vᵀ, of each matrix of a batch.
#[derive(Clone, Copy, Debug)]
pub struct RawModification {
    /// Matrices of the batch.
    pub count: usize,
    /// The order of L.
    pub n: usize,
    /// Columns of V, at most [`MOST_COLUMNS`].
    pub k: usize,
    /// L. The lower triangle is read; pivots may be negative. (n × n)
    pub l: RawMatrices,
    /// L'. The lower triangle is read. (n × n)
    pub l_new: RawMatrices,
    /// V. (n × k)
    pub v: RawMatrices,
    /// w.
    pub weights: RawWeights,
    /// A byte for each matrix, 0 where it has no L': its tangents and cotangents are zero. Without them, all have one.
    pub ok: Option<RawVectors>,
}

impl RawModification {
    /// # Errors
    /// `OutOfRange`.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.k > MOST_COLUMNS {
            return Err(Error::OutOfRange { argument: "v", rule: "of at most 64 columns" });
        }
        // A block of threads for each block of rows below the first one.
        if self.n > (BLOCKS + 1) * PANEL_COLS {
            return Err(Error::OutOfRange { argument: "l", rule: "of at most 4194304 rows" });
        }
        if self.count > i32::MAX as usize {
            return Err(Error::OutOfRange { argument: "l", rule: "of less than 2³¹ matrices" });
        }
        Ok(())
    }

    pub(super) fn may_be_mixed(&self) -> bool {
        matches!(self.weights, RawWeights::Each(_)) && self.k > 1
    }
}

/// Where the cotangents of a modification are written.
#[derive(Clone, Copy, Debug)]
pub struct RawCotangents {
    /// Of L, with zeros above the diagonal. (n × n)
    pub l: RawMatrices,
    /// Of V. (n × k)
    pub v: RawMatrices,
    /// Of w, packed. (count × k)
    pub weights: u64,
}

/// The tangents of L, V and w.
#[derive(Clone, Copy, Debug)]
pub struct RawTangents {
    /// Of L. The lower triangle is read. (n × n)
    pub l: RawMatrices,
    /// Of V. (n × k)
    pub v: RawMatrices,
    /// Of w, or zero if there are none. (k)
    pub weights: Option<RawVectors>,
}

/// Where work is enqueued.
#[derive(Clone, Copy, Debug)]
pub struct OnStream<'a> {
    /// The device.
    pub device: &'a Device,
    /// The driver's handle of the stream (`CUstream`).
    pub stream: u64,
    /// The address of working memory on the device, a multiple of 16.
    pub scratch: u64,
}
