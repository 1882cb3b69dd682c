//! The report of a modification, against the factors before and after.

use crate::support::compensated::sum;
use crate::support::problem::{Kind, Problem};
use crate::support::real::Real;
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Engine};

on_every_engine!(
    the_report_is_what_the_factors_say,
    columns_before_the_sweep_count,
    nothing_to_do_is_reported_as_no_change,
    log_det_changes_by_what_was_reported,
    extreme_ratios_are_reported,
);

fn the_report_is_what_the_factors_say<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 2, 7, 8, 33, 70, 150] {
        for k in [1, 2, 5, 17] {
            for (kind, gap) in [(Kind::Up, 0.5), (Kind::Down, 0.5), (Kind::Down, 1e-4), (Kind::Mixed, 1e-3)] {
                let problem = Problem::<T>::feasible(n, k, kind, gap, (n + k) as u64);
                let (new, report) = problem.modified(engine).unwrap();
                let ratio = |j: usize| new[(j, j)].f64() / problem.l[(j, j)].f64();
                let smallest = (0..n).map(|j| ratio(j).powi(2)).fold(f64::INFINITY, f64::min);
                let log_det = sum((0..n).map(|j| 2.0 * ratio(j).ln()));

                // One rounding of a quotient, doubled by the square, and one of the square; the same again here.
                let off = (report.min_pivot_ratio - smallest).abs();
                assert!(off <= 6.0 * T::U * smallest, "{kind:?}, {n}, {k}: {report:?}, not {smallest}");
                // A rounding for each quotient and one for each product, and one of the sum.
                let off = (report.log_det_change() - log_det).abs();
                let allowed = T::U * (4.0 * n as f64 + log_det.abs() + 4.0);
                assert!(off <= allowed, "{kind:?}, {n}, {k}: {report:?}, not {log_det}, off by {off:.1e}");
                match kind {
                    Kind::Up => assert!(report.min_pivot_ratio >= 1.0),
                    Kind::Down => assert!(report.min_pivot_ratio < 1.0),
                    Kind::Mixed => {}
                }
            }
        }
    }
}

/// Leading zero rows of V leave columns unchanged, wherever a sweep begins.
fn columns_before_the_sweep_count<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in [16, 40, 150] {
        for zeros in [0, 1, 7, 8, 9, 15, 16, 17, 32, 100, 149] {
            for weight in [1.0, -0.5] {
                let mut factor = Cholesky::from_factor_in(&Mat::<T>::identity(n, n), engine.clone()).unwrap();
                // One entry: only its column has another pivot.
                let at = zeros.min(n - 1);
                let v = Mat::from_fn(n, 1, |i, _| if i == at { T::ONE } else { T::ZERO });
                let report = factor.modify(&v, &[T::of(weight)]).unwrap();
                let expected = if weight > 0.0 { 1.0 } else { 0.5 };
                let off = f64::abs(report.min_pivot_ratio - expected);
                assert!(off <= 4.0 * T::U, "n = {n}, {zeros} zeros, weight {weight}: {report:?}");

                // All columns from there on.
                let mut factor = Cholesky::from_factor_in(&Mat::<T>::identity(n, n), engine.clone()).unwrap();
                let v = Mat::from_fn(n, n, |i, r| if i == r && i >= at { T::ONE } else { T::ZERO });
                let report = factor.modify(&v, &vec![T::of(weight); n]).unwrap();
                let expected: f64 = if weight < 0.0 {
                    0.5
                } else if at > 0 {
                    1.0
                } else {
                    2.0
                };
                let off = f64::abs(report.min_pivot_ratio - expected);
                assert!(off <= 8.0 * T::U, "n = {n}, from {at} on, weight {weight}: {report:?}");
            }
        }
    }
}

fn nothing_to_do_is_reported_as_no_change<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut factor = Cholesky::from_factor_in(&Mat::<T>::identity(10, 10), engine.clone()).unwrap();
    for v in [Mat::<T>::zeros(10, 3), Mat::zeros(10, 0)] {
        for report in [factor.update(&v).unwrap(), factor.downdate(&v).unwrap()] {
            assert_eq!((report.min_pivot_ratio, report.log_det_change()), (1.0, 0.0));
        }
    }
}

fn log_det_changes_by_what_was_reported<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let problem = Problem::<T>::feasible(80, 6, Kind::Mixed, 1e-2, 9);
    let mut factor = problem.factor(engine);
    let before = factor.log_det().unwrap().f64();
    let direct: f64 = (0..80).map(|j| 2.0 * problem.l[(j, j)].f64().ln()).sum();
    assert!((before - direct).abs() <= T::U * 4.0 * direct.abs(), "{before}, not {direct}");
    let report = factor.modify(&problem.v, &problem.weights).unwrap();
    let change = factor.log_det().unwrap().f64() - before;
    let allowed = T::U * (4.0 * 80.0 + 4.0 * before.abs());
    assert!((report.log_det_change() - change).abs() <= allowed, "{report:?}, not {change}");
}

/// Determinants and ratios of pivots may exceed the range of the scalar type; the logarithm must not overflow.
fn extreme_ratios_are_reported<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let ranges =
        if T::U < 1e-10 { [(1e-100, 1e100), (1e-160, 1e149)] } else { [(1e-12, 1e12), (1e-22, 1e17)] };
    for (small, large) in ranges.map(|(small, large)| (T::of(small), T::of(large))) {
        for n in [1, 10, 40] {
            let diagonal = |x: T| Mat::from_fn(n, n, |i, j| if i == j { x } else { T::ZERO });
            let mut factor = Cholesky::from_factor_in(&diagonal(small), engine.clone()).unwrap();
            let report = factor.update(&diagonal(large)).unwrap();
            let expected = 2.0 * n as f64 * (large.f64().ln() - small.f64().ln());
            let off = (report.log_det_change() - expected).abs();
            assert!(off <= 1e2 * T::U * expected, "{small} to {large}, n = {n}: {report:?}, not {expected}");
            assert!(report.min_pivot_ratio > 1.0, "{small} to {large}, n = {n}: {report:?}");
            let ratio = large.f64() / small.f64();
            let square = if ratio > T::MOST { f64::MAX } else { ratio.powi(2).min(f64::MAX) };
            let off = (report.min_pivot_ratio - square).abs();
            assert!(off <= 1e2 * T::U * square, "{small} to {large}, n = {n}: {report:?}, not {square}");
        }
    }
}
