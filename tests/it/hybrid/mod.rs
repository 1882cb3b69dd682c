//! The hybrid engine: its guarantees beyond the suite of all engines.

#[cfg(target_os = "linux")]
mod on_the_fake_driver;

use crate::support::compensated::sum;
use crate::support::contract::{Observed, assert_solved};
use crate::support::cuda::{Turn, device, hybrid, small, turn};
use crate::support::problem::{Kind, Problem, breaking};
use crate::support::real::{Real, bits};
use cholupdate::cuda::{Device, Hybrid, Tuning};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Cpu, Error, Safeguard};

/// A device, and the guard that keeps other tests off it meanwhile.
fn any_device() -> Option<(Turn, Device)> {
    let turn = turn();
    Some((turn, device()?))
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
fn without_a_safeguard_a_breakdown_loses_the_factor() {
    let Some((_turn, engine)) = hybrid() else { return };
    let engine = engine.with_safeguard(Safeguard::None);
    for (n, k) in [(10, 1), (70, 3), (70, 40)] {
        for column in [0, n / 2, n - 1] {
            let problem = breaking::<f64>(n, k, column, Kind::Down, column as u64);
            let mut factor = problem.factor(&engine);
            let error = factor.modify(&problem.v, &problem.weights).unwrap_err();
            assert_eq!(error, Error::NotPositiveDefinite { column }, "n = {n}, k = {k}");
            assert_eq!(factor.to_factor().unwrap_err(), Error::Poisoned);
        }
        let problem = Problem::<f64>::feasible(n, k, Kind::Mixed, 0.3, 1);
        let [(kept, _), (new, _)] = [Safeguard::ShadowBuffer, Safeguard::None]
            .map(|safeguard| problem.modified(&engine.clone().with_safeguard(safeguard)).unwrap());
        assert_eq!(bits(new.as_ref()), bits(kept.as_ref()), "n = {n}, k = {k}");
    }
}

#[test]
fn every_tuning_is_as_accurate() {
    let Some((_turn, device)) = any_device() else { return };
    let mut observed = Observed::recorded(6.1);
    for (at, tuning) in tunings().into_iter().chain([Tuning::walder()]).enumerate() {
        for (n, k) in [(150, 1), (97, 9), (133, 70)] {
            for kind in Kind::ALL {
                let problem = Problem::<f64>::feasible(n, k, kind, 0.3, (at + n) as u64);
                let engine = Hybrid::new(&device, tuning).unwrap();
                let (new, _) = problem.modified(&engine).unwrap();
                observed.check(new.as_ref(), &problem, (tuning, kind));
            }
        }
    }
}

#[test]
fn the_first_breakdown_is_named_whichever_rank_block_finds_it() {
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

/// V has one heavy column for each rank block; the last one breaks down earlier than the first.
#[test]
fn a_later_rank_block_may_break_down_earlier() {
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

/// The combined reports agree with the factors before and after: each adds the roundings of a report (report.rs).
#[test]
fn several_rank_blocks_report_as_one() {
    let Some((_turn, device)) = any_device() else { return };
    let engine = Hybrid::new(&device, Tuning { elements_per_thread: 4, ..small() }).unwrap();
    let (n, k) = (100, 70usize);
    let reports = k.div_ceil(4) as f64;
    for kind in Kind::ALL {
        let problem = Problem::<f64>::feasible(n, k, kind, 0.4, 9);
        let (new, got) = problem.modified(&engine).unwrap();
        let ratio = |j: usize| new[(j, j)] / problem.l[(j, j)];
        let smallest = (0..n).map(|j| ratio(j).powi(2)).fold(f64::INFINITY, f64::min);
        let log_det = sum((0..n).map(|j| 2.0 * ratio(j).ln()));
        let magnitude: f64 = (0..n).map(|j| 2.0 * ratio(j).ln().abs()).sum();
        let off = (got.min_pivot_ratio - smallest).abs();
        assert!(off <= 6.0 * reports * f64::U * smallest, "{kind:?}: {got:?}, not {smallest}");
        let off = (got.log_det_change() - log_det).abs();
        let allowed = reports * f64::U * (4.0 * n as f64 + magnitude + 4.0);
        assert!(off <= allowed, "{kind:?}: {got:?}, not {log_det}");
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
    let (a, b) = (back.reconstruct().unwrap(), Mat::from_fn(75, 1, |i, _| b[i]));
    assert_solved(&a, &x, &b);
    assert_solved(&a, &back.solve(&b).unwrap(), &b);
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
