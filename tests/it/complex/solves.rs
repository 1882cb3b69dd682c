//! Solutions, products, determinants and condition numbers, against A and L in double precision.

use super::exact::Hermitian;
use super::problem::{factor as random_factor, phases, rng, uniform};
use super::rows::{matrix, without};
use super::scalar::{Complex, bits, in_c64, narrow};
use crate::support::contract::assert_log_det;
use crate::support::real::Real;
use cholupdate::faer::{Mat, MatRef, c64};
use cholupdate::{Cholesky, Engine, Extension};
use rand::Rng;

on_every_cpu!(
    solutions_solve,
    halves_of_solutions_solve,
    products_are_exact_in_integers,
    a_reconstruction_is_the_product,
    the_determinant_is_real,
    the_condition_number_is_estimated,
    an_extension_solves_for_the_bordered_matrix,
);

fn right_hand_sides<T: Complex>(n: usize, m: usize) -> Mat<T> {
    narrow(&uniform(n, m, &mut rng(5)))
}

/// |B − A X| ≤ 2 (3 n + 4) u |L| |Lᴴ| |X|, entry by entry, as for real scalars; a product of complex numbers has two roundings
/// for one.
#[track_caller]
fn assert_solved<T: Complex>(a: &Mat<T>, x: &Mat<T>, b: &Mat<T>) {
    let n = a.nrows();
    for c in 0..b.ncols() {
        let scale: f64 = (0..n).map(|j| a[(j, j)].c64().re.sqrt() * x[(j, c)].c64().norm()).sum();
        for i in 0..n {
            let product: c64 = (0..n).map(|j| a[(i, j)].c64() * x[(j, c)].c64()).sum();
            let allowed = 2.0 * (3 * n + 4) as f64 * T::ROUNDOFF * a[(i, i)].c64().re.sqrt() * scale;
            let residual = (product - b[(i, c)].c64()).norm();
            assert!(residual <= allowed, "n = {n}: residual {residual:.2e} at {i}, {c}, not {allowed:.2e}");
        }
    }
}

fn solutions_solve<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for n in [0, 1, 2, 3, 9, 33, 70, 150] {
        for m in [0, 1, 2, 5, 17] {
            let a = matrix::<T>(n, n as u64);
            let factor = Cholesky::new_in(&a, engine.clone()).unwrap();
            let b = right_hand_sides::<T>(n, m);
            let x = factor.solve(&b).unwrap();
            assert_solved(&a, &x, &b);
            let mut in_place = b.clone();
            factor.solve_in_place(&mut in_place).unwrap();
            assert_eq!(bits(in_place.as_ref()), bits(x.as_ref()));
            // The second half of the first half, in any layout.
            let mut halves = b.transpose().to_owned();
            factor.solve_l_in_place(halves.as_mut().transpose_mut()).unwrap();
            factor.solve_lt_in_place(halves.as_mut().transpose_mut()).unwrap();
            assert_solved(&a, &halves.transpose().to_owned(), &b);
        }
    }
}

/// |B − L Y| ≤ 2 (n + 4) u |L| |Y|, and the same with Lᴴ: backward substitution with the conjugate, not with Lᵀ.
fn halves_of_solutions_solve<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    fn assert_half<T: Complex>(l: &Mat<c64>, y: &Mat<T>, b: &Mat<T>) {
        let n = l.nrows();
        for (c, i) in (0..b.ncols()).flat_map(|c| (0..n).map(move |i| (c, i))) {
            let terms = || (0..n).map(|j| l[(i, j)] * y[(j, c)].c64());
            let residual = (terms().sum::<c64>() - b[(i, c)].c64()).norm();
            let allowed = 2.0 * (n + 4) as f64 * T::ROUNDOFF * terms().map(|x| x.norm()).sum::<f64>();
            assert!(residual <= allowed, "n = {n}: residual {residual:.2e} at {i}, {c}, not {allowed:.2e}");
        }
    }
    for n in [0, 1, 2, 9, 33, 130] {
        for m in [1, 3, 17] {
            let l = narrow::<T>(&random_factor(n, &mut rng(3)));
            let factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
            let (l, b) = (in_c64(l.as_ref()), right_hand_sides::<T>(n, m));
            let (first, second) = (factor.solve_l(&b).unwrap(), factor.solve_lt(&b).unwrap());
            assert_half(&l, &first, &b);
            assert_half(&l.adjoint().to_owned(), &second, &b);
            let mut in_place = [b.clone(), b.clone()];
            factor.solve_l_in_place(&mut in_place[0]).unwrap();
            factor.solve_lt_in_place(&mut in_place[1]).unwrap();
            assert_eq!(bits(in_place[0].as_ref()), bits(first.as_ref()));
            assert_eq!(bits(in_place[1].as_ref()), bits(second.as_ref()));
        }
    }
}

