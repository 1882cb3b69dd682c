//! The failure contract: a breakdown names its column and leaves every byte of the factor as it was.

use crate::support::contract::is_factor;
use crate::support::engines::{sized, steps};
use crate::support::layout::{Laid, Layout};
use crate::support::problem::{Kind, Problem, breaking};
use crate::support::real::{Real, bits};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Cpu, Engine, Error, RefactorPolicy, Safeguard, Workspace, modify_in_place};

on_every_engine!(
    a_breakdown_leaves_the_factor_as_it_was,
    a_breakdown_leaves_no_trace_in_later_results,
    can_downdate_agrees_with_downdate,
    a_pivot_of_exactly_zero_is_a_breakdown,
    the_first_of_several_breakdowns_is_named,
    an_indefinite_matrix_has_no_factor,
    numbers_at_the_end_of_the_range_are_done_right_or_refused,
);

const ORDERS: &[usize] = sized(&[1, 2, 3, 7, 8, 9, 16, 24, 49, 65, 130, 257], &[1, 2, 8, 9, 49]);
const RANKS: &[usize] = sized(&[1, 2, 3, 5, 8, 17, 40, 70], &[1, 2, 5, 17]);

/// The first, a middle and the last column.
fn columns(n: usize) -> Vec<usize> {
    let mut columns = vec![0, n / 2, n - 1];
    columns.dedup();
    columns
}

/// Every breaking modification of the lists above; on the fake driver every fifth.
fn each_breaking<T: Real, E>(mut body: impl FnMut(&Problem<T>, usize)) {
    let (mut number, stride) = (0, (100 / steps::<E>(100)).min(5));
    for &n in ORDERS {
        for &k in RANKS {
            for column in columns(n) {
                for kind in [Kind::Down, Kind::Mixed] {
                    number += 1;
                    if (kind == Kind::Down || k > 1) && number % stride == 0 {
                        body(&breaking(n, k, column, kind, (n + k + column) as u64), column);
                    }
                }
            }
        }
    }
}

fn a_breakdown_leaves_the_factor_as_it_was<T: Real, E: Engine<T> + Clone>(engine: &E) {
    each_breaking::<T, E>(|problem, column| {
        let mut factor = problem.factor(engine);
        let (l, log_det) = (factor.to_factor().unwrap(), factor.log_det().unwrap());
        let error = factor.modify(&problem.v, &problem.weights).unwrap_err();
        assert_eq!(error, Error::NotPositiveDefinite { column });
        assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(l.as_ref()));
        assert_eq!(factor.log_det().unwrap().bits(), log_det.bits());
    });
}

/// Failed and successful modifications alternately, against the successful ones alone.
fn a_breakdown_leaves_no_trace_in_later_results<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 9, 33, 70, 130] {
        let base = Problem::<T>::feasible(n, 4, Kind::Mixed, 0.5, n as u64);
        let (mut factor, mut undisturbed) = (base.factor(engine), base.factor(engine));
        for step in 0..8 {
            let column = (step * 5) % n;
            // V of rank 3 with step-dependent leading zero rows, so that old and new columns mix.
            let mut v = Mat::from_fn(n, 3, |i, j| base.v[(i, j)] * T::of(0.3));
            for i in 0..(step * n / 8).min(n - 1) {
                v.row_mut(i).fill(T::ZERO);
            }
            let huge = Mat::from_fn(n, 2, |i, j| T::of(if i == column { 1e6 } else { j as f64 }));
            factor.downdate(&huge).unwrap_err();
            let weights = [T::ONE, T::of(-0.25), T::ONE];
            let reports = [factor.modify(&v, &weights), undisturbed.modify(&v, &weights)];
            assert_eq!(reports[0], reports[1]);
            reports[0].as_ref().unwrap();
            let [a, b] = [&factor, &undisturbed].map(|factor| bits(factor.to_factor().unwrap().as_ref()));
            assert_eq!(a, b, "n = {n}, step {step}");
        }
    }
}

