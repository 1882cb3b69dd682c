//! What is refused, and that nothing is changed then.

use super::{Factor, Matrix, unchanged};
use crate::support::problem::rng;
use cholupdate::faer::{Mat, mat};
use cholupdate::{Error, Ldlt};

#[test]
fn a_pivot_that_vanishes_is_singular() {
    for n in [1, 3, 9, 40] {
        let random = &mut rng(n as u64);
        let a: Mat<f64> = Matrix::QuasiDefinite(0.1).make(n, random);
        let mut factor = Ldlt::new(&a).unwrap();
        let before = Factor::of(&factor);
        // Removes the pivot of each column exactly: A − (d_j s_j) l_j l_jᵀ, with a unit l_j.
        for column in 0..n {
            let v: Vec<f64> = factor.l().col(column).iter().copied().collect();
            let refused = factor.modify(&v, &[-factor.signs()[column]]);
            assert_eq!(refused.unwrap_err(), Error::Singular { column }, "n {n}");
            assert!(unchanged(&factor, &before));
            assert!(!factor.can_downdate(&v).unwrap() || factor.signs()[column] < 0.0);
        }
    }
}

#[test]
fn matrices_without_a_factor_are_singular() {
    assert_eq!(Ldlt::new(&mat![[0.0, 1.0], [1.0, 0.0]]).unwrap_err(), Error::Singular { column: 0 });
    assert_eq!(Ldlt::new(&mat![[1.0, 1.0], [1.0, 1.0]]).unwrap_err(), Error::Singular { column: 1 });
    assert_eq!(Ldlt::new(&Mat::<f64>::zeros(4, 4)).unwrap_err(), Error::Singular { column: 0 });
    let a = mat![[1.0, 2.0, 0.0], [2.0, 4.0 + 1e-15, 1.0], [0.0, 1.0, 3.0]];
    assert_eq!(Ldlt::new(&a).unwrap_err(), Error::Singular { column: 1 });
    let refused = Ldlt::from_factor(&mat![[1.0, 0.0], [1.0, 1.0]], &[1.0, 0.0]);
    assert_eq!(refused.unwrap_err(), Error::Singular { column: 1 });
    let refused = Ldlt::from_factor(&mat![[1.0, 0.0], [1.0, 0.0]], &[1.0, 1.0]);
    assert_eq!(refused.unwrap_err(), Error::Singular { column: 1 });
}

#[test]
fn growth_above_the_limit_is_unstable() {
    let a = |e: f64| mat![[e, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 2.0]];
    let factor = Ldlt::new(&a(1e-6)).unwrap();
    assert!((factor.growth() - 1e6).abs() < 1e2);
    let mut factor = Ldlt::new(&a(1.0)).unwrap();
    assert_eq!(factor.growth_limit(), 0.25 / (f64::EPSILON / 2.0));
    factor.set_growth_limit(1e4).unwrap();
    let before = Factor::of(&factor);
    let refused = factor.modify(&[1.0, 0.0, 0.0], &[-1.0 + 1e-6]);
    assert!(matches!(refused, Err(Error::Unstable { column: 0, growth }) if growth > 1e5), "{refused:?}");
    assert!(unchanged(&factor, &before));
    // Removing the first row, or a new one, likewise.
    let mut factor = Ldlt::new(&mat![[4.0, 2.0], [2.0, 1.0 + 1e-7]]).unwrap();
    factor.set_growth_limit(1e3).unwrap();
    factor.remove(&[0]).unwrap();
    let refused = factor.insert(0, &[1e-6, 2.0]);
    assert!(matches!(refused, Err(Error::Unstable { .. })), "{refused:?}");
    for limit in [0.5, f64::NAN, -1.0] {
        let refused = factor.set_growth_limit(limit).unwrap_err();
        assert_eq!(refused, Error::OutOfRange { argument: "limit", rule: "at least 1" });
    }
    factor.set_growth_limit(f64::INFINITY).unwrap();
    factor.insert(0, &[1e-6, 2.0]).unwrap();
}

