//! Error estimates from the diagonal of A, to which each modification adds squares of rows of V.

use super::{remove, replace, shift};
use crate::host::squares::{add_squares, largest_of};
use crate::sweep::weights::Weights;
use cholupdate_kernels::number::{Float, Number};
use core::ops::Range;
use faer::{ColRef, MatRef};

#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// a_ii.
    squares: Vec<f64>,
    /// e_i, in units of u.
    errors: Vec<f64>,
    /// Squared norms of rows of the expected V, by sign.
    plus: Vec<f64>,
    minus: Vec<f64>,
}

impl Rows {
    /// With the same error in all rows.
    pub fn new(squares: Vec<f64>, error: f64) -> Self {
        let errors = vec![error; squares.len()];
        Self::with_errors(squares, errors)
    }

    pub fn with_errors(squares: Vec<f64>, errors: Vec<f64>) -> Self {
        let zeros = vec![0.0; squares.len()];
        Self { squares, errors, plus: zeros.clone(), minus: zeros }
    }

    pub fn largest_error(&self) -> f64 {
        largest_of(&self.errors)
    }

    /// The same as `note` would leave it.
    pub fn largest_error_after(&self, unit: f64) -> f64 {
        let of_v = self.plus.iter().zip(&self.minus);
        let rows = self.squares.iter().zip(&self.errors).zip(of_v);
        rows.map(|((&square, &error), (&plus, &minus))| changed(square, error, (plus, minus), unit).1)
            .fold(0.0, f64::max)
    }

    /// The diagonal and the errors.
    #[cfg(feature = "serde")]
    pub fn into_parts(self) -> (Vec<f64>, Vec<f64>) {
        (self.squares, self.errors)
    }

    pub fn reserve(&mut self, capacity: usize) {
        for of in [&mut self.squares, &mut self.errors, &mut self.plus, &mut self.minus] {
            of.reserve(capacity.saturating_sub(of.len()));
        }
    }

    #[inline]
    pub fn expect<T: Number>(&mut self, v: MatRef<'_, T>, weights: Weights<'_, T::Part>) {
        self.expect_nothing();
        for (r, column) in v.col_iter().enumerate() {
            let weight = weights.of(r).to_f64();
            let sums = if weight > 0.0 { &mut self.plus } else { &mut self.minus };
            add_squares(sums, column, weight.abs());
        }
    }

    /// The same for a V of zeros.
    pub fn expect_nothing(&mut self) {
        self.plus.fill(0.0);
        self.minus.fill(0.0);
    }

    /// The same from the squared norms of rows of its columns of each sign.
    pub fn expect_squares(&mut self, [plus, minus]: [&[f64]; 2]) {
        self.plus.copy_from_slice(plus);
        self.minus.copy_from_slice(minus);
    }

    #[inline]
    pub fn note(&mut self, unit: f64) {
        let of_v = self.plus.iter().zip(&self.minus);
        for ((square, error), (&plus, &minus)) in self.squares.iter_mut().zip(&mut self.errors).zip(of_v) {
            (*square, *error) = changed(*square, *error, (plus, minus), unit);
        }
    }

    /// As `expect` and `note`, for a V of one column with this weight.
    #[inline]
    pub fn add<T: Number>(&mut self, v: ColRef<'_, T>, weight: f64) {
        let (plus, minus) = if weight > 0.0 { (weight, 0.0) } else { (0.0, -weight) };
        match v.try_as_col_major() {
            Some(v) => add(&mut self.squares, &mut self.errors, v.as_slice(), (plus, minus)),
            None => {
                for ((square, error), v) in self.squares.iter_mut().zip(&mut self.errors).zip(v.iter()) {
                    let v = v.square_to_f64();
                    (*square, *error) = changed(*square, *error, (plus * v, minus * v), 1.0);
                }
            }
        }
    }

    pub fn scale(&mut self, by: f64) {
        self.squares.iter_mut().for_each(|square| *square *= by);
        self.change(1.0);
    }

    pub fn came(&mut self, unit: f64, range: Range<usize>, squares: impl ExactSizeIterator<Item = f64>) {
        let count = squares.len();
        for of in [&mut self.errors, &mut self.plus, &mut self.minus] {
            replace(of, range.clone(), core::iter::repeat_n(0.0, count));
        }
        replace(&mut self.squares, range, squares);
        self.change(unit);
    }

    pub fn went(&mut self, unit: f64, removed: &[usize]) {
        for of in [&mut self.squares, &mut self.errors, &mut self.plus, &mut self.minus] {
            remove(of, removed);
        }
        self.change(unit);
    }

    pub fn shifted(&mut self, from: usize, to: usize) {
        shift(&mut self.squares, from, to);
        shift(&mut self.errors, from, to);
        self.change(1.0);
    }

    /// Records a change that preserves the diagonal.
    fn change(&mut self, unit: f64) {
        self.errors.iter_mut().for_each(|error| *error += unit);
    }
}

/// The same for all rows. A function of its own, whose arguments are known to be apart.
#[inline(never)]
fn add<T: Number>(squares: &mut [f64], errors: &mut [f64], v: &[T], (plus, minus): (f64, f64)) {
    let n = squares.len();
    let (errors, v) = (&mut errors[..n], &v[..n]);
    for i in 0..n {
        let v = v[i].square_to_f64();
        (squares[i], errors[i]) = changed(squares[i], errors[i], (plus * v, minus * v), 1.0);
    }
}

/// a_ii and e_i after a modification by these squares of each sign.
#[inline(always)]
fn changed(square: f64, error: f64, (plus, minus): (f64, f64), unit: f64) -> (f64, f64) {
    let middle = square + plus;
    // `f64::max` takes several instructions, for NaN.
    let max = |a: f64, b: f64| if a > b { a } else { b };
    let left = max(max(middle - minus, middle * f64::EPSILON), f64::MIN_POSITIVE);
    // The product of an error and a square might overflow, so it is not formed.
    let inverse = 1.0 / left;
    (left, error * (square * inverse) + unit * (middle * inverse))
}
