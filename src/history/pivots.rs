//! Error estimates from the pivots of L, for a V in the memory of a device that the host does not read.
//!
//! Then only the old and new pivots of a modification are known. They give two estimates of the change of a_ii:
//!
//! - l_ii² is the part of a_ii that the earlier rows do not explain. It shows the loss of a single row, independent of changes
//!   in other rows.
//! - The determinant of the leading block that ends with row i shows the loss of a direction that is spread over many rows. A
//!   downdate by one column leaves at least the same share of each a_ii as of this determinant.
//!
//! Errors are estimated from both, and the larger estimate counts. Both are functions of the current A, so a loop that returns
//! to an earlier A returns to its values.

use super::rows::Rows;
use super::{remove, replace, shift};
use core::ops::Range;

#[derive(Clone, Debug)]
pub(super) struct Pivots {
    /// a_ii at the last modification that the host has read, changed since by the ratios of l_ii².
    squares: Vec<f64>,
    /// e_i from its own pivot, in units of u.
    own: Vec<f64>,
    /// e_i from the determinant of the leading block.
    leading: Vec<f64>,
    /// Pivots before the expected modification, and an upper bound of the squares that it adds and then removes.
    before: Vec<f64>,
    added: f64,
    /// Pivots after it.
    after: Vec<f64>,
}

/// The numbers of a row.
struct Row {
    square: f64,
    own: f64,
    leading: f64,
}

/// Ratios of determinants are clamped to this range.
const RANGE: (f64, f64) = (1e-290, 1e290);

impl Pivots {
    /// Starts from rows whose diagonal entries are known.
    pub fn of_rows(rows: &mut Rows) -> Self {
        let (squares, own) = rows.take();
        let [before, after] = [(); 2].map(|()| Vec::with_capacity(squares.len()));
        Self { squares, leading: own.clone(), own, before, added: 0.0, after }
    }

    pub fn errors(&self) -> impl Iterator<Item = f64> + '_ {
        self.own.iter().zip(&self.leading).map(|(own, leading)| own.max(*leading))
    }

    /// The same as `note` would leave them.
    pub fn errors_after(&self, unit: f64) -> impl Iterator<Item = f64> + '_ {
        let mut of_block = 1.0;
        (0..self.squares.len()).map(move |i| {
            let row = self.row_after(i, unit, &mut of_block);
            row.own.max(row.leading)
        })
    }

    pub fn reserve(&mut self, capacity: usize) {
        for of in [&mut self.squares, &mut self.own, &mut self.leading, &mut self.before, &mut self.after] {
            of.reserve(capacity.saturating_sub(of.len()));
        }
    }

    pub fn expect(&mut self, pivots: impl FnOnce(&mut [f64]), added: f64) {
        self.before.resize(self.squares.len(), 0.0);
        pivots(&mut self.before);
        self.added = added;
    }

    /// The expected modification has been made, with these pivots. `note` follows.
    pub fn has_come_to(&mut self, pivots: impl FnOnce(&mut [f64])) {
        self.after.resize(self.squares.len(), 0.0);
        pivots(&mut self.after);
    }

    /// Records it.
    pub fn note(&mut self, unit: f64) {
        let mut of_block = 1.0;
        for i in 0..self.squares.len() {
            let row = self.row_after(i, unit, &mut of_block);
            (self.squares[i], self.own[i], self.leading[i]) = (row.square, row.own, row.leading);
        }
    }

    /// Row i after the expected modification. `of_block` is the change of the determinant of the leading block before the row, and
    /// becomes that of the block with it.
    #[inline]
    fn row_after(&self, i: usize, unit: f64, of_block: &mut f64) -> Row {
        let (old, new, square) = (self.before[i], self.after[i], self.squares[i]);
        if old == 0.0 {
            // A was singular in row i, which has no earlier digits to lose.
            let error = if new > 0.0 { unit } else { 0.0 };
            return Row { square: new * new, own: error, leading: error };
        }
        let ratio = new / old;
        let change = if ratio > 0.0 { (ratio * ratio).clamp(RANGE.0, RANGE.1) } else { 1.0 };
        *of_block = (*of_block * change).clamp(RANGE.0, RANGE.1);
        let added = self.added / square.max(f64::MIN_POSITIVE);
        Row {
            square: square * change,
            own: (self.own[i] + unit * (change.max(1.0) + added)) / change,
            leading: (self.leading[i] + unit * (of_block.max(1.0) + added)) / *of_block,
        }
    }

    pub fn scale(&mut self, by: f64) {
        self.squares.iter_mut().for_each(|square| *square *= by);
        self.add(1.0);
    }

    pub fn came(&mut self, unit: f64, range: Range<usize>, squares: impl ExactSizeIterator<Item = f64>) {
        let count = squares.len();
        for of in [&mut self.own, &mut self.leading] {
            replace(of, range.clone(), core::iter::repeat_n(0.0, count));
        }
        replace(&mut self.squares, range, squares);
        self.add(unit);
    }

    pub fn went(&mut self, unit: f64, removed: &[usize]) {
        for of in [&mut self.squares, &mut self.own, &mut self.leading] {
            remove(of, removed);
        }
        self.add(unit);
    }

    pub fn shifted(&mut self, from: usize, to: usize) {
        for of in [&mut self.squares, &mut self.own, &mut self.leading] {
            shift(of, from, to);
        }
        self.add(1.0);
    }

    /// Records a change that preserves the diagonal of A.
    fn add(&mut self, unit: f64) {
        self.own.iter_mut().chain(&mut self.leading).for_each(|error| *error += unit);
    }
}