fn can_downdate_agrees_with_downdate<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut outcomes = [0, 0];
    for n in [1, 5, 8, 33, 70] {
        for k in [1, 2, 9, 17] {
            for seed in 0..steps::<E>(20).max(8) {
                // ‖P‖² on both sides of 1, and so close to it that only the same arithmetic distinguishes them.
                let gap = [0.5, 1e-3, 1e-15, 0.0][seed % 4];
                let problem = Problem::<T>::feasible(n, k, Kind::Down, gap, seed as u64);
                let problem = if seed % 5 == 4 { problem.dominated(1.5) } else { problem };
                let mut factor = problem.factor(engine);
                let before = bits(factor.to_factor().unwrap().as_ref());
                let can = factor.can_downdate(&problem.v).unwrap();
                assert_eq!(bits(factor.to_factor().unwrap().as_ref()), before);
                assert_eq!(factor.downdate(&problem.v).is_ok(), can, "n = {n}, k = {k}, seed {seed}");
                outcomes[usize::from(can)] += 1;
            }
        }
    }
    assert!(outcomes[0] > 30 && outcomes[1] > 30, "a one-sided experiment: {outcomes:?}");
}

fn a_pivot_of_exactly_zero_is_a_breakdown<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 4, 9, 40] {
        for column in columns(n) {
            let identity = Mat::<T>::identity(n, n);
            let unit = Mat::from_fn(n, 1, |i, _| if i == column { T::ONE } else { T::ZERO });
            let mut factor = Cholesky::from_factor_in(&identity, engine.clone()).unwrap();
            let error = factor.downdate(&unit).unwrap_err();
            assert_eq!(error, Error::NotPositiveDefinite { column });
        }
    }
}

fn the_first_of_several_breakdowns_is_named<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let n = 100;
    let mut factor = Cholesky::from_factor_in(&Mat::<T>::identity(n, n), engine.clone()).unwrap();
    for first in [0, 1, 17, 48, 63, 64, 99] {
        let v = Mat::from_fn(n, 2, |i, j| T::of(if i >= first && i % 2 == j { 3.0 } else { 0.0 }));
        assert_eq!(factor.downdate(&v).unwrap_err(), Error::NotPositiveDefinite { column: first });
    }
}

fn an_indefinite_matrix_has_no_factor<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for &n in ORDERS {
        for column in columns(n) {
            let a = Mat::from_fn(n, n, |i, j| match i == j {
                true => T::of(if i == column { -1.0 } else { n as f64 }),
                false => T::of(0.5),
            });
            let error = Cholesky::new_in(&a, engine.clone()).err().unwrap();
            assert_eq!(error, Error::NotPositiveDefinite { column }, "n = {n}");
        }
    }
}

/// Pivots whose squares, or even reciprocals, are out of range: the result is a factor, or an error and no change.
fn numbers_at_the_end_of_the_range_are_done_right_or_refused<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let exponents =
        if T::U < 1e-10 { [-322, -318, -312, -310, -308, -300] } else { [-44, -42, -40, -39, -38, -36] };
    // A power would be 1 / 10³²² = 0 if it were not computed by the compiler.
    for x in exponents.map(|exponent| format!("1e{exponent}").parse::<f64>().unwrap()) {
        for (n, k) in [(1, 1), (3, 1), (3, 2), (3, 5), (20, 1), (20, 4), (70, 17)] {
            for weight in [1.0, -1.0] {
                let l = Mat::from_fn(n, n, |i, j| T::of(if i < j { 0.0 } else { x }));
                let v = Mat::from_fn(n, k, |i, r| T::of(x * ((i + r) % 3) as f64 / 8.0));
                let mut factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
                let outcome = factor.modify(&v, &vec![T::of(weight); k]);
                let new = factor.to_factor().unwrap();
                let what = format!("{x:e}, n = {n}, k = {k}, weights {weight}: {outcome:?}");
                match outcome {
                    Ok(_) => assert!(is_factor(new.as_ref()), "{what}: not a factor"),
                    Err(_) => assert!(bits(new.as_ref()) == bits(l.as_ref()), "{what}: the factor changed"),
                }
            }
        }
    }
}

const CPUS: [fn() -> Cpu; 4] = [
    Cpu::sequential,
    || Cpu::threads(8),
    || Cpu::sequential().with_safeguard(Safeguard::DryRun),
    || Cpu::threads(2).with_safeguard(Safeguard::DryRun),
];

