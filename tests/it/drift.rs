//! Long drift: 10,000 steps of a sliding window, one mixed call each.
//!
//! The rows of the window are multiples of 2⁻¹⁰, so that its Gram matrix is known exactly at every step. Backward errors add up:
//! after s steps the error is at most the sum of s errors of one call, and, were these independent, √s of them.

use crate::support::compensated::sum_of_products;
use crate::support::contract::NOISE;
use crate::support::engines::{self, sized};
use crate::support::peers::refactorize;
use crate::support::problem::rng;
use crate::support::real::Real;
use cholupdate::faer::{Mat, MatRef};
use cholupdate::{Cholesky, Engine};
use rand::Rng;

on_every_engine!(the_error_of_a_sliding_window_grows_slowly);

/// Rows in the window.
fn window(n: usize) -> usize {
    3 * n
}

/// max over i, j of |L Lᵀ − G|_ij / (u · √(G_ii G_jj)).
fn error<T: Real>(l: MatRef<'_, T>, gram: &Mat<f64>) -> f64 {
    let n = gram.nrows();
    let mut pairs = Vec::new();
    for j in 0..n {
        let column: Vec<f64> = (0..n).map(|i| if i < j { 0.0 } else { l[(i, j)].f64() }).collect();
        pairs.push((column.clone(), column));
        let unit: Vec<f64> = (0..n).map(|i| if i == j { 1.0 } else { 0.0 }).collect();
        pairs.push(((0..n).map(|i| if i < j { 0.0 } else { -gram[(i, j)] }).collect(), unit));
    }
    let residual = sum_of_products(n, &pairs);
    let mut worst = 0.0f64;
    for (j, column) in residual.iter().enumerate() {
        for (i, r) in column.iter().enumerate() {
            worst = worst.max(r.abs() / (T::U * (gram[(j + i, j + i)] * gram[(j, j)]).sqrt()));
        }
    }
    worst
}

fn the_error_of_a_sliding_window_grows_slowly<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let steps = engines::steps::<E>(sized(10_000, 300));
    for n in [32, 64] {
        let mut rng = rng(n as u64);
        let mut row = || -> Vec<f64> {
            (0..n).map(|_| f64::from(rng.random_range(-1024i32..=1024)) / 1024.0).collect()
        };
        let mut rows: Vec<Vec<f64>> = (0..window(n)).map(|_| row()).collect();
        let mut gram = Mat::from_fn(n, n, |i, j| rows.iter().map(|x| x[i] * x[j]).sum::<f64>());
        let in_type = |gram: &Mat<f64>| Mat::from_fn(n, n, |i, j| T::of(gram[(i, j)]));
        let mut factor = Cholesky::new_in(&in_type(&gram), engine.clone()).unwrap();
        let first = error(factor.to_factor().unwrap().as_ref(), &gram);

        let mut largest = first;
        for step in 1..=steps {
            let (new, at) = (row(), step % window(n));
            let old = std::mem::replace(&mut rows[at], new.clone());
            let v = Mat::from_fn(n, 2, |i, r| T::of([&new, &old][r][i]));
            factor.modify(&v, &[T::ONE, -T::ONE]).unwrap();
            for j in 0..n {
                for i in 0..n {
                    gram[(i, j)] += new[i] * new[j] - old[i] * old[j];
                }
            }
            if [100, 1000, 10_000].contains(&step) || step % 500 == 0 {
                largest = largest.max(error(factor.to_factor().unwrap().as_ref(), &gram));
            }
            if [100, 1000, 10_000].contains(&step) {
                println!("{}, n = {n}, {step} steps: {largest:.1} u", std::any::type_name::<T>());
            }
        }
        let refactorized = refactorize(
            in_type(&Mat::zeros(n, n)).as_ref(),
            Mat::from_fn(n, window(n), |i, r| T::of(rows[r][i])).as_ref(),
            &vec![T::ONE; window(n)],
        );
        let fresh = error(refactorized.unwrap().as_ref(), &gram);
        println!("{}, n = {n}, refactorized: {fresh:.1} u", std::any::type_name::<T>());

        let allowed = NOISE * (steps as f64).sqrt();
        assert!(largest <= allowed, "n = {n}: {largest:.1} u after {steps} steps, more than {allowed:.1} u");
        // Ten thousand calls cost two digits and a half at most, compared with starting afresh.
        assert!(largest <= 300.0 * fresh.max(1.0), "n = {n}: {largest:.1} u, refactorized {fresh:.1} u");
    }
}
