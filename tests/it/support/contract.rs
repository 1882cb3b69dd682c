//! The accuracy contract as an oracle, evaluated in twice the precision of f64.
//!
//! With R = L'L'ᵀ − (LLᵀ + V diag(w) Vᵀ) and M = LLᵀ + V |diag(w)| Vᵀ, for all i, j:
//!
//! ```text
//! |R_ij| ≤ max(n + k, 12) · u · √(M_ii · M_jj)
//! ```
//!
//! The 12 is what a single column may cost: a pivot, its root and two reciprocals, a product and a difference are as many
//! roundings, whatever n and k are. LINPACK and refactorization exceed n + k at the smallest orders as well.

use super::compensated::{sum_of_products, two_product};
use super::real::Real;
use cholupdate::faer::MatRef;

/// max over i, j of |R_ij| / (u · √(M_ii · M_jj)): the backward error in units of rounding, row by row.
///
/// Infinite where `new` is not a lower triangle of finite numbers with a positive diagonal.
pub fn backward_error<T: Real>(
    new: MatRef<'_, T>,
    old: MatRef<'_, T>,
    v: MatRef<'_, T>,
    weights: &[T],
) -> f64 {
    if !is_factor(new) {
        return f64::INFINITY;
    }
    let order = old.nrows();
    let mut pairs = Vec::new();
    for j in 0..order {
        let (new, old) = (lower_column(new, j), lower_column(old, j));
        pairs.push((new.clone(), new));
        pairs.push((old.iter().map(|x| -x).collect(), old));
    }
    for (r, weight) in weights.iter().enumerate() {
        let column: Vec<f64> = (0..order).map(|i| v[(i, r)].f64()).collect();
        // w · v takes up to twice the digits: two columns.
        let products = column.iter().map(|&x| two_product(-weight.f64(), x));
        let (weighted, lost): (Vec<f64>, Vec<f64>) = products.unzip();
        if lost.iter().any(|&x| x != 0.0) {
            pairs.push((lost, column.clone()));
        }
        pairs.push((weighted, column));
    }
    let residual = sum_of_products(order, &pairs);

    let scale: Vec<f64> = (0..order).map(|i| row_scale(old, v, weights, i)).collect();
    let mut worst = 0.0f64;
    for (j, column) in residual.iter().enumerate() {
        for (i, r) in column.iter().enumerate() {
            worst = worst.max(r.abs() / (T::U * scale[j + i] * scale[j]));
        }
    }
    worst
}

/// Roundings that a single column may cost; errors below this are noise.
pub const NOISE: f64 = 12.0;

/// The contract.
#[track_caller]
pub fn assert_contract<T: Real>(
    new: MatRef<'_, T>,
    old: MatRef<'_, T>,
    v: MatRef<'_, T>,
    weights: &[T],
    what: impl std::fmt::Debug,
) {
    let error = backward_error(new, old, v, weights);
    let bound = ((old.nrows() + v.ncols()) as f64).max(NOISE);
    assert!(
        error <= bound,
        "{what:?}, {}, n = {}, k = {}: backward error {error:.3} u, the contract allows {bound} u",
        std::any::type_name::<T>(),
        old.nrows(),
        v.ncols()
    );
}

/// √M_ii.
pub fn row_scale<T: Real>(l: MatRef<'_, T>, v: MatRef<'_, T>, weights: &[T], i: usize) -> f64 {
    let l_part: f64 = (0..=i).map(|j| l[(i, j)].f64().powi(2)).sum();
    let v_part: f64 = (0..v.ncols()).map(|r| v[(i, r)].f64().powi(2) * weights[r].f64().abs()).sum();
    (l_part + v_part).sqrt()
}

/// Lower triangular, finite, with a positive diagonal.
pub fn is_factor<T: Real>(l: MatRef<'_, T>) -> bool {
    let good = |i: usize, j: usize| {
        let x = l[(i, j)].f64();
        if i < j { x == 0.0 } else { x.is_finite() && (i > j || x > 0.0) }
    };
    (0..l.ncols()).all(|j| (0..l.nrows()).all(|i| good(i, j)))
}

fn lower_column<T: Real>(l: MatRef<'_, T>, j: usize) -> Vec<f64> {
    (0..l.nrows()).map(|i| if i < j { 0.0 } else { l[(i, j)].f64() }).collect()
}
