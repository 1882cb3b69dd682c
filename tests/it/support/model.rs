//! A dense A for a factor, changed by the same verbs, and the error that the accuracy contract allows the factor after all of
//! them.

use super::compensated::product_of_rows;
use super::contract::{allowed, is_factor};
use super::problem::{factor, uniform};
use super::real::Real;
use cholupdate::faer::{Mat, MatRef, Scale, Side};
use rand::Rng;
use rand::rngs::StdRng;
use std::ops::Range;

/// The smallest eigenvalue of A, with scaled rows, that a verb may leave: far above the rounding errors of `f32` in all steps
/// of a sequence, so that no engine may refuse.
const MARGIN: f64 = 0.01;

#[derive(Clone)]
pub struct Model {
    /// Both triangles. (n × n)
    pub a: Mat<f64>,
    /// The largest √M_ii of each row so far.
    scales: Vec<f64>,
    /// The sum of the contract's bounds of all verbs, in units of rounding.
    pub units: f64,
}

pub fn narrow<T: Real>(a: &Mat<f64>) -> Mat<T> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| T::of(a[(i, j)]))
}

/// A rounded to T.
pub fn rounded<T: Real>(a: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| T::of(a[(i, j)]).f64())
}

/// Random, with this Frobenius norm, unless it is empty. (rows × cols)
fn of_norm(norm: f64, rows: usize, cols: usize, random: &mut StdRng) -> Mat<f64> {
    let p = uniform(rows, cols, random);
    let length = p.norm_l2();
    if length > 0.0 { p * Scale(norm / length) } else { p }
}

impl Model {
    /// A well-conditioned A of numbers of type T.
    pub fn new<T: Real>(n: usize, random: &mut StdRng) -> Self {
        let l = factor(n, random);
        let a = rounded::<T>(&(&l * l.transpose()));
        let a = Mat::from_fn(n, n, |i, j| a[(i.max(j), i.min(j))]);
        let scales = (0..n).map(|i| a[(i, i)].sqrt()).collect();
        Self { a, scales, units: allowed(n, 1) }
    }

    pub fn order(&self) -> usize {
        self.a.nrows()
    }

    /// This, unless it is nearly singular.
    fn well_conditioned(self) -> Option<Self> {
        let scaled = Mat::from_fn(self.order(), self.order(), |i, j| {
            let margin = if i == j { MARGIN } else { 0.0 };
            self.a[(i, j)] / (self.scales[i] * self.scales[j]) - margin
        });
        scaled.llt(Side::Lower).is_ok().then_some(self)
    }

    /// V for an update. (n × k)
    pub fn plus(&self, k: usize, random: &mut StdRng) -> Mat<f64> {
        let v = uniform(self.order(), k, random);
        Mat::from_fn(self.order(), k, |i, r| 0.3 * self.a[(i, i)].sqrt() * v[(i, r)])
    }

    /// V = L P with ‖P‖ of this Frobenius norm: a downdate with a norm less than 1 is possible, with a norm above √k it is not.
    /// (n × k)
    pub fn minus(&self, norm: f64, k: usize, random: &mut StdRng) -> Mat<f64> {
        lower(&self.a) * of_norm(norm, self.order(), k, random)
    }

    /// A + V diag(w) Vᵀ.
    pub fn modified(&self, v: &Mat<f64>, weights: &[f64]) -> Option<Self> {
        let weighted = Mat::from_fn(v.nrows(), v.ncols(), |i, r| weights[r] * v[(i, r)]);
        let sum = &self.a + &weighted * v.transpose();
        let a = Mat::from_fn(self.order(), self.order(), |i, j| sum[(i.max(j), i.min(j))]);
        let larger = |i: usize| {
            let added: f64 = (0..v.ncols()).map(|r| (weighted[(i, r)] * v[(i, r)]).abs()).sum();
            self.scales[i].max((self.a[(i, i)] + added).sqrt())
        };
        let scales = (0..self.order()).map(larger).collect();
        // The model rounds as well: products, and a sum of k + 1 of them.
        let units = self.units + allowed(self.order(), v.ncols()) + (v.ncols() + 2) as f64;
        Self { a, scales, units }.well_conditioned()
    }

