//! Symmetric indefinite matrices: `Ldlt`.
//!
//! With R = L'S'L'ᵀ − (L S Lᵀ + V diag(w) Vᵀ) the contract is, entry by entry,
//!
//! ```text
//! |R_ij| ≤ max(n + k, 12) u (|L'||L'ᵀ| + |L||Lᵀ| + |V||diag(w)||Vᵀ|)_ij
//! ```

mod accuracy;
mod borders;
mod edge;
mod refused;
mod rows;
mod runs;

use crate::support::compensated::{sum_of_products, two_product};
use crate::support::real::{Real, bits};
use cholupdate::Ldlt;
use cholupdate::faer::{Mat, MatRef, fx128};
use rand::Rng;
use rand::rngs::StdRng;

/// L, and the diagonal of S.
#[derive(Clone)]
struct Factor<T> {
    l: Mat<T>,
    s: Vec<T>,
}

impl<T: Real> Factor<T> {
    fn of(factor: &Ldlt<T>) -> Self {
        Self { l: factor.l().to_owned(), s: factor.signs() }
    }

    fn bits(&self) -> (Vec<u64>, Vec<f64>) {
        (bits(self.l.as_ref()), self.s.iter().map(|s| s.f64()).collect())
    }

    /// For each column of L, the column and itself with the sign of S times `sign`.
    fn pairs(&self, sign: f64) -> impl Iterator<Item = (Vec<f64>, Vec<f64>)> + '_ {
        (0..self.s.len()).map(move |j| {
            let column: Vec<f64> = self.l.col(j).iter().map(|x| x.f64()).collect();
            (column.iter().map(|x| x * sign * self.s[j].f64()).collect(), column)
        })
    }

    /// (|L| |D| |Lᵀ|)_ij
    fn absolute(&self, i: usize, j: usize) -> f64 {
        (0..=i.min(j)).map(|m| self.l[(i, m)].f64().abs() * self.l[(j, m)].f64().abs()).sum()
    }

    /// L S Lᵀ, to the digits of f64.
    fn product(&self) -> Mat<f64> {
        let columns = sum_of_products(self.s.len(), &self.pairs(1.0).collect::<Vec<_>>());
        Mat::from_fn(self.s.len(), self.s.len(), |i, j| columns[i.min(j)][i.abs_diff(j)])
    }

    fn is_factor(&self) -> bool {
        let n = self.s.len();
        let entry = |i: usize, j: usize| match self.l[(i, j)].f64() {
            x if i < j => x == 0.0,
            x if i == j => x > 0.0 && x.is_finite(),
            x => x.is_finite(),
        };
        (0..n).all(|i| (0..n).all(|j| entry(i, j))) && self.s.iter().all(|s| s.f64().abs() == 1.0)
    }
}

/// max |R_ij| over the terms of which the contract bounds it by `max(n + k, 12)` times.
fn backward_error<T: Real>(new: &Factor<T>, old: &Factor<T>, v: MatRef<'_, T>, weights: &[T]) -> f64 {
    if !new.is_factor() {
        return f64::INFINITY;
    }
    let n = old.s.len();
    let mut pairs: Vec<_> = new.pairs(1.0).chain(old.pairs(-1.0)).collect();
    for (column, weight) in v.col_iter().zip(weights) {
        let column: Vec<f64> = column.iter().map(|x| x.f64()).collect();
        // w v takes up to twice the digits: two columns.
        let (product, lost) = column.iter().map(|&x| two_product(-weight.f64(), x)).unzip();
        pairs.extend([(product, column.clone()), (lost, column)]);
    }
    let residual = sum_of_products(n, &pairs);
    let mut worst = 0.0_f64;
    for (j, column) in residual.iter().enumerate() {
        for (below, r) in column.iter().enumerate().filter(|(_, r)| **r != 0.0) {
            let i = j + below;
            let of_v = |r: usize| (v[(i, r)].f64() * weights[r].f64() * v[(j, r)].f64()).abs();
            let terms = new.absolute(i, j) + old.absolute(i, j) + (0..v.ncols()).map(of_v).sum::<f64>();
            worst = worst.max(r.abs() / (T::U * terms));
        }
    }
    worst
}

