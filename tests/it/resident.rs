//! The resident engine: what it promises beyond the suite that every engine passes.

use crate::support::contract::assert_contract;
use crate::support::cuda::resident;
use crate::support::problem::{Kind, Problem, rng, uniform};
use crate::support::real::{Real, bits};
use cholupdate::cuda::{DeviceMatrix, Resident};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Pending, Weights};
use std::fmt::Debug;

/// Several groups of two panels, the last of them not full.
const ORDER: usize = 64 * 9 + 37;

fn meets_the_contract<T: Real>(engine: &Resident, problem: &Problem<T>, what: impl Debug) {
    let (new, _) = problem.modified(engine).unwrap();
    let Problem { l, v, weights } = problem;
    assert_contract(new.as_ref(), l.as_ref(), v.as_ref(), weights, what);
}

/// With rows of V scaled by `scale` of the number of their panel.
fn scaled<T: Real>(mut problem: Problem<T>, scale: impl Fn(usize) -> f64) -> Problem<T> {
    for i in 0..problem.v.nrows() {
        let scale = T::of(scale(i / 64));
        problem.v.row_mut(i).iter_mut().for_each(|x| *x *= scale);
    }
    problem
}

/// Panels where V is small and panels where it dominates, in any order.
fn easy_and_hard_panels<T: Real>(engine: &Resident) {
    for k in [1, 3, 20] {
        let up = |seed| Problem::<T>::feasible(ORDER, k, Kind::Up, 0.5, seed);
        meets_the_contract(engine, &scaled(up(1), |_| 0.03), ("easy", k));
        meets_the_contract(engine, &scaled(up(2), |p| if p % 3 == 1 { 1e3 } else { 0.03 }), ("some hard", k));
        meets_the_contract(engine, &scaled(up(3), |p| if p < 2 { 1e-9 } else { 1.0 }), ("hard later", k));
        for kind in [Kind::Down, Kind::Mixed] {
            for gap in [0.3, 1e-4] {
                meets_the_contract(engine, &Problem::<T>::feasible(ORDER, k, kind, gap, 4), (kind, gap, k));
            }
        }
    }
}

#[test]
fn easy_and_hard_panels_meet_the_contract() {
    let Some((_turn, engine)) = resident() else { return };
    easy_and_hard_panels::<f64>(&engine);
    easy_and_hard_panels::<f32>(&engine);
}

/// A Gaussian process on a line, neighbours all but the same.
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
    for nugget in [1e-2, 1e-6, 1e-9] {
        let l = Cholesky::new(&smooth(n, nugget)).unwrap().to_factor().unwrap();
        for k in [1, 4] {
            for size in [1e-3, 0.1, 1.0] {
                let small = &l * uniform(n, k, &mut rng(7)) * cholupdate::faer::Scale(size);
                let far = uniform(n, k, &mut rng(8)) * cholupdate::faer::Scale(size);
                for v in [small, far] {
                    let problem = Problem::<f64>::new(&l, &v, &vec![1.0; k]);
                    meets_the_contract(&engine, &problem, ("smooth", nugget, k, size));
                }
            }
        }
    }
}

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

/// Of many stretches of panels, and of more sweeps than a launch has, one or several in the last: what the CPU engine makes
/// of it.
#[test]
fn a_long_chain_of_many_sweeps_is_the_cpus() {
    let Some((_turn, engine)) = resident() else { return };
    a_long_chain(&engine, 64 * 40 + 37, 16);
    a_long_chain(&engine, 64 * 26 + 37, 70);
    for k in [250, 257, 300] {
        a_long_chain(&engine, 64 * 6 + 5, k);
    }
}

