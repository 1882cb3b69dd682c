//! The hybrid engine: what it promises beyond the suite that every engine passes.

use crate::support::contract::assert_contract;
use crate::support::cuda::{Turn, device, hybrid, small, turn};
use crate::support::problem::{Kind, Problem, breaking};
use crate::support::real::bits;
use cholupdate::cuda::{Device, Hybrid, Tuning};
use cholupdate::faer::{Mat, MatRef};
use cholupdate::{Cholesky, Cpu, Error};
use std::fmt::Debug;

/// A device, and what keeps other tests off it meanwhile.
fn any_device() -> Option<(Turn, Device)> {
    let turn = turn();
    Some((turn, device()?))
}

/// The contract for the factor after the problem's modification.
#[track_caller]
fn right(new: MatRef<'_, f64>, problem: &Problem<f64>, what: impl Debug) {
    assert_contract(new, problem.l.as_ref(), problem.v.as_ref(), &problem.weights, what);
}

fn tunings() -> Vec<Tuning> {
    let mut all = vec![small(), Tuning { panel_cols: 8, slots: 2, ..small() }];
    for elements_per_thread in [4, 8, 16, 32] {
        for (threads_per_block, blocks_per_kernel, panel_cols) in [(32, 1, 24), (64, 3, 64), (128, 500, 104)]
        {
            all.push(Tuning {
                elements_per_thread,
                threads_per_block,
                blocks_per_kernel,
                panel_cols,
                ..small()
            });
        }
    }
    all
}

#[test]
fn every_tuning_is_as_accurate() {
    let Some((_turn, device)) = any_device() else { return };
    for (at, tuning) in tunings().into_iter().chain([Tuning::walder()]).enumerate() {
        for (n, k) in [(150, 1), (97, 9), (133, 70)] {
            for kind in Kind::ALL {
                let problem = Problem::<f64>::feasible(n, k, kind, 0.3, (at + n) as u64);
                let engine = Hybrid::new(&device, tuning).unwrap();
                let (new, _) = problem.modified(&engine).unwrap();
                right(new.as_ref(), &problem, (tuning, n, k, kind));
            }
        }
    }
}

#[test]
fn the_first_breakdown_is_named_whichever_pass_finds_it() {
    let Some((_turn, device)) = any_device() else { return };
    for (elements_per_thread, k) in [(4, 17), (4, 70), (8, 150)] {
        let engine = Hybrid::new(&device, Tuning { elements_per_thread, panel_cols: 40, ..small() }).unwrap();
        for column in [0, 39, 40, 65, 129] {
            for kind in [Kind::Down, Kind::Mixed] {
                let problem = breaking::<f64>(130, k, column, kind, k as u64);
                let mut factor = problem.factor(&engine);
                let before = bits(factor.to_factor().unwrap().as_ref());
                let error = factor.modify(&problem.v, &problem.weights).unwrap_err();
                assert_eq!(error, Error::NotPositiveDefinite { column }, "k = {k}, {kind:?}");
                assert_eq!(bits(factor.to_factor().unwrap().as_ref()), before);
            }
        }
    }
}

/// V has one heavy column for each pass; the last pass breaks down earlier than the first.
#[test]
fn a_later_pass_may_break_down_earlier() {
    let Some((_turn, device)) = any_device() else { return };
    let (n, k) = (90, 40);
    let engine = Hybrid::new(&device, Tuning { elements_per_thread: 4, panel_cols: 64, ..small() }).unwrap();
    let l = Mat::<f64>::identity(n, n);
    for (late, early) in [(50, 3), (50, 49), (61, 60), (80, 70), (80, 5)] {
        let mut v = Mat::<f64>::zeros(n, k);
        (v[(late, 0)], v[(early, k - 1)]) = (2.0, 2.0);
        let mut factor = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
        assert_eq!(factor.downdate(&v).unwrap_err(), Error::NotPositiveDefinite { column: early });
        assert_eq!(factor.to_factor().unwrap(), l);
    }
}

