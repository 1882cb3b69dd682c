//! Bad input, empty and tiny matrices, solutions.

use super::{Factor, Matrix, columns, signs, unchanged};
use crate::support::problem::rng;
use cholupdate::faer::{Mat, mat};
use cholupdate::{Cpu, Error, Ldlt, Safeguard};

#[test]
fn bad_arguments_are_named_and_change_nothing() {
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    let nonfinite = |argument, row, column| Error::NonFinite { argument, row, column };
    let shape = |argument, extent, expected, found| Error::Shape { argument, extent, expected, found };
    assert_eq!(Ldlt::<f64>::new(&Mat::zeros(2, 3)).unwrap_err(), shape("a", "columns", 2, 3));
    assert_eq!(Ldlt::new(&mat![[1.0, nan], [inf, 1.0]]).unwrap_err(), nonfinite("a", 1, 0));
    assert_eq!(Ldlt::new(&mat![[1.7e308]]).unwrap_err(), Error::Overflow { argument: "a" });
    let l = mat![[1.0, nan], [2.0, 1.0]];
    assert_eq!(Ldlt::from_factor(&l, &[1.0]).unwrap_err(), shape("d", "entries", 2, 1));
    assert_eq!(Ldlt::from_factor(&l, &[1.0, nan]).unwrap_err(), nonfinite("d", 1, 0));
    assert_eq!(Ldlt::from_factor(&l, &[1e300, 1.0]).map(|f| f.order()).unwrap(), 2);
    assert_eq!(Ldlt::from_factor(&mat![[1e200]], &[1.0]).unwrap_err(), Error::Overflow { argument: "l" });

    let mut factor = Ldlt::new(&mat![[4.0, 2.0], [2.0, -5.0]]).unwrap();
    let before = Factor::of(&factor);
    assert_eq!(factor.update(&[1.0]).unwrap_err(), shape("v", "rows", 2, 1));
    assert_eq!(factor.update(&[1.0, nan]).unwrap_err(), nonfinite("v", 1, 0));
    assert_eq!(factor.downdate(&[1e300, 1.0]).unwrap_err(), Error::Overflow { argument: "v" });
    assert_eq!(factor.modify(&[1.0, 1.0], &[nan]).unwrap_err(), nonfinite("weights", 0, 0));
    assert_eq!(factor.modify(&[1.0, 1.0], &[1.0, 1.0]).unwrap_err(), shape("weights", "entries", 1, 2));
    for decay in [0.0, -1.0, 1.5, nan] {
        let refused = factor.modify_scaled(decay, &[1.0, 1.0], &[1.0]).unwrap_err();
        assert_eq!(refused.argument(), Some("decay"));
    }
    assert_eq!(factor.append(&[1.0], &[1.0]).unwrap_err(), shape("cross", "rows", 2, 1));
    assert_eq!(factor.append(&[1.0, inf], &[1.0]).unwrap_err(), nonfinite("cross", 1, 0));
    assert_eq!(factor.append(&[1.0, 1.0], &[nan]).unwrap_err(), nonfinite("corner", 0, 0));
    assert_eq!(factor.insert(1, &[1.0, nan, 0.0]).unwrap_err(), nonfinite("columns", 1, 0));
    assert_eq!(factor.insert(3, &[1.0, 1.0, 0.0]).unwrap_err().argument(), Some("at"));
    assert_eq!(factor.replace(2, &[1.0, 1.0]).unwrap_err().argument(), Some("at"));
    assert_eq!(factor.remove(&[0, 0]).unwrap_err().argument(), Some("indices"));
    assert_eq!(factor.remove(&[2]).unwrap_err().argument(), Some("indices"));
    assert_eq!(factor.shift(2, 0).unwrap_err().argument(), Some("from"));
    assert_eq!(factor.shift(0, 2).unwrap_err().argument(), Some("to"));
    assert_eq!(factor.permute(&[0]).unwrap_err(), shape("order", "entries", 2, 1));
    assert_eq!(factor.permute(&[1, 1]).unwrap_err().argument(), Some("order"));
    assert_eq!(factor.solve(&[1.0]).unwrap_err(), shape("rhs", "rows", 2, 1));
    let mut rhs = [1.0, nan];
    assert_eq!(factor.solve_in_place(&mut rhs).unwrap_err(), nonfinite("rhs", 1, 0));
    assert_eq!(rhs[0], 1.0);
    assert!(unchanged(&factor, &before));
}

