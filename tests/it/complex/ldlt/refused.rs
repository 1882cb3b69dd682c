//! What is refused, and that nothing is changed then.

use super::{Factor, columns, turned, unchanged};
use crate::complex::problem::rng;
use crate::ldlt::Matrix;
use cholupdate::faer::{Mat, c64, mat};
use cholupdate::{Error, Ldlt};

const I: c64 = c64::new(0.0, 1.0);

fn real(x: f64) -> c64 {
    x.into()
}

#[test]
fn a_pivot_that_vanishes_is_singular() {
    for n in [1, 3, 9, 40] {
        let random = &mut rng(n as u64);
        let a = turned::<c64>(Matrix::QuasiDefinite(0.1), n, random);
        let mut factor = Ldlt::new(&a).unwrap();
        let before = Factor::of(&factor);
        // Removes the pivot of each column exactly: A − (d_j s_j) l_j l_jᴴ, with a unit l_j. i V has the same product.
        for column in 0..n {
            let v: Vec<c64> = factor.l().col(column).iter().map(|&x| x * I).collect();
            let refused = factor.modify(&v, &[-factor.signs()[column]]);
            assert_eq!(refused.unwrap_err(), Error::Singular { column }, "n {n}");
            assert!(unchanged(&factor, &before));
            assert!(!factor.can_downdate(&v).unwrap() || factor.signs()[column] < 0.0);
        }
    }
}

#[test]
fn matrices_without_a_factor_are_singular() {
    let a = mat![[real(0.0), I], [-I, real(0.0)]];
    assert_eq!(Ldlt::new(&a).unwrap_err(), Error::Singular { column: 0 });
    let a = mat![[real(1.0), -I], [I, real(1.0)]];
    assert_eq!(Ldlt::new(&a).unwrap_err(), Error::Singular { column: 1 });
    assert_eq!(Ldlt::new(&Mat::<c64>::zeros(4, 4)).unwrap_err(), Error::Singular { column: 0 });
    let refused = Ldlt::from_factor(&mat![[real(1.0), real(0.0)], [I, I]], &[1.0, 0.0]);
    assert_eq!(refused.unwrap_err(), Error::Singular { column: 1 });
    let refused = Ldlt::from_factor(&mat![[real(1.0), real(0.0)], [I, real(0.0)]], &[1.0, 1.0]);
    assert_eq!(refused.unwrap_err(), Error::Singular { column: 1 });
}

#[test]
fn growth_above_the_limit_is_unstable() {
    let a =
        |e: f64| mat![[real(e), -I, real(0.0)], [I, real(0.0), real(1.0)], [real(0.0), real(1.0), real(2.0)]];
    assert!((Ldlt::new(&a(1e-6)).unwrap().growth() - 1e6).abs() < 1e2);
    let mut factor = Ldlt::new(&a(1.0)).unwrap();
    factor.set_growth_limit(1e4).unwrap();
    let before = Factor::of(&factor);
    let refused = factor.modify(&[I, real(0.0), real(0.0)], &[-1.0 + 1e-6]);
    assert!(matches!(refused, Err(Error::Unstable { column: 0, growth }) if growth > 1e5), "{refused:?}");
    assert!(unchanged(&factor, &before));
}

#[test]
fn an_unexpected_inertia_or_sign_is_refused() {
    let random = &mut rng(8);
    let a = turned::<c64>(Matrix::QuasiDefinite(0.5), 12, random);
    let mut factor = Ldlt::new(&a).unwrap();
    factor.expect_inertia(8, 4);
    let before = Factor::of(&factor);
    let v: Vec<c64> = (0..12).map(|i| if i == 11 { I * 100.0 } else { real(0.0) }).collect();
    assert_eq!(factor.update(&v).unwrap_err(), Error::Inertia { expected: (8, 4), found: (9, 3) });
    assert_eq!(factor.remove(&[11]).unwrap_err(), Error::Inertia { expected: (8, 4), found: (8, 3) });
    let signs = factor.signs();
    factor.expect_signs(&signs).unwrap();
    assert_eq!(factor.expected_signs(), Some(signs));
    assert_eq!(factor.update(&v).unwrap_err(), Error::Sign { column: 11 });
    assert!(unchanged(&factor, &before));
    factor.expect_any_inertia();
    factor.update(&v).unwrap();
    assert_eq!(factor.inertia(), (9, 3));
}

#[test]
fn what_is_not_finite_is_named_and_changes_nothing() {
    let random = &mut rng(3);
    let nan = c64::new(0.0, f64::NAN);
    let nonfinite = |argument, row, column| Error::NonFinite { argument, row, column };
    let a = turned::<c64>(Matrix::QuasiDefinite(0.5), 4, random);
    let mut bad = a.clone();
    bad[(2, 1)] = nan;
    assert_eq!(Ldlt::new(&bad).unwrap_err(), nonfinite("a", 2, 1));
    assert_eq!(Ldlt::from_factor(&bad, &[1.0; 4]).unwrap_err(), nonfinite("l", 2, 1));
    let mut factor = Ldlt::new(&a).unwrap();
    let before = Factor::of(&factor);
    let mut v = columns::<c64>(4, 2, 1.0, random);
    v[(3, 1)] = nan;
    assert_eq!(factor.update(&v).unwrap_err(), nonfinite("v", 3, 1));
    v[(3, 1)] = c64::new(0.0, 1e300);
    assert_eq!(factor.downdate(&v).unwrap_err(), Error::Overflow { argument: "v" });
    let corner = mat![[real(1.0), real(0.0)], [nan, real(1.0)]];
    let cross = columns::<c64>(4, 2, 1.0, random);
    assert_eq!(factor.append(&cross, &corner).unwrap_err(), nonfinite("corner", 1, 0));
    let mut column = [real(1.0), real(1.0), nan, real(1.0)];
    assert_eq!(factor.replace(1, &column).unwrap_err(), nonfinite("columns", 2, 0));
    assert_eq!(factor.solve(&column).unwrap_err(), nonfinite("rhs", 2, 0));
    assert_eq!(factor.solve_in_place(&mut column).unwrap_err(), nonfinite("rhs", 2, 0));
    column[2] = c64::new(f64::NAN, 0.0);
    assert_eq!(factor.replace(2, &column).unwrap_err(), nonfinite("columns", 2, 0));
    assert!(unchanged(&factor, &before));
}
