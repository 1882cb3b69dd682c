//! Backward errors and inertia of modifications.

use super::{Factor, backward_error, columns, exact_inertia, turned};
use crate::complex::problem::rng;
use crate::complex::scalar::{Complex, parts};
use crate::ldlt::{MATRICES, Matrix};
use cholupdate::faer::{Mat, c32, c64};
use cholupdate::{Cpu, Error, Ldlt};
use rand::Rng;

/// Modifies, and checks the result against the contract and, where thirty digits decide it, the inertia. Returns the error in units of
/// the bound.
fn checked<T: Complex>(factor: &mut Ldlt<T>, v: &Mat<T>, weights: &[T::Re], what: &str) -> Option<f64> {
    let (old, before) = (Factor::of(factor), factor.inertia());
    let exact = exact_inertia(&old, v.as_ref(), weights);
    match factor.modify(v, weights) {
        Ok(report) => {
            let error = backward_error(&Factor::of(factor), &old, v.as_ref(), weights);
            let bound = (v.nrows() + v.ncols()).max(12) as f64;
            assert!(error <= bound, "{what}: {error:.1} u of {bound} u, growth {:.1e}", report.growth);
            assert_eq!((report.inertia_before, report.inertia), (before, factor.inertia()), "{what}");
            if let Some(exact) = exact.filter(|_| report.growth * T::ROUNDOFF < 1e-6) {
                assert_eq!(report.inertia, exact, "{what}");
            }
            Some(error / bound)
        }
        Err(error) => {
            assert!(matches!(error, Error::Singular { .. } | Error::Unstable { .. }), "{what}: {error}");
            assert!(super::unchanged(factor, &old), "{what}");
            None
        }
    }
}

fn every_matrix<T: Complex>(engine: Cpu) {
    let random = &mut rng(1);
    let mut worst = 0.0_f64;
    for matrix in MATRICES {
        for n in [1, 2, 7, 8, 9, 31, 64, 100] {
            for (k, scale) in [(1, 1.0), (2, 1e-3), (3, 30.0), (5, 1.0), (17, 0.1), (40, 1e3)] {
                let a = turned::<T>(matrix, n, random);
                let what = format!("{matrix:?}, n {n}, k {k}, scale {scale:e}");
                let Ok(mut factor) = Ldlt::new_in(&a, engine) else { continue };
                let v = columns(n, k, scale, random);
                let weights: Vec<f64> = (0..k).map(|_| random.random_range(-1.0..1.0)).collect();
                let back: Vec<f64> = weights.iter().map(|w| -w).collect();
                for weights in [weights, back] {
                    let weights = parts::<T>(&weights);
                    worst = checked(&mut factor, &v, &weights, &what).map_or(worst, |error| error.max(worst));
                }
            }
        }
    }
    println!("largest error: {worst:.2} of the bound");
}

#[test]
fn every_matrix_in_double_precision() {
    every_matrix::<c64>(Cpu::sequential());
}

#[test]
fn every_matrix_in_single_precision() {
    every_matrix::<c32>(Cpu::threads(2));
}

/// Columns of one sign, which the kernels of a positive definite matrix apply to columns of L of one sign.
fn few_columns<T: Complex>(orders: &[usize]) {
    let random = &mut rng(12);
    let mut worst = 0.0_f64;
    for matrix in MATRICES {
        for &n in orders {
            for (k, scale) in [(1, 1.0), (1, 1e3), (2, 1e-2), (3, 1.0), (4, 30.0)] {
                let a = turned::<T>(matrix, n, random);
                let what = format!("{matrix:?}, n {n}, k {k}, scale {scale:e}");
                let Ok(mut factor) = Ldlt::new_in(&a, Cpu::sequential()) else { continue };
                let v = columns(n, k, scale, random);
                let size = random.random_range(0.1..1.0);
                for weight in [size, -size, -0.5, 0.5] {
                    let weights = parts::<T>(&vec![weight; k]);
                    worst = checked(&mut factor, &v, &weights, &what).map_or(worst, |error| error.max(worst));
                }
            }
        }
    }
    println!("largest error: {worst:.2} of the bound");
}