/// What the passes learn adds up to what one sweep learns.
#[test]
fn several_passes_report_as_one() {
    let Some((_turn, device)) = any_device() else { return };
    let engine = Hybrid::new(&device, Tuning { elements_per_thread: 4, ..small() }).unwrap();
    for kind in Kind::ALL {
        let problem = Problem::<f64>::feasible(100, 70, kind, 0.4, 9);
        let (_, expected) = problem.modified(&Cpu::sequential()).unwrap();
        let (_, got) = problem.modified(&engine).unwrap();
        let close = |x: f64, y: f64| (x - y).abs() <= 1e-10 * (1.0 + y.abs());
        assert!(close(got.min_pivot_ratio, expected.min_pivot_ratio), "{kind:?}: {got:?}, {expected:?}");
        assert!(close(got.log_det_change, expected.log_det_change), "{kind:?}: {got:?}, {expected:?}");
    }
}

#[test]
fn launches_and_slots_do_not_change_a_bit() {
    let Some((_turn, device)) = any_device() else { return };
    for kind in Kind::ALL {
        let problem = Problem::<f64>::feasible(140, 40, kind, 0.3, 3);
        let with = |tuning| problem.modified(&Hybrid::new(&device, tuning).unwrap()).unwrap().0;
        let expected = bits(with(small()).as_ref());
        for (blocks_per_kernel, threads_per_block, slots) in
            [(1, 32, 2), (2, 128, 3), (65_535, 64, 2), (2, 32, 3)]
        {
            let got = with(Tuning { blocks_per_kernel, threads_per_block, slots, ..small() });
            assert_eq!(bits(got.as_ref()), expected);
        }
    }
}

/// Large enough for the GPU to factor it.
#[test]
fn the_initial_factor_of_a_large_matrix_is_right() {
    let Some((_turn, device)) = any_device() else { return };
    let n = 2100;
    let entry = |i: usize, j: usize| ((i * 7 + j * 5) % 13) as f64 / 13.0 - 0.4;
    let mut a = Mat::<f64>::from_fn(n, n, |i, j| {
        let (i, j) = (i.max(j), i.min(j));
        if i == j { 300.0 } else { entry(i, j) * entry(j, i) }
    });
    let engine = Hybrid::new(&device, Tuning::for_device(&device)).unwrap();
    let factor = Cholesky::new_in(&a, engine.clone()).unwrap();
    let l = factor.to_factor().unwrap();
    for i in [0, 1, 700, 1999, 2099] {
        let row = l.row(i) * l.transpose();
        for j in 0..n {
            let bound = n as f64 * f64::EPSILON / 2.0 * 300.0;
            assert!((row[j] - a[(i, j)]).abs() <= bound, "({i}, {j})");
        }
    }

    a[(2050, 2050)] = -1.0;
    let error = Cholesky::new_in(&a, engine).unwrap_err();
    assert_eq!(error, Error::NotPositiveDefinite { column: 2050 });
}

#[test]
fn a_tuning_that_is_not_valid_is_refused_by_name() {
    let Some((_turn, device)) = any_device() else { return };
    let tuning = Tuning { panel_cols: 12, ..small() };
    let Err(error) = Hybrid::new(&device, tuning) else { panic!("12 columns are refused") };
    assert!(matches!(error, Error::Tuning { field: "panel_cols", found: 12, .. }), "{error:?}");
}

#[test]
fn device_bytes_of_what_cannot_be_are_no_panic() {
    let good = small();
    assert!(Hybrid::device_bytes::<f64>(1000, 3, &good) < 10_000_000);
    for bad in [Tuning { panel_cols: 0, ..good }, Tuning { elements_per_thread: 0, ..good }] {
        assert_eq!(Hybrid::device_bytes::<f64>(1000, 3, &bad), usize::MAX);
    }
    for (n, k) in [(usize::MAX, 1), (1, usize::MAX), (1 << 55, 1 << 55)] {
        assert_eq!(Hybrid::device_bytes::<f32>(n, k, &good), usize::MAX);
    }
}

