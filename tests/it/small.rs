//! Small orders, which have code of their own, one by one.

use crate::support::contract::assert_contract;
use crate::support::engines::steps;
use crate::support::problem::{Kind, Problem, breaking};
use crate::support::real::{Real, bits};
use cholupdate::faer::{Mat, MatRef};
use cholupdate::{Engine, Error};

on_every_engine!(
    every_order_meets_the_contract,
    v_of_any_size_meets_the_contract,
    any_strides_give_the_same_bits,
    zeros_leave_columns_as_they_were,
    a_refusal_changes_nothing,
    a_shadow_buffer_makes_no_difference,
);

/// Every one where the code may differ; on the fake driver some.
fn orders<E>() -> impl Iterator<Item = usize> {
    let stride = if steps::<E>(100) < 100 { 11 } else { 1 };
    (1..=34).chain([47, 48, 49, 63, 64, 65, 66, 127, 128, 129]).step_by(stride)
}

/// The largest rank, on the fake driver at most 4.
fn most<E>(rank: usize) -> usize {
    if steps::<E>(100) < 100 { rank.min(4) } else { rank }
}

fn every_order_meets_the_contract<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in orders::<E>() {
        for k in 1..=most::<E>(if n <= 40 { 9 } else { 5 }) {
            for (kind, gap) in [(Kind::Up, 0.5), (Kind::Down, 0.5), (Kind::Down, 0.1), (Kind::Mixed, 0.3)] {
                let mut problem = Problem::<T>::feasible(n, k, kind, gap, (n * 5 + k) as u64);
                for scale in [1.0, 0.6] {
                    problem.weights.iter_mut().for_each(|weight| *weight *= T::of(scale));
                    let (new, report) = problem.modified(engine).unwrap();
                    let Problem { l, v, weights } = &problem;
                    assert_contract(new.as_ref(), l.as_ref(), v.as_ref(), weights, (kind, gap, scale));
                    let ratios: Vec<f64> = (0..n).map(|j| new[(j, j)].f64() / l[(j, j)].f64()).collect();
                    let least = ratios.iter().map(|ratio| ratio * ratio).fold(f64::INFINITY, f64::min);
                    let off = (report.min_pivot_ratio - least).abs();
                    assert!(off <= 6.0 * T::U * least, "{kind:?}, {n}, {k}: {report:?}, not {least}");
                    let log_det: f64 = ratios.iter().map(|ratio| 2.0 * ratio.ln()).sum();
                    let off = (report.log_det_change() - log_det).abs();
                    assert!(
                        off <= T::U * (4.0 * n as f64 + log_det.abs() + 4.0),
                        "{report:?}, not {log_det}"
                    );
                }
            }
        }
    }
}

/// V from far below L to far above it, and rows of very different sizes.
fn v_of_any_size_meets_the_contract<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in orders::<E>() {
        for scale in [1e-12, 1e-4, 0.3, 0.8, 1.0, 1.4, 2.0, 3.0, 10.0, 1e3] {
            for k in [1, 2, 4, 7] {
                let problem = Problem::<T>::feasible(n, k, Kind::Up, 0.5, n as u64).dominated(scale);
                let grade = |i: usize| 10f64.powf(-6.0 * (i * 31 % n) as f64 / n as f64);
                for problem in [problem.clone().graded(grade), problem] {
                    let (new, _) = problem.modified(engine).unwrap();
                    let Problem { l, v, weights } = &problem;
                    assert_contract(new.as_ref(), l.as_ref(), v.as_ref(), weights, scale);
                }
            }
        }
        // A downdate that leaves less and less.
        for gap in [0.7, 0.3, 0.2, 0.17, 0.16, 0.1, 1e-2] {
            for k in [1, 2, 3, 4, 8] {
                let problem = Problem::<T>::feasible(n, k, Kind::Down, gap, n as u64);
                let (new, _) = problem.modified(engine).unwrap();
                assert_contract(new.as_ref(), problem.l.as_ref(), problem.v.as_ref(), &problem.weights, gap);
            }
        }
    }
}

