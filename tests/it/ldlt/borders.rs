//! A bordered without a change of the factor, and right-hand sides that stay current.

use super::{Factor, Matrix, columns, unchanged};
use crate::support::problem::rng;
use cholupdate::faer::{Mat, mat};
use cholupdate::{Cpu, Error, Ldlt, LdltExtension};
use rand::Rng;

/// max |x| of what should be zero, over `size`, in units of roundoff.
fn units(x: &Mat<f64>, size: f64) -> f64 {
    x.norm_max() / (size * f64::EPSILON / 2.0)
}

#[test]
fn an_extension_is_the_append_without_the_change() {
    let random = &mut rng(1);
    for matrix in [Matrix::QuasiDefinite(1e-2), Matrix::Shuffled, Matrix::Random, Matrix::Definite] {
        for (n, r) in [(0, 2), (1, 1), (9, 3), (40, 1), (70, 20)] {
            let all: Mat<f64> = matrix.make(n + r, random);
            let Ok(mut factor) = Ldlt::new(&all.submatrix(0, 0, n, n).to_owned()) else { continue };
            let before = Factor::of(&factor);
            let (cross, corner) =
                (all.submatrix(0, n, n, r).to_owned(), all.submatrix(n, n, r, r).to_owned());
            let extension = factor.extension(&cross, &corner).unwrap();
            let b: Mat<f64> = columns(n + r, 2, 1.0, random);
            let x = extension.solve(&b).unwrap();
            let known = (extension.order(), extension.inertia(), extension.log_abs_det());
            let (y, c, signs) = extension.into_parts();
            let again = LdltExtension::from_parts(&factor, y.clone(), c.clone(), &signs).unwrap();
            assert_eq!(again.solve(&b).unwrap(), x);
            let again = LdltExtension::from_borrowed_parts(&factor, y.as_ref(), c.as_ref(), &signs).unwrap();
            assert_eq!((again.order(), again.inertia(), again.log_abs_det()), known);
            assert!(unchanged(&factor, &before));

            factor.append(&cross, &corner).unwrap();
            assert_eq!(known.1, factor.inertia());
            assert!((known.2 - factor.log_abs_det()).abs() < 1e-12 * (1.0 + known.2.abs()));
            assert_eq!(c.as_ref(), factor.l().submatrix(n, n, r, r));
            assert_eq!(signs, factor.signs()[n..]);
            let size = (n + r) as f64 * factor.growth() * all.norm_max() * x.norm_max();
            let off = units(&(&all * &x - &b), size);
            assert!(off < 20.0, "{matrix:?}, n {n}, r {r}: {off:.1} u");
        }
    }
}

#[test]
fn what_has_no_factor_is_no_extension() {
    let mut factor = Ldlt::new(&mat![[1.0, 2.0], [2.0, 1.0]]).unwrap();
    factor.expect_inertia(2, 0); // of changes, and this is none
    assert_eq!(factor.extension(&[1.0, 2.0], &[-5.0]).unwrap().inertia(), (1, 2));
    assert_eq!(factor.extension(&[1.0, 2.0], &[1.0]).unwrap_err(), Error::Singular { column: 2 });
    factor.set_growth_limit(1e4).unwrap();
    let refused = factor.extension(&[1e3, 0.0], &[1.0]).unwrap_err();
    assert!(matches!(refused, Error::Unstable { column: 1, growth } if growth > 1e5), "{refused:?}");
    let shape = |argument, extent, expected, found| Error::Shape { argument, extent, expected, found };
    assert_eq!(factor.extension(&[1.0], &[1.0]).unwrap_err(), shape("cross", "rows", 2, 1));
    let refused = factor.extension(&[1.0, f64::NAN], &[1.0]).unwrap_err();
    assert_eq!(refused, Error::NonFinite { argument: "cross", row: 1, column: 0 });
    let extension = factor.extension(&[1.0, 2.0], &[-5.0]).unwrap();
    assert_eq!(extension.solve(&[1.0, 2.0]).unwrap_err(), shape("rhs", "rows", 3, 2));
    let (y, c, _) = extension.into_parts();
    assert_eq!(LdltExtension::from_parts(&factor, y, c, &[]).unwrap_err(), shape("signs", "entries", 1, 0));
}

