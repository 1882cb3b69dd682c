//! Derivatives through a fresh factorization, in fx128: by dense matrices, in O(n³).

use crate::support::exact::exact_factor;
use crate::support::problem::Problem;
use crate::support::real::Real;
use cholupdate::faer::{Mat, MatRef, fx128};
use cholupdate::gradient::{Cotangents, Tangents};

/// A matrix by rows.
type Dense = Vec<Vec<fx128>>;

fn wide(x: f64) -> fx128 {
    fx128::from(x)
}

fn dense<T: Real>(a: MatRef<'_, T>) -> Dense {
    (0..a.nrows()).map(|i| (0..a.ncols()).map(|j| wide(a[(i, j)].f64())).collect()).collect()
}

/// A lower triangle, and zeros above.
fn lower<T: Real>(a: MatRef<'_, T>) -> Dense {
    let entry = |i: usize, j: usize| if i < j { wide(0.0) } else { wide(a[(i, j)].f64()) };
    (0..a.nrows()).map(|i| (0..a.ncols()).map(|j| entry(i, j)).collect()).collect()
}

fn product(a: &Dense, b: &Dense, columns: usize) -> Dense {
    let entry = |row: &Vec<fx128>, j: usize| row.iter().zip(b).fold(wide(0.0), |sum, (&x, b)| sum + x * b[j]);
    a.iter().map(|row| (0..columns).map(|j| entry(row, j)).collect()).collect()
}

fn transpose(a: &Dense) -> Dense {
    let columns = a.first().map_or(0, Vec::len);
    (0..columns).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}

/// L⁻¹ B.
fn solve(l: &Dense, b: &Dense) -> Dense {
    let mut x: Dense = Vec::new();
    for (i, row) in b.iter().enumerate() {
        let entry = |j: usize| (0..i).fold(row[j], |rest, m| rest - l[i][m] * x[m][j]) / l[i][i];
        let row = (0..row.len()).map(entry).collect();
        x.push(row);
    }
    x
}

/// L⁻ᵀ B.
fn solve_transposed(l: &Dense, b: &Dense) -> Dense {
    let n = l.len();
    let mut x = b.clone();
    for i in (0..n).rev() {
        for j in 0..b[i].len() {
            x[i][j] = (i + 1..n).fold(b[i][j], |rest, m| rest - l[m][i] * x[m][j]) / l[i][i];
        }
    }
    x
}

/// A modification, to some thirty digits.
pub struct Exact {
    l: Dense,
    v: Dense,
    weights: Vec<fx128>,
    new: Dense,
}

impl Exact {
    /// `None` where the result is not positive definite.
    pub fn new<T: Real>(problem: &Problem<T>) -> Option<Self> {
        let n = problem.l.nrows();
        let rows = exact_factor(problem.l.as_ref(), problem.v.as_ref(), &problem.weights)?;
        let padded = |row: Vec<fx128>| row.into_iter().chain(core::iter::repeat(wide(0.0))).take(n).collect();
        Some(Self {
            l: lower(problem.l.as_ref()),
            v: dense(problem.v.as_ref()),
            weights: problem.weights.iter().map(|&w| wide(w.f64())).collect(),
            new: rows.into_iter().map(padded).collect(),
        })
    }

    /// L', rounded.
    pub fn factor<T: Real>(&self) -> Mat<T> {
        Mat::from_fn(self.new.len(), self.new.len(), |i, j| T::of(self.new[i][j].0))
    }

    /// √M_ii of M = L Lᵀ + V diag|w| Vᵀ: the scale of row i.
    pub fn scales(&self) -> Vec<f64> {
        let square = |row: &[fx128]| row.iter().map(|x| x.0 * x.0).sum::<f64>();
        let weighted =
            |row: &[fx128]| row.iter().zip(&self.weights).map(|(x, w)| x.0 * x.0 * w.0.abs()).sum::<f64>();
        self.l.iter().zip(&self.v).map(|(l, v)| (square(l) + weighted(v)).sqrt()).collect()
    }

    /// Twice the cotangent of A', M = L'⁻ᵀ (Φ + Φᵀ) L'⁻¹ with Φ the lower triangle of L'ᵀ L̄' and half its diagonal: L̄ = tril(M L),
    /// V̄ = M V diag(w), w̄_c = v_cᵀ M v_c / 2. Also returns Σ_i |V_ic| q_ic / 2 of each w̄_c, where q_ic is the larger of |Σ_j M_ij V_jc|
    /// and √Σ_j (M_ij V_jc)².
    pub fn pull<T: Real>(&self, cotangent: MatRef<'_, T>) -> (Cotangents<f64>, Vec<f64>) {
        let (n, k) = (self.l.len(), self.weights.len());
        let phi = product(&transpose(&self.new), &lower(cotangent), n);
        let both: Dense = (0..n).map(|i| (0..n).map(|j| phi[i.max(j)][i.min(j)]).collect()).collect();
        let half = solve_transposed(&self.new, &both);
        let m = solve_transposed(&self.new, &transpose(&half));
        let (of_l, q) = (product(&m, &self.l, n), product(&m, &self.v, k));
        let weight = |c: usize| {
            let sum = (0..n).fold(wide(0.0), |sum, i| sum + self.v[i][c] * q[i][c]);
            0.5 * sum.0
        };
        let all = Cotangents {
            l: Mat::from_fn(n, n, |i, j| if i < j { 0.0 } else { of_l[i][j].0 }),
            v: Mat::from_fn(n, k, |i, c| (q[i][c] * self.weights[c]).0),
            weights: (0..k).map(weight).collect(),
        };
        let squares = |i: usize, c: usize| (0..n).map(|j| (m[i][j] * self.v[j][c]).0.powi(2)).sum::<f64>();
        let terms = |c: usize| {
            let of_row = |i: usize| self.v[i][c].0.abs() * q[i][c].0.abs().max(squares(i, c).sqrt());
            (0..n).map(of_row).sum::<f64>() / 2.0
        };
        (all, (0..k).map(terms).collect())
    }

    /// dL' = L' Ψ(L'⁻¹ dA' L'⁻ᵀ), where Ψ takes the lower triangle and half the diagonal.
    pub fn push<T: Real>(&self, along: &Tangents<'_, T>) -> Mat<f64> {
        let (n, k) = (self.l.len(), self.weights.len());
        let (dl, dv) = (lower(along.l), dense(along.v));
        let dw: Vec<fx128> =
            (0..k).map(|c| along.weights.map_or(wide(0.0), |dw| wide(dw[c].f64()))).collect();
        let entry = |i: usize, j: usize| {
            let of_l =
                (0..n).fold(wide(0.0), |sum, m| sum + dl[i][m] * self.l[j][m] + self.l[i][m] * dl[j][m]);
            (0..k).fold(of_l, |sum, c| {
                let (x, y) = (self.v[i][c], self.v[j][c]);
                sum + self.weights[c] * (dv[i][c] * y + x * dv[j][c]) + dw[c] * x * y
            })
        };
        let change: Dense = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
        let half = solve(&self.new, &change);
        let inner = solve(&self.new, &transpose(&half));
        let psi: Dense = (0..n)
            .map(|i| {
                (0..n)
                    .map(|j| match i.cmp(&j) {
                        core::cmp::Ordering::Less => wide(0.0),
                        core::cmp::Ordering::Equal => inner[i][i] * wide(0.5),
                        core::cmp::Ordering::Greater => inner[i][j],
                    })
                    .collect()
            })
            .collect();
        let to = product(&self.new, &psi, n);
        Mat::from_fn(n, n, |i, j| if i < j { 0.0 } else { to[i][j].0 })
    }
}
