//! Weights of the columns of V.

use crate::check::extent;
use crate::error::Error;
use cholupdate_kernels::number::Float;

/// Weights of the columns of V: w in A + V diag(w) Vᵀ. They are real, also for complex V.
#[derive(Clone, Copy, Debug)]
pub enum Weights<'a, T> {
    /// All 1: an update.
    Plus,
    /// All −1: a downdate.
    Minus,
    /// One weight for each column.
    Each(&'a [T]),
}

impl<'a, T> From<&'a [T]> for Weights<'a, T> {
    fn from(weights: &'a [T]) -> Self {
        Self::Each(weights)
    }
}

impl<'a, T, const N: usize> From<&'a [T; N]> for Weights<'a, T> {
    fn from(weights: &'a [T; N]) -> Self {
        Self::Each(weights)
    }
}

impl<'a, T> From<&'a Vec<T>> for Weights<'a, T> {
    fn from(weights: &'a Vec<T>) -> Self {
        Self::Each(weights)
    }
}

impl<T: Float> Weights<'_, T> {
    /// Checks the shapes of V and w against the order of A, and that w is finite.
    ///
    /// # Errors
    /// `Shape` or `NonFinite`, naming `v` or `weights`.
    #[inline(always)]
    pub(crate) fn check(&self, order: usize, (rows, columns): (usize, usize)) -> Result<(), Error> {
        extent("v", "rows", order, rows)?;
        let Self::Each(w) = self else { return Ok(()) };
        extent("weights", "entries", columns, w.len())?;
        match w.iter().position(|w| !w.is_finite()) {
            Some(row) => Err(Error::NonFinite { argument: "weights", row, column: 0 }),
            None => Ok(()),
        }
    }

    #[inline(always)]
    pub(crate) fn of(&self, column: usize) -> T {
        match self {
            Self::Plus => T::ONE,
            Self::Minus => -T::ONE,
            Self::Each(w) => w[column],
        }
    }
}