#[test]
fn a_factor_moves_between_engines_as_it_is() {
    let Some((_turn, engine)) = hybrid() else { return };
    let problem = Problem::<f64>::feasible(75, 3, Kind::Mixed, 0.5, 8);
    let cpu = problem.factor(&Cpu::sequential());
    let l = bits(cpu.l());
    let moved = cpu.into_engine(engine).unwrap();
    assert_eq!(bits(moved.to_factor().unwrap().as_ref()), l);
    let b: Vec<f64> = (0..75).map(f64::from).collect();
    let x = moved.solve(&b).unwrap();
    let back = moved.to_engine(Cpu::default()).unwrap();
    assert_eq!(bits(back.l()), l);
    let difference = (back.solve(&b).unwrap() - x).norm_max();
    assert!(difference < 1e-10, "{difference:e}");
}

#[test]
fn factors_on_one_device_do_not_disturb_each_other() {
    let Some((_turn, engine)) = hybrid() else { return };
    let run = |seed: u64| {
        let problem = Problem::<f64>::feasible(120, 6, Kind::Mixed, 0.5, seed);
        let mut factor = problem.factor(&engine);
        for _ in 0..5 {
            factor.modify(&problem.v, &problem.weights).unwrap();
            let undo: Vec<f64> = problem.weights.iter().map(|w| -w).collect();
            factor.modify(&problem.v, &undo).unwrap();
        }
        bits(factor.to_factor().unwrap().as_ref())
    };
    let alone = [run(1), run(2)];
    let together = std::thread::scope(|scope| {
        [1, 2].map(|seed| scope.spawn(move || run(seed))).map(|thread| thread.join().unwrap())
    });
    assert!(alone == together);
}

/// What only a driver that does as it is told can show.
#[cfg(feature = "fake-cuda")]
mod on_the_fake_driver {
    use super::*;
    use crate::support::cuda::fake_cuda::{Exclusive, exclusive};

    const ORDER: usize = 200;

    fn factor(rank: usize) -> (Problem<f64>, Cholesky<f64, Hybrid>) {
        let problem = Problem::feasible(ORDER, rank, Kind::Up, 0.5, 4);
        let engine = Hybrid::new(&Device::new(0).unwrap(), small()).unwrap();
        let factor = problem.factor(&engine);
        (problem, factor)
    }

    /// Bytes of L below the diagonal blocks and their heads.
    fn tails() -> u64 {
        let cols = small().panel_cols;
        let rows = (0..ORDER).step_by(cols).map(|first| ORDER.saturating_sub(first + 2 * cols));
        rows.map(|rows| (rows.next_multiple_of(16) * cols * 8) as u64).sum()
    }

    #[test]
    fn without_a_driver_that_will_do_there_is_an_error_in_words() {
        let fake = exclusive();
        let message = || match Device::new(0) {
            Err(Error::Device { message, .. }) => message,
            other => panic!("{other:?}"),
        };
        fake.devices(0);
        assert!(message().contains("no device"), "{}", message());
        fake.devices(1);
        fake.driver_version(12_000);
        assert!(message().contains("570"), "{}", message());
    }

    #[test]
    fn device_memory_is_what_the_formula_says() {
        let fake = exclusive();
        for rank in [1, 7, 32, 33, 100, 300] {
            let (problem, mut factor) = factor(rank);
            factor.update(&problem.v).unwrap();
            let expected = Hybrid::device_bytes::<f64>(ORDER, rank, &small());
            assert_eq!(fake.stats().live_bytes, expected as u64, "rank {rank}");
            drop(factor);
            assert_eq!(fake.stats().live_bytes, 0);
        }
        // O(n): twice the order takes about twice the memory.
        let bytes = |n| Hybrid::device_bytes::<f64>(n, 16, &small());
        assert!(bytes(20_000) < 2 * bytes(10_000) + 10_000);
    }

    #[test]
    fn a_factor_larger_than_device_memory_works() {
        let fake = exclusive();
        let needed = Hybrid::device_bytes::<f64>(ORDER, 2, &small());
        assert!(needed < ORDER * ORDER * 8 / 2);
        fake.memory_cap(needed);
        let (problem, mut factor) = factor(2);
        factor.update(&problem.v).unwrap();
        right(factor.to_factor().unwrap().as_ref(), &problem, "capped");
    }

