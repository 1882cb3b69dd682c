//! The failure contract: a breakdown names its column and leaves every bit of the factor as it was.

use super::problem::{Kind, Problem, uniform};
use super::scalar::{Complex, bits, narrow};
use crate::support::engines::sized;
use crate::support::problem::rng;
use crate::support::real::Real;
use cholupdate::faer::{Mat, c32, c64};
use cholupdate::{Cholesky, Cpu, Engine, Error, Safeguard};

on_every_cpu!(
    a_breakdown_leaves_the_factor_as_it_was,
    a_breakdown_leaves_no_trace_in_later_results,
    can_downdate_agrees_with_downdate,
    a_pivot_of_exactly_zero_is_a_breakdown,
    the_first_of_several_breakdowns_is_named,
    an_indefinite_matrix_has_no_factor,
);

const ORDERS: &[usize] = sized(&[1, 2, 3, 7, 8, 9, 16, 24, 49, 65, 130], &[1, 2, 8, 9, 49]);
const RANKS: &[usize] = sized(&[1, 2, 3, 5, 8, 17, 40], &[1, 2, 5, 17]);

/// The first, a middle and the last column.
fn columns(n: usize) -> Vec<usize> {
    let mut columns = vec![0, n / 2, n - 1];
    columns.dedup();
    columns
}

fn each_breaking<T: Complex>(mut body: impl FnMut(&Problem<T>, usize)) {
    for &n in ORDERS {
        for &k in RANKS {
            for column in columns(n) {
                for kind in [Kind::Down, Kind::Mixed] {
                    if kind == Kind::Down || k > 1 {
                        body(&Problem::breaking(n, k, column, kind, (n + k + column) as u64), column);
                    }
                }
            }
        }
    }
}

fn a_breakdown_leaves_the_factor_as_it_was<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    each_breaking::<T>(|problem, column| {
        let mut factor = problem.factor(engine);
        let (l, log_det) = (factor.to_factor().unwrap(), factor.log_det().unwrap());
        let refused = Err(Error::NotPositiveDefinite { column });
        assert_eq!(factor.modify(&problem.v, &problem.weights), refused);
        assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(l.as_ref()));
        let submitted = factor.submit(&problem.v, &problem.weights).and_then(|pending| pending.wait());
        assert_eq!(submitted, refused);
        assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(l.as_ref()));
        assert_eq!(factor.log_det().unwrap().bits(), log_det.bits());
    });
}

/// Failed and successful modifications alternately, against the successful ones alone.
fn a_breakdown_leaves_no_trace_in_later_results<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 9, 33, 70] {
        let base = Problem::<T>::feasible(n, 4, Kind::Mixed, 0.5, n as u64);
        let (mut factor, mut undisturbed) = (base.factor(engine), base.factor(engine));
        for step in 0..8 {
            let column = (step * 5) % n;
            // V of rank 3 with step-dependent leading zero rows, so that old and new columns mix.
            let late = (step * n / 8).min(n - 1);
            let v =
                Mat::from_fn(
                    n,
                    3,
                    |i, j| {
                        if i < late { T::ZERO } else { T::from_c64(base.v[(i, j)].c64() * 0.3) }
                    },
                );
            let huge = Mat::from_fn(n, 2, |i, j| {
                T::from_c64(c64::new(j as f64, if i == column { 1e6 } else { 1.0 }))
            });
            factor.downdate(&huge).unwrap_err();
            let weights = [1.0, -0.25, 1.0].map(T::part);
            let reports = [factor.modify(&v, &weights), undisturbed.modify(&v, &weights)];
            assert_eq!(reports[0], reports[1]);
            reports[0].as_ref().unwrap();
            let [a, b] = [&factor, &undisturbed].map(|factor| bits(factor.to_factor().unwrap().as_ref()));
            assert_eq!(a, b, "n = {n}, step {step}");
        }
    }
}

fn can_downdate_agrees_with_downdate<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut outcomes = [0, 0];
    for n in [1, 5, 8, 33, 70] {
        for k in [1, 2, 9, 17] {
            for seed in 0..20 {
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

/// Whatever the phase of the entry that takes the pivot away.
fn a_pivot_of_exactly_zero_is_a_breakdown<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 4, 9, 40] {
        for column in columns(n) {
            for entry in [c64::new(0.0, 1.0), c64::new(-1.0, 0.0), c64::new(0.6, 0.8)] {
                // 0.6² + 0.8² is a rounding above 1.
                let size = if entry.re == 0.6 { 1.0 + 4.0 * T::ROUNDOFF } else { 1.0 };
                let unit = Mat::from_fn(n, 1, |i, _| match i == column {
                    true => T::from_c64(entry * size),
                    false => T::ZERO,
                });
                let mut factor = Cholesky::from_factor_in(&Mat::<T>::identity(n, n), engine.clone()).unwrap();
                assert_eq!(factor.downdate(&unit).unwrap_err(), Error::NotPositiveDefinite { column });
            }
        }
    }
}

fn the_first_of_several_breakdowns_is_named<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let n = 100;
    let mut factor = Cholesky::from_factor_in(&Mat::<T>::identity(n, n), engine.clone()).unwrap();
    for first in [0, 1, 17, 48, 63, 64, 99] {
        let v = Mat::from_fn(n, 2, |i, j| match i >= first && i % 2 == j {
            true => T::from_c64(c64::new(2.0, -2.0)),
            false => T::ZERO,
        });
        assert_eq!(factor.downdate(&v).unwrap_err(), Error::NotPositiveDefinite { column: first });
    }
}

