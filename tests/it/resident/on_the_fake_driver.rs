//! Situations that only the fake driver can produce.

use super::{a_long_chain, assert_factor_of};
use crate::support::contract::{Observed, assert_log_det};
use crate::support::cuda::{device, fake_cuda};
use crate::support::problem::{Kind, Problem, rng, uniform};
use crate::support::real::bits;
use cholupdate::cuda::{DeviceMatrix, Resident};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Error, Pending, Weights};

#[test]
fn without_room_for_a_second_matrix_an_update_works_in_place_and_a_downdate_is_refused() {
    let Some(fake) = fake_cuda::exclusive() else { return };
    let engine = Resident::new(&device().unwrap());
    let problem = Problem::<f64>::feasible(900, 5, Kind::Up, 0.5, 21);
    let mut factor = Cholesky::from_factor_in(&problem.l, engine).unwrap();
    let matrix = 900 * 900 * 8;
    fake.memory_cap(2 * matrix);
    // There is nothing to wait for, and no outcome to forget.
    core::mem::forget(factor.submit(&problem.v, Weights::Plus).unwrap());
    let mut observed = Observed::recorded(2.3);
    let new = factor.to_factor().unwrap();
    observed.check_some_rows(new.as_ref(), &problem, "in place");

    let refused = factor.downdate(&problem.v).unwrap_err();
    assert!(matches!(refused, Error::Device { .. }), "{refused:?}");
    assert_eq!(bits(factor.to_factor().unwrap().as_ref()), bits(new.as_ref()));
    fake.memory_cap(4 * matrix);
    factor.downdate(&problem.v).unwrap();
    let back = Problem { l: new, weights: vec![-1.0; 5], ..problem };
    observed.check_some_rows(factor.to_factor().unwrap().as_ref(), &back, "and back");
}

/// The old L, its shadow buffer and the new L never exist together.
#[test]
fn growth_has_room_where_two_factors_have() {
    let Some(fake) = fake_cuda::exclusive() else { return };
    let engine = Resident::new(&device().unwrap());
    let n = 800;
    let problem = Problem::<f64>::feasible(n, 1, Kind::Down, 0.5, 22);
    let mut factor = Cholesky::from_factor_in(&problem.l, engine).unwrap();
    factor.downdate(&problem.v).unwrap();
    let (matrix, grown) = (n * n * 8, (n + n / 8) * (n + n / 8) * 8);
    let beside = fake.stats().live_bytes as usize - 2 * matrix;
    assert!(beside < matrix / 2, "{beside}");
    fake.memory_cap(2 * grown + beside + matrix / 4);
    factor.append(&Mat::<f64>::zeros(n, 1), &[1.0]).unwrap();
    assert_eq!(factor.capacity(), n + n / 8);
    factor.downdate(&Mat::from_fn(n + 1, 1, |i, _| if i == n { 0.5 } else { 0.0 })).unwrap();
}

/// Without room for cuSOLVER's working memory, as without cuSOLVER, this library's kernels factor A, and the factor is again
/// never copied to the host.
#[test]
fn a_factor_made_without_cusolver_stays_on_the_device() {
    let Some(fake) = fake_cuda::exclusive() else { return };
    let engine = Resident::new(&device().unwrap());
    let n = 2048;
    let mut a = Mat::from_fn(n, n, |i, j| if i == j { 4.0 + (i % 3) as f32 } else { (i + j) as f32 / 1e7 });
    let matrix = n * n * size_of::<f32>();
    fake.memory_cap(matrix + matrix / 4);
    fake.reset_stats();
    let here = Cholesky::new_in(&a, engine.clone()).unwrap();
    let stats = fake.stats();
    assert!(stats.launches > 2 * 31, "it was to be factored panel by panel: {stats:?}");
    assert!(stats.bytes_down < matrix as u64 / 10, "it was to stay there: {stats:?}");
    let (log_det, l) = (here.log_det().unwrap(), here.to_factor().unwrap());
    assert_log_det(log_det, &l);
    assert_factor_of(&a, &l, Observed::recorded(3.2));

    a[(1500, 1500)] = -1.0;
    let refused = Cholesky::new_in(&a, engine).unwrap_err();
    assert_eq!(refused, Error::NotPositiveDefinite { column: 1500 });
}

