//! Solves with the factor, and their two halves.

use crate::check::{extent, room_for_copy};
use crate::cholesky::Cholesky;
use crate::engine::Engine;
use crate::error::Error;
use crate::host::empty::without_rows;
use crate::operand::{Operand, OperandMut};
use crate::scalar::Scalar;
use crate::storage::{Op, Side, Storage};
use faer::Mat;

impl<T: Scalar, E: Engine<T>> Cholesky<T, E> {
    /// X with A X = B, in host memory. Entries that overflow the type are infinite or NaN.
    ///
    /// # Shapes
    /// B, X (n × m); a slice, array or vector for m = 1.
    ///
    /// # Errors
    /// `Shape` or `NonFinite`; `Device` on an engine with a device, `Poisoned`.
    ///
    /// # Cost
    /// 2 m n² flops.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// let x = factor.solve(&[8.0, 12.0])?;
    /// assert!((x - mat![[1.0], [2.0]]).norm_max() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn solve<'a>(&self, rhs: impl Into<Operand<'a, T>>) -> Result<Mat<T>, Error> {
        self.solve_sides(&[Side::L, Side::Transpose], rhs)
    }

    /// Y with L Y = B, the first half of [`solve`](Self::solve): with it Yᵀ Y = Bᵀ A⁻¹ B.
    ///
    /// # Shapes, errors
    /// As [`solve`](Self::solve).
    ///
    /// # Cost
    /// m n² flops.
    pub fn solve_l<'a>(&self, rhs: impl Into<Operand<'a, T>>) -> Result<Mat<T>, Error> {
        self.solve_sides(&[Side::L], rhs)
    }

    /// X with Lᵀ X = Y, the second half of [`solve`](Self::solve).
    ///
    /// # Shapes, errors
    /// As [`solve`](Self::solve).
    ///
    /// # Cost
    /// m n² flops.
    pub fn solve_lt<'a>(&self, rhs: impl Into<Operand<'a, T>>) -> Result<Mat<T>, Error> {
        self.solve_sides(&[Side::Transpose], rhs)
    }

    /// B ← A⁻¹ B, in place.
    ///
    /// # Shapes
    /// B (n × m), any layout; a slice, array or vector for m = 1.
    ///
    /// # Errors
    /// `Shape` or `NonFinite`, `Device` on an engine with a device, `Poisoned`. After an error B is unchanged, unless the
    /// driver fails with B in device memory: then the entries of B are unspecified.
    ///
    /// # Cost
    /// 2 m n² flops.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// let mut b = [8.0_f64, 12.0];
    /// factor.solve_in_place(&mut b)?;
    /// assert!((b[0] - 1.0).abs() < 1e-14 && (b[1] - 2.0).abs() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn solve_in_place<'a>(&self, rhs: impl Into<OperandMut<'a, T>>) -> Result<(), Error> {
        self.solve_sides_in_place(&[Side::L, Side::Transpose], rhs.into())
    }

    /// B ← L⁻¹ B, in place.
    ///
    /// # Shapes, errors
    /// As [`solve_in_place`](Self::solve_in_place).
    ///
    /// # Cost
    /// m n² flops.
    pub fn solve_l_in_place<'a>(&self, rhs: impl Into<OperandMut<'a, T>>) -> Result<(), Error> {
        self.solve_sides_in_place(&[Side::L], rhs.into())
    }

    /// B ← L⁻ᵀ B, in place.
    ///
    /// # Shapes, errors
    /// As [`solve_in_place`](Self::solve_in_place).
    ///
    /// # Cost
    /// m n² flops.
    pub fn solve_lt_in_place<'a>(&self, rhs: impl Into<OperandMut<'a, T>>) -> Result<(), Error> {
        self.solve_sides_in_place(&[Side::Transpose], rhs.into())
    }

    fn solve_sides_in_place(&self, sides: &[Side], rhs: OperandMut<'_, T>) -> Result<(), Error> {
        let factor = self.guarded.regular()?;
        extent("rhs", "rows", self.order(), rhs.shape().0)?;
        if self.order() == 0 { Ok(()) } else { factor.apply(Op::Solve(sides), rhs) }
    }

    fn solve_sides<'a>(&self, sides: &[Side], rhs: impl Into<Operand<'a, T>>) -> Result<Mat<T>, Error> {
        let (factor, rhs) = (self.guarded.regular()?, rhs.into());
        extent("rhs", "rows", self.order(), rhs.shape().0)?;
        if self.order() == 0 {
            return Ok(without_rows(rhs.shape().1));
        }
        room_for_copy::<T>("rhs", rhs.shape())?;
        let mut x = rhs.on_host()?.as_ref().to_owned();
        factor.apply(Op::Solve(sides), OperandMut::Host(x.as_mut()))?;
        Ok(x)
    }
}