#[test]
fn an_unexpected_inertia_is_refused() {
    let random = &mut rng(8);
    let a: Mat<f64> = Matrix::QuasiDefinite(0.5).make(12, random);
    let mut factor = Ldlt::new(&a).unwrap();
    assert_eq!(factor.inertia(), (8, 4));
    factor.expect_inertia(8, 4);
    let before = Factor::of(&factor);
    let mut v = [0.0; 12];
    v[11] = 100.0;
    let refused = factor.update(&v).unwrap_err();
    assert_eq!(refused, Error::Inertia { expected: (8, 4), found: (9, 3) });
    assert!(unchanged(&factor, &before) && factor.can_downdate(&Mat::<f64>::zeros(12, 1)).unwrap());
    assert_eq!(factor.remove(&[11]).unwrap_err(), Error::Inertia { expected: (8, 4), found: (8, 3) });
    factor.expect_inertia(8, 5);
    factor.append(&vec![0.5; 12], &[-1.0]).unwrap();
    factor.expect_any_inertia();
    factor.update(&[&v[..], &[0.0]].concat()).unwrap();
    assert_eq!(factor.inertia(), (9, 4));
}

#[test]
fn signs_go_with_their_rows() {
    let random = &mut rng(9);
    let a: Mat<f64> = Matrix::QuasiDefinite(0.5).make(6, random);
    let mut factor = Ldlt::new(&a).unwrap();
    factor.expect_signs(&[1.0, 1.0, 1.0, 1.0, -1.0, 0.0]).unwrap();
    factor.shift(5, 0).unwrap();
    factor.permute(&[1, 0, 2, 3, 4, 5]).unwrap();
    factor.remove(&[2]).unwrap();
    factor.append(&[0.0; 5], &[-1.0]).unwrap();
    // Rows: 0, 5, 2, 3, 4, new.
    let before = Factor::of(&factor);
    let mut v = [0.0; 6];
    v[4] = 1e3;
    assert_eq!(factor.update(&v).unwrap_err(), Error::Sign { column: 4 });
    v[4] = 0.0;
    v[0] = 1e3;
    assert_eq!(factor.downdate(&v).unwrap_err(), Error::Sign { column: 0 });
    assert!(unchanged(&factor, &before));
    v[0] = 0.0;
    v[5] = 1e3;
    factor.update(&v).unwrap();
    let refused = factor.expect_signs(&[1.0]).unwrap_err();
    assert_eq!(refused, Error::Shape { argument: "signs", extent: "entries", expected: 6, found: 1 });
    let refused = factor.expect_signs(&[1.0, f64::NAN, 0.0, 0.0, 0.0, 0.0]).unwrap_err();
    assert_eq!(refused, Error::NonFinite { argument: "signs", row: 1, column: 0 });
}

#[test]
fn a_row_that_moves_keeps_its_expectation() {
    let mut factor = Ldlt::new(&mat![[1.0, 2.0], [2.0, 1.0]]).unwrap();
    factor.expect_signs(&[1.0, 0.0]).unwrap();
    let before = Factor::of(&factor);
    // The pivot of the first row would be negative behind the other.
    assert_eq!(factor.shift(0, 1).unwrap_err(), Error::Sign { column: 1 });
    assert_eq!(factor.permute(&[1, 0]).unwrap_err(), Error::Sign { column: 1 });
    assert!(unchanged(&factor, &before));
    // Only the last of several shifts must be as expected.
    let mut factor = Ldlt::new(&mat![[1.0, 0.5, -0.9], [0.5, 1.0, 0.5], [-0.9, 0.5, 1.0]]).unwrap();
    factor.expect_signs(&[0.0, 1.0, 0.0]).unwrap();
    factor.permute(&[2, 1, 0]).unwrap();
    assert_eq!(super::signs(&factor), [1.0, 1.0, -1.0]);
    assert!(matches!(factor.permute(&[0, 2, 1]), Err(Error::Sign { column: 2 })));
}
