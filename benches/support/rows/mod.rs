//! Insertion, removal and shifts of rows and columns: the cases, and lower bounds of their cost.

mod competitors;

pub use competitors::Kind;

use crate::problem::{Problem, Real, Sampled};
use cholupdate::faer::{Mat, MatRef};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    Remove,
    Insert,
    Append,
    /// From the first place to the second, which is after it.
    Forwards,
    Backwards,
}

impl Verb {
    pub const ALL: [Self; 5] = [Self::Remove, Self::Insert, Self::Append, Self::Forwards, Self::Backwards];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Remove => "remove",
            Self::Insert => "insert",
            Self::Append => "append",
            Self::Forwards => "shift forwards",
            Self::Backwards => "shift backwards",
        }
    }
}

/// Two verbs, the second of which reverses the first, on the factor of a problem's A.
pub struct Case<'a, T> {
    pub problem: &'a Problem<T>,
    pub verbs: [Verb; 2],
    /// The number of rows that are removed and inserted, or 1 for a shift.
    pub rank: usize,
    pub at: usize,
    /// The place to which the first verb shifts the row.
    pub to: usize,
    /// The rows of A between both verbs, in order.
    rows: Vec<usize>,
    between: Sampled,
    a: Sampled,
    /// The inserted columns of A. (n + r × r)
    pub columns: Mat<T>,
}

impl<'a, T: Real> Case<'a, T> {
    /// Rows `at..at + rank` are removed and inserted again, by `verb`.
    #[must_use]
    pub fn coming(problem: &'a Problem<T>, verb: Verb, at: usize, rank: usize) -> Self {
        let rows = (0..problem.order()).filter(|row| !(at..at + rank).contains(row)).collect();
        Self::new(problem, [Verb::Remove, verb], rank, (at, at), rows)
    }

    /// Row `at` moves to place `to`, and back.
    #[must_use]
    pub fn shifting(problem: &'a Problem<T>, at: usize, to: usize) -> Self {
        let mut rows: Vec<usize> = (0..problem.order()).collect();
        let row = rows.remove(at);
        rows.insert(to, row);
        Self::new(problem, [Verb::Forwards, Verb::Backwards], 1, (at, to), rows)
    }

    fn new(
        problem: &'a Problem<T>,
        verbs: [Verb; 2],
        rank: usize,
        (at, to): (usize, usize),
        rows: Vec<usize>,
    ) -> Self {
        let a = |i: usize, j: usize| problem.a()[(i.max(j), i.min(j))];
        let between = Sampled::new(rows.len(), |i, j| a(rows[i], rows[j]).wide());
        let columns = Mat::from_fn(problem.order(), rank, |i, j| a(i, at + j));
        let a = Sampled::new(problem.order(), |i, j| a(i, j).wide());
        Self { problem, verbs, rank, at, to, rows, between, a, columns }
    }

    /// max |L'L'ᵀ − A'| / max |A'| over sampled rows, after the first or the second verb.
    fn residual(&self, l: MatRef<'_, T>, turn: usize) -> f64 {
        let new = [&self.between, &self.a][turn];
        new.residual(l, Mat::<T>::zeros(l.nrows(), 0).as_ref(), 0.0)
    }

    /// The columns inserted one at a time, each without the entries of rows that are not inserted yet.
    fn one_at_a_time(&self) -> Vec<Vec<T>> {
        let there = |row: usize, j: usize| row <= self.at + j || row >= self.at + self.rank;
        let column = |j: usize| {
            let rows = (0..self.columns.nrows()).filter(|&row| there(row, j));
            rows.map(|row| self.columns[(row, j)]).collect()
        };
        (0..self.rank).map(column).collect()
    }

    /// The flops of a verb, and the entries of L and of new columns that it must read or write: the entries before and above
    /// the first changed row stay in place; those beside it move; and the trailing triangle is recomputed.
    #[must_use]
    pub fn cost(&self, verb: Verb) -> (f64, f64) {
        let (order, r, at) = (self.problem.order() as f64, self.rank as f64, self.at as f64);
        let behind = order - r - at;
        let moved = 2.0 * at * behind + behind * (behind + 1.0);
        let (border, given) = (at * r + r * (r + 1.0) / 2.0 + behind * r, order * r);
        match verb {
            Verb::Remove => (2.0 * r * behind * behind, moved + behind * r),
            Verb::Insert | Verb::Append => {
                let flops = r * at * at + 2.0 * r * behind * at + 2.0 * r * behind * behind;
                // L above the new rows is for the triangular solve.
                (flops, at * (at + 1.0) / 2.0 + moved + border + given)
            }
            Verb::Forwards | Verb::Backwards => {
                let places = (self.to - self.at + 1) as f64;
                let columns = places * (order - at) - places * (places - 1.0) / 2.0;
                // The flops of a rank-1 update for each entry.
                (4.0 * columns, 2.0 * columns + 2.0 * at * places)
            }
        }
    }
}
