//! What the rounding errors of all modifications so far amount to, row by row of A.
//!
//! A modification A ← δ A + V₊ V₊ᵀ − V₋ V₋ᵀ leaves errors |R_ij| of about u √(m_i m_j), where m_i is what is on the diagonal of
//! δ A + V₊ V₊ᵀ. They stay where they are while A grows or shrinks around them. So with e_i a_ii for the sum of all m_i so far
//! (times δ where A is),
//!
//! ```text
//! |Σ R_ij| ≤ u √(e_i e_j a_ii a_jj)
//! ```
//!
//! by the inequality of Cauchy and Schwarz: the largest e_i counts, and what becomes of one row hides nothing of another.

mod pivots;
mod rows;

use crate::scalar::Scalar;
use crate::sweep::weights::Weights;
use core::ops::Range;
use faer::MatRef;
use pivots::Pivots;
use rows::Rows;

/// What has become of a factor since it was made.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    pub modifications: usize,
    known: Known,
    /// The modification that goes on is accounted for when it has ended well.
    expected: Option<f64>,
}

/// By what the errors of rows are known.
#[derive(Clone, Debug, Default)]
enum Known {
    /// They are not kept.
    #[default]
    Nothing,
    /// The diagonal of A: the host has seen every V.
    Diagonal(Rows),
    /// The pivots of L.
    Pivots(Pivots),
}

/// Units of rounding that a modification of that rank adds.
fn unit(rank: usize) -> f64 {
    (rank.max(1) as f64).sqrt()
}

impl History {
    /// Of a factor that is exact, of an A with this diagonal.
    pub fn of_factor(diagonal: Vec<f64>) -> Self {
        Self { known: Known::Diagonal(Rows::new(diagonal, 0.0)), ..Self::default() }
    }

    /// Of a factor that has been made of an A with this diagonal.
    pub fn of_matrix(diagonal: Vec<f64>) -> Self {
        Self { known: Known::Diagonal(Rows::new(diagonal, 1.0)), ..Self::default() }
    }

    /// Of a factor with these pivots, in whose rows there are so many units of rounding, of an A that the host has not seen: its diagonal is
    /// no smaller than their squares.
    pub fn of_pivots<T: Scalar>(pivots: impl Iterator<Item = T>, error: f64) -> Self {
        let squares = pivots.map(|pivot| pivot.to_f64() * pivot.to_f64()).collect();
        let errors = Pivots::of_rows(&mut Rows::new(squares, error));
        Self { known: Known::Pivots(errors), ..Self::default() }
    }

    /// The estimate in units of rounding; 0 before the first modification.
    pub fn error(&self) -> f64 {
        match &self.known {
            _ if self.modifications == 0 => 0.0,
            Known::Nothing => self.modifications as f64,
            Known::Diagonal(rows) => rows.largest_error(),
            Known::Pivots(errors) => errors.errors().fold(0.0, f64::max),
        }
    }

    /// Room for as many rows.
    pub fn reserve(&mut self, capacity: usize) {
        match &mut self.known {
            Known::Nothing => {}
            Known::Diagonal(rows) => rows.reserve(capacity),
            Known::Pivots(errors) => errors.reserve(capacity),
        }
    }

    /// A modification goes on that is none of A: V is of columns of L.
    pub fn expect_none(&mut self) {
        self.expected = None;
    }

    /// A modification by V (n × k) of that rank goes on: V and w where the host sees them, finite, and of the columns with a plus sign an
    /// upper bound of the squared norms of rows, where there are others with a minus sign.
    #[inline]
    pub fn expect<T: Scalar>(
        &mut self,
        seen: Option<(MatRef<'_, T>, Weights<'_, T>)>,
        rank: usize,
        added: f64,
        pivot: impl Fn(usize) -> T,
    ) {
        self.expected = Some(unit(rank));
        match (&mut self.known, seen) {
            (Known::Diagonal(rows), Some((v, weights))) => rows.expect(v, weights),
            (Known::Diagonal(rows), None) => {
                let mut errors = Pivots::of_rows(rows);
                errors.expect(pivot, added);
                self.known = Known::Pivots(errors);
            }
            (Known::Pivots(errors), _) => errors.expect(pivot, added),
            (Known::Nothing, _) => {}
        }
    }

