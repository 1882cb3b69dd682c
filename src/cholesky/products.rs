//! Products with the factor, and with A.

use crate::cholesky::Cholesky;
use crate::engine::Engine;
use crate::error::Error;
use crate::factor::verbs::Verbs;
use crate::operand::{Operand, OperandMut};
use crate::scalar::Scalar;
use crate::storage::Side;
use faer::Mat;

impl<T: Scalar, E: Engine<T>> Cholesky<T, E> {
    /// A X = L Lᵀ X, in host memory, without forming A. Entries that are too large for the type are infinite or NaN. A may be singular.
    ///
    /// # Shapes
    /// X (n × m); a slice, array or vector for m = 1.
    ///
    /// # Errors
    /// `Shape` or `NonFinite`, naming `x`; `Device` on an engine with a device, `Poisoned`.
    ///
    /// # Cost
    /// 2 m n² flops. The engines with a device copy X to the host and the product back where X is on one.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// assert!((factor.multiply(&[1.0, 2.0])? - mat![[8.0], [12.0]]).norm_max() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn multiply<'a>(&self, x: impl Into<Operand<'a, T>>) -> Result<Mat<T>, Error> {
        E::Factor::multiply(&self.factor, &[Side::Transpose, Side::L], &x.into())
    }

    /// L X. With independent standard normal entries of X, the columns are samples of a normal distribution with covariance A.
    ///
    /// # Shapes, errors
    /// As [`multiply`](Self::multiply).
    ///
    /// # Cost
    /// m n² flops.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let factor = Cholesky::from_factor(&mat![[2.0, 0.0], [1.0, 2.0]])?;
    /// assert_eq!(factor.multiply_l(&[1.0, 1.0])?, mat![[2.0], [3.0]]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn multiply_l<'a>(&self, x: impl Into<Operand<'a, T>>) -> Result<Mat<T>, Error> {
        E::Factor::multiply(&self.factor, &[Side::L], &x.into())
    }

    /// Lᵀ X, of which the squared 2-norm of a column is xᵀ A x.
    ///
    /// # Shapes, errors
    /// As [`multiply`](Self::multiply).
    ///
    /// # Cost
    /// m n² flops.
    pub fn multiply_lt<'a>(&self, x: impl Into<Operand<'a, T>>) -> Result<Mat<T>, Error> {
        E::Factor::multiply(&self.factor, &[Side::Transpose], &x.into())
    }

    /// X ← A X, where X is.
    ///
    /// # Shapes
    /// X (n × m), any layout; a slice, array or vector for m = 1.
    ///
    /// # Errors
    /// As [`multiply`](Self::multiply); X is untouched.
    ///
    /// # Cost
    /// As [`multiply`](Self::multiply), and a copy of X.
    pub fn multiply_in_place<'a>(&self, x: impl Into<OperandMut<'a, T>>) -> Result<(), Error> {
        E::Factor::multiply_in_place(&self.factor, &[Side::Transpose, Side::L], x.into())
    }

    /// X ← L X, where X is.
    ///
    /// # Shapes, errors
    /// As [`multiply_in_place`](Self::multiply_in_place).
    ///
    /// # Cost
    /// As [`multiply_l`](Self::multiply_l), and a copy of X.
    pub fn multiply_l_in_place<'a>(&self, x: impl Into<OperandMut<'a, T>>) -> Result<(), Error> {
        E::Factor::multiply_in_place(&self.factor, &[Side::L], x.into())
    }

    /// X ← Lᵀ X, where X is.
    ///
    /// # Shapes, errors
    /// As [`multiply_in_place`](Self::multiply_in_place).
    ///
    /// # Cost
    /// As [`multiply_lt`](Self::multiply_lt), and a copy of X.
    pub fn multiply_lt_in_place<'a>(&self, x: impl Into<OperandMut<'a, T>>) -> Result<(), Error> {
        E::Factor::multiply_in_place(&self.factor, &[Side::Transpose], x.into())
    }
}