#[test]
fn few_columns_in_double_precision() {
    few_columns::<c64>(&[1, 2, 9, 31, 64, 131]);
}

#[test]
fn few_columns_in_single_precision() {
    few_columns::<c32>(&[1, 3, 8, 33, 70]);
}

#[test]
fn new_factors_are_those_of_their_matrices() {
    let random = &mut rng(11);
    for matrix in MATRICES {
        for n in [1, 5, 64, 129, 300] {
            let a = turned::<c64>(matrix, n, random);
            let mut with_nan = a.clone();
            (0..n).for_each(|j| with_nan[(j, j)].im = f64::NAN);
            let Ok(factor) = Ldlt::new_in(&with_nan, Cpu::sequential()) else { continue };
            let new = Factor::of(&factor);
            assert!(new.is_factor(), "{matrix:?}, n {n}");
            let product = new.product();
            for j in 0..n {
                for i in j..n {
                    let bound = n.max(12) as f64 * c64::ROUNDOFF * new.absolute(i, j);
                    let error = (product[(i, j)] - a[(i, j)]).norm();
                    assert!(error <= bound, "{matrix:?}, n {n}: {error:e} at ({i}, {j}), not {bound:e}");
                }
            }
        }
    }
}

#[test]
fn pivots_change_their_signs_one_by_one_and_together() {
    let random = &mut rng(2);
    for n in [1, 5, 16, 40] {
        let a = turned::<c64>(Matrix::Definite, n, random);
        let mut factor = Ldlt::new(&a).unwrap();
        let mut minus = 0;
        while minus < n {
            let k = random.random_range(1..=4);
            let v = columns(n, k, 100.0, random);
            checked(&mut factor, &v, &vec![-1.0; k], &format!("n {n}, {minus} negative")).unwrap();
            let now = factor.inertia().1;
            assert!(now >= minus && now <= minus + k, "n {n}: from {minus} to {now} by {k}");
            minus = now;
        }
        let v = columns(n, 2 * n, 1000.0, random);
        checked(&mut factor, &v, &vec![1.0; 2 * n], "all at once").unwrap();
        assert_eq!(factor.inertia(), (n, 0));
    }
}

/// Entries whose squares nearly underflow or overflow.
#[test]
fn pivots_of_any_size_change_their_signs() {
    for scale in [1e-135, 1e-100, 1e100, 1e150] {
        let random = &mut rng(7);
        let n = 12;
        let l: Mat<c64> = columns(n, n, scale, random);
        let l = Mat::from_fn(n, n, |i, j| if i == j { c64::from(scale) } else { l[(i, j)] });
        let mut factor = Ldlt::from_factor(&l, &vec![1.0; n]).unwrap();
        factor.set_growth_limit(f64::INFINITY).unwrap();
        let v = columns::<c64>(n, 3, 4.0 * scale, random);
        let report = factor.downdate(&v).unwrap();
        assert_eq!(report.inertia, (n - 3, 3), "{scale:e}");
        assert!(Factor::of(&factor).is_factor(), "{scale:e}");
        factor.update(&v).unwrap();
        assert_eq!(factor.inertia(), (n, 0), "{scale:e}");
        let lower = |i: usize, j: usize| if i < j { c64::default() } else { l[(i, j)] };
        let off = Mat::from_fn(n, n, |i, j| (factor.l()[(i, j)] - lower(i, j)) / scale).norm_max();
        assert!(off < 1e-11, "{scale:e}: {off:e}");
    }
}

