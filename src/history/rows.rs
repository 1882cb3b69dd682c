//! Error estimates from the diagonal of A, to which each modification adds squares of rows of V.

use super::{remove, replace, shift};
use crate::host::squares::{add_squares, largest_of};
use crate::real::Real;
use crate::sweep::weights::Weights;
use core::mem;
use core::ops::Range;
use faer::MatRef;

#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// a_ii.
    squares: Vec<f64>,
    /// e_i, in units of u.
    errors: Vec<f64>,
    /// Squared norms of rows of the expected V, by sign.
    plus: Vec<f64>,
    minus: Vec<f64>,
    largest_error: f64,
}

impl Rows {
    /// With the same error in all rows.
    pub fn new(squares: Vec<f64>, error: f64) -> Self {
        let errors = vec![error; squares.len()];
        Self::with_errors(squares, errors)
    }

    pub fn with_errors(squares: Vec<f64>, errors: Vec<f64>) -> Self {
        let zeros = vec![0.0; squares.len()];
        let largest_error = largest_of(&errors);
        Self { squares, errors, plus: zeros.clone(), minus: zeros, largest_error }
    }

    pub fn largest_error(&self) -> f64 {
        self.largest_error
    }

    /// Moves out the diagonal and the errors.
    pub fn take(&mut self) -> (Vec<f64>, Vec<f64>) {
        (mem::take(&mut self.squares), mem::take(&mut self.errors))
    }

    pub fn reserve(&mut self, capacity: usize) {
        for of in [&mut self.squares, &mut self.errors, &mut self.plus, &mut self.minus] {
            of.reserve(capacity.saturating_sub(of.len()));
        }
    }

    #[inline]
    pub fn expect<T: Real>(&mut self, v: MatRef<'_, T>, weights: Weights<'_, T>) {
        self.plus.fill(0.0);
        self.minus.fill(0.0);
        for (r, column) in v.col_iter().enumerate() {
            let weight = weights.of(r).to_f64();
            let sums = if weight > 0.0 { &mut self.plus } else { &mut self.minus };
            add_squares(sums, column, weight.abs());
        }
    }

    #[inline]
    pub fn note(&mut self, unit: f64) {
        let (mut most, of_v) = (0.0f64, self.plus.iter().zip(&self.minus));
        for ((square, error), (&plus, &minus)) in self.squares.iter_mut().zip(&mut self.errors).zip(of_v) {
            let middle = *square + plus;
            let left = (middle - minus).max(middle * f64::EPSILON).max(f64::MIN_POSITIVE);
            // The product of an error and a square might overflow, so it is not formed.
            *error = *error * (*square / left) + unit * (middle / left);
            *square = left;
            most = most.max(*error);
        }
        self.largest_error = most;
    }

    pub fn scale(&mut self, by: f64) {
        self.squares.iter_mut().for_each(|square| *square *= by);
        self.add(1.0);
    }

    pub fn came(&mut self, unit: f64, range: Range<usize>, squares: impl ExactSizeIterator<Item = f64>) {
        let count = squares.len();
        for of in [&mut self.errors, &mut self.plus, &mut self.minus] {
            replace(of, range.clone(), core::iter::repeat_n(0.0, count));
        }
        replace(&mut self.squares, range, squares);
        self.add(unit);
    }

    pub fn went(&mut self, unit: f64, removed: &[usize]) {
        for of in [&mut self.squares, &mut self.errors, &mut self.plus, &mut self.minus] {
            remove(of, removed);
        }
        self.add(unit);
    }

    pub fn shifted(&mut self, from: usize, to: usize) {
        shift(&mut self.squares, from, to);
        shift(&mut self.errors, from, to);
        self.add(1.0);
    }

    /// Records a change that preserves the diagonal.
    fn add(&mut self, unit: f64) {
        self.errors.iter_mut().for_each(|error| *error += unit);
        self.largest_error = largest_of(&self.errors);
    }
}
