//! The result does not depend on the number of threads, nor on where the call is made: bit for bit.

use crate::support::contract::is_factor;
use crate::support::engines::sized;
use crate::support::problem::{Kind, Problem, breaking};
use crate::support::real::{Real, bits};
use cholupdate::{Cholesky, Cpu, Engine, Error, Modification, Safeguard, Workspace, modify_in_place};
use rayon::ThreadPoolBuilder;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Around tiles and panels, and large enough for the trailing rows to be shared.
const ORDERS: &[usize] = sized(&[0, 1, 7, 16, 47, 48, 49, 97, 128, 200, 333, 512, 700], &[0, 1, 16, 49, 97]);
const RANKS: &[usize] = sized(&[1, 2, 3, 4, 5, 16, 33, 80], &[1, 2, 4, 33]);

fn problems<T: Real>(mut body: impl FnMut(&Problem<T>, &str)) {
    for &n in ORDERS {
        for &k in RANKS {
            for kind in Kind::ALL {
                let problem = Problem::feasible(n, k, kind, 0.1, (n + k) as u64);
                body(&problem, &format!("{kind:?}, n = {n}, k = {k}"));
            }
        }
    }
}

fn result<T: Real>(cpu: Cpu, problem: &Problem<T>) -> (Vec<u64>, [u64; 2])
where
    Cpu: Engine<T>,
{
    let (l, report) = problem.modified(&cpu).unwrap();
    (bits(l.as_ref()), [report.min_pivot_ratio.to_bits(), report.log_det_change().to_bits()])
}

fn any_number_of_threads<T: Real>()
where
    Cpu: Engine<T>,
{
    problems::<T>(|problem, what| {
        let expected = result(Cpu::sequential(), problem);
        for threads in [0, 1, 2, 3, 8, 1000] {
            assert!(result(Cpu::threads(threads), problem) == expected, "{what}, {threads} threads");
        }
        let dry_run = Cpu::threads(8).with_safeguard(Safeguard::DryRun);
        assert!(result(dry_run, problem) == expected, "{what}, dry run");
        assert!(result(Cpu::default(), problem) == expected, "{what}, default");
    });
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    any_number_of_threads::<f64>();
    any_number_of_threads::<f32>();
}

/// For any requested number of threads, no call takes longer or panics.
#[test]
fn more_threads_than_there_can_be_are_as_many_as_there_are() {
    let n = sized(300, 60);
    let problem = Problem::<f64>::feasible(n, 3, Kind::Down, 0.1, 1);
    let a = problem.factor(&Cpu::sequential()).reconstruct().unwrap();
    for threads in [1 << 20, 1_000_000_000, usize::MAX / 2, usize::MAX] {
        let (done, when_done) = channel();
        let (meant, v) = (a.clone(), problem.v.clone());
        std::thread::spawn(move || {
            let mut factor = Cholesky::new_in(&meant, Cpu::threads(threads)).unwrap();
            factor.downdate(&v).unwrap();
            factor.update(&v).unwrap();
            let x = factor.solve(&v).unwrap();
            done.send((factor.reconstruct().unwrap(), x)).unwrap();
        });
        let (back, _) = when_done.recv_timeout(Duration::from_secs(60)).expect("it does not return");
        assert!((back - &a).norm_max() < 1e-12 * a.norm_max());
    }
}

/// Factors beyond the caches, whose shadow buffer may be written with other stores, and rank 1 with shared work.
#[test]
fn beyond_the_caches_the_bits_are_the_same() {
    fn check<T: Real>(shapes: &[(usize, usize)])
    where
        Cpu: Engine<T>,
    {
        for &(n, k) in shapes {
            let problem = Problem::<T>::feasible(n, k, Kind::Down, 0.1, n as u64);
            let dry_run = Cpu::sequential().with_safeguard(Safeguard::DryRun);
            let expected = result(dry_run, &problem);
            for threads in [1, 2, 8] {
                assert!(
                    result(Cpu::threads(threads), &problem) == expected,
                    "n = {n}, k = {k}, {threads} threads"
                );
            }
        }
    }
    check::<f64>(sized(&[(1300, 1), (1300, 2), (1801, 1), (1801, 6)], &[(150, 1)]));
    check::<f32>(sized(&[(1300, 1), (2600, 1), (2600, 3)], &[(150, 1)]));
}

#[test]
fn in_a_scope_that_keeps_threads_awake_the_bits_are_the_same() {
    const SHAPES: &[(usize, usize)] = sized(&[(1300, 1), (801, 16), (1000, 33)], &[(97, 16)]);
    fn check<T: Real>()
    where
        Cpu: Engine<T>,
    {
        let pool = ThreadPoolBuilder::new().num_threads(8).build().unwrap();
        for &(n, k) in SHAPES {
            for kind in Kind::ALL {
                let problem = Problem::<T>::feasible(n, k, kind, 0.1, (n + k) as u64);
                let expected = result(Cpu::sequential(), &problem);
                for threads in [8, 13, 1000] {
                    let cpu = Cpu::threads(threads);
                    let dry_run = cpu.with_safeguard(Safeguard::DryRun);
                    for awake in [false, true] {
                        let check = || {
                            let _awake = awake.then(|| cpu.keep_awake());
                            let what = format!("{kind:?}, n = {n}, k = {k}, {threads} threads, {awake}");
                            assert!(result(cpu, &problem) == expected, "{what}");
                            assert!(result(dry_run, &problem) == expected, "{what}, dry run");
                        };
                        check();
                        pool.install(check);
                    }
                }
            }
            for column in [0, n / 2, n - 1] {
                let bad = breaking::<T>(n, k, column, Kind::Down, 7);
                let error = bad.modified(&Cpu::threads(13)).unwrap_err();
                assert_eq!(error, Error::NotPositiveDefinite { column });
            }
        }
    }
    check::<f64>();
    check::<f32>();
}