#[test]
fn nothing_and_one_row() {
    let mut factor = Ldlt::<f64>::new(&Mat::zeros(0, 0)).unwrap();
    assert_eq!((factor.order(), factor.inertia(), factor.growth()), (0, (0, 0), 1.0));
    assert!(factor.log_abs_det().is_sign_positive() && factor.condition().unwrap() == 1.0);
    assert_eq!(factor.solve(&Mat::<f64>::zeros(0, 3)).unwrap().shape(), (0, 3));
    factor.update(&Mat::<f64>::zeros(0, 2)).unwrap();
    factor.remove(&[]).unwrap();
    factor.permute(&[]).unwrap();
    let report = factor.append(&Mat::<f64>::zeros(0, 1), &[-4.0]).unwrap();
    assert_eq!((report.inertia_before, report.inertia, report.changes_inertia()), ((0, 0), (0, 1), true));
    assert_eq!((factor.l()[(0, 0)], signs(&factor)), (2.0, vec![-1.0]));
    let report = factor.update(&[3.0]).unwrap();
    assert_eq!((report.inertia, factor.l()[(0, 0)]), ((1, 0), 5.0_f64.sqrt()));
    assert!((report.min_pivot_ratio - 1.25).abs() < 1e-15);
    factor.replace(0, &[-9.0]).unwrap();
    assert_eq!((factor.l()[(0, 0)], factor.inertia()), (3.0, (0, 1)));
    factor.remove(&[0]).unwrap();
    assert_eq!(factor.order(), 0);
}

#[test]
fn columns_of_zeros_and_weights_of_zero_change_nothing() {
    let random = &mut rng(3);
    let a: Mat<f64> = Matrix::Random.make(20, random);
    let mut factor = Ldlt::new_in(&a, Cpu::sequential().with_safeguard(Safeguard::DryRun)).unwrap();
    let before = Factor::of(&factor);
    for report in [
        factor.update(&Mat::<f64>::zeros(20, 3)).unwrap(),
        factor.update(&Mat::<f64>::zeros(20, 0)).unwrap(),
        factor.modify(&columns::<f64>(20, 2, 1.0, random), &[0.0, 0.0]).unwrap(),
        factor.remove(&[]).unwrap(),
        factor.shift(4, 4).unwrap(),
        factor.permute(&(0..20).collect::<Vec<_>>()).unwrap(),
    ] {
        assert_eq!((report.min_pivot_ratio, report.log_abs_det_change), (1.0, 0.0));
        assert!(!report.changes_inertia());
    }
    assert!(unchanged(&factor, &before));
}

#[test]
fn solutions_solve() {
    let random = &mut rng(4);
    for (n, m) in [(1, 1), (9, 3), (150, 2)] {
        for matrix in [Matrix::QuasiDefinite(1e-2), Matrix::Random] {
            let a: Mat<f64> = matrix.make(n, random);
            let factor = Ldlt::new(&a).unwrap();
            let b: Mat<f64> = columns(n, m, 1.0, random);
            let x = factor.solve(&b).unwrap();
            let product = Factor::of(&factor).product();
            let size = factor.growth() * product.norm_max() * x.norm_max();
            assert!((&product * &x - &b).norm_max() < 1e-14 * n as f64 * size);
            assert!((factor.reconstruct() - &product).norm_max() < 1e-14 * size / x.norm_max());
            let mut in_place = b.clone();
            factor.solve_in_place(&mut in_place).unwrap();
            assert_eq!(in_place, x);
            // The halves, with S between them.
            let mut y = factor.solve_l(&b).unwrap();
            let mut other = b.clone();
            factor.solve_l_in_place(&mut other).unwrap();
            assert_eq!(y, other);
            for (i, s) in signs(&factor).into_iter().enumerate() {
                y.row_mut(i).iter_mut().for_each(|x| *x *= s);
            }
            assert_eq!(factor.solve_lt(&y).unwrap(), x);
            factor.solve_lt_in_place(&mut y).unwrap();
            assert_eq!(y, x);
            let (values, condition) = (
                product.self_adjoint_eigenvalues(cholupdate::faer::Side::Lower).unwrap(),
                factor.condition().unwrap(),
            );
            let sizes = || values.iter().map(|x| x.abs());
            let two = sizes().fold(0.0, f64::max) / sizes().fold(f64::INFINITY, f64::min);
            assert!(
                condition > 0.3 * two / n as f64 && condition < 3.0 * two * n as f64,
                "{condition} of {two}"
            );
            let log: f64 = sizes().map(f64::ln).sum();
            assert!((factor.log_abs_det() - log).abs() < 1e-8 * n as f64);
        }
    }
}

#[test]
fn a_factor_of_any_scaling_is_taken() {
    let l = mat![[1.0, f64::NAN, f64::NAN], [2.0, -1.0, f64::NAN], [0.5, 3.0, 2.0]];
    let factor = Ldlt::from_factor(&l, &[-4.0, 9.0, 1.0]).unwrap();
    assert_eq!(factor.l(), mat![[2.0, 0.0, 0.0], [4.0, 3.0, 0.0], [1.0, -9.0, 2.0]]);
    assert_eq!(signs(&factor), [-1.0, 1.0, 1.0]);
    let copy = factor.clone();
    assert!(unchanged(&copy, &Factor::of(&factor)));
    assert_eq!(format!("{:?}", copy.inertia()), "(2, 1)");
}
