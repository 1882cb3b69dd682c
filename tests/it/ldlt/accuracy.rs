//! Backward errors and inertia of modifications.

use super::{Factor, MATRICES, Matrix, backward_error, columns, exact_inertia};
use crate::support::problem::rng;
use crate::support::real::Real;
use cholupdate::faer::Mat;
use cholupdate::{Cpu, Error, Ldlt};
use rand::Rng;

/// Modifies, and checks the result against the contract and, where thirty digits decide it, the inertia. Returns the error in units of
/// the bound.
pub(super) fn checked<T: Real>(factor: &mut Ldlt<T>, v: &Mat<T>, weights: &[T], what: &str) -> Option<f64> {
    let (old, before) = (Factor::of(factor), factor.inertia());
    let exact = exact_inertia(&old, v.as_ref(), weights);
    match factor.modify(v, weights) {
        Ok(report) => {
            let error = backward_error(&Factor::of(factor), &old, v.as_ref(), weights);
            let bound = (v.nrows() + v.ncols()).max(12) as f64;
            assert!(error <= bound, "{what}: {error:.1} u of {bound} u, growth {:.1e}", report.growth);
            assert_eq!((report.inertia_before, report.inertia), (before, factor.inertia()), "{what}");
            if let Some(exact) = exact.filter(|_| report.growth * T::U < 1e-6) {
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

fn every_matrix<T: Real>(engine: Cpu) {
    let random = &mut rng(1);
    let mut worst = 0.0_f64;
    for matrix in MATRICES {
        for n in [1, 2, 7, 8, 9, 31, 64, 100] {
            for (k, scale) in [(1, 1.0), (2, 1e-3), (3, 30.0), (5, 1.0), (17, 0.1), (40, 1e3)] {
                let a: Mat<T> = matrix.make(n, random);
                let what = format!("{matrix:?}, n {n}, k {k}, scale {scale:e}");
                let Ok(mut factor) = Ldlt::new_in(&a, engine) else { continue };
                let v = columns(n, k, scale, random);
                let weights: Vec<T> = (0..k).map(|_| T::of(random.random_range(-1.0..1.0))).collect();
                let back: Vec<T> = weights.iter().map(|w| -*w).collect();
                for weights in [&weights, &back] {
                    worst = checked(&mut factor, &v, weights, &what).map_or(worst, |error| error.max(worst));
                }
            }
        }
    }
    println!("largest error: {worst:.2} of the bound");
}

#[test]
fn every_matrix_in_double_precision() {
    every_matrix::<f64>(Cpu::sequential());
}

#[test]
fn every_matrix_in_single_precision() {
    every_matrix::<f32>(Cpu::threads(2));
}

#[test]
fn pivots_change_their_signs_one_by_one_and_together() {
    let random = &mut rng(2);
    for n in [1, 5, 16, 40] {
        let a: Mat<f64> = Matrix::Definite.make(n, random);
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

#[test]
fn constraints_that_are_toggled_a_thousand_times_do_not_drift() {
    let random = &mut rng(3);
    let n = 30;
    let a: Mat<f64> = Matrix::QuasiDefinite(1e-4).make(n, random);
    let mut factor = Ldlt::new_in(&a, Cpu::sequential()).unwrap();
    let first = Factor::of(&factor);
    let v = columns(n, 3, 1.0, random);
    for _ in 0..1000 {
        factor.update(&v).unwrap();
        factor.downdate(&v).unwrap();
    }
    let drift = backward_error(&Factor::of(&factor), &first, Mat::<f64>::zeros(n, 0).as_ref(), &[]);
    // A fifth of what two thousand calls may leave.
    assert!(drift < 0.2 * 2000.0 * 33.0, "{drift:.0} u");
    assert_eq!(factor.inertia(), (20, 10));
}

#[test]
fn a_definite_matrix_has_its_cholesky_factor() {
    let random = &mut rng(4);
    for (n, k) in [(20, 5), (70, 20)] {
        let a: Mat<f64> = Matrix::Definite.make(n, random);
        let v = columns(n, k, 1.0, random);
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
    for n in [200, 900] {
        let a: Mat<f64> = Matrix::Shuffled.make(n, random);
        let v = columns(n, 20, 3.0, random);
        let weights: Vec<f64> = (0..20).map(|r| if r % 3 == 0 { -1.0 } else { 0.5 }).collect();
        let results = [Cpu::sequential(), Cpu::threads(2), Cpu::threads(4)].map(|engine| {
            pool.install(|| {
                let mut factor = Ldlt::from_factor_in(&first(&a), &signs(&a), engine).unwrap();
                let report = factor.modify(&v, &weights).unwrap();
                (Factor::of(&factor).bits(), format!("{report:?}"))
            })
        });
        assert!(results[0] == results[1] && results[1] == results[2]);
    }
}

fn first(a: &Mat<f64>) -> Mat<f64> {
    Ldlt::new_in(a, Cpu::sequential()).unwrap().l().to_owned()
}

fn signs(a: &Mat<f64>) -> Vec<f64> {
    Ldlt::new_in(a, Cpu::sequential()).unwrap().signs()
}

#[test]
fn a_forgetting_factor_scales_a() {
    let random = &mut rng(6);
    for n in [1, 9, 50] {
        let a: Mat<f64> = Matrix::SaddlePoint.make(n, random);
        let mut factor = Ldlt::new(&a).unwrap();
        let (old, log) = (Factor::of(&factor), factor.log_abs_det());
        let v = columns(n, 2, 1.0, random);
        let report = factor.modify_scaled(0.9, &v, &[1.0, -0.5]).unwrap();
        let mut wanted = old.product() * cholupdate::faer::Scale(0.9);
        wanted +=
            v.col(0) * v.col(0).transpose() - v.col(1) * v.col(1).transpose() * cholupdate::faer::Scale(0.5);
        let new = Factor::of(&factor);
        let scale = (0..n).map(|i| new.absolute(i, i) + old.absolute(i, i)).fold(0.0, f64::max);
        assert!((new.product() - &wanted).norm_max() < 1e-14 * scale);
        assert!((factor.log_abs_det() - log - report.log_abs_det_change).abs() < 1e-9);
        let without = factor.modify_scaled(0.5, &Mat::<f64>::zeros(n, 0), &[]).unwrap();
        assert!((without.log_abs_det_change - n as f64 * 0.5_f64.ln()).abs() < 1e-10);
    }
}
