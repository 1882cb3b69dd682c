//! The memory of a modification.

/// The memory of a [`StreamModification`](super::StreamModification), by addresses in device memory.
#[derive(Clone, Copy, Debug)]
pub struct StreamOperands {
    /// L of each matrix, by columns without gaps; entries above the diagonal are not read. If n entries are a multiple of 16 bytes, so
    /// is the address, and that of L', unless [`StreamModification::takes_rows`](super::StreamModification::takes_rows). (n × n)
    pub l: u64,
    /// Whether L is by rows instead; only where [`StreamModification::takes_rows`](super::StreamModification::takes_rows).
    pub l_by_rows: bool,
    /// Entries from one matrix L to the next, or 0 if all matrices have the same.
    pub l_matrix: usize,
    /// V of each matrix. (n × k)
    pub v: u64,
    /// Entries from matrix to matrix, row to row, and column to column.
    pub v_strides: [usize; 3],
    /// w of each matrix, without gaps; not read unless signs are [`Signs::Any`](super::Signs::Any). Columns of V of weight zero are not
    /// read. (k)
    pub weights: u64,
    /// Entries from the weights of one matrix to those of the next.
    pub weights_matrix: usize,
    /// L' of each matrix, one after the other, by columns without gaps, with zeros above the diagonal; another memory than that of L.
    pub to: u64,
    /// Whether L' is by rows instead, as for L.
    pub to_by_rows: bool,
    /// A byte for each matrix: 1 if L' exists, and 0 if A + V diag(w) Vᵀ is not positive definite, if V or w is not finite, or if a
    /// diagonal entry of L is not positive. Then L' is L, or NaN.
    pub ok: u64,
    /// Whether it is NaN.
    pub nan: bool,
}
