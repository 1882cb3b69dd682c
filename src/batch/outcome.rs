//! What a call on a batch has done to each matrix.

use super::tiles::{Tiles, find};
use crate::error::Error;
use crate::report::Modification;
use crate::scalar::Scalar;
use cholupdate_kernels::number::Float;

/// The outcome of a modification of a batch, matrix by matrix. A matrix that could not be modified is as it was, bit for bit.
///
/// It borrows the batch, which keeps the numbers until its next modification.
pub struct BatchOutcome<'a, T: Scalar> {
    tiles: &'a Tiles<T>,
}

impl<'a, T: Scalar> BatchOutcome<'a, T> {
    pub(super) fn new(tiles: &'a Tiles<T>) -> Self {
        Self { tiles }
    }

    /// The matrices that could not be modified, in order, and why.
    ///
    /// # Cost
    /// That of the failures, and one test for some thousand scalars of factors.
    pub fn failures(&self) -> impl Iterator<Item = (usize, &'a Error)> + use<'a, T> {
        let (tiles, extent) = (&self.tiles.tiles, self.tiles.extent);
        let of_tile = move |t: usize| extent.matrices(t).start;
        tiles.iter().enumerate().flat_map(move |(t, tile)| {
            tile.failures.iter().map(move |(matrix, error)| (of_tile(t) + matrix, error))
        })
    }

    /// The numbers of these matrices.
    #[must_use]
    pub fn failed(&self) -> Vec<usize> {
        self.failures().map(|(matrix, _)| matrix).collect()
    }

    /// Whether a matrix could be modified. One that was left out by a mask was.
    ///
    /// # Errors
    /// Those of [`Cholesky::modify`](crate::Cholesky::modify); or, if the matrix has no factor, the reason for that; `Index`,
    /// naming `matrix`, if there is no such matrix.
    pub fn status(&self, matrix: usize) -> Result<(), Error> {
        self.report(matrix).map(|_| ())
    }

    /// The report of the modification of a matrix.
    ///
    /// # Errors
    /// As [`status`](Self::status).
    pub fn report(&self, matrix: usize) -> Result<Modification, Error> {
        crate::check::index("matrix", matrix, self.tiles.extent.count)?;
        let (tile, at) = self.tiles.of(matrix);
        if let Some(error) = find(&tile.failures, at) {
            return Err(error.clone());
        }
        if let Some(report) = find(&tile.reports, at) {
            return Ok(*report);
        }
        let [least, product] = [&tile.largest, &tile.product].map(|of| 1.0 / of.as_slice()[at].to_f64());
        // The least of no ratios.
        if least == f64::INFINITY {
            return Ok(Modification::identity());
        }
        let report = Modification::of_product((least * least).min(f64::MAX), product);
        Ok(match tile.log.get(at) {
            Some(&log) if log != 0.0 => report.and(f64::INFINITY, 2.0 * log),
            _ => report,
        })
    }

    /// Whether every matrix could be modified.
    ///
    /// # Errors
    /// The number of the first matrix that could not, and why.
    pub fn all(&self) -> Result<(), (usize, Error)> {
        self.failures().next().map_or(Ok(()), |(matrix, error)| Err((matrix, error.clone())))
    }
}

impl<T: Scalar> core::fmt::Debug for BatchOutcome<'_, T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("BatchOutcome")
            .field("count", &self.tiles.extent.count)
            .field("failed", &self.failed())
            .finish()
    }
}
