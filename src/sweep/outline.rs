//! A summary of V diag(w) Vᴴ and of the columns of V.

use super::weights::Weights;
use crate::error::Error;
use cholupdate_kernels::number::Float;

/// A summary of V diag(w) Vᴴ with V (n × k), in host or device memory.
#[derive(Clone, Copy, Debug)]
pub struct Outline {
    /// Columns with a positive weight.
    pub plus: usize,
    /// Columns with a negative weight.
    pub minus: usize,
    /// The first row of V that is not zero, n if there is none.
    pub first_row: usize,
    /// An upper bound of the 2-norm of any row of V diag(√|w|) that has a plus sign.
    pub row_norm: f64,
    /// The number that new entries of L are multiplied by, if the engine does so ([`scales`](crate::storage::Traits::scales)).
    pub scale: f64,
}

impl Outline {
    /// The first column of L (n × n) that the sweep processes, or `None` if nothing changes.
    ///
    /// Rounded down to the start of a cache line of L. The columns between are transformed by the identity, which is exact.
    #[inline(always)]
    pub fn first_column<T>(&self, order: usize) -> Option<usize> {
        let line = 64 / size_of::<T>();
        (self.rank() > 0 && self.first_row < order).then_some(self.first_row / line * line)
    }

    /// The number of columns of V whose weight is not zero.
    #[inline]
    pub fn rank(&self) -> usize {
        self.plus + self.minus
    }
}

/// Data about a column of V.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<T> {
    /// The magnitude of its largest entry, or a bound on it, as `largest_entry` finds it.
    pub largest: T,
    /// The first row that is not finite.
    pub not_finite: Option<usize>,
}

impl<T: Float> Seen<T> {
    pub const NOTHING: Self = Self { largest: T::ZERO, not_finite: None };

    #[inline(always)]
    pub fn new(found: Result<T, usize>) -> Self {
        match found {
            Ok(largest) => Self { largest, not_finite: None },
            Err(row) => Self { largest: T::ZERO, not_finite: Some(row) },
        }
    }
}

/// Computes the outline of V (`order` rows) from the data about its columns. `first_not_zero` returns a column's first row
/// before the given one that is not zero.
///
/// # Errors
/// `NonFinite` or `Overflow`, naming `v`: V and w are finite, but √|w| v and its square must be as well.
#[inline(always)]
pub(crate) fn outline<T: Float>(
    order: usize,
    weights: Weights<'_, T>,
    seen: impl ExactSizeIterator<Item = Seen<T>>,
    first_not_zero: impl Fn(usize, usize) -> Option<usize>,
) -> Result<Outline, Error> {
    let k = seen.len() as f64;
    let mut outline = Outline { plus: 0, minus: 0, first_row: order, row_norm: 0.0, scale: 1.0 };
    for (column, Seen { largest, not_finite }) in seen.enumerate() {
        if let Some(row) = not_finite {
            return Err(Error::NonFinite { argument: "v", row, column });
        }
        let weight = weights.of(column);
        let norm = weight.abs().to_f64().sqrt() * largest.to_f64();
        let square = norm * norm * k;
        if !(square <= T::LARGE_SQUARE.to_f64()) {
            return Err(Error::Overflow { argument: "v" });
        }
        if weight == T::ZERO {
            continue;
        }
        if weight > T::ZERO {
            outline.plus += 1;
            outline.row_norm = outline.row_norm.max(square.sqrt());
        } else {
            outline.minus += 1;
        }
        outline.first_row = first_not_zero(column, outline.first_row).unwrap_or(outline.first_row);
    }
    Ok(outline)
}