#[test]
fn without_a_safeguard_a_breakdown_loses_the_factor() {
    fn check<T: Real>()
    where
        Cpu: Engine<T>,
    {
        for cpu in [Cpu::sequential(), Cpu::threads(8)] {
            let cpu = cpu.with_safeguard(Safeguard::None);
            each_breaking::<T, Cpu>(|problem, column| {
                let mut factor = problem.factor(&cpu);
                let error = factor.modify(&problem.v, &problem.weights).unwrap_err();
                assert_eq!(error, Error::NotPositiveDefinite { column });
                assert_eq!(factor.update(&problem.v).unwrap_err(), Error::Poisoned);
                assert_eq!(factor.to_factor().unwrap_err(), Error::Poisoned);
                let lenient =
                    RefactorPolicy { max_error: Some(f64::INFINITY), max_modifications: usize::MAX };
                assert!(factor.needs_refactor(&lenient) && factor.error_estimate() == f64::INFINITY);
            });
            for k in [1, 2, 4, 17] {
                let problem = Problem::<T>::feasible(130, k, Kind::Mixed, 0.3, k as u64);
                let [(kept, _), (new, _)] = [Safeguard::ShadowBuffer, Safeguard::None]
                    .map(|safeguard| problem.modified(&cpu.with_safeguard(safeguard)).unwrap());
                assert_eq!(bits(new.as_ref()), bits(kept.as_ref()), "k = {k}");
            }
        }
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn in_place_a_breakdown_leaves_the_callers_memory_as_it_was() {
    fn check<T: Real>() {
        for cpu in CPUS {
            let (cpu, mut workspace) = (cpu(), Workspace::new());
            each_breaking::<T, Cpu>(|problem, column| {
                for layout in Layout::ALL {
                    let mut l = Laid::new(problem.l.as_ref(), layout);
                    l.spoil_upper_triangle();
                    let before = l.bits();
                    let error =
                        modify_in_place(l.as_mut(), &problem.v, &problem.weights, &cpu, &mut workspace)
                            .unwrap_err();
                    assert_eq!(error, Error::NotPositiveDefinite { column }, "{layout:?}");
                    assert!(l.bits() == before, "{layout:?}: memory was written to");
                }
            });
        }
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn in_place_success_writes_the_lower_triangle_alone() {
    fn check<T: Real>()
    where
        Cpu: Engine<T>,
    {
        for cpu in CPUS {
            let (cpu, mut workspace) = (cpu(), Workspace::new());
            for &n in ORDERS {
                for (k, kind) in [(1, Kind::Up), (1, Kind::Down), (3, Kind::Mixed), (17, Kind::Mixed)] {
                    let problem = Problem::<T>::feasible(n, k, kind, 0.2, n as u64);
                    let (expected, report) = problem.modified(&cpu).unwrap();
                    for layout in Layout::ALL {
                        let mut l = Laid::new(problem.l.as_ref(), layout);
                        l.spoil_upper_triangle();
                        let mut wanted = l.clone();
                        wanted.overwrite_lower_triangle(expected.as_ref());
                        let got =
                            modify_in_place(l.as_mut(), &problem.v, &problem.weights, &cpu, &mut workspace);
                        assert_eq!(got, Ok(report), "{layout:?}, n = {n}, k = {k}");
                        assert!(l.bits() == wanted.bits(), "{layout:?}, n = {n}, k = {k}, {kind:?}");
                    }
                }
            }
        }
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn in_place_a_bad_diagonal_is_refused_before_anything_is_written() {
    let problem = Problem::<f64>::feasible(20, 3, Kind::Up, 0.5, 1);
    let mut workspace = Workspace::new();
    for (entry, expected) in [
        (-1.0, Error::NotPositiveDefinite { column: 12 }),
        (f64::NAN, Error::NonFinite { argument: "l", row: 12, column: 12 }),
        (f64::INFINITY, Error::NonFinite { argument: "l", row: 12, column: 12 }),
    ] {
        let mut l = problem.l.clone();
        l[(12, 12)] = entry;
        let before = bits(l.as_ref());
        for cpu in CPUS {
            let got = modify_in_place(l.as_mut(), &problem.v, &problem.weights, &cpu(), &mut workspace);
            assert_eq!(got.as_ref(), Err(&expected));
            assert_eq!(bits(l.as_ref()), before);
        }
    }
}
