//! An estimate of the accumulated rounding errors of all modifications, row by row of A.
//!
//! A modification A ← δ A + V₊ V₊ᴴ − V₋ V₋ᴴ leaves errors |R_ij| of about u √(m_i m_j), where m_i is the diagonal entry of
//! δ A + V₊ V₊ᵀ. Later modifications do not change these errors, while A grows or shrinks. So with e_i a_ii for the sum of all m_i
//! so far (times δ where A is),
//!
//! ```text
//! |Σ R_ij| ≤ u √(e_i e_j a_ii a_jj)
//! ```
//!
//! by the Cauchy–Schwarz inequality. The largest e_i counts, and what happens to one row cannot hide the error of another.

#[cfg(feature = "serde")]
mod kept;
mod pivots;
mod rows;

use crate::sweep::weights::Weights;
use cholupdate_kernels::dense::Dense;
use cholupdate_kernels::number::{Float, Number};
use core::ops::Range;
use faer::MatRef;
#[cfg(feature = "serde")]
pub(crate) use kept::Kept;
use pivots::Pivots;
use rows::Rows;

/// The history of a factor since it was computed.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub modifications: usize,
    known: Known,
    /// Error units of a modification in flight. It is recorded when the modification has succeeded.
    expected: Option<f64>,
    /// Those of a modification that has succeeded and is not in the estimates yet: they follow while the next one is in flight.
    unrecorded: Option<f64>,
}

/// From what the errors of rows are estimated.
#[derive(Clone, Debug, Default)]
enum Known {
    /// They are not estimated.
    #[default]
    Nothing,
    /// From the diagonal of A: the host has read every V.
    Diagonal(Rows),
    /// From the pivots of L.
    Pivots(Pivots),
}

/// Error of a modification of that rank, in units of u.
fn unit(rank: usize) -> f64 {
    (rank.max(1) as f64).sqrt()
}

impl History {
    /// Of an exact factor of an A with this diagonal.
    pub fn of_factor(diagonal: Vec<f64>) -> Self {
        Self { known: Known::Diagonal(Rows::new(diagonal, 0.0)), ..Self::default() }
    }

    /// Of a factor that has been computed from an A with this diagonal.
    pub fn of_matrix(diagonal: Vec<f64>) -> Self {
        Self { known: Known::Diagonal(Rows::new(diagonal, 1.0)), ..Self::default() }
    }

    /// Of a factor with these pivots, whose rows have errors of this many units. The host has not read A; its diagonal is not
    /// smaller than the squares of the pivots.
    pub fn of_pivots<R: Float>(pivots: impl Iterator<Item = R>, error: f64) -> Self {
        let squares = pivots.map(|pivot| pivot.to_f64() * pivot.to_f64()).collect();
        let errors = Pivots::of_rows(&mut Rows::new(squares, error));
        Self { known: Known::Pivots(errors), ..Self::default() }
    }

    /// Records in the estimates the modification that they lack.
    #[inline]
    fn record(&mut self) {
        let Some(unit) = self.unrecorded.take() else { return };
        match &mut self.known {
            Known::Nothing => {}
            Known::Diagonal(rows) => rows.note(unit),
            Known::Pivots(errors) => errors.note(unit),
        }
    }

    /// The estimate in units of u; 0 before the first modification.
    pub fn error(&self) -> f64 {
        match (&self.known, self.unrecorded) {
            _ if self.modifications == 0 => 0.0,
            (Known::Nothing, _) => self.modifications as f64,
            (Known::Diagonal(rows), None) => rows.largest_error(),
            (Known::Diagonal(rows), Some(unit)) => rows.largest_error_after(unit),
            (Known::Pivots(errors), None) => errors.errors().fold(0.0, f64::max),
            (Known::Pivots(errors), Some(unit)) => errors.errors_after(unit).fold(0.0, f64::max),
        }
    }

    /// Reserves room for `capacity` rows.
    pub fn reserve(&mut self, capacity: usize) {
        match &mut self.known {
            Known::Nothing => {}
            Known::Diagonal(rows) => rows.reserve(capacity),
            Known::Pivots(errors) => errors.reserve(capacity),
        }
    }

    /// The modification in flight does not modify A: its V consists of columns of L.
    pub fn expect_none(&mut self) {
        self.expected = None;
    }

    /// Records that a modification of this rank by V (n × k) is in flight. `seen` are V and w if the host reads them; they are
    /// finite. `added` is an upper bound of the squared norms of rows of the columns with a plus sign, if there are columns
    /// with a minus sign. `pivots` writes those of L.
    #[inline]
    pub fn expect<T: Number>(
        &mut self,
        seen: Option<(MatRef<'_, T>, Weights<'_, T::Part>)>,
        rank: usize,
        added: f64,
        pivots: impl FnOnce(&mut [f64]),
    ) {
        self.record();
        self.expected = Some(unit(rank));
        match (&mut self.known, seen) {
            (Known::Diagonal(rows), Some((v, weights))) => rows.expect(v, weights),
            (Known::Diagonal(rows), None) => {
                let mut errors = Pivots::of_rows(rows);
                errors.expect(pivots, added);
                self.known = Known::Pivots(errors);
            }
            (Known::Pivots(errors), _) => errors.expect(pivots, added),
            (Known::Nothing, _) => {}
        }
    }