/// Parts in −3 ..= 3; of a lower triangle the diagonal is 1 ..= 3.
fn integers<T: Complex>(n: usize, m: usize, lower: bool, seed: u64) -> Mat<T> {
    let mut rng = rng(seed);
    Mat::from_fn(n, m, |i, j| {
        let mut part = |least: i32| f64::from(rng.random_range(least..=3));
        match lower {
            true if i < j => T::ZERO,
            true if i == j => T::from_real(part(1)),
            _ => T::from_c64(c64::new(part(-3), part(-3))),
        }
    })
}

fn products_are_exact_in_integers<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for n in [0, 1, 2, 7, 33, 70, 129] {
        let l = integers::<T>(n, n, true, 1);
        let factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
        let l = in_c64(l.as_ref());
        for m in [0, 1, 3, 17] {
            let x = integers::<T>(n, m, false, 2);
            let of = in_c64(x.as_ref());
            let expected = [&l * (l.adjoint() * &of), &l * &of, l.adjoint() * &of];
            let found = [factor.multiply(&x), factor.multiply_l(&x), factor.multiply_lt(&x)];
            let mut in_place = [x.clone(), x.clone(), x.clone()];
            factor.multiply_in_place(&mut in_place[0]).unwrap();
            factor.multiply_l_in_place(&mut in_place[1]).unwrap();
            factor.multiply_lt_in_place(&mut in_place[2]).unwrap();
            for ((expected, found), in_place) in expected.into_iter().zip(found).zip(in_place) {
                assert_eq!(in_c64(found.unwrap().as_ref()), expected, "{n} × {m}");
                assert_eq!(in_c64(in_place.as_ref()), expected, "{n} × {m}, in place");
            }
        }
    }
}

fn a_reconstruction_is_the_product<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for n in [0, 1, 2, 9, 33, 130] {
        let factor = Cholesky::new_in(&matrix::<T>(n, 8), engine.clone()).unwrap();
        let wanted = Hermitian::product(&in_c64(factor.to_factor().unwrap().as_ref()));
        let a = in_c64(factor.reconstruct().unwrap().as_ref());
        for i in 0..n {
            assert_eq!(a[(i, i)].im, 0.0);
            for j in 0..n {
                assert_eq!(a[(i, j)], a[(j, i)].conj());
                let scale = (wanted.entry(i, i).re * wanted.entry(j, j).re).sqrt();
                let off = (a[(i, j)] - wanted.entry(i, j)).norm();
                assert!(off <= 2.0 * (n + 2) as f64 * T::ROUNDOFF * scale, "{i}, {j} of {n}: {off:.1e}");
            }
        }
    }
}

fn the_determinant_is_real<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for n in [0, 1, 2, 9, 33, 130] {
        let factor = Cholesky::new_in(&matrix::<T>(n, 9), engine.clone()).unwrap();
        let l = factor.to_factor().unwrap();
        let log_det: T::Re = factor.log_det().unwrap();
        assert_log_det(log_det, &Mat::from_fn(n, n, |i, j| T::part(l[(i, j)].c64().re)));
    }
}