fn a_long_chain(engine: &Resident, n: usize, k: usize) {
    let l = Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0 + 0.1 * (i % 7) as f64,
        std::cmp::Ordering::Greater => 0.3 / (n as f64).sqrt() * ((i * 31 + j * 17) % 11) as f64 / 11.0,
    });
    let v = uniform(n, k, &mut rng(11)) * cholupdate::faer::Scale(0.1);
    let mut here = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
    let mut there = Cholesky::from_factor(&l).unwrap();
    for down in [false, true] {
        if down {
            here.downdate(&v).unwrap();
            there.downdate(&v).unwrap();
        } else {
            here.update(&v).unwrap();
            there.update(&v).unwrap();
        }
        let (here, there) = (here.to_factor().unwrap(), there.to_factor().unwrap());
        let distance = (&here - &there).norm_l2() / there.norm_l2();
        assert!(distance < 1e-13, "{distance:e}, down {down}");
    }
    // Signs change in the middle, where there are two launches in the second.
    let weights: Vec<f64> = (0..k).map(|r| if r < k - k / 8 { 1.0 } else { -0.1 }).collect();
    here.modify(&v, &weights).unwrap();
    there.modify(&v, &weights).unwrap();
    let (new, expected) = (here.to_factor().unwrap(), there.to_factor().unwrap());
    let distance = (&new - &expected).norm_l2() / expected.norm_l2();
    assert!(distance < 1e-13, "{distance:e}, either sign");
    let rhs = uniform(n, 9, &mut rng(12));
    let distance = (here.solve(&rhs).unwrap() - there.solve(&rhs).unwrap()).norm_l2();
    assert!(distance < 1e-11 * rhs.norm_l2(), "{distance:e}");
}

/// Of an order from which on the device factors A, whose factor then never comes home.
#[test]
fn a_factor_that_stays_on_the_device_is_the_cpus() {
    let Some((_turn, engine)) = resident() else { return };
    let n = 2051;
    let a =
        Mat::from_fn(
            n,
            n,
            |i, j| if i == j { 4.0 + (i % 3) as f64 } else { ((i * 7 + j * 7) % 13) as f64 / 1e4 },
        );
    let v = uniform(n, 3, &mut rng(31));
    let mut here = Cholesky::new_in(&a, engine.clone()).unwrap();
    let mut there = Cholesky::new(&a).unwrap();
    let distance = (here.log_det().unwrap() - there.log_det().unwrap()).abs();
    assert!(distance < 1e-9, "{distance:e}");
    here.update(&v).unwrap();
    there.update(&v).unwrap();
    let (here, there) = (here.to_factor().unwrap(), there.to_factor().unwrap());
    let distance = (&here - &there).norm_l2() / there.norm_l2();
    assert!(distance < 1e-13, "{distance:e}");

    let mut a = a;
    a[(1500, 1500)] = -1.0;
    let refused = Cholesky::new_in(&a, engine).unwrap_err();
    assert_eq!(refused, cholupdate::Error::NotPositiveDefinite { column: 1500 });
}