/// z and the factor after forty modifications are those of b and A.
#[test]
fn right_hand_sides_stay_current() {
    let random = &mut rng(2);
    for (n, m) in [(1, 1), (8, 2), (33, 5), (100, 1)] {
        let mut a: Mat<f64> = Matrix::QuasiDefinite(0.5).make(n, random);
        let mut factor = Ldlt::new_in(&a, Cpu::sequential()).unwrap();
        let mut b: Mat<f64> = columns(n, m, 1.0, random);
        let mut z = factor.solve_l(&b).unwrap();
        for step in 0..40 {
            let (k, decay) = (1 + step % 4, if step % 3 == 0 { 0.9 } else { 1.0 });
            let (v, y) = (columns::<f64>(n, k, 0.3, random), columns::<f64>(k, m, 1.0, random));
            let w: Vec<f64> = (0..k).map(|_| random.random_range(-1.0..1.0)).collect();
            let before = (Factor::of(&factor), z.clone());
            let mut other = factor.clone();
            match factor.modify_carrying(decay, &v, &w, &y, &mut z) {
                Ok(report) => {
                    let weighted = Mat::from_fn(n, k, |i, r| v[(i, r)] * w[r]);
                    a = a * cholupdate::faer::Scale(decay) + &weighted * v.transpose();
                    b = b * cholupdate::faer::Scale(decay) + &weighted * y;
                    let same = other.modify_scaled(decay, &v, &w).unwrap();
                    assert_eq!(report.inertia, same.inertia);
                    assert!(
                        (factor.l() - other.l()).norm_max() < 1e-12 * factor.l().norm_max() * factor.growth()
                    );
                }
                Err(error) => {
                    assert!(matches!(error, Error::Singular { .. } | Error::Unstable { .. }), "{error}");
                    assert!(unchanged(&factor, &before.0) && z == before.1);
                }
            }
            // L z = b
            let off = factor.l() * &z - &b;
            let size = 40.0
                * n.max(12) as f64
                * (factor.l().norm_max() * z.norm_max() * factor.growth() + b.norm_max());
            assert!(units(&off, size) < 10.0, "n {n}, step {step}: {:.1} u", units(&off, size));
            assert!((factor.reconstruct() - &a).norm_max() < 1e-11 * factor.growth() * a.norm_max().max(1.0));
        }
    }
}

#[test]
fn nothing_is_carried_and_arguments_are_named() {
    let mut factor = Ldlt::new(&mat![[4.0, 2.0], [2.0, -5.0]]).unwrap();
    let mut z = factor.solve_l(&[1.0, 2.0]).unwrap();
    let (before, old) = (Factor::of(&factor), z.clone());
    let shape = |argument, extent, expected, found| Error::Shape { argument, extent, expected, found };
    let none = Mat::<f64>::zeros(2, 0);
    assert_eq!(
        factor.modify_carrying(1.0, &[1.0, 1.0], &[1.0], &mat![[1.0, 2.0]], &mut z).unwrap_err(),
        shape("y", "columns", 1, 2)
    );
    assert_eq!(
        factor.modify_carrying(1.0, &[1.0, 1.0], &[1.0], &[1.0, 2.0], &mut z).unwrap_err(),
        shape("y", "rows", 1, 2)
    );
    let refused = factor.modify_carrying(1.0, &[1.0, 1.0], &[1.0], &[f64::NAN], &mut z).unwrap_err();
    assert_eq!(refused, Error::NonFinite { argument: "y", row: 0, column: 0 });
    let refused = factor.modify_carrying(1.0, &[1.0, 1.0], &[1.0], &[1e200], &mut z).unwrap_err();
    assert_eq!(refused, Error::Overflow { argument: "y" });
    let refused = factor.modify_carrying(2.0, &[1.0, 1.0], &[1.0], &[1.0], &mut z).unwrap_err();
    assert_eq!(refused.argument(), Some("decay"));
    let mut long = [1.0, 2.0, 3.0];
    assert_eq!(
        factor.modify_carrying(1.0, &[1.0, 1.0], &[1.0], &[1.0], &mut long).unwrap_err(),
        shape("z", "rows", 2, 3)
    );
    // The pivot of column 0 would vanish.
    let refused = factor.modify_carrying(1.0, &[2.0, 0.0], &[-1.0], &[1.0], &mut z).unwrap_err();
    assert_eq!(refused, Error::Singular { column: 0 });
    assert!(unchanged(&factor, &before) && z == old);
    // No observations, columns of zeros, no right-hand sides.
    factor.modify_carrying(1.0, &none, &[], &Mat::<f64>::zeros(0, 1), &mut z).unwrap();
    factor.modify_carrying(1.0, &[0.0, 0.0], &[1.0], &[3.0], &mut z).unwrap();
    assert!(unchanged(&factor, &before) && z == old);
    factor
        .modify_carrying(1.0, &[1.0, 0.0], &[1.0], &Mat::<f64>::zeros(1, 0), Mat::<f64>::zeros(2, 0).as_mut())
        .unwrap();
    assert!((factor.reconstruct() - mat![[5.0, 2.0], [2.0, -5.0]]).norm_max() < 1e-14);
}

#[test]
fn threads_do_not_change_what_is_carried() {
    let random = &mut rng(3);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
    let (n, k, m) = (500, 6, 3);
    let a: Mat<f64> = Matrix::Shuffled.make(n, random);
    let begun = Ldlt::new_in(&a, Cpu::sequential()).unwrap();
    let (v, y) = (columns::<f64>(n, k, 3.0, random), columns::<f64>(k, m, 1.0, random));
    let b: Mat<f64> = columns(n, m, 1.0, random);
    let w: Vec<f64> = (0..k).map(|r| if r % 3 == 0 { -1.0 } else { 0.5 }).collect();
    let results = [Cpu::sequential(), Cpu::threads(3)].map(|engine| {
        pool.install(|| {
            let mut factor = Ldlt::from_factor_in(begun.l(), &begun.signs(), engine).unwrap();
            let mut z = b.clone();
            factor.modify_carrying(0.9, &v, &w, &y, &mut z).unwrap();
            (Factor::of(&factor).bits(), z)
        })
    });
    assert!(results[0] == results[1]);
}
