//! Derivatives of a solve, of log det, and of appended rows: against differences, and reverse against forward mode.

use super::{Along, dual, inner, triangle};
use crate::support::problem::{Kind, Problem, rng, uniform};
use cholupdate::faer::{Mat, Side};
use cholupdate::gradient::{
    Modified, append_jvp, append_vjp, log_det_change_jvp, log_det_change_vjp, solve_jvp, solve_vjp,
};
use cholupdate::{Cholesky, Cpu, Error, Weights};

const STEP: f64 = 1e-5;
const SHAPES: [(usize, usize); 6] = [(1, 1), (2, 3), (10, 2), (33, 1), (40, 5), (60, 20)];

/// A matrix and its tangent: the lower triangle, or all entries.
fn moved(a: &Mat<f64>, tangent: &Mat<f64>, step: f64, is_lower: bool) -> Mat<f64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| match is_lower && i < j {
        true => 0.0,
        false => a[(i, j)] + step * tangent[(i, j)],
    })
}

fn close(found: f64, expected: f64, size: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-8 * size.max(1.0), "{what}: {found} and {expected}");
}

#[test]
fn solves() {
    for (n, m) in SHAPES {
        let mut rng = rng(n as u64);
        let l = Problem::<f64>::feasible(n, 1, Kind::Up, 0.5, 1).l;
        let (b, of_b, bar) = (uniform(n, m, &mut rng), uniform(n, m, &mut rng), uniform(n, m, &mut rng));
        let of_l = triangle::<f64>(n, &mut rng);
        let at = |step: f64| {
            let factor = Cholesky::from_factor(moved(&l, &of_l, step, true).as_ref()).unwrap();
            factor.solve(&moved(&b, &of_b, step, false)).unwrap()
        };
        let x = at(0.0);
        let tangent = solve_jvp(&l, &x, &of_l, &of_b).unwrap();
        let difference = (at(STEP) - at(-STEP)) / cholupdate::faer::Scale(2.0 * STEP);
        let error = (&tangent - &difference).norm_max();
        assert!(error < 1e-7 * difference.norm_max().max(1.0), "{n} × {m}: {error:.1e}");
        let pulled = solve_vjp(&l, &x, &bar).unwrap();
        let one = inner(bar.as_ref(), tangent.as_ref(), false);
        let of_rhs = inner(pulled.b.as_ref(), of_b.as_ref(), false);
        let through_l = inner(pulled.l.as_ref(), of_l.as_ref(), true);
        let error = (one.0 - of_rhs.0 - through_l.0).abs() / (one.1 + of_rhs.1 + through_l.1);
        assert!(error < 1e-14, "{n} × {m}: {error:.1e}");
        assert!((0..n).all(|j| (0..j).all(|i| pulled.l[(i, j)] == 0.0)));
    }
}

#[test]
fn changes_of_log_det() {
    for (n, k) in SHAPES {
        for kind in Kind::ALL {
            let problem = Problem::<f64>::feasible(n, k, kind, 0.5, 2);
            let mut rng = rng(n as u64);
            let along = Along::<f64>::new(n, k, &mut rng);
            let at = |step: f64| {
                let l = moved(&problem.l, &along.l, step, true);
                let v = moved(&problem.v, &along.v, step, false);
                let weights: Vec<f64> =
                    problem.weights.iter().zip(&along.weights).map(|(w, dw)| w + step * dw).collect();
                let mut factor = Cholesky::from_factor(&l).unwrap();
                factor.modify(&v, &weights).unwrap().log_det_change()
            };
            let (new, _) = problem.modified(&Cpu::default()).unwrap();
            let modified = Modified {
                l: problem.l.as_ref(),
                new: new.as_ref(),
                v: problem.v.as_ref(),
                weights: Weights::Each(&problem.weights),
            };
            let tangent = log_det_change_jvp(&modified, &along.tangents()).unwrap();
            let pulled = log_det_change_vjp(&modified, 2.0).unwrap();
            let (other, size) = dual(&pulled, &along.tangents());
            assert!((2.0 * tangent - other).abs() <= 1e-14 * size, "{n} × {k}, {kind:?}");
            let difference = (at(STEP) - at(-STEP)) / (2.0 * STEP);
            close(tangent, difference, 10.0 * size, &format!("{n} × {k}, {kind:?}"));
            assert!((0..n).all(|j| (0..j).all(|i| pulled.l[(i, j)] == 0.0)));
        }
    }
}

