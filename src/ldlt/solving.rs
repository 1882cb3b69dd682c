//! The calls that solve with the factor.

use super::Ldlt;
use super::systems::{ALL, Part};
use crate::error::Error;
use crate::operand::{Operand, OperandMut};
use crate::scalar::Scalar;
use faer::Mat;

impl<T: Scalar> Ldlt<T> {
    /// X with A X = B.
    ///
    /// # Shapes
    /// B, X (n × m); a slice, array or vector for m = 1.
    ///
    /// # Errors
    /// `Shape` or `NonFinite`, naming `rhs`.
    ///
    /// # Cost
    /// 2 m n² flops.
    pub fn solve<'a>(&self, rhs: impl Into<Operand<'a, T>>) -> Result<Mat<T>, Error> {
        T::ldlt_solve(&self.state, &ALL, &rhs.into())
    }

    /// B ← A⁻¹ B, in place.
    ///
    /// # Shapes, errors, cost
    /// As [`solve`](Self::solve), for any layout. After an error B is unchanged.
    pub fn solve_in_place<'a>(&self, rhs: impl Into<OperandMut<'a, T>>) -> Result<(), Error> {
        T::ldlt_solve_in_place(&self.state, &ALL, rhs.into())
    }

    /// Y with L Y = B. With it Yᵀ S Y = Bᵀ A⁻¹ B.
    ///
    /// # Shapes, errors
    /// As [`solve`](Self::solve).
    ///
    /// # Cost
    /// m n² flops.
    pub fn solve_l<'a>(&self, rhs: impl Into<Operand<'a, T>>) -> Result<Mat<T>, Error> {
        T::ldlt_solve(&self.state, &[Part::L], &rhs.into())
    }

    /// X with Lᵀ X = B.
    ///
    /// # Shapes, errors
    /// As [`solve`](Self::solve).
    ///
    /// # Cost
    /// m n² flops.
    pub fn solve_lt<'a>(&self, rhs: impl Into<Operand<'a, T>>) -> Result<Mat<T>, Error> {
        T::ldlt_solve(&self.state, &[Part::Transpose], &rhs.into())
    }

    /// As [`solve_l`](Self::solve_l), in place.
    ///
    /// # Shapes, errors, cost
    /// As [`solve_l`](Self::solve_l). After an error B is unchanged.
    pub fn solve_l_in_place<'a>(&self, rhs: impl Into<OperandMut<'a, T>>) -> Result<(), Error> {
        T::ldlt_solve_in_place(&self.state, &[Part::L], rhs.into())
    }

    /// As [`solve_lt`](Self::solve_lt), in place.
    ///
    /// # Shapes, errors, cost
    /// As [`solve_lt`](Self::solve_lt). After an error B is unchanged.
    pub fn solve_lt_in_place<'a>(&self, rhs: impl Into<OperandMut<'a, T>>) -> Result<(), Error> {
        T::ldlt_solve_in_place(&self.state, &[Part::Transpose], rhs.into())
    }

    /// An estimate of the condition number of A in the 1-norm, as [`Cholesky::condition`](crate::Cholesky::condition).
    ///
    /// # Errors
    /// None that depend on the factor.
    ///
    /// # Cost
    /// At most ten products with A and as many solves, of 2 n² flops each.
    pub fn condition(&self) -> Result<T::Part, Error> {
        T::ldlt_condition(&self.state)
    }
}