/// The numbers of positive and negative pivots of L S Lᵀ + V diag(w) Vᵀ by elimination in thirty digits; `None` if a pivot is so small
/// that working precision may not know its sign.
fn exact_inertia<T: Real>(old: &Factor<T>, v: MatRef<'_, T>, weights: &[T]) -> Option<(usize, usize)> {
    let n = old.s.len();
    let wide = |x: T| fx128::from(x.f64());
    let mut a = vec![vec![fx128::from(0.0); n]; n];
    for i in 0..n {
        for j in 0..=i {
            let product = |sum, m: usize| sum + wide(old.l[(i, m)]) * wide(old.s[m]) * wide(old.l[(j, m)]);
            let of_l = (0..=j).fold(fx128::from(0.0), product);
            a[i][j] = (0..v.ncols())
                .fold(of_l, |sum, r| sum + wide(weights[r]) * wide(v[(i, r)]) * wide(v[(j, r)]));
        }
    }
    let mut found = (0, 0);
    let of_v =
        |i: usize| (0..v.ncols()).map(|r| (weights[r].f64() * v[(i, r)].f64().powi(2)).abs()).sum::<f64>();
    let mut sizes: Vec<f64> = (0..n).map(|i| old.absolute(i, i) + of_v(i)).collect();
    let share = 100.0 * (n + v.ncols()) as f64 * T::U;
    for j in 0..n {
        let pivot = a[j][j];
        if pivot.0.abs() <= share * sizes[j] {
            return None;
        }
        if pivot.0 > 0.0 {
            found.0 += 1
        } else {
            found.1 += 1
        }
        for i in j + 1..n {
            let factor = a[i][j] / pivot;
            sizes[i] += (factor * a[i][j]).0.abs();
            for m in j + 1..=i {
                let entry = a[m][j];
                a[i][m] -= factor * entry;
            }
        }
    }
    Some(found)
}

/// Symmetric matrices that people have.
#[derive(Clone, Copy, Debug)]
pub enum Matrix {
    Definite,
    /// (H Aᵀ; A −δ 1), regularized by δ.
    QuasiDefinite(f64),
    /// The same with the rows in a random order.
    Shuffled,
    /// (H Aᵀ; A 0): no factor in most other orders.
    SaddlePoint,
    /// Entries at random.
    Random,
    /// The same with rows and columns that shrink to 1e-8.
    Graded,
    /// The same with leading minors that nearly vanish.
    NearlySingular,
}

pub const MATRICES: [Matrix; 9] = [
    Matrix::Definite,
    Matrix::QuasiDefinite(1e-2),
    Matrix::QuasiDefinite(1e-6),
    Matrix::QuasiDefinite(1e-10),
    Matrix::Shuffled,
    Matrix::SaddlePoint,
    Matrix::Random,
    Matrix::Graded,
    Matrix::NearlySingular,
];

fn symmetric(n: usize, random: &mut StdRng) -> Mat<f64> {
    let g = Mat::from_fn(n, n, |_, _| random.random_range(-1.0..1.0));
    Mat::from_fn(n, n, |i, j| g[(i.max(j), i.min(j))])
}

fn definite(n: usize, random: &mut StdRng) -> Mat<f64> {
    let g = Mat::<f64>::from_fn(n, n, |_, _| random.random_range(-1.0..1.0));
    let square = &g * g.transpose();
    Mat::from_fn(n, n, |i, j| square[(i, j)] + if i == j { 0.1 } else { 0.0 })
}

impl Matrix {
    pub fn make<T: Real>(self, n: usize, random: &mut StdRng) -> Mat<T> {
        let (own, g) = (n - n / 3, symmetric(n, random));
        let h = definite(n, random);
        let kkt = |delta: f64| {
            Mat::from_fn(n, n, |i, j| match (i < own, j < own) {
                (true, true) => h[(i, j)],
                (false, false) if i == j => -delta,
                (false, false) => 0.0,
                _ => g[(i, j)],
            })
        };
        let a = match self {
            Self::Definite => h,
            Self::QuasiDefinite(delta) => kkt(delta),
            Self::SaddlePoint => kkt(0.0),
            Self::Shuffled => {
                let kkt = kkt(0.1);
                let mut rows: Vec<usize> = (0..n).collect();
                (1..n).for_each(|i| rows.swap(i, random.random_range(0..=i)));
                Mat::from_fn(n, n, |i, j| kkt[(rows[i], rows[j])])
            }
            Self::Random => g,
            Self::Graded => {
                let grade = |i: usize| 1e-8_f64.powf(i as f64 / n as f64);
                Mat::from_fn(n, n, |i, j| g[(i, j)] * grade(i) * grade(j))
            }
            Self::NearlySingular => {
                let mut a = g.clone();
                for j in (1..n).step_by(5) {
                    // The pivot of row j, made small from the rows before it.
                    let before = a.submatrix(0, 0, j, j).to_owned();
                    let row = Mat::from_fn(j, 1, |i, _| a[(j, i)]);
                    let x = cholupdate::faer::linalg::solvers::Solve::solve(&before.partial_piv_lu(), &row);
                    a[(j, j)] = (row.transpose() * &x)[(0, 0)] + 1e-5;
                }
                a
            }
        };
        Mat::from_fn(n, n, |i, j| T::of(a[(i, j)]))
    }
}

fn columns<T: Real>(n: usize, k: usize, scale: f64, random: &mut StdRng) -> Mat<T> {
    Mat::from_fn(n, k, |_, _| T::of(scale * random.random_range(-1.0..1.0)))
}

fn unchanged<T: Real>(factor: &Ldlt<T>, before: &Factor<T>) -> bool {
    Factor::of(factor).bits() == before.bits()
}

fn signs<T: Real>(factor: &Ldlt<T>) -> Vec<f64> {
    factor.signs().iter().map(|s| s.f64()).collect()
}