#[test]
fn appended_rows() {
    for (n, m) in SHAPES.into_iter().chain([(0, 3), (4, 0)]) {
        let mut rng = rng((n + m) as u64);
        let l = Problem::<f64>::feasible(n, 1, Kind::Up, 0.5, 1).l;
        let small = cholupdate::faer::Scale(0.5 / (n.max(1) as f64).sqrt());
        let cross = uniform(n, m, &mut rng) * small;
        let s = Cholesky::from_factor(&l).unwrap().solve_l(&cross).unwrap();
        let corner = s.transpose() * &s + Mat::<f64>::identity(m, m) * cholupdate::faer::Scale(10.0);
        let (of_l, of_corner) = (triangle::<f64>(n, &mut rng), triangle::<f64>(m, &mut rng));
        let of_cross = uniform(n, m, &mut rng) * small;
        let at = |step: f64| {
            let mut factor = Cholesky::from_factor(&moved(&l, &of_l, step, true)).unwrap();
            let corner = moved(&corner, &of_corner, step, true);
            factor.append(&moved(&cross, &of_cross, step, false), &corner).unwrap();
            factor.to_factor().unwrap()
        };
        let new = at(0.0);
        let tangent = append_jvp(&new, n, &of_l, &of_cross, &of_corner).unwrap();
        let difference = (at(STEP) - at(-STEP)) / cholupdate::faer::Scale(2.0 * STEP);
        let error = (&tangent - &difference).norm_max();
        assert!(error <= 1e-7 * difference.norm_max().max(1.0), "{n} and {m}: {error:.1e}");
        let bar = triangle::<f64>(n + m, &mut rng);
        let pulled = append_vjp(&new, n, &bar).unwrap();
        let one = inner(bar.as_ref(), tangent.as_ref(), true);
        let parts = [
            inner(pulled.l.as_ref(), of_l.as_ref(), true),
            inner(pulled.cross.as_ref(), of_cross.as_ref(), false),
            inner(pulled.corner.as_ref(), of_corner.as_ref(), true),
        ];
        let (other, size) = parts.iter().fold((0.0, one.1), |(x, all), part| (x + part.0, all + part.1));
        assert!((one.0 - other).abs() <= 1e-14 * size, "{n} and {m}");
        assert!((0..n).all(|j| (0..j).all(|i| pulled.l[(i, j)] == 0.0)));
        assert!((0..m).all(|j| (0..j).all(|i| pulled.corner[(i, j)] == 0.0)));
    }
}

/// The same as through a factorization of the whole matrix.
#[test]
fn an_appended_row_is_that_of_a_factorization() {
    let a = cholupdate::faer::mat![[4.0, 2.0, 2.0], [2.0, 5.0, 1.0], [2.0, 1.0, 6.0]];
    let l = a.llt(Side::Lower).unwrap().L().to_owned();
    // log det A = 2 Σ log l_ii, whose derivative by A is A⁻¹; that by an entry below the diagonal counts twice.
    let bar = Mat::from_fn(3, 3, |i, j| if i == j { 2.0 / l[(i, i)] } else { 0.0 });
    let pulled = append_vjp(&l, 2, &bar).unwrap();
    let inverse = Cholesky::new(&a).unwrap().solve(&Mat::<f64>::identity(3, 3)).unwrap();
    assert!((pulled.corner[(0, 0)] - inverse[(2, 2)]).abs() < 1e-15);
    for i in 0..2 {
        assert!((pulled.cross[(i, 0)] - 2.0 * inverse[(i, 2)]).abs() < 1e-15);
    }
}

#[test]
fn what_is_refused() {
    let l = cholupdate::faer::mat![[2.0, 0.0], [1.0, 0.0]];
    let x = Mat::<f64>::zeros(2, 1);
    assert_eq!(solve_vjp(&l, &x, &x).unwrap_err(), Error::Singular { column: 1 });
    assert_eq!(append_vjp(&l, 1, &l).unwrap_err(), Error::Singular { column: 1 });
    let l = Mat::<f64>::identity(2, 2);
    let too_many = append_vjp(&l, 3, &l).unwrap_err();
    assert_eq!(too_many.argument(), Some("order"));
    let wrong = Error::Shape { argument: "cotangent", extent: "rows", expected: 2, found: 3 };
    assert_eq!(solve_vjp(&l, &x, &Mat::zeros(3, 1)).unwrap_err(), wrong);
}
