//! The calls that solve systems with all matrices, and their determinants.

use super::CholeskyBatch;
use super::operand::BatchMut;
use crate::check::{extent, index, room};
use crate::error::Error;
use crate::scalar::Scalar;
use cholupdate_kernels::batch::packed::MAX_LANES;

impl<T: Scalar> CholeskyBatch<T> {
    /// Solves A_b X_b = B_b in place. Returns the matrices for which that is not possible, in order, and why: their right-hand sides
    /// stay as they were.
    ///
    /// # Shapes
    /// B (count × n × m).
    ///
    /// # Errors
    /// `Shape`, naming `rhs`. In the list: `NonFinite` right-hand sides, `Singular`, or the reason why a matrix has no factor.
    ///
    /// # Cost
    /// 2 m n² flops for each matrix.
    ///
    /// ```
    /// use cholupdate::{BatchMut, BatchRef, CholeskyBatch, Error};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let a = [4.0, 2.0, 2.0, 5.0,   9.0, 3.0, 3.0, 2.0];
    /// let batch = CholeskyBatch::new(BatchRef::by_rows(&a, [2, 2, 2])?)?;
    /// let mut x = [8.0, 12.0,   15.0, 7.0];
    /// assert!(batch.solve_in_place(BatchMut::by_rows(&mut x, [2, 2, 1])?)?.is_empty());
    /// assert_eq!(x, [1.0, 2.0,   1.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn solve_in_place(&self, rhs: BatchMut<'_, T>) -> Result<Vec<(usize, Error)>, Error> {
        self.solved([true, true], &rhs)
    }

    /// Solves L_b Y_b = B_b in place. As [`solve_in_place`](Self::solve_in_place).
    ///
    /// # Errors
    /// As [`solve_in_place`](Self::solve_in_place).
    pub fn solve_l_in_place(&self, rhs: BatchMut<'_, T>) -> Result<Vec<(usize, Error)>, Error> {
        self.solved([true, false], &rhs)
    }

    /// Solves L_bᵀ X_b = Y_b in place. As [`solve_in_place`](Self::solve_in_place).
    ///
    /// # Errors
    /// As [`solve_in_place`](Self::solve_in_place).
    pub fn solve_lt_in_place(&self, rhs: BatchMut<'_, T>) -> Result<Vec<(usize, Error)>, Error> {
        self.solved([false, true], &rhs)
    }

    fn solved(&self, sides: [bool; 2], rhs: &BatchMut<'_, T>) -> Result<Vec<(usize, Error)>, Error> {
        let [count, rows, columns] = rhs.shape();
        extent("rhs", "matrices", self.count(), count)?;
        extent("rhs", "rows", self.order, rows)?;
        // Memory for two groups.
        room::<T>("rhs", columns, (rows.max(1).saturating_mul(2 * MAX_LANES), size_of::<usize>()))?;
        Ok(T::batch_solve(&self.tiles, sides, rhs))
    }

    /// log det A of a matrix.
    ///
    /// # Errors
    /// As [`status`](Self::status); `Singular`.
    ///
    /// # Cost
    /// A pass over its diagonal.
    pub fn log_det(&self, matrix: usize) -> Result<f64, Error> {
        index("matrix", matrix, self.count())?;
        T::batch_log_det(&self.tiles, matrix)
    }
}
