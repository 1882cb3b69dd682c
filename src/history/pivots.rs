//! Errors by pivots of L, where V is in the memory of a device and the host does not see it.
//!
//! Of a modification only old and new pivots are known then. By them a_ii may have become two things:
//!
//! - l_ii² is the part of a_ii that the rows before leave. It says what a row loses by itself, and what becomes of others does not
//!   change it.
//! - the determinant of the leading block that ends with row i says what a direction loses in which many rows lie, each for a share.
//!   A downdate by one column leaves of each a_ii at least the share that it leaves of this determinant.
//!
//! Errors are kept for both, and the larger one counts. Both are functions of A as it is, and so loops in which A comes back have
//! what it was.

use super::rows::Rows;
use super::{remove, replace, shift};
use crate::scalar::Scalar;
use core::ops::Range;

#[derive(Clone, Debug)]
pub(super) struct Pivots {
    /// a_ii as of the last modification that was seen, changed as l_ii² was since.
    squares: Vec<f64>,
    /// e_i by its own pivot, in units of rounding.
    own: Vec<f64>,
    /// e_i by the determinant of the leading block.
    leading: Vec<f64>,
    /// Pivots before the modification that is expected, and the square that it adds at most to take it away again.
    before: Vec<f64>,
    added: f64,
}

/// Ratios of determinants are clamped to this range.
const RANGE: (f64, f64) = (1e-290, 1e290);

impl Pivots {
    /// From where the diagonal of A was known.
    pub fn of_rows(rows: &mut Rows) -> Self {
        let (squares, own) = rows.take();
        Self { before: Vec::with_capacity(squares.len()), squares, leading: own.clone(), own, added: 0.0 }
    }

    pub fn errors(&self) -> impl Iterator<Item = f64> + '_ {
        self.own.iter().zip(&self.leading).map(|(own, leading)| own.max(*leading))
    }

    pub fn reserve(&mut self, capacity: usize) {
        for of in [&mut self.squares, &mut self.own, &mut self.leading, &mut self.before] {
            of.reserve(capacity.saturating_sub(of.len()));
        }
    }

    pub fn expect<T: Scalar>(&mut self, pivot: impl Fn(usize) -> T, added: f64) {
        self.before.clear();
        self.before.extend((0..self.squares.len()).map(|column| pivot(column).to_f64()));
        self.added = added;
    }

    pub fn note<T: Scalar>(&mut self, unit: f64, pivot: impl Fn(usize) -> T) {
        debug_assert!(self.before.len() == self.squares.len());
        let mut of_block = 1.0f64;
        for (i, old) in self.before.iter().enumerate() {
            let new = pivot(i).to_f64();
            if *old == 0.0 {
                // Row i of A was singular: it has no earlier digits to lose.
                self.squares[i] = new * new;
                let error = if new > 0.0 { unit } else { 0.0 };
                (self.own[i], self.leading[i]) = (error, error);
                continue;
            }
            let ratio = new / old;
            let change = if ratio > 0.0 { (ratio * ratio).clamp(RANGE.0, RANGE.1) } else { 1.0 };
            of_block = (of_block * change).clamp(RANGE.0, RANGE.1);
            let added = self.added / self.squares[i].max(f64::MIN_POSITIVE);
            self.own[i] = (self.own[i] + unit * (change.max(1.0) + added)) / change;
            self.leading[i] = (self.leading[i] + unit * (of_block.max(1.0) + added)) / of_block;
            self.squares[i] *= change;
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

    /// A change that leaves the diagonal of A as it is.
    fn add(&mut self, unit: f64) {
        self.own.iter_mut().chain(&mut self.leading).for_each(|error| *error += unit);
    }
}
