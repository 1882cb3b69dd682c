//! The exact outcome of a modification, to some thirty digits: what forward errors are measured against.

use super::real::Real;
use cholupdate::faer::{MatRef, fx128};

/// The Cholesky factor of LLᵀ + V diag(w) Vᵀ, both formed in fx128, or `None` where that is not positive definite.
///
/// By rows: entry (i, j), j ≤ i, at [i][j]. Plain loops, for small orders.
pub fn exact_factor<T: Real>(l: MatRef<'_, T>, v: MatRef<'_, T>, weights: &[T]) -> Option<Vec<Vec<fx128>>> {
    let wide = |x: T| fx128::from(x.f64());
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
