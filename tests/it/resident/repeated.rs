//! The bits of a result do not depend on earlier calls.

use super::ORDER;
use crate::support::cuda::resident;
use crate::support::problem::{Kind, Problem, rng, uniform};
use crate::support::real::bits;
use cholupdate::Cholesky;
use cholupdate::cuda::{DeviceMatrix, Resident};
use cholupdate::faer::Mat;

#[test]
fn a_result_is_the_same_every_time() {
    let Some((_turn, engine)) = resident() else { return };
    let problem = Problem::<f64>::feasible(ORDER, 5, Kind::Mixed, 0.3, 9);
    let (first, _) = problem.modified(&engine).unwrap();
    for _ in 0..3 {
        let (again, _) = problem.modified(&engine).unwrap();
        assert_eq!(bits(again.as_ref()), bits(first.as_ref()));
    }
}

/// A V of few columns is filled up with columns of zeros, which the eliminations of the coefficients leave out.
#[test]
fn columns_of_zeros_change_no_bit() {
    let Some((_turn, engine)) = resident() else { return };
    for (k, width) in [(1, 16), (4, 16), (5, 16), (13, 16), (17, 32), (20, 32), (31, 32)] {
        for kind in [Kind::Up, Kind::Down] {
            let problem = Problem::<f64>::feasible(ORDER, k, kind, 0.3, 11);
            let (new, _) = problem.modified(&engine).unwrap();
            let v = Mat::from_fn(ORDER, width, |i, r| if r < k { problem.v[(i, r)] } else { 0.0 });
            let weights: Vec<_> = (0..width).map(|r| problem.weights[r.min(k - 1)]).collect();
            let mut factor = Cholesky::from_factor_in(&problem.l, engine.clone()).unwrap();
            factor.modify(&v, &weights).unwrap();
            let padded = factor.to_factor().unwrap();
            assert_eq!(bits(padded.as_ref()), bits(new.as_ref()), "{k} columns, {kind:?}");
        }
    }
}

/// The engine's state between calls has no effect: each step of a loop gives the same factor as a new engine that begins with
/// this step.
#[test]
fn what_was_done_before_changes_no_bit() {
    let Some((_turn, engine)) = resident() else { return };
    let n = 64 * 5 + 9;
    let mut rng = rng(31);
    let mut l = uniform(n, n, &mut rng);
    for j in 0..n {
        l.col_mut(j).iter_mut().enumerate().for_each(|(i, x)| *x = if i > j { *x / n as f64 } else { 0.0 });
        l[(j, j)] = 2.0 + (j % 5) as f64;
    }
    let mut factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
    // The first row of V that is not zero; its columns; of them with a minus sign; the factor by which it is scaled; V on the
    // device.
    let steps = [
        (130, 3, 0, 0.1, false),
        (0, 20, 0, 0.1, false),
        (200, 5, 5, 0.1, false),
        (0, 20, 17, 0.1, true),
        (0, 20, 0, 0.1, true),
        (0, 16, 1, 1e3, false), // breaks down
        (0, 16, 0, 0.1, false),
        (0, 40, 8, 1e3, true), // breaks down
        (70, 1, 1, 0.1, false),
        (0, 257, 40, 0.02, false),
        (0, 2, 1, 0.1, true),
        (0, 4, 0, 1e200, false), // overflows
        (1, 3, 1, 0.1, false),
        (0, 19, 19, 0.1, false),
    ];
    let mut refused = Vec::new();
    for (step, (first, cols, minus, scale, there)) in steps.into_iter().enumerate() {
        let mut v = uniform(n, cols, &mut rng);
        v.col_iter_mut().for_each(|v| {
            v.iter_mut().enumerate().for_each(|(i, x)| *x = if i < first { 0.0 } else { scale * *x });
        });
        // Both signs, scattered over V.
        let weights: Vec<_> = (0..cols).map(|r| if (r * 7) % cols < minus { -0.5 } else { 1.5 }).collect();
        let before = factor.to_factor().unwrap();
        let mut fresh = Cholesky::from_factor_in(&before, engine.clone()).unwrap();
        let apply = |factor: &mut Cholesky<f64, Resident>| match there {
            true => {
                let v = DeviceMatrix::from_host(engine.device(), &v).unwrap();
                factor.modify(v.view(), &weights).map(|_| ())
            }
            false => factor.modify(&v, &weights).map(|_| ()),
        };
        let feasible = factor.can_downdate(&v).unwrap_or(false);
        assert_eq!(feasible, fresh.can_downdate(&v).unwrap_or(false), "step {step}");
        let outcome = apply(&mut factor);
        assert_eq!(outcome, apply(&mut fresh), "step {step}");
        if outcome.is_err() {
            refused.push(step);
            assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(before.as_ref()), "step {step}");
        }
        let (here, there) = (factor.to_factor().unwrap(), fresh.to_factor().unwrap());
        assert_eq!(bits(here.as_ref()), bits(there.as_ref()), "step {step}");
    }
    assert_eq!(refused, [5, 7, 11]);
}

/// The copy engine copies a run of columns of V longer than `BYTES_BY_KERNEL` (4 MiB), a kernel a shorter one. The first V here has
/// 0.2 MB, the second 4.5 MB, as a run includes the rows of zeros between its columns.
#[test]
fn the_way_that_v_comes_changes_no_bit() {
    let Some((_turn, engine)) = resident() else { return };
    // Row blocks of zeros, so that the columns are long and the sweeps short.
    let (zeros, n, k) = (2048, 100, 264);
    let problem = Problem::<f64>::feasible(n, k, Kind::Up, 0.5, 17);
    let (alone, _) = problem.modified(&engine).unwrap();
    let mut l = Mat::<f64>::identity(zeros + n, zeros + n);
    l.submatrix_mut(zeros, zeros, n, n).copy_from(&problem.l);
    let v = Mat::from_fn(zeros + n, k, |i, j| if i < zeros { 0.0 } else { problem.v[(i - zeros, j)] });
    let mut factor = Cholesky::from_factor_in(&l, engine).unwrap();
    factor.modify(&v, &problem.weights).unwrap();
    let new = factor.to_factor().unwrap();
    assert_eq!(bits(new.submatrix(zeros, zeros, n, n)), bits(alone.as_ref()));
    assert_eq!(bits(new.submatrix(0, 0, zeros + n, zeros)), bits(l.submatrix(0, 0, zeros + n, zeros)));
}
