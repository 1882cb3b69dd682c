//! What is measured: two verbs on the factor of a problem's A, the second of which reverses the first, and lower bounds of
//! their cost.

use crate::limits::Cost;
use crate::problem::{Problem, Sampled};
use crate::scalar::Real;
use cholupdate::faer::{Mat, MatRef};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    Update,
    Downdate,
    Remove,
    Insert,
    Append,
    /// From the first place to the second, which is after it.
    Forwards,
    Backwards,
}

impl Verb {
    pub const MODIFY: [Self; 2] = [Self::Update, Self::Downdate];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Update => "update",
            Self::Downdate => "downdate",
            Self::Remove => "remove",
            Self::Insert => "insert",
            Self::Append => "append",
            Self::Forwards => "shift forwards",
            Self::Backwards => "shift backwards",
        }
    }

    /// Of V Vᵀ.
    #[must_use]
    pub fn sign<T: Real>(self) -> T {
        T::narrow(if self == Self::Downdate { -1.0 } else { 1.0 })
    }
}

/// Two verbs, the second of which reverses the first, on the factor of a problem's A.
pub struct Case<'a, T> {
    pub problem: &'a Problem<T>,
    pub verbs: [Verb; 2],
    /// The columns of V, the number of rows that are removed and inserted, or 1 for a shift.
    pub rank: usize,
    /// Where rows are removed, in words; empty for a modification.
    pub place: &'static str,
    pub at: usize,
    /// The place to which the first verb shifts the row.
    pub to: usize,
    /// V (n × k), or the inserted columns of A (n + r × r).
    pub columns: Mat<T>,
    /// The rows of A between both verbs, in order.
    pub rows: Vec<usize>,
    between: Sampled,
    after: Sampled,
}

impl<'a, T: Real> Case<'a, T> {
    /// An update by V of this rank and the downdate.
    #[must_use]
    pub fn modifying(problem: &'a Problem<T>, rank: usize) -> Self {
        let columns = problem.v(rank);
        let (between, after) = (problem.sampled().plus(columns.as_ref()), problem.sampled().clone());
        let rows = (0..problem.order()).collect();
        Self { problem, verbs: Verb::MODIFY, rank, place: "", at: 0, to: 0, columns, rows, between, after }
    }

    /// Rows `at..at + rank` are removed and inserted again, by `verb`.
    #[must_use]
    pub fn coming(
        problem: &'a Problem<T>,
        verb: Verb,
        (place, at): (&'static str, usize),
        rank: usize,
    ) -> Self {
        let rows = (0..problem.order()).filter(|row| !(at..at + rank).contains(row)).collect();
        Self::of_rows(problem, [Verb::Remove, verb], rank, (place, at, at), rows)
    }

    /// Row `at` moves to place `to`, and back.
    #[must_use]
    pub fn shifting(problem: &'a Problem<T>, (place, at): (&'static str, usize), to: usize) -> Self {
        let mut rows: Vec<usize> = (0..problem.order()).collect();
        let row = rows.remove(at);
        rows.insert(to, row);
        Self::of_rows(problem, [Verb::Forwards, Verb::Backwards], 1, (place, at, to), rows)
    }

    fn of_rows(
        problem: &'a Problem<T>,
        verbs: [Verb; 2],
        rank: usize,
        (place, at, to): (&'static str, usize, usize),
        rows: Vec<usize>,
    ) -> Self {
        let a = |i: usize, j: usize| problem.a()[(i.max(j), i.min(j))];
        let between = Sampled::new(rows.len(), |i, j| a(rows[i], rows[j]).wide());
        let columns = Mat::from_fn(problem.order(), rank, |i, j| a(i, at + j));
        let after = problem.sampled().clone();
        Self { problem, verbs, rank, place, at, to, columns, rows, between, after }
    }

    /// Whether V modifies A, and rows stay in their places.
    #[must_use]
    pub fn modifies(&self) -> bool {
        self.verbs == Verb::MODIFY
    }

    /// n: of A without the rows that come and leave, or move.
    #[must_use]
    pub fn order(&self) -> usize {
        self.problem.order() - if self.modifies() { 0 } else { self.rank }
    }

    /// The verb and its place.
    #[must_use]
    pub fn label(&self, turn: usize) -> String {
        format!("{} {}", self.verbs[turn].name(), self.place).trim_end().to_owned()
    }

    /// max |L'L'ᵀ − A'| / max |A'| over sampled rows, after the first or the second verb.
    #[must_use]
    pub fn residual(&self, l: MatRef<'_, T>, turn: usize) -> f64 {
        [&self.between, &self.after][turn].residual(l)
    }

    /// The same by a product X ↦ L'L'ᵀ X.
    pub fn residual_by(&self, product: impl FnOnce(&Mat<T>) -> Mat<T>, turn: usize) -> f64 {
        [&self.between, &self.after][turn].residual_by(product)
    }

    /// The rows of A after the first or the second verb, in order.
    #[must_use]
    pub fn rows_after(&self, turn: usize) -> Vec<usize> {
        if turn == 0 { self.rows.clone() } else { (0..self.problem.order()).collect() }
    }

    /// The columns of V; or those inserted one at a time, each without the entries of rows that are not inserted yet.
    #[must_use]
    pub fn one_at_a_time(&self) -> Vec<Vec<T>> {
        let there =
            |row: usize, j: usize| self.modifies() || row <= self.at + j || row >= self.at + self.rank;
        let column = |j: usize| {
            let rows = (0..self.columns.nrows()).filter(|&row| there(row, j));
            rows.map(|row| self.columns[(row, j)]).collect()
        };
        (0..self.rank).map(column).collect()
    }

    /// What a verb takes at least.
    #[must_use]
    pub fn cost(&self, turn: usize) -> Cost {
        let n = self.problem.order();
        if self.modifies() {
            return cost_of_modification(n, self.rank);
        }
        let (flops, moved) = self.cost_of_rows(self.verbs[turn]);
        Cost { stored: n * (n + 1) / 2, moved, flops }
    }

    /// The flops of a verb, and the entries of L and of new columns that it must read or write: the entries before and above
    /// the first changed row stay in place; those beside it move; and the trailing triangle is recomputed.
    fn cost_of_rows(&self, verb: Verb) -> (f64, f64) {
        let (order, r, at) = (self.problem.order() as f64, self.rank as f64, self.at as f64);
        let behind = order - r - at;
        let moved = 2.0 * at * behind + behind * (behind + 1.0);
        let (border, given) = (at * r + r * (r + 1.0) / 2.0 + behind * r, order * r);
        match verb {
            Verb::Forwards | Verb::Backwards => {
                let places = (self.to - self.at + 1) as f64;
                let columns = places * (order - at) - places * (places - 1.0) / 2.0;
                // The flops of a rank-1 update for each entry.
                (4.0 * columns, 2.0 * columns + 2.0 * at * places)
            }
            Verb::Remove => (2.0 * r * behind * behind, moved + behind * r),
            _ => {
                let flops = r * at * at + 2.0 * r * behind * at + 2.0 * r * behind * behind;
                // L above the new rows is for the triangular solve.
                (flops, at * (at + 1.0) / 2.0 + moved + border + given)
            }
        }
    }
}

/// 2 k n² flops, and L is read and written once.
#[must_use]
pub fn cost_of_modification(n: usize, k: usize) -> Cost {
    let stored = n * (n + 1) / 2;
    Cost { stored, moved: 2.0 * stored as f64, flops: 2.0 * k as f64 * (n as f64).powi(2) }
}