#[test]
fn constraints_that_are_toggled_a_thousand_times_do_not_drift() {
    let random = &mut rng(3);
    let n = 30;
    let a = turned::<c64>(Matrix::QuasiDefinite(1e-4), n, random);
    let mut factor = Ldlt::new_in(&a, Cpu::sequential()).unwrap();
    let first = Factor::of(&factor);
    let v = columns(n, 3, 1.0, random);
    for _ in 0..1000 {
        factor.update(&v).unwrap();
        factor.downdate(&v).unwrap();
    }
    let drift = backward_error(&Factor::of(&factor), &first, Mat::zeros(n, 0).as_ref(), &[]);
    // A fifth of what two thousand calls may leave.
    assert!(drift < 0.2 * 2000.0 * 33.0, "{drift:.0} u");
    assert_eq!(factor.inertia(), (20, 10));
}

#[test]
fn a_definite_matrix_has_its_cholesky_factor() {
    let random = &mut rng(4);
    for (n, k) in [(20, 5), (70, 20)] {
        let a = turned::<c64>(Matrix::Definite, n, random);
        let v = columns::<c64>(n, k, 1.0, random);
        let (mut ldlt, mut cholesky) = (Ldlt::new(&a).unwrap(), cholupdate::Cholesky::new(&a).unwrap());
        let (report, other) = (ldlt.update(&v).unwrap(), cholesky.update(&v).unwrap());
        assert!((ldlt.l() - cholesky.l()).norm_max() < 1e-12);
        assert!((report.log_abs_det_change - other.log_det_change()).abs() < 1e-10);
        assert!((report.min_pivot_ratio / other.min_pivot_ratio - 1.0).abs() < 1e-10);
        assert!((ldlt.growth() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let random = &mut rng(5);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    for n in [200, 600] {
        let a = turned::<c64>(Matrix::Shuffled, n, random);
        let begun = Ldlt::new_in(&a, Cpu::sequential()).unwrap();
        let v = columns(n, 20, 3.0, random);
        let weights: Vec<f64> = (0..20).map(|r| if r % 3 == 0 { -1.0 } else { 0.5 }).collect();
        let results = [Cpu::sequential(), Cpu::threads(2), Cpu::threads(4)].map(|engine| {
            pool.install(|| {
                let mut factor = Ldlt::from_factor_in(begun.l(), &begun.signs(), engine).unwrap();
                let report = factor.modify(&v, &weights).unwrap();
                let bits = Factor::of(&factor);
                (bits.bits().0, bits.s.clone(), format!("{report:?}"))
            })
        });
        assert!(results[0] == results[1] && results[1] == results[2]);
    }
}

#[test]
fn a_forgetting_factor_scales_a() {
    let random = &mut rng(6);
    for n in [1, 9, 50] {
        let a = turned::<c64>(Matrix::SaddlePoint, n, random);
        let mut factor = Ldlt::new(&a).unwrap();
        let (old, log) = (Factor::of(&factor), factor.log_abs_det());
        let v = columns::<c64>(n, 2, 1.0, random);
        let report = factor.modify_scaled(0.9, &v, &[1.0, -0.5]).unwrap();
        let of_v = v.col(0) * v.col(0).adjoint()
            - v.col(1) * v.col(1).adjoint() * cholupdate::faer::Scale(c64::from(0.5));
        let wanted = old.product() * cholupdate::faer::Scale(c64::from(0.9)) + of_v;
        let new = Factor::of(&factor);
        let scale = (0..n).map(|i| new.absolute(i, i) + old.absolute(i, i)).fold(0.0, f64::max);
        assert!((new.product() - &wanted).norm_max() < 1e-14 * scale);
        assert!((factor.log_abs_det() - log - report.log_abs_det_change).abs() < 1e-9);
        let without = factor.modify_scaled(0.5, &Mat::<c64>::zeros(n, 0), &[]).unwrap();
        assert!((without.log_abs_det_change - n as f64 * 0.5_f64.ln()).abs() < 1e-10);
    }
}
