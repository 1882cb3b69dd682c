//! Tiny matrices, solutions, factors of any scaling.

use super::{Factor, columns, turned, unchanged};
use crate::complex::problem::{phases, rng};
use crate::ldlt::Matrix;
use cholupdate::Ldlt;
use cholupdate::faer::{Mat, c32, c64, mat};

#[test]
fn nothing_and_one_row() {
    let mut factor = Ldlt::<c64>::new(&Mat::zeros(0, 0)).unwrap();
    assert_eq!((factor.order(), factor.inertia(), factor.condition().unwrap()), (0, (0, 0), 1.0));
    factor.update(&Mat::<c64>::zeros(0, 2)).unwrap();
    let report = factor.append(&Mat::<c64>::zeros(0, 1), &[c64::new(-4.0, f64::NAN)]).unwrap();
    assert_eq!((report.inertia_before, report.inertia), ((0, 0), (0, 1)));
    assert_eq!((factor.l()[(0, 0)], factor.signs()), (c64::from(2.0), vec![-1.0]));
    let report = factor.update(&[c64::new(0.0, 3.0)]).unwrap();
    assert_eq!((report.inertia, factor.l()[(0, 0)]), ((1, 0), c64::from(5.0_f64.sqrt())));
    factor.replace(0, &[c64::new(-9.0, 1.0)]).unwrap();
    assert_eq!((factor.l()[(0, 0)], factor.inertia()), (c64::from(3.0), (0, 1)));
    factor.remove(&[0]).unwrap();
    assert_eq!(factor.order(), 0);
}

#[test]
fn what_is_zero_changes_nothing() {
    let random = &mut rng(3);
    let mut factor = Ldlt::new(&turned::<c32>(Matrix::Random, 20, random)).unwrap();
    let before = Factor::of(&factor);
    for report in [
        factor.update(&Mat::<c32>::zeros(20, 3)).unwrap(),
        factor.modify(&columns::<c32>(20, 2, 1.0, random), &[0.0, 0.0]).unwrap(),
        factor.remove(&[]).unwrap(),
        factor.shift(4, 4).unwrap(),
    ] {
        assert_eq!((report.min_pivot_ratio, report.log_abs_det_change), (1.0, 0.0));
    }
    assert!(unchanged(&factor, &before));
}

#[test]
fn solutions_solve() {
    let random = &mut rng(4);
    for (n, m) in [(1, 1), (9, 3), (150, 2)] {
        for matrix in [Matrix::QuasiDefinite(1e-2), Matrix::Random] {
            let a = turned::<c64>(matrix, n, random);
            let factor = Ldlt::new(&a).unwrap();
            let b = columns::<c64>(n, m, 1.0, random);
            let x = factor.solve(&b).unwrap();
            let product = Factor::of(&factor).product();
            let size = factor.growth() * product.norm_max() * x.norm_max();
            assert!((&product * &x - &b).norm_max() < 1e-14 * n as f64 * size);
            let again = factor.reconstruct();
            assert!((&again - &product).norm_max() < 1e-14 * size / x.norm_max());
            assert!((0..n).all(|i| again[(i, i)].im == 0.0));
            let mut in_place = b.clone();
            factor.solve_in_place(&mut in_place).unwrap();
            assert_eq!(in_place, x);
            // The halves, with S between them.
            let mut y = factor.solve_l(&b).unwrap();
            let mut other = b.clone();
            factor.solve_l_in_place(&mut other).unwrap();
            assert_eq!(y, other);
            for (i, s) in factor.signs().into_iter().enumerate() {
                y.row_mut(i).iter_mut().for_each(|x| *x *= s);
            }
            assert_eq!(factor.solve_lt(&y).unwrap(), x);
            let values = product.self_adjoint_eigenvalues(cholupdate::faer::Side::Lower).unwrap();
            let sizes = || values.iter().map(|x| x.abs());
            let two = sizes().fold(0.0, f64::max) / sizes().fold(f64::INFINITY, f64::min);
            let condition = factor.condition().unwrap();
            assert!(
                condition > 0.3 * two / n as f64 && condition < 3.0 * two * n as f64,
                "{condition} of {two}"
            );
            assert_eq!(values.iter().filter(|x| **x < 0.0).count(), factor.inertia().1);
            let log: f64 = sizes().map(f64::ln).sum();
            assert!((factor.log_abs_det() - log).abs() < 1e-8 * n as f64);
        }
    }
}

#[test]
fn a_factor_of_any_scaling_and_phase_is_taken() {
    let i = c64::new(0.0, 1.0);
    let (zero, nan) = (c64::from(0.0), c64::new(f64::NAN, 0.0));
    let l = mat![[i, nan], [i * 2.0, zero - i]];
    let factor = Ldlt::from_factor(&l, &[-4.0, 9.0]).unwrap();
    assert_eq!(factor.l(), mat![[c64::from(2.0), zero], [c64::from(4.0), c64::from(3.0)]]);
    assert_eq!(factor.signs(), [-1.0, 1.0]);
    let random = &mut rng(5);
    let begun = Ldlt::new(&turned::<c64>(Matrix::SaddlePoint, 30, random)).unwrap();
    let phases = phases(30, random);
    let turned = Mat::from_fn(30, 30, |i, j| begun.l()[(i, j)] * phases[j]);
    let factor = Ldlt::from_factor(&turned, &begun.signs()).unwrap();
    let (new, old) = (Factor::of(&factor), Factor::of(&begun));
    assert!(new.is_factor() && new.s == old.s);
    assert!((&new.l - &old.l).norm_max() < 1e-14 * old.l.norm_max());
}
