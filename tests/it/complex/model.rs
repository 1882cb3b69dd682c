//! A dense A for a factor, changed by the same verbs in thirty digits, and the error that the contract allows the factor after all
//! of them.

use super::exact::Hermitian;
use super::oracle::is_factor;
use super::problem::{factor, phases, uniform};
use super::scalar::{Complex, in_c64, narrow};
use crate::support::contract::allowed;
use crate::support::real::Real;
use cholupdate::faer::{Mat, MatRef, Scale, Side, c64};
use rand::Rng;
use rand::rngs::StdRng;
use std::ops::Range;

/// The smallest eigenvalue of A, with scaled rows, that a verb may leave: far above the rounding errors of `c32` in all steps of a
/// walk, so that nothing may be refused.
const MARGIN: f64 = 0.01;

#[derive(Clone)]
pub struct Model {
    pub a: Hermitian,
    /// The largest √M_ii of each row so far.
    scales: Vec<f64>,
    /// The sum of the contract's bounds of all verbs, in units of rounding.
    pub units: f64,
}

fn of_norm(norm: f64, rows: usize, cols: usize, random: &mut StdRng) -> Mat<c64> {
    let p = uniform(rows, cols, random);
    let length = p.norm_l2();
    if length > 0.0 { p * Scale(c64::from(norm / length)) } else { p }
}

fn lower(a: &Mat<c64>) -> Mat<c64> {
    a.llt(Side::Lower).unwrap().L().to_owned()
}

impl Model {
    /// L Lᴴ of the factor's own numbers.
    pub fn new<T: Complex>(l: &Mat<T>) -> Self {
        let a = Hermitian::product(&in_c64(l.as_ref()));
        let scales = (0..l.nrows()).map(|i| a.entry(i, i).re.sqrt()).collect();
        Self { a, scales, units: 0.0 }
    }

    pub fn order(&self) -> usize {
        self.a.order()
    }

    /// This, unless it is nearly singular.
    fn well_conditioned(self) -> Option<Self> {
        let scaled = Mat::from_fn(self.order(), self.order(), |i, j| {
            let margin = if i == j { MARGIN } else { 0.0 };
            self.a.entry(i, j) / (self.scales[i] * self.scales[j]) - margin
        });
        scaled.llt(Side::Lower).is_ok().then_some(self)
    }

    /// V for an update. (n × k)
    pub fn plus<T: Complex>(&self, k: usize, random: &mut StdRng) -> Mat<T> {
        let v = uniform(self.order(), k, random);
        narrow(&Mat::from_fn(self.order(), k, |i, r| v[(i, r)] * (0.3 * self.a.entry(i, i).re.sqrt())))
    }

    /// V = L P with ‖P‖ of this Frobenius norm: a downdate with a norm less than 1 is possible, with a norm above √k it is not.
    /// (n × k)
    pub fn minus<T: Complex>(&self, norm: f64, k: usize, random: &mut StdRng) -> Mat<T> {
        narrow(&(lower(&self.a.rounded()) * of_norm(norm, self.order(), k, random)))
    }

    /// δ A + V diag(w) Vᴴ.
    pub fn modified<T: Complex>(&self, decay: f64, v: &Mat<T>, weights: &[T::Re]) -> Option<Self> {
        let mut a = self.a.clone();
        a.scale_by(decay);
        a.add(&in_c64(v.as_ref()), weights);
        let added = |i: usize| -> f64 {
            (0..v.ncols()).map(|r| v[(i, r)].c64().norm_sqr() * weights[r].f64().abs()).sum()
        };
        let larger = |i: usize| self.scales[i].max((self.a.entry(i, i).re + added(i)).sqrt());
        let scales = (0..self.order()).map(larger).collect();
        let units = self.units + allowed(self.order(), v.ncols()) + 4.0;
        Self { a, scales, units }.well_conditioned()
    }

    /// These rows of A, in this order, by a verb of this rank.
    pub fn rows(&self, rows: &[usize], rank: usize) -> Self {
        let from: Vec<Option<usize>> = rows.iter().copied().map(Some).collect();
        let scales = rows.iter().map(|&row| self.scales[row]).collect();
        let a = self.a.with_rows(&from, |_, _| unreachable!("all rows are old"));
        Self { a, scales, units: self.units + allowed(self.order(), rank) }
    }

    /// r columns of a new A that replace those in `replaced`, and begin there, for rows with scales and phases of their own.
    /// (rows of the new A × r)
    pub fn entering<T: Complex>(&self, replaced: &Range<usize>, r: usize, random: &mut StdRng) -> Mat<T> {
        let left: Vec<usize> = (0..self.order()).filter(|row| !replaced.contains(row)).collect();
        let base = self.rows(&left, 0).a.rounded();
        let (n, at) = (left.len(), replaced.start);
        let q = of_norm(0.6, n, r, random);
        let g = factor(r, random);
        let cross = lower(&base) * &q;
        let corner = q.adjoint() * &q + &g * g.adjoint();
        let turns = phases(r, random);
        let d: Vec<c64> =
            turns.iter().map(|turn| turn * 10f64.powf(random.random_range(-1.0..1.0))).collect();
        narrow(&Mat::from_fn(n + r, r, |i, j| match i {
            _ if i < at => cross[(i, j)] * d[j],
            _ if i >= at + r => cross[(i - r, j)] * d[j],
            // The upper triangle of the corner is not used.
            _ if i - at < j => c64::new(1e3, -1e3),
            _ if i - at == j => (corner[(j, j)].re * d[j].norm_sqr()).into(),
            _ => d[i - at].conj() * corner[(i - at, j)] * d[j],
        }))
    }

    /// A with these columns instead of those in `replaced`.
    pub fn entered<T: Complex>(&self, replaced: &Range<usize>, columns: &Mat<T>) -> Option<Self> {
        let (at, r, n) = (replaced.start, columns.ncols(), columns.nrows());
        let is_new = |i: usize| (at..at + r).contains(&i);
        let old = |i: usize| if i < at { i } else { i - r + replaced.len() };
        let rows: Vec<Option<usize>> = (0..n).map(|i| (!is_new(i)).then(|| old(i))).collect();
        let a = self.a.with_rows(&rows, |i, j| match is_new(j) {
            true => columns[(i, j - at)].c64(),
            false => columns[(j, i - at)].c64().conj(),
        });
        let mut scales = self.scales.clone();
        scales.splice(replaced.clone(), (at..at + r).map(|i| a.entry(i, i).re.sqrt()));
        let units = self.units + allowed(n, r + replaced.len());
        Self { a, scales, units }.well_conditioned()
    }

    /// max over i, j of |(L Lᴴ − A)_ij| over the scales of both rows, in units of rounding. Infinite where L is no factor of that
    /// order.
    pub fn error<T: Complex>(&self, l: MatRef<'_, T>) -> f64 {
        if l.nrows() != self.order() || !is_factor(l) {
            return f64::INFINITY;
        }
        Hermitian::product(&in_c64(l)).difference(&self.a, &self.scales) / T::ROUNDOFF
    }
}