fn an_indefinite_matrix_has_no_factor<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for &n in ORDERS {
        for column in columns(n) {
            let a = Mat::from_fn(n, n, |i, j| match i == j {
                true => T::from_real(if i == column { -1.0 } else { n as f64 }),
                false => T::from_c64(c64::new(0.3, if i > j { 0.4 } else { -0.4 })),
            });
            let error = Cholesky::new_in(&a, engine.clone()).err().unwrap();
            assert_eq!(error, Error::NotPositiveDefinite { column }, "n = {n}");
        }
    }
    // Indefinite by its imaginary parts alone.
    let a = Mat::from_fn(2, 2, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Equal => T::ONE,
        std::cmp::Ordering::Greater => T::from_c64(c64::new(0.0, 1.5)),
        std::cmp::Ordering::Less => T::from_c64(c64::new(0.0, -1.5)),
    });
    let error = Cholesky::new_in(&a, engine.clone()).err().unwrap();
    assert_eq!(error, Error::NotPositiveDefinite { column: 1 });
}

/// Without a safeguard L is lost in a breakdown; successful calls have the same bits with each.
#[test]
fn safeguards_differ_in_breakdowns_alone() {
    fn check<T: Complex>()
    where
        Cpu: Engine<T>,
    {
        let cpus = [Safeguard::ShadowBuffer, Safeguard::DryRun, Safeguard::None]
            .map(|safeguard| Cpu::threads(2).with_safeguard(safeguard));
        for (n, k) in [(1, 1), (9, 2), (33, 3), (150, 17)] {
            for kind in Kind::ALL {
                let problem = Problem::<T>::feasible(n, k, kind, 0.2, 8);
                let made = cpus.each_ref().map(|cpu| {
                    let (l, report) = problem.modified(cpu).unwrap();
                    (bits(l.as_ref()), report)
                });
                assert!(made[0] == made[1] && made[0] == made[2], "n = {n}, k = {k}, {kind:?}");
            }
            let problem = Problem::<T>::breaking(n, k, n / 2, Kind::Down, 9);
            let refused = Error::NotPositiveDefinite { column: n / 2 };
            for (cpu, is_lost) in cpus.iter().zip([false, false, true]) {
                let mut factor = problem.factor(cpu);
                assert_eq!(factor.downdate(&problem.v).unwrap_err(), refused);
                match factor.to_factor() {
                    Ok(l) => assert!(!is_lost && bits(l.as_ref()) == bits(problem.l.as_ref())),
                    Err(error) => assert!(is_lost && error == Error::Poisoned),
                }
            }
        }
    }
    check::<c64>();
    check::<c32>();
}

#[test]
fn refused_rows_leave_the_factor_as_it_was() {
    fn check<T: Complex>()
    where
        Cpu: Engine<T>,
    {
        let (n, r) = (20, 2);
        let problem = Problem::<T>::feasible(n, 1, Kind::Up, 0.5, 3);
        let mut factor = problem.factor(&Cpu::default());
        let cross = narrow::<T>(&uniform(n, r, &mut rng(4)));
        let mut corner = Mat::<T>::identity(r, r);
        corner[(0, 0)] = T::from_real(1e3);
        corner[(1, 1)] = T::from_real(-1.0);
        let refused = Error::NotPositiveDefinite { column: n + 1 };
        assert_eq!(factor.append(&cross, &corner).unwrap_err(), refused);
        assert_eq!(factor.extension(&cross, &corner).err(), Some(refused));
        // A later row, which the first of the new rows outweighs by its imaginary part.
        let mut columns = Mat::<T>::zeros(n + 1, 1);
        columns[(0, 0)] = T::ONE;
        columns[(7, 0)] = T::from_c64(c64::new(0.0, 1e3));
        assert_eq!(factor.insert(0, &columns).unwrap_err(), Error::NotPositiveDefinite { column: 7 });
        assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(problem.l.as_ref()));
        assert_eq!(factor.order(), n);
    }
    check::<c64>();
    check::<c32>();
}
