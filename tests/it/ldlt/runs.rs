//! V whose columns have one sign, which the kernels of a positive definite matrix apply to runs of columns of L of one sign.

use super::accuracy::checked;
use super::{Factor, MATRICES, Matrix, backward_error, columns, unchanged};
use crate::support::problem::rng;
use crate::support::real::{Real, bits};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Cpu, Error, Ldlt};
use rand::Rng;
use rand::rngs::StdRng;

/// Ranks of V, and its size.
const CASES: [(usize, f64); 11] = [
    (1, 1.0),
    (1, 1e-3),
    (1, 1e3),
    (2, 30.0),
    (3, 1e-2),
    (3, 1.0),
    (4, 1.0),
    (5, 1e-2),
    (8, 0.1),
    (9, 10.0),
    (20, 1e-2),
];

fn every_matrix<T: Real>(orders: &[usize]) {
    let random = &mut rng(11);
    let mut worst = 0.0_f64;
    for matrix in MATRICES {
        for &n in orders {
            for (k, scale) in CASES {
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
fn every_matrix_in_double_precision() {
    every_matrix::<f64>(&[1, 2, 8, 9, 31, 64, 100, 129]);
}

#[test]
fn every_matrix_in_single_precision() {
    every_matrix::<f32>(&[1, 3, 8, 17, 33, 64, 100, 131]);
}

/// L with a diagonal of 2, and small entries below it. (n × n)
fn dominant<T: Real>(n: usize, random: &mut StdRng) -> Mat<T> {
    Mat::from_fn(n, n, |i, j| match i {
        _ if i > j => T::of(random.random_range(-0.1..0.1)),
        _ if i == j => T::of(2.0),
        _ => T::of(0.0),
    })
}

#[test]
fn runs_of_columns_that_begin_anywhere() {
    let random = &mut rng(12);
    for (n, first, second) in [(300, 3, 271), (290, 5, 285), (201, 50, 131), (163, 97, 163), (40, 17, 33)] {
        let l = dominant::<f64>(n, random);
        let signs: Vec<f64> = (0..n).map(|i| if (first..second).contains(&i) { -1.0 } else { 1.0 }).collect();
        for k in [1, 2, 3, 4, 5, 8, 17] {
            let mut factor = Ldlt::from_factor_in(&l, &signs, Cpu::sequential()).unwrap();
            let v = columns(n, k, 0.1, random);
            for weight in [1.0, -1.0] {
                checked(&mut factor, &v, &vec![weight; k], &format!("n {n}, k {k}, {weight}")).unwrap();
                assert_eq!(factor.signs(), signs);
            }
        }
    }
}

fn every_length<T: Real>() {
    let random = &mut rng(17);
    let lengths: Vec<usize> = (1..=40).collect();
    // Each length from each end, so that runs begin at every place in a block.
    for (n, rest) in [(821, 1), (199, 40)] {
        let mut signs = Vec::new();
        for &length in lengths.iter().cycle().skip(n % 40) {
            let sign = if signs.last() == Some(&T::of(1.0)) { T::of(-1.0) } else { T::of(1.0) };
            signs.extend(vec![sign; length]);
            if signs.len() >= n - rest {
                break;
            }
        }
        signs.resize(n, T::of(1.0));
        let l = dominant::<T>(n, random);
        for k in [1, 3, 4, 6, 16] {
            let mut factor = Ldlt::from_factor_in(&l, &signs, Cpu::sequential()).unwrap();
            let v = columns(n, k, 0.05, random);
            let (before, weights) = (Factor::of(&factor), vec![T::of(1.0); k]);
            factor.update(&v).unwrap();
            assert_eq!(factor.signs(), signs);
            let now = Factor::of(&factor);
            let error = backward_error(&now, &before, v.as_ref(), &weights);
            assert!(error <= (n + k) as f64, "n {n}, k {k}: {error} u");
            let [growth, wanted] = growths(&factor);
            assert!((growth / wanted - 1.0).abs() < 1e-5, "n {n}, k {k}: {growth} for {wanted}");
            // Rows of zeros begin V, and the first column may be inside a run.
            let mut v = v;
            v.subrows_mut(0, n / 3).fill(T::of(0.0));
            factor.downdate(&v).unwrap();
            let weights = vec![T::of(-1.0); k];
            let error = backward_error(&Factor::of(&factor), &now, v.as_ref(), &weights);
            assert!(error <= (n + k) as f64, "n {n}, k {k}: {error} u");
        }
    }
}

#[test]
fn runs_of_every_length_in_double_precision() {
    every_length::<f64>();
}

#[test]
fn runs_of_every_length_in_single_precision() {
    every_length::<f32>();
}

#[test]
fn a_definite_matrix_has_the_bits_of_its_cholesky_factor() {
    let random = &mut rng(18);
    for n in [20, 33, 150, 259] {
        let l = dominant::<f64>(n, random);
        for k in [1, 2, 3, 4, 5, 16, 19] {
            let mut ldlt = Ldlt::from_factor_in(&l, &vec![1.0; n], Cpu::sequential()).unwrap();
            // The columns that `from_factor` has multiplied by the root of 1.
            let mut cholesky = Cholesky::from_factor_in(ldlt.l(), Cpu::sequential()).unwrap();
            let v = columns(n, k, 0.1, random);
            ldlt.update(&v).unwrap();
            cholesky.update(&v).unwrap();
            assert_eq!(bits(ldlt.l()), bits(cholesky.l()), "n {n}, k {k}");
            ldlt.downdate(&v).unwrap();
            cholesky.downdate(&v).unwrap();
            assert_eq!(bits(ldlt.l()), bits(cholesky.l()), "n {n}, k {k}");
        }
    }
}

#[test]
fn a_pivot_that_changes_its_sign_in_a_run() {
    let random = &mut rng(19);
    for (n, split) in [(90, 51), (150, 77), (200, 20)] {
        let l = dominant::<f64>(n, random);
        let signs: Vec<f64> = (0..n).map(|i| if i < split { 1.0 } else { -1.0 }).collect();
        for k in [1, 2, 3, 4, 7, 16] {
            // Only this row of V outweighs its pivot.
            let mut v = columns(n, k, 0.01, random);
            v[(n - 5, 0)] = 8.0;
            let mut factor = Ldlt::from_factor_in(&l, &signs, Cpu::sequential()).unwrap();
            let before = Factor::of(&factor);
            factor.expect_inertia(split, n - split);
            assert!(matches!(factor.update(&v), Err(Error::Inertia { .. })), "n {n}, k {k}");
            assert!(unchanged(&factor, &before), "n {n}, k {k}");
            factor.expect_any_inertia();
            checked(&mut factor, &v, &vec![1.0; k], &format!("n {n}, k {k}")).unwrap();
            assert_eq!(factor.inertia(), (split + 1, n - split - 1));
            let [growth, wanted] = growths(&factor);
            assert!((growth / wanted - 1.0).abs() < 1e-10, "{growth} for {wanted}");
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
    for (k, large) in [1, 2, 3, 4, 7, 16].into_iter().flat_map(|k| [(k, false), (k, true)]) {
        let mut v = columns(n, k, 0.5 / k as f64, random);
        if large {
            // A pivot that changes its sign.
            v[(900, 0)] = 100.0;
        }
        let results = [Cpu::sequential(), Cpu::threads(2), Cpu::threads(4)].map(|engine| {
            pool.install(|| {
                let mut factor = Ldlt::from_factor_in(first.l(), &first.signs(), engine).unwrap();
                let report = factor.modify(&v, &vec![0.5; k]).unwrap();
                let removed = factor.remove(&[5, 700]).unwrap();
                (Factor::of(&factor).bits(), format!("{report:?} {removed:?}"))
            })
        });
        assert!(results[0] == results[1] && results[1] == results[2], "k {k}, {large}");
    }
}