    /// Records that the expected modification has succeeded. `pivots` writes those of the new L.
    #[inline]
    pub fn note(&mut self, pivots: impl FnOnce(&mut [f64])) {
        let Some(unit) = self.expected.take() else { return };
        self.modifications = self.modifications.saturating_add(1);
        if let Known::Pivots(errors) = &mut self.known {
            errors.has_come_to(pivots);
        }
        self.unrecorded = Some(unit);
    }

    /// Whether modifications are recorded from V alone.
    #[inline]
    pub fn reads_v(&self) -> bool {
        matches!(self.known, Known::Diagonal(_))
    }

    /// Records a modification by V (n × k) that has been made. V and w are finite.
    #[inline(always)]
    pub fn made<T: Number>(&mut self, v: MatRef<'_, T>, weights: Weights<'_, T::Part>) {
        self.record();
        let Known::Diagonal(rows) = &mut self.known else { return };
        self.modifications = self.modifications.saturating_add(1);
        match v.ncols() {
            1 => rows.add(v.col(0), weights.of(0).to_f64()),
            rank => {
                rows.expect(v, weights);
                rows.note(unit(rank));
            }
        }
    }

    /// Records A ← δ A, after a modification that has been recorded.
    pub fn scaled(&mut self, decay: f64) {
        self.record();
        match &mut self.known {
            Known::Nothing => {}
            Known::Diagonal(rows) => rows.scale(decay),
            Known::Pivots(errors) => errors.scale(decay),
        }
    }

    /// Records new rows of A from `at` on, with these diagonal entries. The first `replaced` replace old rows.
    pub fn came(&mut self, at: usize, replaced: usize, diagonal: impl ExactSizeIterator<Item = f64>) {
        self.record();
        self.modifications = self.modifications.saturating_add(1);
        let unit = unit(diagonal.len());
        match &mut self.known {
            Known::Nothing => {}
            Known::Diagonal(rows) => rows.came(unit, at..at + replaced, diagonal),
            Known::Pivots(errors) => errors.came(unit, at..at + replaced, diagonal),
        }
    }

    /// Records the removal of these rows of A, which are in ascending order.
    pub fn went(&mut self, removed: &[usize]) {
        self.record();
        self.modifications = self.modifications.saturating_add(1);
        let unit = unit(removed.len());
        match &mut self.known {
            Known::Nothing => {}
            Known::Diagonal(rows) => rows.went(unit, removed),
            Known::Pivots(errors) => errors.went(unit, removed),
        }
    }

    /// Records the move of a row of A.
    pub fn shifted(&mut self, from: usize, to: usize) {
        self.record();
        self.modifications = self.modifications.saturating_add(1);
        match &mut self.known {
            Known::Nothing => {}
            Known::Diagonal(rows) => rows.shifted(from, to),
            Known::Pivots(errors) => errors.shifted(from, to),
        }
    }

    /// Whether the diagonal of A would improve the estimate.
    pub fn misses_diagonal(&self) -> bool {
        matches!(self.known, Known::Pivots(_))
    }

    /// Sets the diagonal of A.
    pub fn take_diagonal(&mut self, diagonal: Vec<f64>) {
        self.record();
        if let Known::Pivots(errors) = &self.known {
            self.known = Known::Diagonal(Rows::with_errors(diagonal, errors.errors().collect()));
        }
    }
}

/// Replaces a range by these entries.
fn replace(of: &mut Vec<f64>, range: Range<usize>, with: impl Iterator<Item = f64>) {
    of.splice(range, with);
}

/// Removes the entries at these indices, which are in ascending order.
fn remove(of: &mut Vec<f64>, removed: &[usize]) {
    let (mut at, mut next) = (0, removed.iter().peekable());
    of.retain(|_| {
        let goes = next.next_if(|&&row| row == at).is_some();
        at += 1;
        !goes
    });
}

/// Moves the entry at one index to another.
fn shift(of: &mut [f64], from: usize, to: usize) {
    if from < to {
        of[from..=to].rotate_left(1);
    } else {
        of[to..=from].rotate_right(1);
    }
}

/// The diagonal of A. (n × n)
pub(crate) fn diagonal_of<T: Dense>(a: MatRef<'_, T>) -> Vec<f64> {
    a.diagonal().column_vector().iter().map(|a| a.real().to_f64()).collect()
}
