//! Hermitian indefinite matrices: `Ldlt` of complex numbers.
//!
//! With R = L'S'L'ᴴ − (L S Lᴴ + V diag(w) Vᴴ) the contract is, entry by entry,
//!
//! ```text
//! |R_ij| ≤ max(n + k, 12) u (|L'||L'ᴴ| + |L||Lᴴ| + |V||diag(w)||Vᴴ|)_ij
//! ```

mod accuracy;
mod borders;
mod edge;
mod real;
mod refused;
mod rows;

use super::exact::Hermitian;
use super::oracle::{Products, is_factor};
use super::problem::{phases, uniform};
use super::scalar::{Complex, bits, in_c64, narrow};
use crate::ldlt::Matrix;
use crate::support::real::Real;
use cholupdate::Ldlt;
use cholupdate::faer::{Mat, MatRef, c64};
use rand::rngs::StdRng;

/// L, and the diagonal of S.
#[derive(Clone)]
struct Factor<T: Complex> {
    l: Mat<T>,
    s: Vec<f64>,
}

impl<T: Complex> Factor<T> {
    fn of(factor: &Ldlt<T>) -> Self {
        Self { l: factor.l().to_owned(), s: factor.signs().iter().map(|s| s.f64()).collect() }
    }

    fn bits(&self) -> (Vec<[u64; 2]>, &[f64]) {
        (bits(self.l.as_ref()), &self.s)
    }

    /// (|L| |D| |Lᴴ|)_ij
    fn absolute(&self, i: usize, j: usize) -> f64 {
        (0..=i.min(j)).map(|m| self.l[(i, m)].c64().norm() * self.l[(j, m)].c64().norm()).sum()
    }

    /// Adds L S Lᴴ, times a sign.
    fn add_to(&self, products: &mut Products, sign: f64) {
        for (column, s) in in_c64(self.l.as_ref()).col_iter().zip(&self.s) {
            products.add_weighted(&column.iter().copied().collect::<Vec<_>>(), sign * s);
        }
    }

    /// L S Lᴴ, to the digits of c64.
    fn product(&self) -> Mat<c64> {
        let (order, mut products) = (self.s.len(), Products::default());
        self.add_to(&mut products, 1.0);
        let columns = products.sum(order);
        Mat::from_fn(order, order, |i, j| {
            let entry = columns[i.min(j)][i.abs_diff(j)];
            if i < j { entry.conj() } else { entry }
        })
    }

    fn is_factor(&self) -> bool {
        is_factor(self.l.as_ref()) && self.s.iter().all(|s| s.abs() == 1.0)
    }
}

/// max |R_ij| over the terms of which the contract bounds it by `max(n + k, 12)` times.
fn backward_error<T: Complex>(new: &Factor<T>, old: &Factor<T>, v: MatRef<'_, T>, weights: &[T::Re]) -> f64 {
    if !new.is_factor() {
        return f64::INFINITY;
    }
    let mut products = Products::default();
    new.add_to(&mut products, 1.0);
    old.add_to(&mut products, -1.0);
    for (column, weight) in v.col_iter().zip(weights) {
        products.add_weighted(&column.iter().map(|x| x.c64()).collect::<Vec<_>>(), -weight.f64());
    }
    let size_of_v = |i: usize, r: usize| v[(i, r)].c64().norm();
    let mut worst = 0.0_f64;
    for (j, column) in products.sum(old.s.len()).iter().enumerate() {
        for (below, r) in column.iter().enumerate().filter(|(_, r)| r.norm() != 0.0) {
            let i = j + below;
            let of_v = |r: usize| size_of_v(i, r) * weights[r].f64().abs() * size_of_v(j, r);
            let terms = new.absolute(i, j) + old.absolute(i, j) + (0..v.ncols()).map(of_v).sum::<f64>();
            worst = worst.max(r.norm() / (T::ROUNDOFF * terms));
        }
    }
    worst
}

/// The numbers of positive and negative pivots of L S Lᴴ + V diag(w) Vᴴ by elimination in thirty digits; `None` if a pivot is so small
/// that working precision may not know its sign.
fn exact_inertia<T: Complex>(old: &Factor<T>, v: MatRef<'_, T>, weights: &[T::Re]) -> Option<(usize, usize)> {
    let n = old.s.len();
    let mut a = Hermitian::product(&Mat::zeros(n, 0));
    a.add(&in_c64(old.l.as_ref()), &old.s);
    a.add(&in_c64(v), weights);
    let of_v =
        |i: usize| (0..v.ncols()).map(|r| v[(i, r)].c64().norm_sqr() * weights[r].f64().abs()).sum::<f64>();
    let sizes = (0..n).map(|i| old.absolute(i, i) + of_v(i)).collect();
    a.inertia(100.0 * (n + v.ncols()) as f64 * T::ROUNDOFF, sizes)
}

/// A real matrix turned by phases: D A Dᴴ.
fn turned<T: Complex>(matrix: Matrix, n: usize, random: &mut StdRng) -> Mat<T> {
    let a: Mat<f64> = matrix.make(n, random);
    let d = phases(n, random);
    let entry = |i: usize, j: usize| match i.cmp(&j) {
        std::cmp::Ordering::Less => (d[j] * d[i].conj() * a[(i, j)]).conj(),
        std::cmp::Ordering::Equal => a[(i, i)].into(),
        std::cmp::Ordering::Greater => d[i] * d[j].conj() * a[(i, j)],
    };
    narrow(&Mat::from_fn(n, n, entry))
}

fn columns<T: Complex>(n: usize, k: usize, scale: f64, random: &mut StdRng) -> Mat<T> {
    let v = uniform(n, k, random);
    narrow(&Mat::from_fn(n, k, |i, r| v[(i, r)] * scale))
}

fn unchanged<T: Complex>(factor: &Ldlt<T>, before: &Factor<T>) -> bool {
    Factor::of(factor).bits() == before.bits()
}
