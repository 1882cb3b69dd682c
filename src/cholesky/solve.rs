//! Solves with the factor, and their two halves.

use crate::cholesky::Cholesky;
use crate::engine::Engine;
use crate::error::Error;
use crate::factor::verbs::Verbs;
use crate::operand::{Operand, OperandMut};
use crate::scalar::Scalar;
use crate::storage::Side;
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
        E::Factor::solve(&self.factor, &[Side::L, Side::Transpose], &rhs.into())
    }

    /// Y with L Y = B, the first half of [`solve`](Self::solve): with it Yᵀ Y = Bᵀ A⁻¹ B.
    ///
    /// # Shapes, errors
    /// As [`solve`](Self::solve).
    ///
    /// # Cost
    /// m n² flops.
    pub fn solve_l<'a>(&self, rhs: impl Into<Operand<'a, T>>) -> Result<Mat<T>, Error> {
        E::Factor::solve(&self.factor, &[Side::L], &rhs.into())
    }

    /// X with Lᵀ X = Y, the second half of [`solve`](Self::solve).
    ///
    /// # Shapes, errors
    /// As [`solve`](Self::solve).
    ///
    /// # Cost
    /// m n² flops.
    pub fn solve_lt<'a>(&self, rhs: impl Into<Operand<'a, T>>) -> Result<Mat<T>, Error> {
        E::Factor::solve(&self.factor, &[Side::Transpose], &rhs.into())
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
        E::Factor::solve_in_place(&self.factor, &[Side::L, Side::Transpose], rhs.into())
    }

    /// B ← L⁻¹ B, in place.
    ///
    /// # Shapes, errors
    /// As [`solve_in_place`](Self::solve_in_place).
    ///
    /// # Cost
    /// m n² flops.
    pub fn solve_l_in_place<'a>(&self, rhs: impl Into<OperandMut<'a, T>>) -> Result<(), Error> {
        E::Factor::solve_in_place(&self.factor, &[Side::L], rhs.into())
    }

    /// B ← L⁻ᵀ B, in place.
    ///
    /// # Shapes, errors
    /// As [`solve_in_place`](Self::solve_in_place).
    ///
    /// # Cost
    /// m n² flops.
    pub fn solve_lt_in_place<'a>(&self, rhs: impl Into<OperandMut<'a, T>>) -> Result<(), Error> {
        E::Factor::solve_in_place(&self.factor, &[Side::Transpose], rhs.into())
    }
}
