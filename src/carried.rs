//! Right-hand sides of least squares that are kept current with a factor.

use crate::check::{extent, finite};
use crate::element::Element;
use crate::error::Error;
use cholupdate_kernels::number::{Float, Number};
use faer::{Mat, MatRef};

/// Right-hand sides of least squares that are kept current with the factor.
///
/// For observations X (one in each row) and observed values y, A = Xᵀ X and b = Xᵀ y are the normal equations A β = b; if X is
/// complex, transposes are conjugate transposes, and the columns of V are those of Xᴴ. This struct holds z = L⁻¹ b and ‖y − X β‖²,
/// LINPACK's Z and RHO² of `dchud`. [`Cholesky::solve_lt`](crate::Cholesky::solve_lt) computes β from z.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried<T: Element> {
    /// L⁻¹ b. (n × m)
    pub z: Mat<T>,
    /// The residual sums of squares. (m) −1 stands for a sum that would have become negative: it is unknown, and remains −1.
    pub squares: Vec<T::Part>,
}

/// Stands for a sum of squares that is unknown.
pub(crate) fn unknown<R: Float>() -> R {
    -R::ONE
}

impl<T: Element> Carried<T> {
    /// No observations, for m right-hand sides of a factor of this order. It goes with
    /// [`Cholesky::zeros`](crate::Cholesky::zeros).
    ///
    /// # Shapes
    /// z (n × m), squares (m).
    #[must_use]
    pub fn zeros(order: usize, columns: usize) -> Self {
        Self { z: Mat::zeros(order, columns), squares: vec![T::Part::ZERO; columns] }
    }

    /// Checks the shapes against a factor of that order and rows y (k × m), and that squares cannot overflow.
    pub(crate) fn check(&self, order: usize, rank: usize, y: MatRef<'_, T>) -> Result<(), Error> {
        extent("z", "rows", order, self.z.nrows())?;
        extent("squares", "entries", self.z.ncols(), self.squares.len())?;
        extent("y", "rows", rank, y.nrows())?;
        extent("y", "columns", self.z.ncols(), y.ncols())?;
        finite("squares", MatRef::from_column_major_slice(&self.squares, self.squares.len(), 1))?;
        for (argument, all) in [("z", self.z.as_ref()), ("y", y)] {
            let largest = finite(argument, all)?.to_f64();
            if largest * largest * (order + rank) as f64 > T::Part::LARGE_SQUARE.to_f64() {
                return Err(Error::Overflow { argument });
            }
        }
        Ok(())
    }

    /// Adds these changes to the sums of squares, and multiplies the results by `decay`.
    pub(crate) fn add(&mut self, decay: f64, changes: impl Iterator<Item = f64>) {
        for (square, change) in self.squares.iter_mut().zip(changes) {
            let new = decay * (square.to_f64() + change);
            let known = *square >= T::Part::ZERO && new >= 0.0;
            *square = if known { T::Part::from_f64(new) } else { unknown() };
        }
    }
}
