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
use cholupdate_kernels::number::Float;
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
}

/// Ratios of determinants are clamped to this range.
const RANGE: (f64, f64) = (1e-290, 1e290);

impl Pivots {
    /// Starts from rows whose diagonal entries are known.
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

    pub fn expect<R: Float>(&mut self, pivot: impl Fn(usize) -> R, added: f64) {
        self.before.clear();
        self.before.extend((0..self.squares.len()).map(|column| pivot(column).to_f64()));
        self.added = added;
    }

    pub fn note<R: Float>(&mut self, unit: f64, pivot: impl Fn(usize) -> R) {
        debug_assert!(self.before.len() == self.squares.len());
        let mut of_block = 1.0f64;
        for (i, old) in self.before.iter().enumerate() {
            let new = pivot(i).to_f64();
            if *old == 0.0 {
                // A was singular in row i, which has no earlier digits to lose.
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

    /// Records a change that preserves the diagonal of A.
    fn add(&mut self, unit: f64) {
        self.own.iter_mut().chain(&mut self.leading).for_each(|error| *error += unit);
    }
}
