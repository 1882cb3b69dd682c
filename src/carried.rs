//! Right-hand sides of least squares that go along with a factor.

use crate::check::{extent, finite};
use crate::error::Error;
use crate::scalar::Scalar;
use faer::{Mat, MatRef};

/// Right-hand sides of least squares that are kept current with the factor.
///
/// With A = Xᵀ X for observations X (rows) and y for what was observed, b = Xᵀ y are right-hand sides of A β = b. What is kept is
/// z = L⁻¹ b and ‖y − X β‖², from which [`Cholesky::solve_lt`](crate::Cholesky::solve_lt) has β: LINPACK's Z and RHO² of `dchud`.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried<T> {
    /// L⁻¹ b. (n × m)
    pub z: Mat<T>,
    /// The residual sums of squares. (m) −1 for one that would have become negative: it is not known any more, and stays −1.
    pub squares: Vec<T>,
}

/// What a sum of squares is that is not known any more.
pub(crate) fn unknown<T: Scalar>() -> T {
    -T::ONE
}

impl<T: Scalar> Carried<T> {
    /// Of no observations yet, for m right-hand sides of a factor of this order: what goes with [`Cholesky::zeros`](crate::Cholesky::zeros).
    ///
    /// # Shapes
    /// z (n × m), squares (m).
    #[must_use]
    pub fn zeros(order: usize, columns: usize) -> Self {
        Self { z: Mat::zeros(order, columns), squares: vec![T::ZERO; columns] }
    }

    /// Whether it goes with a factor of that order and with rows y (k × m).
    pub(crate) fn check(&self, order: usize, rank: usize, y: MatRef<'_, T>) -> Result<(), Error> {
        extent("z", "rows", order, self.z.nrows())?;
        extent("squares", "entries", self.z.ncols(), self.squares.len())?;
        extent("y", "rows", rank, y.nrows())?;
        extent("y", "columns", self.z.ncols(), y.ncols())?;
        finite("squares", MatRef::from_column_major_slice(&self.squares, self.squares.len(), 1))?;
        for (argument, all) in [("z", self.z.as_ref()), ("y", y)] {
            let largest = finite(argument, all)?.to_f64();
            if largest * largest * (order + rank) as f64 > T::LARGE_SQUARE.to_f64() {
                return Err(Error::Overflow { argument });
            }
        }
        Ok(())
    }

    /// Takes these changes of the sums of squares, and forgets.
    pub(crate) fn add(&mut self, decay: f64, changes: impl Iterator<Item = f64>) {
        for (square, change) in self.squares.iter_mut().zip(changes) {
            let new = decay * (square.to_f64() + change);
            let known = *square >= T::ZERO && new >= 0.0;
            *square = if known { T::from_f64(new) } else { unknown() };
        }
    }
}
