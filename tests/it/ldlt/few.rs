//! V of one to four columns of one sign, which the kernels of a positive definite matrix apply to columns of L of one sign.

use super::accuracy::checked;
use super::{Factor, MATRICES, Matrix, columns};
use crate::support::problem::rng;
use crate::support::real::Real;
use cholupdate::faer::Mat;
use cholupdate::{Cpu, Ldlt};
use rand::Rng;

fn every_matrix<T: Real>(orders: &[usize]) {
    let random = &mut rng(11);
    let mut worst = 0.0_f64;
    for matrix in MATRICES {
        for &n in orders {
            for (k, scale) in [(1, 1.0), (1, 1e-3), (1, 1e3), (2, 30.0), (3, 1e-2), (3, 1.0), (4, 1.0)] {
                let a: Mat<T> = matrix.make(n, random);
                let what = format!("{matrix:?}, n {n}, k {k}, scale {scale:e}");
                let Ok(mut factor) = Ldlt::new_in(&a, Cpu::sequential()) else { continue };
                let v = columns(n, k, scale, random);
                let size = random.random_range(0.1..1.0);
                for weight in [size, -size, -0.5, 0.5] {
                    let weights = vec![T::of(weight); k];
                    worst = checked(&mut factor, &v, &weights, &what).map_or(worst, |error| error.max(worst));
                }
            }
        }
    }
    println!("largest error: {worst:.2} of the bound");
}

#[test]
fn few_columns_in_double_precision() {
    every_matrix::<f64>(&[1, 2, 8, 9, 31, 64, 100, 129]);
}

#[test]
fn few_columns_in_single_precision() {
    every_matrix::<f32>(&[1, 3, 8, 17, 33, 64, 100, 131]);
}

#[test]
fn runs_of_columns_that_begin_anywhere() {
    let random = &mut rng(12);
    for (n, first, second) in [(300, 3, 271), (290, 5, 285), (40, 17, 33)] {
        let l = Mat::from_fn(n, n, |i, j| match i {
            _ if i > j => random.random_range(-0.1..0.1),
            _ if i == j => 2.0,
            _ => 0.0,
        });
        let signs: Vec<f64> = (0..n).map(|i| if (first..second).contains(&i) { -1.0 } else { 1.0 }).collect();
        for k in 1..=4 {
            let mut factor = Ldlt::from_factor_in(&l, &signs, Cpu::sequential()).unwrap();
            let v = columns(n, k, 0.1, random);
            for weight in [1.0, -1.0] {
                checked(&mut factor, &v, &vec![weight; k], &format!("n {n}, k {k}, {weight}")).unwrap();
                assert_eq!(factor.signs(), signs);
            }
        }
    }
}

#[test]
fn signs_that_alternate() {
    let random = &mut rng(13);
    for n in [16, 50, 140] {
        let l = Mat::from_fn(n, n, |i, j| match i {
            _ if i > j => random.random_range(-0.1..0.1),
            _ if i == j => 1.0,
            _ => 0.0,
        });
        let signs: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let mut factor = Ldlt::from_factor(&l, &signs).unwrap();
        let v = columns(n, 1, 0.1, random);
        for weight in [1.0, -1.0] {
            checked(&mut factor, &v, &[weight], &format!("n {n}, {weight}")).unwrap();
        }
    }
}

/// The growth of the factor, and the same formed from L and S.
fn growths<T: Real>(factor: &Ldlt<T>) -> [f64; 2] {
    let again = Ldlt::from_factor(factor.l(), &factor.signs()).unwrap();
    [factor.growth(), again.growth()]
}

#[test]
fn the_growth_stays_that_of_the_factor() {
    let random = &mut rng(14);
    for (matrix, n) in [(Matrix::QuasiDefinite(1e-2), 60), (Matrix::SaddlePoint, 35), (Matrix::Random, 20)] {
        let a: Mat<f64> = matrix.make(n, random);
        let mut factor = Ldlt::new(&a).unwrap();
        for step in 0..400 {
            let k = random.random_range(1..=4);
            // Large columns come and go.
            let scale = if step % 20 == 10 { 1e5 } else { 0.1 };
            let v = columns(n, k, scale, random);
            let sign = if random.random_bool(0.5) { 1.0 } else { -1.0 };
            for weight in [sign, -sign] {
                let before = factor.growth();
                let Ok(report) = factor.modify(&v, &vec![weight; k]) else {
                    assert_eq!(factor.growth(), before);
                    break;
                };
                let [growth, wanted] = growths(&factor);
                assert_eq!(report.growth, growth);
                assert!(
                    (growth / wanted - 1.0).abs() < 1e-5,
                    "{matrix:?}, step {step}: {growth} for {wanted}"
                );
            }
        }
    }
}

#[test]
fn a_question_leaves_the_growth() {
    let random = &mut rng(15);
    let a: Mat<f32> = Matrix::QuasiDefinite(1e-2).make(30, random);
    let factor = &mut Ldlt::new(&a).unwrap();
    let (before, growth) = (Factor::of(factor), factor.growth());
    for scale in [1e-2, 1.0, 1e4] {
        let _ = factor.can_downdate(&columns(30, 2, scale, random)).unwrap();
        assert_eq!(Factor::of(factor).bits(), before.bits());
        assert_eq!(factor.growth(), growth);
    }
    factor.update(&columns(30, 1, 1e-3, random)).unwrap();
    let [growth, wanted] = growths(factor);
    assert!((growth / wanted - 1.0).abs() < 1e-4, "{growth} for {wanted}");
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let random = &mut rng(16);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let n = 1100;
    let a: Mat<f64> = Matrix::QuasiDefinite(1e-2).make(n, random);
    let first = Ldlt::new_in(&a, Cpu::sequential()).unwrap();
    for k in 1..=4 {
        let v = columns(n, k, 0.5, random);
        let results = [Cpu::sequential(), Cpu::threads(2), Cpu::threads(4)].map(|engine| {
            pool.install(|| {
                let mut factor = Ldlt::from_factor_in(first.l(), &first.signs(), engine).unwrap();
                let report = factor.modify(&v, &vec![0.5; k]).unwrap();
                let removed = factor.remove(&[5, 700]).unwrap();
                (Factor::of(&factor).bits(), format!("{report:?} {removed:?}"))
            })
        });
        assert!(results[0] == results[1] && results[1] == results[2], "k {k}");
    }
}
