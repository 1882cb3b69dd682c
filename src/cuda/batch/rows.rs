//! The calls that append and remove a row and column of each matrix of a batch on a device.

use super::CholeskyBatch;
use super::arguments::{Appending, Columns, Removal, address};
use super::operand::{BatchOperand, begin_behind, end_before};
use super::outcome::DeviceOutcome;
use super::row_kernels::RowKernels;
use crate::check::extent;
use crate::cuda::memory::{DeviceBuffer, Pinned};
use crate::error::Error;
use crate::real::Real;

/// Numbers that go to the device, for each matrix.
type Staged<N> = (Pinned<N>, DeviceBuffer<N>);

impl<T: Real> CholeskyBatch<T> {
    /// A_b ← (A_b c; cᵀ d): a further row and column of each matrix, at the end.
    ///
    /// # Shapes
    /// The new columns (count × n × 1): of a matrix of order m the first m entries are c, the next one is d, and the others may
    /// be anything.
    ///
    /// # Report
    /// As for [`Cholesky::append`](crate::Cholesky::append): δ / d, where δ is the square of the new pivot, and log δ.
    ///
    /// # Errors
    /// `Shape`, naming `a`, and nothing is changed; [`Error::Device`]. In the outcome, of matrices that stay as they were: `Shape`, naming
    /// `a`, for one of order n ([`reserve`](Self::reserve) makes room); `NonFinite` or `Overflow`, naming `a`; `NotPositiveDefinite` with
    /// the new row; `Singular`.
    ///
    /// # Cost
    /// n² flops for each matrix; each L is read once.
    ///
    /// ```
    /// use cholupdate::cuda::{CholeskyBatch, Device};
    /// use cholupdate::{BatchRef, Error};
    ///
    /// fn on_the_gpu() -> Result<(), Error> {
    ///     // Two matrices of order 1, and room for one row more.
    ///     let a = [4.0, 0.0, 0.0, 0.0,   9.0, 0.0, 0.0, 0.0];
    ///     let a = BatchRef::by_rows(&a, [2, 2, 2])?;
    ///     let mut batch = CholeskyBatch::with_orders(&Device::new(0)?, a, &[1, 1])?;
    ///     let columns = [2.0, 5.0,   3.0, 1.0];                               // (4 2; 2 5) and (9 3; 3 1)
    ///     let outcome = batch.append(BatchRef::by_rows(&columns, [2, 2, 1])?)?;
    ///     assert_eq!(outcome.status(1), Err(Error::NotPositiveDefinite { column: 1 }));
    ///     assert_eq!(batch.orders()?, [Some(2), Some(1)]);
    ///     batch.remove(&[0, 0])?;                                             // (5), and nothing
    ///     assert_eq!(batch.orders()?, [Some(1), Some(0)]);
    ///     Ok(())
    /// }
    /// # match on_the_gpu() { Ok(()) | Err(Error::Device { .. }) => {} Err(error) => panic!("{error}") }
    /// ```
    pub fn append<'a>(&mut self, a: impl Into<BatchOperand<'a, T>>) -> Result<DeviceOutcome<'_, T>, Error> {
        self.appended(&a.into(), None)
    }

    /// As [`append`](Self::append), for the matrices with `mask[b]`. The others stay as they are, and their columns may be anything. The
    /// mask is in host memory, and the call waits for the device.
    ///
    /// # Shapes
    /// `mask` (count entries).
    ///
    /// # Errors
    /// As [`append`](Self::append); `Shape`, naming `mask`.
    pub fn append_where<'a>(
        &mut self,
        mask: &[bool],
        a: impl Into<BatchOperand<'a, T>>,
    ) -> Result<DeviceOutcome<'_, T>, Error> {
        extent("mask", "entries", self.count, mask.len())?;
        self.appended(&a.into(), Some(mask))
    }

    fn appended(
        &mut self,
        a: &BatchOperand<'_, T>,
        mask: Option<&[bool]>,
    ) -> Result<DeviceOutcome<'_, T>, Error> {
        let [count, rows, columns] = a.shape();
        extent("a", "matrices", self.count, count)?;
        extent("a", "rows", self.order, rows)?;
        extent("a", "columns", 1, columns)?;
        if count == 0 {
            return Ok(self.outcome_of("a"));
        }
        self.load_rows()?;
        self.modified_by = None;
        let a = a.take(&self.device, "a")?;
        let mask = self.staged_mask(mask)?;
        let streams = [a.stream];
        begin_behind(&self.stream, &streams)?;
        let [matrix, row, _] = a.strides;
        let columns = Columns { a: a.address, matrix, row, mask: address_of(mask.as_ref()) };
        let all = Appending { factors: self.factors(), columns, results: self.results.argument() };
        let enqueue = || {
            // SAFETY: all memories exist until the work has been waited for, below; the operand has these entries, and is used on its
            // stream otherwise.
            unsafe {
                self.upload(mask.as_ref())?;
                self.rows.as_ref().map_or(Ok(()), |kernels| kernels.append::<T>(&self.stream, all))
            }
        };
        let enqueued = enqueue();
        if enqueued.is_err() {
            // What has been left undecided stays so.
            // SAFETY: the memory belongs to the batch, whose stream alone uses it.
            let _ = unsafe { self.stream.clear(self.results.pending.slice(0..2)) };
        }
        // What has been copied for the call must outlive the work.
        let streams = [a.stream.filter(|_| mask.is_none())];
        end_before(&self.stream, &self.device, &streams).and(enqueued)?;
        Ok(self.outcome_of("a"))
    }

    /// Removes a row and column of each matrix: `indices[b]` of A_b. It cannot break down. The indices are in host memory, and the call
    /// waits for the device.
    ///
    /// # Shapes
    /// `indices` (count entries), each less than the order of its matrix.
    ///
    /// # Report
    /// As for [`Cholesky::remove`](crate::Cholesky::remove).
    ///
    /// # Errors
    /// `Shape`, naming `indices`, and nothing is changed; [`Error::Device`]. In the outcome, of matrices that stay as they were: `Index`,
    /// naming `indices`; `Singular`.
    ///
    /// # Cost
    /// 2 (n − f)² flops for each matrix, where f is its index; each L is read and written once.
    pub fn remove(&mut self, indices: &[usize]) -> Result<DeviceOutcome<'_, T>, Error> {
        self.removed(indices, None)
    }

    /// As [`remove`](Self::remove), for the matrices with `mask[b]`. The others stay as they are, and their indices may be anything.
    ///
    /// # Shapes
    /// `mask` (count entries).
    ///
    /// # Errors
    /// As [`remove`](Self::remove); `Shape`, naming `mask`.
    pub fn remove_where(&mut self, mask: &[bool], indices: &[usize]) -> Result<DeviceOutcome<'_, T>, Error> {
        extent("mask", "entries", self.count, mask.len())?;
        self.removed(indices, Some(mask))
    }

    fn removed(&mut self, indices: &[usize], mask: Option<&[bool]>) -> Result<DeviceOutcome<'_, T>, Error> {
        extent("indices", "entries", self.count, indices.len())?;
        if self.count == 0 {
            return Ok(self.outcome_of("indices"));
        }
        self.load_rows()?;
        self.modified_by = None;
        let mask = self.staged_mask(mask)?;
        // No order is as large.
        let rows: Vec<i32> = indices.iter().map(|&row| i32::try_from(row).unwrap_or(i32::MAX)).collect();
        let rows = Some(self.staged(&rows)?);
        self.removed.clear();
        self.removed.extend_from_slice(indices);
        let all = Removal {
            factors: self.factors(),
            indices: address_of(rows.as_ref()),
            mask: address_of(mask.as_ref()),
            results: self.results.argument(),
        };
        let enqueue = || {
            // SAFETY: all memories exist until the work has been waited for, below.
            unsafe {
                self.upload(rows.as_ref())?;
                self.upload(mask.as_ref())?;
                self.rows.as_ref().map_or(Ok(()), |kernels| kernels.remove::<T>(&self.stream, all))
            }
        };
        let enqueued = enqueue();
        self.stream.synchronize().and(enqueued)?;
        Ok(self.outcome_of("indices"))
    }

    /// Loads the kernels, if that has not been done.
    fn load_rows(&mut self) -> Result<(), Error> {
        if self.rows.is_none() {
            self.rows = Some(RowKernels::load::<T>(&self.device, self.order, self.group_stride)?);
        }
        Ok(())
    }

    fn staged_mask(&self, mask: Option<&[bool]>) -> Result<Option<Staged<u8>>, Error> {
        let mask: Option<Vec<u8>> = mask.map(|mask| mask.iter().map(|&one| u8::from(one)).collect());
        mask.map(|mask| self.staged(&mask)).transpose()
    }

    /// Enqueues the copy of a number of each matrix to the device.
    ///
    /// # Safety
    /// Both memories exist until the copy has been waited for.
    unsafe fn upload<N: crate::cuda::plain::Plain>(&self, staged: Option<&Staged<N>>) -> Result<(), Error> {
        let Some((staged, to)) = staged else { return Ok(()) };
        // SAFETY: the caller guarantees both memories, which nothing else uses.
        unsafe { self.stream.upload(staged, 0..to.len(), to.slice(0..to.len())) }
    }
}

/// Where the numbers are on the device, or zero.
fn address_of<N: crate::cuda::plain::Plain>(staged: Option<&Staged<N>>) -> u64 {
    staged.map_or(0, |(_, to)| address(to))
}
