//! The resident engine: its guarantees beyond the suite of all engines.

#[cfg(target_os = "linux")]
mod inexact;
#[cfg(target_os = "linux")]
mod on_the_fake_driver;
mod repeated;
mod triangular;

use crate::support::contract::{Observed, assert_log_det, assert_solved, factor_error_of_rows, some_rows};
use crate::support::cuda::resident;
use crate::support::problem::{Kind, Problem, rng, uniform};
use crate::support::real::Real;
use cholupdate::Cholesky;
use cholupdate::cuda::Resident;
use cholupdate::faer::Mat;
use std::fmt::Debug;

/// Many panels, the last of them not full.
const ORDER: usize = 64 * 9 + 37;

fn check<T: Real>(observed: &mut Observed, engine: &Resident, problem: &Problem<T>, what: impl Debug) {
    let (new, _) = problem.modified(engine).unwrap();
    observed.check(new.as_ref(), problem, what);
}

/// With rows of V scaled by `scale(panel)`.
fn scaled<T: Real>(mut problem: Problem<T>, scale: impl Fn(usize) -> f64) -> Problem<T> {
    for i in 0..problem.v.nrows() {
        let scale = T::of(scale(i / 64));
        problem.v.row_mut(i).iter_mut().for_each(|x| *x *= scale);
    }
    problem
}

/// Panels where V is small and panels where it dominates, in any order.
fn easy_and_hard_panels<T: Real>(engine: &Resident, mut observed: Observed) {
    let mut check = |problem: Problem<T>, what: &dyn Debug| check(&mut observed, engine, &problem, what);
    for k in [1, 3, 20] {
        let up = |seed| Problem::<T>::feasible(ORDER, k, Kind::Up, 0.5, seed);
        check(scaled(up(1), |_| 0.03), &("easy", k));
        check(scaled(up(2), |p| if p % 3 == 1 { 1e3 } else { 0.03 }), &("some hard", k));
        check(scaled(up(3), |p| if p < 2 { 1e-9 } else { 1.0 }), &("hard later", k));
        for kind in [Kind::Down, Kind::Mixed] {
            for gap in [0.3, 1e-4] {
                check(Problem::<T>::feasible(ORDER, k, kind, gap, 4), &(kind, gap, k));
            }
        }
    }
}

#[test]
fn easy_and_hard_panels_meet_the_contract() {
    let Some((_turn, engine)) = resident() else { return };
    easy_and_hard_panels::<f64>(&engine, Observed::recorded(22.8));
    easy_and_hard_panels::<f32>(&engine, Observed::recorded(3.3));
}

/// A Gaussian process on a line, with nearly equal neighbours.
fn smooth(n: usize, nugget: f64) -> Mat<f64> {
    Mat::from_fn(n, n, |i, j| {
        let distance = (i as f64 - j as f64) / 20.0;
        (-distance * distance / 2.0).exp() + if i == j { nugget } else { 0.0 }
    })
}

#[test]
fn ill_conditioned_blocks_meet_the_contract() {
    let Some((_turn, engine)) = resident() else { return };
    let n = 300;
    let mut observed = Observed::recorded(3.6);
    for nugget in [1e-2, 1e-6, 1e-9] {
        let l = Cholesky::new(&smooth(n, nugget)).unwrap().to_factor().unwrap();
        for k in [1, 4] {
            for size in [1e-3, 0.1, 1.0] {
                let small = &l * uniform(n, k, &mut rng(7)) * cholupdate::faer::Scale(size);
                let far = uniform(n, k, &mut rng(8)) * cholupdate::faer::Scale(size);
                for v in [small, far] {
                    let problem = Problem::<f64>::new(&l, &v, &vec![1.0; k]);
                    check(&mut observed, &engine, &problem, ("smooth", nugget, k, size));
                }
            }
        }
    }
}

/// Many panel ranges, and more sweeps than a launch has, one or several in the last launch; with `Observed::recorded` for each
/// order, because errors grow with the order.
#[test]
fn a_long_chain_of_many_sweeps_meets_the_contract() {
    let Some((_turn, engine)) = resident() else { return };
    a_long_chain(&engine, 64 * 40 + 37, 16, Observed::recorded(2.6));
    a_long_chain(&engine, 64 * 26 + 37, 70, Observed::recorded(3.5));
    a_long_chain(&engine, 64 * 6 + 5, 250, Observed::recorded(3.7));
    for k in [513, 560] {
        a_long_chain(&engine, 64 * 4 + 5, k, Observed::recorded(6.7));
    }
}

fn a_long_chain(engine: &Resident, n: usize, k: usize, mut observed: Observed) {
    let l = Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0 + 0.1 * (i % 7) as f64,
        std::cmp::Ordering::Greater => 0.3 / (n as f64).sqrt() * ((i * 31 + j * 17) % 11) as f64 / 11.0,
    });
    let v = uniform(n, k, &mut rng(11)) * cholupdate::faer::Scale(0.1);
    let mut factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
    // In the last, signs change in the middle, where there are two launches in the second.
    let either = (0..k).map(|r| if r < k - k / 8 { 1.0 } else { -0.1 }).collect();
    for (what, weights) in [("up", vec![1.0; k]), ("down", vec![-1.0; k]), ("either sign", either)] {
        let problem = Problem { l: factor.to_factor().unwrap(), v: v.clone(), weights };
        factor.modify(&problem.v, &problem.weights).unwrap();
        observed.check_some_rows(factor.to_factor().unwrap().as_ref(), &problem, what);
    }
    let rhs = uniform(n, 9, &mut rng(12));
    assert_solved(&factor.reconstruct().unwrap(), &factor.solve(&rhs).unwrap(), &rhs);
}

/// An order at which the device factors A, whose factor is then never copied to the host.
#[test]
fn a_factor_that_stays_on_the_device_meets_the_contract() {
    let Some((_turn, engine)) = resident() else { return };
    let n = 2051;
    let a =
        Mat::from_fn(
            n,
            n,
            |i, j| if i == j { 4.0 + (i % 3) as f64 } else { ((i * 7 + j * 7) % 13) as f64 / 1e4 },
        );
    let mut factor = Cholesky::new_in(&a, engine.clone()).unwrap();
    let log_det = factor.log_det().unwrap();
    let l = factor.to_factor().unwrap();
    assert_log_det(log_det, &l);
    assert_factor_of(&a, &l, Observed::recorded(22.6));

    let v = uniform(n, 3, &mut rng(31));
    factor.update(&v).unwrap();
    let problem = Problem { l, v, weights: vec![1.0; 3] };
    Observed::recorded(1.4).check_some_rows(factor.to_factor().unwrap().as_ref(), &problem, "update");

    let mut a = a;
    a[(1500, 1500)] = -1.0;
    let refused = Cholesky::new_in(&a, engine).unwrap_err();
    assert_eq!(refused, cholupdate::Error::NotPositiveDefinite { column: 1500 });
}

/// A = L Lᵀ: some rows of a large one.
fn assert_factor_of<T: Real>(a: &Mat<T>, l: &Mat<T>, mut observed: Observed) {
    let error = factor_error_of_rows(l.as_ref(), a.as_ref(), some_rows(a.nrows()));
    observed.hold::<T>(error, (a.nrows(), 0), "the initial factor");
}
