//! The calls that solve systems with all matrices of a batch on a device.

use super::CholeskyBatch;
use super::arguments::{Systems, address};
use super::operand::{BatchOperandMut, begin_behind, end_before};
use super::outcome::Status;
use crate::check::extent;
use crate::error::Error;
use crate::real::Real;

impl<T: Real> CholeskyBatch<T> {
    /// Solves A_b X_b = B_b in place. The status names the matrices for which that is not possible: their right-hand sides stay as they
    /// were.
    ///
    /// # Shapes
    /// B (count × n × m).
    ///
    /// # Errors
    /// `Shape`, or `OutOfRange` for too many columns, naming `rhs`; [`Error::Device`]. In the status: `NonFinite` right-hand sides,
    /// `Singular`, or the reason why a matrix has no factor.
    ///
    /// # Cost
    /// 2 m n² flops for each matrix.
    pub fn solve_in_place<'a>(
        &mut self,
        rhs: impl Into<BatchOperandMut<'a, T>>,
    ) -> Result<Status<'_, T>, Error> {
        self.solved([1, 1], rhs.into())
    }

    /// Solves L_b Y_b = B_b in place. As [`solve_in_place`](Self::solve_in_place).
    ///
    /// # Errors
    /// As [`solve_in_place`](Self::solve_in_place).
    pub fn solve_l_in_place<'a>(
        &mut self,
        rhs: impl Into<BatchOperandMut<'a, T>>,
    ) -> Result<Status<'_, T>, Error> {
        self.solved([1, 0], rhs.into())
    }

    /// Solves L_bᵀ X_b = Y_b in place. As [`solve_in_place`](Self::solve_in_place).
    ///
    /// # Errors
    /// As [`solve_in_place`](Self::solve_in_place).
    pub fn solve_lt_in_place<'a>(
        &mut self,
        rhs: impl Into<BatchOperandMut<'a, T>>,
    ) -> Result<Status<'_, T>, Error> {
        self.solved([0, 1], rhs.into())
    }

    fn solved(&mut self, sides: [i32; 2], rhs: BatchOperandMut<'_, T>) -> Result<Status<'_, T>, Error> {
        let [count, rows, columns] = rhs.shape();
        extent("rhs", "matrices", self.count, count)?;
        extent("rhs", "rows", self.order, rows)?;
        let most = i32::MAX.unsigned_abs() as usize / rows.max(1);
        if columns >= most {
            return Err(Error::OutOfRange {
                argument: "rhs", rule: "of less than 2³¹ entries for a matrix"
            });
        }
        if count > 0 {
            let taken = rhs.take(&self.device, "rhs")?;
            let streams = [taken.stream];
            self.has_solved = false;
            begin_behind(&self.stream, &streams)?;
            let systems = Systems {
                x: taken.address,
                x_strides: taken.strides,
                count: i32::try_from(columns).unwrap_or(0),
                lower: sides[0],
                upper: sides[1],
                shared_stride: 0,
                status: address(&self.solved[0]),
                place: address(&self.solved[1]),
            };
            // SAFETY: the operand has these entries, and is waited for, or used on its stream.
            let enqueued = unsafe { self.kernels.solve::<T>(&self.stream, self.factors(), systems) };
            end_before(&self.stream, &self.device, &streams).and(enqueued)?;
            let copy = taken.into_copy();
            rhs.give_back(copy)?;
        }
        self.has_solved = true;
        let [status, place] = &self.solved;
        Ok(Status::new(self, [status, place], "rhs"))
    }
}
