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
mod rows;

use crate::sweep::weights::Weights;
use cholupdate_kernels::dense::Dense;
use cholupdate_kernels::number::{Float, Number};
use core::ops::Range;
use faer::MatRef;
#[cfg(feature = "serde")]
pub(crate) use kept::Kept;
use rows::Rows;

/// The history of a factor since it was computed.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub modifications: usize,
    /// What the errors are estimated from, if they are.
    rows: Option<Rows>,
    /// Error units of a modification in flight. It is recorded when the modification has succeeded.
    expected: Option<f64>,
    /// Those of a modification that has succeeded and is not in the estimates yet: they follow while the next one is in flight.
    unrecorded: Option<f64>,
}

/// What the host sees of the V of a modification.
#[derive(Clone, Copy)]
pub(crate) enum VSeen<'a, T: Number> {
    /// V and w, which are finite. (n × k, k)
    Columns(MatRef<'a, T>, Weights<'a, T::Part>),
    /// The squared norms of the rows of V diag(√|w|), of its columns with a plus and with a minus sign. (n, n)
    Squares([&'a [f64]; 2]),
}

/// Error of a modification of that rank, in units of u.
fn unit(rank: usize) -> f64 {
    (rank.max(1) as f64).sqrt()
}

impl History {
    /// Of an exact factor of an A with this diagonal.
    pub fn of_factor(diagonal: Vec<f64>) -> Self {
        Self { rows: Some(Rows::new(diagonal, 0.0)), ..Self::default() }
    }

    /// Of a factor that has been computed from an A with this diagonal.
    pub fn of_matrix(diagonal: Vec<f64>) -> Self {
        Self { rows: Some(Rows::new(diagonal, 1.0)), ..Self::default() }
    }

    /// Records in the estimates the modification that they lack.
    #[inline]
    fn record(&mut self) {
        let Some(unit) = self.unrecorded.take() else { return };
        if let Some(rows) = &mut self.rows {
            rows.note(unit);
        }
    }

    /// The estimate in units of u; 0 before the first modification.
    pub fn error(&self) -> f64 {
        match (&self.rows, self.unrecorded) {
            _ if self.modifications == 0 => 0.0,
            (None, _) => self.modifications as f64,
            (Some(rows), None) => rows.largest_error(),
            (Some(rows), Some(unit)) => rows.largest_error_after(unit),
        }
    }

    /// Reserves room for `capacity` rows.
    pub fn reserve(&mut self, capacity: usize) {
        if let Some(rows) = &mut self.rows {
            rows.reserve(capacity);
        }
    }

    /// The modification in flight does not modify A: its V consists of columns of L.
    pub fn expect_none(&mut self) {
        self.expected = None;
    }

    /// Records that a modification of this rank is in flight. One of a V that the host knows nothing of counts as small.
    #[inline]
    pub fn expect<T: Number>(&mut self, v: Option<VSeen<'_, T>>, rank: usize) {
        self.record();
        self.expected = Some(unit(rank));
        let Some(rows) = &mut self.rows else { return };
        match v {
            Some(VSeen::Columns(v, weights)) => rows.expect(v, weights),
            Some(VSeen::Squares(of_sign)) => rows.expect_squares(of_sign),
            None => rows.expect_nothing(),
        }
    }

    /// Records that the expected modification has succeeded.
    #[inline]
    pub fn note(&mut self) {
        let Some(unit) = self.expected.take() else { return };
        self.modifications = self.modifications.saturating_add(1);
        self.unrecorded = Some(unit);
    }

    /// Records a modification by V (n × k) that has been made. V and w are finite.
    #[inline(always)]
    pub fn made<T: Number>(&mut self, v: MatRef<'_, T>, weights: Weights<'_, T::Part>) {
        self.record();
        let Some(rows) = &mut self.rows else { return };
        self.modifications = self.modifications.saturating_add(1);
        match v.ncols() {
            1 => rows.add(v.col(0), weights.of(0).to_f64()),
            rank => {
                rows.expect(v, weights);
                rows.note(unit(rank));
            }
        }
    }

    /// Records A ← δ A: after a modification that has been recorded, or `alone`, as a modification of its own.
    pub fn scaled(&mut self, decay: f64, alone: bool) {
        self.record();
        self.modifications = self.modifications.saturating_add(usize::from(alone));
        if let Some(rows) = &mut self.rows {
            rows.scale(decay);
        }
    }

    /// Records new rows of A from `at` on, with these diagonal entries. The first `replaced` replace old rows.
    pub fn came(&mut self, at: usize, replaced: usize, diagonal: impl ExactSizeIterator<Item = f64>) {
        self.record();
        self.modifications = self.modifications.saturating_add(1);
        let unit = unit(diagonal.len());
        if let Some(rows) = &mut self.rows {
            rows.came(unit, at..at + replaced, diagonal);
        }
    }

    /// Records the removal of these rows of A, which are in ascending order.
    pub fn went(&mut self, removed: &[usize]) {
        self.record();
        self.modifications = self.modifications.saturating_add(1);
        let unit = unit(removed.len());
        if let Some(rows) = &mut self.rows {
            rows.went(unit, removed);
        }
    }

    /// Records the move of a row of A.
    pub fn shifted(&mut self, from: usize, to: usize) {
        self.record();
        self.modifications = self.modifications.saturating_add(1);
        if let Some(rows) = &mut self.rows {
            rows.shifted(from, to);
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