/// A lower bound, rarely less than a third, of the condition number in the 1-norm, which is within n of that in the 2-norm.
fn the_condition_number_is_estimated<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let norm = |a: &Mat<c64>| a.col_iter().map(|column| column.norm_l1()).fold(0.0, f64::max);
    for n in [0, 1, 2, 3, 9, 60, 130] {
        for seed in 0..3 {
            let l = narrow::<T>(&random_factor(n, &mut rng(seed + n as u64)));
            let kept = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
            let estimate: f64 = Real::f64(kept.condition().unwrap());
            let a = Hermitian::product(&in_c64(l.as_ref())).rounded();
            let inverse = in_c64(kept.solve(&Mat::<T>::identity(n, n)).unwrap().as_ref());
            let exact = if n == 0 { 1.0 } else { norm(&a) * norm(&inverse) };
            assert!(estimate <= 1.01 * exact && estimate >= exact / 3.0, "n = {n}: {estimate}, not {exact}");
            let sigma = in_c64(l.as_ref()).singular_values().unwrap();
            let two = if n == 0 { 1.0 } else { (sigma[0] / sigma[n - 1]).powi(2) };
            let share = estimate / two;
            assert!(share <= 1.01 * n.max(1) as f64 && share >= 0.33 / n.max(1) as f64, "n = {n}: {share}");
            // Phases of rows change nothing about it.
            let d = phases(n, &mut rng(seed));
            let turned = Mat::from_fn(n, n, |i, j| match i == j {
                true => l[(i, j)].c64(),
                false => d[i] * l[(i, j)].c64() * d[j].conj(),
            });
            let turned = Cholesky::from_factor_in(&narrow::<T>(&turned), engine.clone()).unwrap();
            let other: f64 = Real::f64(turned.condition().unwrap());
            assert!(other <= 1.01 * exact && other >= exact / 3.0, "n = {n}: {other} turned, not {exact}");
        }
    }
}

fn an_extension_solves_for_the_bordered_matrix<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for (n, r) in [(0, 3), (5, 0), (1, 1), (30, 7), (100, 1)] {
        let a = matrix::<T>(n + r, 21);
        let base = Cholesky::new_in(&without(a.as_ref(), |i| i >= n), engine.clone()).unwrap();
        let before = bits(base.to_factor().unwrap().as_ref());
        let block = |i, j, rows, cols| -> MatRef<'_, T> { a.as_ref().submatrix(i, j, rows, cols) };
        let extension = base.extension(block(0, n, n, r), block(n, n, r, r)).unwrap();
        assert_eq!(extension.order(), n + r);
        let b = right_hand_sides::<T>(n + r, 2);
        let x = extension.solve(&b).unwrap();
        assert_solved(&a, &x, &b);
        // C Cᴴ is the Schur complement of A, the last r × r part of the factor of the whole.
        let whole = Cholesky::new_in(&a, engine.clone()).unwrap();
        let last = in_c64(whole.to_factor().unwrap().submatrix(n, n, r, r));
        let corner = in_c64(extension.corner());
        assert!((0..r).all(|j| corner[(j, j)].im == 0.0 && corner[(j, j)].re > 0.0));
        let off = (&corner - &last).norm_max();
        assert!(off <= 64.0 * (n + r) as f64 * T::ROUNDOFF, "C is off by {off:.1e}");
        let off = (extension.log_det().unwrap().f64() - whole.log_det().unwrap().f64()).abs();
        assert!(off <= 64.0 * (n + r) as f64 * T::ROUNDOFF, "log det is off by {off:.1e}");
        let (s, corner) = extension.into_parts();
        let again = Extension::from_parts(&base, s, corner).unwrap();
        assert_eq!(bits(again.solve(&b).unwrap().as_ref()), bits(x.as_ref()));
        assert_eq!(bits(base.to_factor().unwrap().as_ref()), before);
    }
}