fn any_strides_give_the_same_bits<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in orders::<E>() {
        for k in 1..=4 {
            let problem = Problem::<T>::feasible(n, k, Kind::Down, 0.5, n as u64);
            let modified = |v: MatRef<'_, T>| {
                let mut factor = problem.factor(engine);
                let report = factor.downdate(v).unwrap();
                (bits(factor.to_factor().unwrap().as_ref()), report)
            };
            let expected = modified(problem.v.as_ref());
            let rows = problem.v.transpose().to_owned();
            assert_eq!(modified(rows.transpose()), expected, "by rows, n = {n}");
            let reversed = problem.v.reverse_rows().to_owned();
            assert_eq!(modified(reversed.reverse_rows()), expected, "from the last row on, n = {n}");
        }
    }
}

fn zeros_leave_columns_as_they_were<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in orders::<E>() {
        for zeros in [1, 3, 4, 7, 8, 9, n / 2, n - 1].into_iter().filter(|&zeros| (1..n).contains(&zeros)) {
            for kind in [Kind::Up, Kind::Down] {
                let mut problem = Problem::<T>::feasible(n, 1, kind, 0.9, n as u64);
                problem.v.as_mut().subrows_mut(0, zeros).fill(T::ZERO);
                let (new, report) = problem.dominated(0.1).modified(engine).unwrap();
                let l = Problem::<T>::feasible(n, 1, kind, 0.9, n as u64).l;
                let before = |l: MatRef<'_, T>| bits(l.subcols(0, zeros));
                assert_eq!(before(new.as_ref()), before(l.as_ref()), "n = {n}, {zeros} zeros");
                if kind == Kind::Up {
                    assert_eq!(report.min_pivot_ratio, 1.0);
                }
            }
        }
    }
}

fn a_refusal_changes_nothing<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in orders::<E>() {
        for k in 1..=4 {
            for column in [0, n / 3, n / 2, n - 1] {
                for kind in [Kind::Down, Kind::Mixed].into_iter().filter(|&kind| kind == Kind::Down || k > 1)
                {
                    let problem = breaking::<T>(n, k, column, kind, (n + k) as u64);
                    let mut factor = problem.factor(engine);
                    let before = bits(factor.to_factor().unwrap().as_ref());
                    let refused = factor.modify(&problem.v, &problem.weights).unwrap_err();
                    assert_eq!(refused, Error::NotPositiveDefinite { column });
                    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                        let mut v = problem.v.clone();
                        v[(column, k - 1)] = T::of(value);
                        let refused = factor.update(&v).unwrap_err();
                        let expected = Error::NonFinite { argument: "v", row: column, column: k - 1 };
                        assert_eq!(refused, expected);
                    }
                    let huge = Mat::from_fn(n, k, |_, _| T::of(if T::U < 1e-10 { 1e200 } else { 1e30 }));
                    assert_eq!(factor.update(&huge).unwrap_err(), Error::Overflow { argument: "v" });
                    assert_eq!(bits(factor.to_factor().unwrap().as_ref()), before);
                    // It is not poisoned.
                    factor.update(&Mat::from_fn(n, k, |i, r| problem.v[(i, r)] * T::of(0.1))).unwrap();
                }
            }
        }
    }
}

/// With a shadow buffer, which a reserved row brings, there may be a shorter way.
fn a_shadow_buffer_makes_no_difference<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in orders::<E>() {
        for k in 1..=most::<E>(5) {
            for (kind, scale) in [(Kind::Up, 0.3), (Kind::Up, 1.0), (Kind::Down, 0.3), (Kind::Mixed, 0.3)] {
                for zeros in [0, 1, n / 2] {
                    let mut problem = Problem::<T>::feasible(n, k, kind, 0.5, (n * 5 + k) as u64);
                    problem.weights.iter_mut().for_each(|weight| *weight *= T::of(scale));
                    problem.v.subrows_mut(0, zeros).fill(T::ZERO);
                    let (expected, report) = problem.modified(engine).unwrap();
                    let mut factor = problem.factor(engine);
                    factor.reserve(1).unwrap();
                    for _ in 0..2 {
                        let with_shadow = factor.modify(&problem.v, &problem.weights).unwrap();
                        assert_eq!(with_shadow, report, "{kind:?}, n = {n}, k = {k}, {zeros} zeros");
                        assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(expected.as_ref()));
                        factor = problem.factor(engine);
                        factor.reserve(n + 1).unwrap();
                    }
                }
            }
        }
    }
}
