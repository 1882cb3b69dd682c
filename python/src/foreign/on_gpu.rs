//! L' of each matrix of a stack in the memory of a GPU, on a stream of the caller's, for which nothing waits.

use super::stack::{Stack, Vectors};
use cholupdate::cuda::{Device, Signs, StreamModification, StreamOperands};
use cholupdate::{Error, RealScalar};

/// L, V and w of each matrix, and where L' and whether it exists are written, all in device memory.
pub struct ModifyOnGpu<'a, T> {
    pub device: &'a Device,
    /// The number of matrices, n and k.
    pub shape: [usize; 3],
    pub signs: Signs,
    /// L, lower triangular, by columns without gaps, or by rows where `StreamModification::takes_rows`. (n × n)
    pub l: Stack<T>,
    /// (n × k)
    pub v: Stack<T>,
    pub weights: Vectors<T>,
    /// L', by columns, or by rows if `to_by_rows`. (n × n)
    pub to: *mut T,
    pub to_by_rows: bool,
    /// One byte for each matrix, 1 if L' exists.
    pub ok: *mut u8,
    /// Whether NaN is written in place of a factor that does not exist, and not L.
    pub nan: bool,
}

impl<T: RealScalar> ModifyOnGpu<'_, T> {
    /// Enqueues it on a stream, with working memory of as many bytes as `scratch` is asked for.
    ///
    /// # Errors
    /// Those of `scratch`; [`Error::Device`], as such an error.
    ///
    /// # Safety
    /// As [`StreamModification::enqueue`].
    pub unsafe fn enqueue<E: From<Error>>(
        &self,
        stream: u64,
        scratch: impl FnOnce(usize) -> Result<u64, E>,
    ) -> Result<(), E> {
        let modification = StreamModification::<T>::new(self.device, self.shape, self.signs)?;
        let bytes = modification.scratch_bytes();
        let scratch = if bytes == 0 { 0 } else { scratch(bytes)? };
        let operands = StreamOperands {
            l: self.l.at.addr() as u64,
            l_matrix: self.l.each.unsigned_abs(),
            l_by_rows: self.l.row != 1,
            v: self.v.at.addr() as u64,
            v_strides: [self.v.each, self.v.row, self.v.column].map(isize::unsigned_abs),
            weights: self.weights.at.addr() as u64,
            weights_matrix: self.weights.each,
            to: self.to.addr() as u64,
            to_by_rows: self.to_by_rows,
            ok: self.ok.addr() as u64,
            nan: self.nan,
        };
        // SAFETY: as the caller guarantees.
        unsafe { modification.enqueue(stream, &operands, scratch).map_err(E::from) }
    }
}