/// What the engine keeps from call to call never shows: each step of a loop, whatever came before it, gives the factor that
/// an engine gives which begins with it.
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
    // The first row of V that is not zero; its columns; of them with a minus sign; by how much it is scaled; V on the device.
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
        // Both signs all over V.
        let weights: Vec<_> = (0..cols).map(|r| if (r * 7) % cols < minus { -0.5 } else { 1.5 }).collect();
        let before = factor.to_factor().unwrap();
        let mut fresh = Cholesky::from_factor_in(&before, engine.clone()).unwrap();
        let apply = |factor: &mut Cholesky<f64, Resident>| match there {
            true => {
                let v = DeviceMatrix::from_host(engine.device(), &v).unwrap();
                factor.modify(&v.view(), &weights).map(|_| ())
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

/// What only the fake driver can be brought to.
#[cfg(feature = "fake-cuda")]
mod on_the_fake_driver {
    use super::*;
    use crate::support::cuda::{device, fake_cuda};
    use cholupdate::Error;

    #[test]
    fn without_room_for_a_second_matrix_an_update_works_in_place_and_a_downdate_is_refused() {
        let fake = fake_cuda::exclusive();
        let engine = Resident::new(&device().unwrap());
        let problem = Problem::<f64>::feasible(900, 5, Kind::Up, 0.5, 21);
        let mut factor = Cholesky::from_factor_in(&problem.l, engine).unwrap();
        let mut there = Cholesky::from_factor(&problem.l).unwrap();
        let matrix = 900 * 900 * 8;
        fake.memory_cap(2 * matrix);
        // There is nothing to wait for, and nothing that could be forgotten.
        core::mem::forget(factor.submit(&problem.v, Weights::Plus).unwrap());
        there.update(&problem.v).unwrap();
        let (new, expected) = (factor.to_factor().unwrap(), there.to_factor().unwrap());
        let distance = (&new - &expected).norm_l2() / expected.norm_l2();
        assert!(distance < 1e-13, "{distance:e}");

        let refused = factor.downdate(&problem.v).unwrap_err();
        assert!(matches!(refused, Error::Device { .. }), "{refused:?}");
        assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(new.as_ref()));
        fake.memory_cap(4 * matrix);
        factor.downdate(&problem.v).unwrap();
        let distance = (&factor.to_factor().unwrap() - &problem.l).norm_l2() / problem.l.norm_l2();
        assert!(distance < 1e-12, "{distance:e}");
    }

    /// Where there is no room for what cuSOLVER works with, as where there is no cuSOLVER, kernels of our own factor A,
    /// and there, too, the factor never comes home.
    #[test]
    fn a_factor_made_without_cusolver_stays_on_the_device() {
        let fake = fake_cuda::exclusive();
        let engine = Resident::new(&device().unwrap());
        let n = 2048;
        let mut a =
            Mat::from_fn(n, n, |i, j| if i == j { 4.0 + (i % 3) as f32 } else { (i + j) as f32 / 1e7 });
        let matrix = n * n * size_of::<f32>();
        fake.memory_cap(matrix + matrix / 4);
        fake.reset_stats();
        let here = Cholesky::new_in(&a, engine.clone()).unwrap();
        let stats = fake.stats();
        assert!(stats.launches > 2 * 31, "it was to be factored panel by panel: {stats:?}");
        assert!(stats.bytes_down < matrix as u64 / 10, "it was to stay there: {stats:?}");
        let there = Cholesky::new(&a).unwrap();
        let distance = (here.log_det().unwrap() - there.log_det().unwrap()).abs();
        assert!(distance < 1e-2, "{distance:e}");
        let (here, there) = (here.to_factor().unwrap(), there.to_factor().unwrap());
        let distance = (&here - &there).norm_l2() / there.norm_l2();
        assert!(distance < 1e-5, "{distance:e}");

        a[(1500, 1500)] = -1.0;
        let refused = Cholesky::new_in(&a, engine).unwrap_err();
        assert_eq!(refused, Error::NotPositiveDefinite { column: 1500 });
    }

    /// Blocks take their rows in the order in which they begin, whatever their numbers.
    #[test]
    fn no_order_of_the_blocks_changes_a_bit() {
        let fake = fake_cuda::exclusive();
        let engine = Resident::new(&device().unwrap());
        let problem = Problem::<f64>::feasible(64 * 25 + 7, 36, Kind::Mixed, 0.3, 22);
        let mut first = None;
        for seed in 1..=6 {
            fake.seed(seed);
            let mut factor = Cholesky::from_factor_in(&problem.l, engine.clone()).unwrap();
            factor.modify(&problem.v, &problem.weights).unwrap();
            let new = bits(factor.to_factor().unwrap().as_ref());
            assert!(*first.get_or_insert_with(|| new.clone()) == new, "seed {seed}");
        }
    }

    #[test]
    fn a_second_call_of_a_shape_allocates_nothing_there_and_sends_no_factor() {
        let fake = fake_cuda::exclusive();
        let device = device().unwrap();
        let (n, k) = (700, 20);
        let problem = Problem::<f64>::feasible(n, k, Kind::Up, 0.5, 23);
        let mut factor = Cholesky::from_factor_in(&problem.l, Resident::new(&device)).unwrap();
        let v = DeviceMatrix::from_host(&device, &problem.v).unwrap();
        let mut calls = |there: bool| {
            if there {
                factor.update(&v.view()).unwrap();
                factor.downdate(&v.view()).unwrap();
            } else {
                factor.update(&problem.v).unwrap();
                factor.downdate(&problem.v).unwrap();
            }
        };
        for there in [false, true] {
            calls(there);
            fake.reset_stats();
            calls(there);
            let stats = fake.stats();
            assert_eq!(stats.peak_bytes, stats.live_bytes, "V there: {there}");
            // V with its padding; what there is to know of columns that are there, and how they are taken.
            let sent = if there { 2 * k * 12 } else { 2 * k * (n + 16) * 8 } as u64;
            assert!(stats.bytes_up <= sent, "{} of {sent} up, V there: {there}", stats.bytes_up);
            let facts = if there { 2 * k * 24 } else { 0 } as u64;
            assert!(stats.bytes_down <= facts, "{} down, V there: {there}", stats.bytes_down);
        }
    }

    /// In the call that begins it, before it is waited for, or behind its outcome.
    #[test]
    fn a_driver_error_leaves_the_old_factor_or_the_new_one() {
        let fake = fake_cuda::exclusive();
        let engine = Resident::new(&device().unwrap());
        let problem = Problem::<f64>::feasible(200, 20, Kind::Up, 0.5, 27);
        let factor = || Cholesky::from_factor_in(&problem.l, engine.clone()).unwrap();
        let mut whole = factor();
        whole.update(&problem.v).unwrap();
        let new = whole.to_factor().unwrap();
        let mut failed = 0;
        for at in 1..30 {
            let mut factor = factor();
            fake.fail_at(at);
            let outcome = factor.submit(&problem.v, Weights::Plus).and_then(Pending::wait);
            fake.fail_at(0);
            if outcome.is_ok() {
                // Read by a stream of its own, which finds out if something behind the outcome has failed.
                let found = factor.to_factor();
                assert!(
                    found.is_err() || bits(found.unwrap().as_ref()) == bits(new.as_ref()),
                    "failing at {at}"
                );
                fake.reset();
                continue;
            }
            assert!(matches!(outcome, Err(Error::Device { .. })), "{outcome:?}");
            fake.reset();
            assert_eq!(
                bits(factor.to_factor().unwrap().as_ref()),
                bits(problem.l.as_ref()),
                "failing at {at}"
            );
            factor.update(&problem.v).unwrap();
            assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(new.as_ref()), "failing at {at}");
            failed += 1;
        }
        assert!(failed >= 4, "{failed} launches and copies of an update");
    }

    #[test]
    fn right_hand_sides_are_left_alone_where_the_device_fails() {
        let fake = fake_cuda::exclusive();
        let engine = Resident::new(&device().unwrap());
        // More than go together.
        let rhs = uniform(3, 4097, &mut rng(41));
        let copies = |at: u64| {
            let factor = Cholesky::from_factor_in(&Mat::<f64>::identity(3, 3), engine.clone()).unwrap();
            let mut b = rhs.clone();
            fake.fail_at(at);
            let outcome = factor.solve_in_place(&mut b);
            fake.fail_at(0);
            (outcome, b)
        };
        let mut failed = 0;
        for at in 1.. {
            let (outcome, b) = copies(at);
            match outcome {
                Ok(()) => break,
                Err(error) => assert!(matches!(error, Error::Device { .. }), "{error:?}"),
            }
            assert!(bits(b.as_ref()) == bits(rhs.as_ref()), "failing at {at}");
            fake.reset();
            failed += 1;
        }
        assert!(failed > 8, "{failed} launches and copies for two times some of them");
    }
}