/// If three records of wide rank blocks do not fit, all rank blocks are narrow, and there are more launches.
#[test]
fn with_little_shared_memory_many_sweeps_meet_the_contract() {
    let Some(fake) = fake_cuda::exclusive() else { return };
    fake.shared_cap(99 << 10);
    let engine = Resident::new(&device().unwrap());
    a_long_chain(&engine, 64 * 10 + 37, 70, Observed::recorded(4.3));
    a_long_chain(&engine, 64 * 3 + 5, 300, Observed::recorded(6.9));
}

/// Blocks take their rows in the order in which they begin, independent of their numbers.
#[test]
fn no_order_of_the_blocks_changes_a_bit() {
    let Some(fake) = fake_cuda::exclusive() else { return };
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
    let Some(fake) = fake_cuda::exclusive() else { return };
    let device = device().unwrap();
    let (n, k) = (700, 20);
    let problem = Problem::<f64>::feasible(n, k, Kind::Up, 0.5, 23);
    let mut factor = Cholesky::from_factor_in(&problem.l, Resident::new(&device)).unwrap();
    let v = DeviceMatrix::from_host(&device, &problem.v).unwrap();
    let mut calls = |there: bool| {
        if there {
            factor.update(v.view()).unwrap();
            factor.downdate(v.view()).unwrap();
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
        // V with its padding; for columns on the device, the facts about them and their targets.
        let sent = if there { 2 * k * 12 } else { 2 * k * (n + 16) * 8 } as u64;
        assert!(stats.bytes_up <= sent, "{} of {sent} up, V there: {there}", stats.bytes_up);
        let facts = if there { 2 * k * 24 } else { 0 } as u64;
        assert!(stats.bytes_down <= facts, "{} down, V there: {there}", stats.bytes_down);
    }
}

/// A launch, a copy or a fill fails in the call that begins the modification, before it is waited for, or after its outcome.
#[test]
fn a_driver_error_leaves_the_old_factor_or_the_new_one() {
    let Some(fake) = fake_cuda::exclusive() else { return };
    let device = device().unwrap();
    let engine = Resident::new(&device);
    for (kind, there) in Kind::ALL.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let what = format!("{kind:?}, V on the device: {there}");
        let problem = Problem::<f64>::feasible(200, 20, kind, 0.5, 27);
        let v = DeviceMatrix::from_host(&device, &problem.v).unwrap();
        let modified = |factor: &mut Cholesky<f64, Resident>| {
            let pending = match there {
                true => factor.submit(v.view(), &problem.weights),
                false => factor.submit(&problem.v, &problem.weights),
            };
            pending.and_then(Pending::wait)
        };
        let mut factor = problem.factor(&engine);
        fake.reset_stats();
        modified(&mut factor).unwrap();
        let stats = fake.stats();
        // The records and the flags of a new queue.
        assert!(stats.memsets >= 2, "{what}: {stats:?}");
        let new = bits(factor.to_factor().unwrap().as_ref());
        let mut behind = 0;
        for at in 1..=stats.operations() {
            let mut factor = problem.factor(&engine);
            fake.fail_at(at);
            let outcome = modified(&mut factor);
            fake.fail_at(0);
            if outcome.is_ok() {
                // Read by a separate stream, which detects a failure after the outcome.
                let found = factor.to_factor();
                assert!(found.is_err() || bits(found.unwrap().as_ref()) == new, "{what}, failing at {at}");
                fake.reset();
                behind += 1;
                continue;
            }
            assert!(matches!(outcome, Err(Error::Device { .. })), "{what}: {outcome:?}");
            fake.reset();
            let old = bits(factor.to_factor().unwrap().as_ref());
            assert!(old == bits(problem.l.as_ref()), "{what}, failing at {at}");
            factor.modify(&problem.v, &problem.weights).unwrap();
            assert!(bits(factor.to_factor().unwrap().as_ref()) == new, "{what}, failing at {at}");
        }
        // The work after a launch for the next one: the inverses, whose kernel also fills the records and the flags.
        assert!(behind <= 1, "{what}: {behind} failures of {} behind the outcome", stats.operations());
    }
}

#[test]
fn right_hand_sides_are_left_alone_where_the_device_fails() {
    let Some(fake) = fake_cuda::exclusive() else { return };
    let engine = Resident::new(&device().unwrap());
    // More than one batch.
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
