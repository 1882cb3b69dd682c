//! Products with the factor, and with A.

use crate::check::{extent, finite, room_for_copy};
use crate::cholesky::Cholesky;
use crate::engine::Engine;
use crate::error::Error;
use crate::host::empty::without_rows;
use crate::operand::{Operand, OperandMut};
use crate::scalar::Scalar;
use crate::storage::{Op, Side, Storage};
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
        self.product(&[Side::Transpose, Side::L], x.into())
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
        self.product(&[Side::L], x.into())
    }

    /// Lᵀ X, of which the squared 2-norm of a column is xᵀ A x.
    ///
    /// # Shapes, errors
    /// As [`multiply`](Self::multiply).
    ///
    /// # Cost
    /// m n² flops.
    pub fn multiply_lt<'a>(&self, x: impl Into<Operand<'a, T>>) -> Result<Mat<T>, Error> {
        self.product(&[Side::Transpose], x.into())
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
        self.product_in_place(&[Side::Transpose, Side::L], x.into())
    }

    /// X ← L X, where X is.
    ///
    /// # Shapes, errors
    /// As [`multiply_in_place`](Self::multiply_in_place).
    ///
    /// # Cost
    /// As [`multiply_l`](Self::multiply_l), and a copy of X.
    pub fn multiply_l_in_place<'a>(&self, x: impl Into<OperandMut<'a, T>>) -> Result<(), Error> {
        self.product_in_place(&[Side::L], x.into())
    }

    /// X ← Lᵀ X, where X is.
    ///
    /// # Shapes, errors
    /// As [`multiply_in_place`](Self::multiply_in_place).
    ///
    /// # Cost
    /// As [`multiply_lt`](Self::multiply_lt), and a copy of X.
    pub fn multiply_lt_in_place<'a>(&self, x: impl Into<OperandMut<'a, T>>) -> Result<(), Error> {
        self.product_in_place(&[Side::Transpose], x.into())
    }

    fn product_in_place(&self, sides: &[Side], x: OperandMut<'_, T>) -> Result<(), Error> {
        self.guarded.healthy()?;
        self.checked_rows(x.shape())?;
        x.change_on_host(|mut x| {
            let product = self.product(sides, Operand::Host(x.as_ref()))?;
            x.copy_from(product);
            Ok(())
        })
    }

    /// X by the factors of these sides, the first one first.
    fn product(&self, sides: &[Side], x: Operand<'_, T>) -> Result<Mat<T>, Error> {
        let factor = self.guarded.healthy()?;
        self.checked_rows(x.shape())?;
        if self.order() == 0 {
            return Ok(without_rows(x.shape().1));
        }
        room_for_copy::<T>("x", x.shape())?;
        let mut product = x.on_host()?.into_owned();
        finite("x", product.as_ref())?;
        for &side in sides {
            factor.apply(Op::Multiply(side), OperandMut::Host(product.as_mut()))?;
        }
        Ok(product)
    }

    fn checked_rows(&self, shape: (usize, usize)) -> Result<(), Error> {
        extent("x", "rows", self.order(), shape.0)
    }
}
