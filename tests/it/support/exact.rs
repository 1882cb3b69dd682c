//! The exact outcome of a modification, to some thirty digits: the reference of forward errors.

use super::real::Real;
use cholupdate::faer::{Mat, MatRef, Side, fx128};

fn wide<T: Real>(x: T) -> fx128 {
    fx128::from(x.f64())
}

/// A symmetric matrix to some thirty digits: the lower triangle by rows.
pub struct Symmetric(Vec<Vec<fx128>>);

impl Symmetric {
    /// X Xᵀ.
    pub fn product<T: Real>(x: MatRef<'_, T>) -> Self {
        let mut a = Self((0..x.nrows()).map(|i| vec![fx128::from(0.0); i + 1]).collect());
        a.add(x, T::ONE);
        a
    }

    /// A ← A + σ X Xᵀ.
    pub fn add<T: Real>(&mut self, x: MatRef<'_, T>, sigma: T) {
        let columns: Vec<Vec<fx128>> = x.col_iter().map(|x| x.iter().map(|&x| wide(x)).collect()).collect();
        for (column, i) in columns.iter().flat_map(|column| (0..column.len()).map(move |i| (column, i))) {
            let entry = wide(sigma) * column[i];
            if entry.0 != 0.0 {
                self.0[i].iter_mut().zip(column).for_each(|(a, &x)| *a += entry * x);
            }
        }
    }

    /// A ← s A.
    pub fn scale_by<T: Real>(&mut self, s: T) {
        self.0.iter_mut().flatten().for_each(|a| *a *= wide(s));
    }

    /// The matrix with these rows and columns of this one; the entries of new rows come from `new`.
    pub fn with_rows<T: Real>(&self, rows: &[Option<usize>], new: impl Fn(usize, usize) -> T) -> Self {
        let entry = |i: usize, j: usize| match (rows[i], rows[j]) {
            (Some(i), Some(j)) => self.0[i.max(j)][i.min(j)],
            _ => wide(new(i, j)),
        };
        Self((0..rows.len()).map(|i| (0..=i).map(|j| entry(i, j)).collect()).collect())
    }

    pub fn order(&self) -> usize {
        self.0.len()
    }

    /// An entry, rounded.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        self.0[i.max(j)][i.min(j)].0
    }

    /// A ← s² A.
    pub fn scale<T: Real>(&mut self, s: T) {
        let square = wide(s) * wide(s);
        self.0.iter_mut().flatten().for_each(|a| *a *= square);
    }

    /// A factor of it in double precision.
    pub fn factor(&self) -> Mat<f64> {
        let n = self.0.len();
        let a = Mat::from_fn(n, n, |i, j| self.0[i.max(j)][i.min(j)].0);
        a.llt(Side::Lower).unwrap().L().to_owned()
    }

    /// max over i, j of |A − B|_ij / √(B_ii B_jj).
    pub fn largest_difference(&self, other: &Self) -> f64 {
        let mut worst = 0.0f64;
        for (i, (row, others)) in self.0.iter().zip(&other.0).enumerate() {
            for (j, (&x, &y)) in row.iter().zip(others).enumerate() {
                worst = worst.max((x - y).0.abs() / (other.0[i][i].0 * other.0[j][j].0).sqrt());
            }
        }
        worst
    }
}

/// The Cholesky factor of LLᵀ + V diag(w) Vᵀ, both formed in fx128, or `None` where that is not positive definite.
///
/// By rows: entry (i, j), j ≤ i, at [i][j]. Plain loops, for small orders.
pub fn exact_factor<T: Real>(l: MatRef<'_, T>, v: MatRef<'_, T>, weights: &[T]) -> Option<Vec<Vec<fx128>>> {
    let product = |i: usize, j: usize| {
        let from_l = (0..=j).fold(fx128::from(0.0), |sum, c| sum + wide(l[(i, c)]) * wide(l[(j, c)]));
        (0..v.ncols()).fold(from_l, |sum, r| sum + wide(weights[r]) * wide(v[(i, r)]) * wide(v[(j, r)]))
    };
    let mut rows: Vec<Vec<fx128>> = Vec::new();
    for i in 0..l.nrows() {
        let mut row: Vec<fx128> = Vec::new();
        for j in 0..=i {
            let known = if j < i { &rows[j][..] } else { &row[..] };
            let rest = row.iter().zip(&known[..j]).fold(product(i, j), |rest, (&x, &y)| rest - x * y);
            if j < i {
                row.push(rest / rows[j][j]);
            } else if rest > fx128::from(0.0) {
                row.push(rest.sqrt());
            } else {
                return None;
            }
        }
        rows.push(row);
    }
    Some(rows)
}

/// max over i of ‖L̂_i − L_i‖ / ‖L_i‖ in units of rounding, row by row.
pub fn forward_error<T: Real>(new: MatRef<'_, T>, exact: &[Vec<fx128>]) -> f64 {
    let mut worst = 0.0f64;
    for (i, row) in exact.iter().enumerate() {
        let (mut error, mut norm) = (0.0, 0.0);
        for (j, &entry) in row.iter().enumerate() {
            let difference = fx128::from(new[(i, j)].f64()) - entry;
            error += difference.0.powi(2);
            norm += entry.0.powi(2);
        }
        worst = worst.max((error / norm).sqrt() / T::U);
    }
    worst
}

/// The pivots of L Lᵀ + V Vᵀ, by rotations in fx128 of one column of V after the other: they retain the digits of pivots that
/// are far smaller than V, which L Lᵀ + V Vᵀ itself lacks.
pub fn exact_update<T: Real>(l: MatRef<'_, T>, v: MatRef<'_, T>) -> Vec<f64> {
    let n = l.nrows();
    let mut columns: Vec<Vec<fx128>> = (0..n).map(|j| (j..n).map(|i| wide(l[(i, j)])).collect()).collect();
    for column in v.col_iter() {
        let mut x: Vec<fx128> = column.iter().map(|&x| wide(x)).collect();
        for (j, l) in columns.iter_mut().enumerate() {
            let (pivot, a) = (l[0], x[j]);
            let alpha = (pivot * pivot + a * a).sqrt();
            if alpha.0 == 0.0 {
                continue;
            }
            let (c, s) = (pivot / alpha, a / alpha);
            for (l, x) in l.iter_mut().zip(&mut x[j..]) {
                (*l, *x) = (c * *l + s * *x, c * *x - s * *l);
            }
        }
    }
    columns.iter().map(|column| column[0].0).collect()
}
