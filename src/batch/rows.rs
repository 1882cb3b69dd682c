//! The calls that change rows and columns.

use super::CholeskyBatch;
use super::operand::BatchRef;
use super::outcome::BatchOutcome;
use crate::check::{extent, room};
use crate::error::Error;
use crate::scalar::Scalar;
use cholupdate_kernels::batch::packed::entries;

/// Rows and columns at the end, and removal. Within the order of the batch, no call allocates memory for factors.
impl<T: Scalar> CholeskyBatch<T> {
    /// Makes room for matrices of this order, which becomes the [`order`](Self::order) of the batch unless that is as large already.
    /// No matrix changes.
    ///
    /// # Errors
    /// `OutOfRange`, naming `order`, if there is not enough memory; nothing is changed then.
    ///
    /// # Cost
    /// A copy of all factors.
    ///
    /// ```
    /// use cholupdate::{BatchRef, CholeskyBatch, Error};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut batch = CholeskyBatch::new(BatchRef::by_rows(&[4.0, 9.0], [2, 1, 1])?)?;
    /// batch.reserve(10)?;
    /// assert_eq!((batch.order(), batch.order_of(0)?), (10, 1));
    /// # Ok(())
    /// # }
    /// ```
    pub fn reserve(&mut self, order: usize) -> Result<(), Error> {
        if order <= self.order {
            return Ok(());
        }
        // The order is stored in 32 bits, and a triangle of that order would fill any memory.
        let scalars = if order < 1 << 31 { entries(order).checked_add(2) } else { None };
        let beside = size_of::<u32>() + size_of::<f64>();
        room::<T>("order", self.count(), (scalars.unwrap_or(usize::MAX), beside))?;
        let all: Vec<usize> = (0..self.count()).collect();
        self.tiles = T::batch_select(&self.tiles, &all, order);
        self.order = order;
        Ok(())
    }

    /// A_b ← (A_b c; cᵀ d), of complex numbers (A_b c; cᴴ d): a further row and column of each matrix, at the end.
    ///
    /// # Shapes
    /// The new columns (count × n × 1): of a matrix of order m the first m entries are c, the next one is d, and the others may
    /// be anything.
    ///
    /// # Report
    /// As for [`Cholesky::append`](crate::Cholesky::append): δ / d, where δ is the square of the new pivot, and log δ.
    ///
    /// # Errors
    /// `Shape`, naming `a`; nothing is changed then. In the outcome, of matrices that stay as they were: `Shape`, naming `a`, for one of
    /// order n ([`reserve`](Self::reserve) makes room); `NonFinite` or `Overflow`, naming `a`; `NotPositiveDefinite` with the new row;
    /// `Singular`.
    ///
    /// # Cost
    /// n² flops for each matrix. A matrix of which almost nothing of d is left in δ takes one to two orders of magnitude longer.
    ///
    /// ```
    /// use cholupdate::{BatchRef, CholeskyBatch, Cpu, Error};
    ///
    /// # fn main() -> Result<(), Error> {
    /// // Two matrices of order 1, and room for one row more.
    /// let a = [4.0, 0.0, 0.0, 0.0,   9.0, 0.0, 0.0, 0.0];
    /// let a = BatchRef::by_rows(&a, [2, 2, 2])?;
    /// let mut batch = CholeskyBatch::with_orders(a, &[1, 1], Cpu::default())?;
    /// let columns = [2.0, 5.0,   3.0, 1.0];
    /// let outcome = batch.append(BatchRef::by_rows(&columns, [2, 2, 1])?)?; // (4 2; 2 5) and (9 3; 3 1)
    /// assert_eq!(outcome.status(1), Err(Error::NotPositiveDefinite { column: 1 }));
    /// assert_eq!(batch.factor(0)?.row(1).iter().copied().collect::<Vec<_>>(), [1.0, 2.0]);
    /// assert_eq!(batch.order_of(1)?, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn append(&mut self, a: BatchRef<'_, T>) -> Result<BatchOutcome<'_, T>, Error> {
        self.appended(a, None)
    }

    /// As [`append`](Self::append), for the matrices with `mask[b]`. The others stay as they are, and their columns may be anything.
    ///
    /// # Shapes
    /// `mask` (count entries).
    ///
    /// # Errors
    /// As [`append`](Self::append); `Shape`, naming `mask`.
    pub fn append_where(&mut self, mask: &[bool], a: BatchRef<'_, T>) -> Result<BatchOutcome<'_, T>, Error> {
        extent("mask", "entries", self.count(), mask.len())?;
        self.appended(a, Some(mask))
    }

    fn appended(&mut self, a: BatchRef<'_, T>, mask: Option<&[bool]>) -> Result<BatchOutcome<'_, T>, Error> {
        let [count, rows, columns] = a.shape();
        extent("a", "matrices", self.count(), count)?;
        extent("a", "rows", self.order, rows)?;
        extent("a", "columns", 1, columns)?;
        T::batch_append(&mut self.tiles, a, mask);
        Ok(BatchOutcome::new(&self.tiles))
    }

    /// Removes a row and column of each matrix: `indices[b]` of A_b. It cannot break down.
    ///
    /// # Shapes
    /// `indices` (count entries), each less than the order of its matrix.
    ///
    /// # Report
    /// As for [`Cholesky::remove`](crate::Cholesky::remove).
    ///
    /// # Errors
    /// `Shape`, naming `indices`; nothing is changed then. In the outcome, of matrices that stay as they were: `Index`, naming
    /// `indices`; `Singular`.
    ///
    /// # Cost
    /// 2 (n − f)² flops for each matrix, where f is its index, and a copy of its factor.
    ///
    /// ```
    /// use cholupdate::{BatchRef, CholeskyBatch, Error};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let a = [4.0, 2.0, 2.0, 5.0,   9.0, 3.0, 3.0, 2.0];
    /// let mut batch = CholeskyBatch::new(BatchRef::by_rows(&a, [2, 2, 2])?)?;
    /// batch.remove(&[0, 1])?; // (5) and (9)
    /// assert!((batch.log_det(0)? - 5.0_f64.ln()).abs() < 1e-15);
    /// assert_eq!(batch.factor(1)?[(0, 0)], 3.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn remove(&mut self, indices: &[usize]) -> Result<BatchOutcome<'_, T>, Error> {
        self.removed(indices, None)
    }

    /// As [`remove`](Self::remove), for the matrices with `mask[b]`. The others stay as they are, and their indices may be anything.
    ///
    /// # Shapes
    /// `mask` (count entries).
    ///
    /// # Errors
    /// As [`remove`](Self::remove); `Shape`, naming `mask`.
    pub fn remove_where(&mut self, mask: &[bool], indices: &[usize]) -> Result<BatchOutcome<'_, T>, Error> {
        extent("mask", "entries", self.count(), mask.len())?;
        self.removed(indices, Some(mask))
    }

    fn removed(&mut self, indices: &[usize], mask: Option<&[bool]>) -> Result<BatchOutcome<'_, T>, Error> {
        extent("indices", "entries", self.count(), indices.len())?;
        T::batch_remove(&mut self.tiles, indices, mask);
        Ok(BatchOutcome::new(&self.tiles))
    }
}