    /// These rows of A, in this order, by a verb of this rank.
    pub fn rows(&self, rows: &[usize], rank: usize) -> Self {
        let a = Mat::from_fn(rows.len(), rows.len(), |i, j| self.a[(rows[i], rows[j])]);
        let scales = rows.iter().map(|&row| self.scales[row]).collect();
        Self { a, scales, units: self.units + allowed(self.order(), rank) }
    }

    /// A without the rows of a range.
    fn without(&self, rows: &Range<usize>) -> Mat<f64> {
        let left: Vec<usize> = (0..self.order()).filter(|row| !rows.contains(row)).collect();
        Mat::from_fn(left.len(), left.len(), |i, j| self.a[(left[i], left[j])])
    }

    /// r columns of a new A that replace those in `replaced`, and begin there, for rows with scales of their own. The last one
    /// keeps `left`, times the square of its scale. (rows of the new A × r)
    pub fn entering(&self, replaced: &Range<usize>, r: usize, left: f64, random: &mut StdRng) -> Mat<f64> {
        let base = self.without(replaced);
        let n = base.nrows();
        let q = of_norm(0.6, n, r, random);
        let mut g = factor(r, random);
        let cross = lower(&base) * &q;
        if left > 0.0 && r > 0 {
            g[(r - 1, r - 1)] = left.sqrt();
        }
        let mut corner = q.transpose() * &q + &g * g.transpose();
        if left <= 0.0 {
            corner[(r - 1, r - 1)] = left;
        }
        let scales: Vec<f64> = (0..r).map(|_| 10f64.powf(random.random_range(-1.0..1.0))).collect();
        let at = replaced.start;
        Mat::from_fn(n + r, r, |i, j| match i {
            _ if i < at => cross[(i, j)] * scales[j],
            _ if i >= at + r => cross[(i - r, j)] * scales[j],
            // The upper triangle is not used.
            _ if i - at < j => 1e3,
            _ => corner[(i - at, j)] * scales[i - at] * scales[j],
        })
    }

    /// A with these columns instead of those in `replaced`.
    pub fn entered(&self, replaced: &Range<usize>, columns: &Mat<f64>) -> Option<Self> {
        let (at, r, base) = (replaced.start, columns.ncols(), self.without(replaced));
        let n = columns.nrows();
        let old = |i: usize| if i < at { i } else { i - r };
        let is_new = |i: usize| (at..at + r).contains(&i);
        let a = Mat::from_fn(n, n, |i, j| match (is_new(i), is_new(j)) {
            (true, true) => columns[(i.max(j), i.min(j) - at)],
            (true, false) => columns[(j, i - at)],
            (false, true) => columns[(i, j - at)],
            (false, false) => base[(old(i), old(j))],
        });
        let mut scales = self.scales.clone();
        scales.splice(replaced.clone(), (at..at + r).map(|i| a[(i, i)].sqrt()));
        let units = self.units + allowed(n, r + replaced.len());
        Self { a, scales, units }.well_conditioned()
    }

    /// max over i, j of |(L Lᵀ − A)_ij| over the scales of both rows, in units of rounding. Infinite where L is no factor of that
    /// order.
    pub fn error<T: Real>(&self, l: MatRef<'_, T>) -> f64 {
        if l.shape() != self.a.shape() || !is_factor(l) {
            return f64::INFINITY;
        }
        let rows: Vec<Vec<f64>> =
            (0..l.nrows()).map(|i| (0..=i).map(|j| l[(i, j)].f64()).collect()).collect();
        let mut worst = 0.0_f64;
        for i in 0..l.nrows() {
            for j in 0..=i {
                let made = (&rows[i][..=j], &rows[j][..=j]);
                let off = product_of_rows(&[made, (&[-self.a[(i, j)]], &[1.0])]).abs();
                worst = worst.max(off / (T::U * self.scales[i] * self.scales[j]));
            }
        }
        worst
    }
}

fn lower(a: &Mat<f64>) -> Mat<f64> {
    a.llt(Side::Lower).unwrap().L().to_owned()
}