    #[test]
    fn out_of_device_memory_leaves_the_factor_as_it_was() {
        let fake = exclusive();
        let (problem, mut factor) = factor(5);
        let before = bits(factor.to_factor().unwrap().as_ref());
        let needed = Hybrid::device_bytes::<f64>(ORDER, 5, &small());
        for cap in [1, needed / 2, needed - 1] {
            fake.memory_cap(cap);
            let error = factor.update(&problem.v).unwrap_err();
            assert!(matches!(error, Error::Device { .. }), "{error:?}");
            assert_eq!(fake.stats().live_bytes, 0);
            assert_eq!(bits(factor.to_factor().unwrap().as_ref()), before);
        }
        fake.memory_cap(0);
        factor.update(&problem.v).unwrap();
        right(factor.to_factor().unwrap().as_ref(), &problem, "after out of memory");
    }

    #[test]
    fn l_crosses_the_link_once_each_way_and_nothing_waits_for_the_device() {
        let fake = exclusive();
        for rank in [1, 16, 100] {
            let (problem, mut factor) = factor(rank);
            factor.update(&problem.v).unwrap();
            fake.reset_stats();
            factor.update(&problem.v).unwrap();
            let stats = fake.stats();
            let columns = (stats.bytes_up - tails()) / (ORDER.next_multiple_of(16) * 8) as u64;
            assert!(
                (rank as u64..=2 * rank as u64 + 4).contains(&columns),
                "rank {rank}: {columns} columns of V"
            );
            assert_eq!(stats.bytes_down, tails(), "rank {rank}");
            assert_eq!(stats.device_synchronizations, 0);
            let held = stats.live_bytes;
            assert_eq!(stats.peak_bytes, held, "nothing is allocated by a second call");
        }
    }

    /// What a failure of the n-th launch or copy does to an update or a downdate.
    fn with_failure(fake: &Exclusive, at: u64, downdate: bool) -> bool {
        let (problem, mut factor) = factor(20);
        factor.update(&problem.v).unwrap();
        let before: Mat<f64> = factor.to_factor().unwrap();
        let mut other = problem.factor(factor.engine());
        fake.fail_at(at);
        let outcome = if downdate { factor.downdate(&problem.v) } else { factor.update(&problem.v) };
        fake.fail_at(0);
        let Err(error) = outcome else { return false };
        assert!(matches!(error, Error::Device { .. }), "{error:?}");
        assert_eq!(fake.stats().live_bytes, 0, "everything is given back");
        // Another factor on the lost device is refused before anything of it is written.
        assert!(matches!(other.update(&problem.v), Err(Error::Device { .. })));
        fake.reset();
        assert_eq!(bits(other.to_factor().unwrap().as_ref()), bits(problem.l.as_ref()));
        other.update(&problem.v).unwrap();
        if downdate {
            // It was written elsewhere: nothing is lost.
            assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(before.as_ref()));
            factor.downdate(&problem.v).unwrap();
        } else {
            assert_eq!(factor.update(&problem.v).unwrap_err(), Error::Poisoned);
            assert_eq!(factor.to_factor().unwrap_err(), Error::Poisoned);
            assert_eq!(factor.log_det().unwrap_err(), Error::Poisoned);
            assert_eq!(factor.solve(&vec![1.0; ORDER]).unwrap_err(), Error::Poisoned);
        }
        true
    }

    #[test]
    fn a_driver_error_in_the_middle_poisons_the_factor_and_nothing_else() {
        let fake = exclusive();
        for downdate in [false, true] {
            let mut failures = 0;
            for at in [1, 2, 3, 5, 8, 13, 21, 34, 55, 89] {
                failures += usize::from(with_failure(&fake, at, downdate));
                // The next factor on the device is not concerned.
                let (problem, mut factor) = factor(20);
                factor.update(&problem.v).unwrap();
                right(factor.to_factor().unwrap().as_ref(), &problem, "after a failure");
            }
            assert!(failures >= 5);
        }
    }
}
