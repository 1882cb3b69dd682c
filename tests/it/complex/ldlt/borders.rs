//! A bordered without a change of the factor, and right-hand sides that stay current.

use super::{Factor, columns, turned, unchanged};
use crate::complex::problem::rng;
use crate::ldlt::Matrix;
use cholupdate::faer::{Mat, Scale, c64};
use cholupdate::{Ldlt, LdltExtension};
use rand::Rng;

#[test]
fn an_extension_is_the_append_without_the_change() {
    let random = &mut rng(1);
    for matrix in [Matrix::QuasiDefinite(1e-2), Matrix::Shuffled, Matrix::Random] {
        for (n, r) in [(0, 2), (1, 1), (9, 3), (70, 20)] {
            let all = turned::<c64>(matrix, n + r, random);
            let Ok(mut factor) = Ldlt::new(&all.submatrix(0, 0, n, n).to_owned()) else { continue };
            let before = Factor::of(&factor);
            let (cross, mut corner) =
                (all.submatrix(0, n, n, r).to_owned(), all.submatrix(n, n, r, r).to_owned());
            (0..r).for_each(|j| corner[(j, j)].im = f64::NAN);
            let extension = factor.extension(&cross, &corner).unwrap();
            let b = columns::<c64>(n + r, 2, 1.0, random);
            let x = extension.solve(&b).unwrap();
            let known = (extension.inertia(), extension.log_abs_det());
            let (y, c, signs) = extension.into_parts();
            let again = LdltExtension::from_borrowed_parts(&factor, y.as_ref(), c.as_ref(), &signs).unwrap();
            assert_eq!(again.solve(&b).unwrap(), x);
            assert!(unchanged(&factor, &before));
            factor.append(&cross, &corner).unwrap();
            assert_eq!(known.0, factor.inertia());
            assert!((known.1 - factor.log_abs_det()).abs() < 1e-12 * (1.0 + known.1.abs()));
            assert_eq!(c.as_ref(), factor.l().submatrix(n, n, r, r));
            let size = (n + r) as f64 * factor.growth() * all.norm_max() * x.norm_max();
            assert!((&all * &x - &b).norm_max() < 2e-15 * size, "{matrix:?}, n {n}, r {r}");
        }
    }
}

#[test]
fn right_hand_sides_stay_current() {
    let random = &mut rng(2);
    for (n, m) in [(1, 1), (8, 2), (33, 5)] {
        let mut factor = Ldlt::new(&turned::<c64>(Matrix::QuasiDefinite(0.5), n, random)).unwrap();
        let mut b = columns::<c64>(n, m, 1.0, random);
        let mut z = factor.solve_l(&b).unwrap();
        let mut done = 0;
        for step in 0..40 {
            let (k, decay) = (1 + step % 4, if step % 3 == 0 { 0.9 } else { 1.0 });
            let (v, y) = (columns::<c64>(n, k, 0.3, random), columns::<c64>(k, m, 1.0, random));
            let w: Vec<f64> = (0..k).map(|_| random.random_range(-1.0..1.0)).collect();
            let before = (Factor::of(&factor), z.clone());
            if factor.modify_carrying(decay, &v, &w, &y, &mut z).is_ok() {
                done += 1;
                b = b * Scale(c64::from(decay)) + Mat::from_fn(n, k, |i, r| v[(i, r)] * w[r]) * y;
            } else {
                assert!(unchanged(&factor, &before.0) && z == before.1);
            }
            // L z = b
            let size = factor.l().norm_max() * z.norm_max() * factor.growth() + b.norm_max();
            let off = (factor.l() * &z - &b).norm_max();
            assert!(off < 5e-14 * n.max(12) as f64 * size, "n {n}, step {step}: {off:e}");
        }
        assert!(done > 30, "{done}");
    }
}