#[test]
fn any_pool_gives_the_same_bits() {
    let pools = [1, 2, 3, 8].map(|threads| ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    problems::<f64>(|problem, what| {
        let expected = result(Cpu::sequential(), problem);
        for pool in &pools {
            let threads = pool.current_num_threads();
            for cpu in [Cpu::default(), Cpu::threads(8)] {
                let got = pool.install(|| result(cpu, problem));
                assert!(got == expected, "{what}, in a pool of {threads}");
            }
        }
    });
}

#[test]
fn in_place_any_number_of_threads_gives_the_same_bits() {
    let mut workspace = Workspace::new();
    problems::<f64>(|problem, what| {
        let expected = problem.modified(&Cpu::sequential()).unwrap().0;
        for threads in [1, 2, 8] {
            for safeguard in [Safeguard::ShadowBuffer, Safeguard::DryRun] {
                let cpu = Cpu::threads(threads).with_safeguard(safeguard);
                let mut l = problem.l.clone();
                modify_in_place(l.as_mut(), &problem.v, &problem.weights, &cpu, &mut workspace).unwrap();
                assert!(bits(l.as_ref()) == bits(expected.as_ref()), "{what}, {threads}, {safeguard:?}");
            }
        }
    });
}

/// Several factors at once from threads of the operating system, sharing the pool, breakdowns among them.
#[test]
fn simultaneous_calls_do_not_disturb_each_other() {
    let n = sized(400, 100);
    let good: Vec<_> = (0..4).map(|seed| Problem::<f64>::feasible(n, 20, Kind::Mixed, 0.1, seed)).collect();
    let expected: Vec<_> = good.iter().map(|problem| result(Cpu::sequential(), problem)).collect();
    let bad = breaking::<f64>(n, 20, n - 1, Kind::Down, 7);
    std::thread::scope(|scope| {
        for (problem, expected) in good.iter().zip(&expected) {
            scope.spawn(|| {
                for threads in [2, 8, 2, 8] {
                    assert!(result(Cpu::threads(threads), problem) == *expected);
                }
            });
            scope.spawn(|| {
                for threads in [2, 8, 2, 8] {
                    let error = bad.modified(&Cpu::threads(threads)).unwrap_err();
                    assert_eq!(error, Error::NotPositiveDefinite { column: n - 1 });
                }
            });
        }
    });
}

/// A guard that reverses a trial modification may run while its thread unwinds: that panic is not the library's.
#[test]
fn a_call_from_a_destructor_in_a_panic_is_like_any_other() {
    struct Undo<'a> {
        factor: &'a mut Cholesky<f64>,
        problem: &'a Problem<f64>,
        outcome: &'a mut Option<Result<Modification, Error>>,
    }
    impl Drop for Undo<'_> {
        fn drop(&mut self) {
            assert!(std::thread::panicking());
            *self.outcome = Some(self.factor.modify(&self.problem.v, &self.problem.weights));
        }
    }
    for k in [1, 20] {
        let good = Problem::<f64>::feasible(sized(700, 200), k, Kind::Down, 0.1, 3);
        let bad = breaking::<f64>(sized(700, 200), k, sized(500, 90), Kind::Down, 7);
        for problem in [good, bad] {
            let expected = problem.modified(&Cpu::sequential());
            for threads in [1, 2, 8] {
                let mut factor = problem.factor(&Cpu::threads(threads));
                let mut outcome = None;
                let panic = std::panic::catch_unwind(AssertUnwindSafe(|| {
                    let _undo = Undo { factor: &mut factor, problem: &problem, outcome: &mut outcome };
                    std::panic::resume_unwind(Box::new("the trial is given up"));
                }));
                assert!(panic.is_err());
                let (l, outcome) = (factor.to_factor().unwrap(), outcome.unwrap());
                match &expected {
                    Ok((new, report)) => {
                        assert_eq!(outcome, Ok(*report));
                        assert!(bits(l.as_ref()) == bits(new.as_ref()), "k = {k}, {threads} threads");
                    }
                    Err(error) => {
                        assert_eq!(outcome, Err(error.clone()));
                        assert!(bits(l.as_ref()) == bits(problem.l.as_ref()), "k = {k}, {threads} threads");
                    }
                }
            }
        }
    }
}

/// Tasks of a pool that share a factor under a lock: with a factor that stays on its thread they cannot deadlock, which is the
/// remedy in the documentation of `Cpu`.
#[test]
fn a_locked_sequential_factor_may_be_shared_by_rayon_tasks() {
    use rayon::prelude::*;
    use std::sync::Mutex;
    let problem = Problem::<f64>::feasible(sized(300, 80), 4, Kind::Up, 0.1, 1);
    let factor = Mutex::new(problem.factor(&Cpu::sequential()));
    (0..40).into_par_iter().for_each(|_| {
        let mut factor = factor.lock().unwrap();
        factor.update(&problem.v).unwrap();
        factor.downdate(&problem.v).unwrap();
    });
    assert!(is_factor(factor.into_inner().unwrap().to_factor().unwrap().as_ref()));
}

/// A call from inside a rayon task must not wait for itself.
#[test]
fn calls_from_inside_rayon_tasks_finish() {
    use rayon::prelude::*;
    let problem = Problem::<f64>::feasible(sized(300, 80), 20, Kind::Mixed, 0.1, 1);
    let expected = result(Cpu::sequential(), &problem);
    let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let all_equal = pool
        .install(|| (0..24).into_par_iter().all(|i| result(Cpu::threads(1 + i % 8), &problem) == expected));
    assert!(all_equal);
}