    /// The modification that was expected has ended well, with these pivots.
    #[inline]
    pub fn note<T: Scalar>(&mut self, pivot: impl Fn(usize) -> T) {
        let Some(unit) = self.expected.take() else { return };
        self.modifications += 1;
        match &mut self.known {
            Known::Nothing => {}
            Known::Diagonal(rows) => rows.note(unit),
            Known::Pivots(errors) => errors.note(unit, pivot),
        }
    }

    /// A ← δ A, behind a modification that has been noted.
    pub fn scaled(&mut self, decay: f64) {
        match &mut self.known {
            Known::Nothing => {}
            Known::Diagonal(rows) => rows.scale(decay),
            Known::Pivots(errors) => errors.scale(decay),
        }
    }

    /// Rows of A have come that begin at `at`, with these diagonal entries, of which the first `replaced` take the places of others.
    pub fn came(&mut self, at: usize, replaced: usize, diagonal: impl ExactSizeIterator<Item = f64>) {
        self.modifications += 1;
        let unit = unit(diagonal.len());
        match &mut self.known {
            Known::Nothing => {}
            Known::Diagonal(rows) => rows.came(unit, at..at + replaced, diagonal),
            Known::Pivots(errors) => errors.came(unit, at..at + replaced, diagonal),
        }
    }

    /// Rows have come whose pivots are known and no more.
    pub fn came_unseen(&mut self, at: usize, replaced: usize, pivots: impl ExactSizeIterator<Item = f64>) {
        if let Known::Diagonal(rows) = &mut self.known {
            self.known = Known::Pivots(Pivots::of_rows(rows));
        }
        self.came(at, replaced, pivots.map(|pivot| pivot * pivot));
    }

    /// Rows of A have gone, which are given in ascending order.
    pub fn went(&mut self, removed: &[usize]) {
        self.modifications += 1;
        let unit = unit(removed.len());
        match &mut self.known {
            Known::Nothing => {}
            Known::Diagonal(rows) => rows.went(unit, removed),
            Known::Pivots(errors) => errors.went(unit, removed),
        }
    }

    /// A row of A has gone to another place.
    pub fn shifted(&mut self, from: usize, to: usize) {
        self.modifications += 1;
        match &mut self.known {
            Known::Nothing => {}
            Known::Diagonal(rows) => rows.shifted(from, to),
            Known::Pivots(errors) => errors.shifted(from, to),
        }
    }

    /// Whether it could be told better by what is on the diagonal of A.
    pub fn misses_diagonal(&self) -> bool {
        matches!(self.known, Known::Pivots(_))
    }

    /// Takes what is on the diagonal of A.
    pub fn take_diagonal(&mut self, diagonal: Vec<f64>) {
        if let Known::Pivots(errors) = &self.known {
            self.known = Known::Diagonal(Rows::with_errors(diagonal, errors.errors().collect()));
        }
    }
}

/// Puts these in the place of a range.
fn replace(of: &mut Vec<f64>, range: Range<usize>, with: impl Iterator<Item = f64>) {
    of.splice(range, with);
}

/// Leaves out what is at these places, in ascending order.
fn remove(of: &mut Vec<f64>, removed: &[usize]) {
    let (mut at, mut next) = (0, removed.iter().peekable());
    of.retain(|_| {
        let goes = next.next_if(|&&row| row == at).is_some();
        at += 1;
        !goes
    });
}

/// Takes what is at one place to another.
fn shift(of: &mut [f64], from: usize, to: usize) {
    if from < to {
        of[from..=to].rotate_left(1);
    } else {
        of[to..=from].rotate_right(1);
    }
}

/// What is on the diagonal of A. (n × n)
pub(crate) fn diagonal_of<T: Scalar>(a: MatRef<'_, T>) -> Vec<f64> {
    a.diagonal().column_vector().iter().map(|a| a.to_f64()).collect()
}
