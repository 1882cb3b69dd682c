//! Tests that need a driver under the test's control.

use crate::support::contract::Observed;
use crate::support::cuda::fake_cuda::{Exclusive, exclusive};
use crate::support::cuda::small;
use crate::support::problem::{Kind, Problem};
use crate::support::real::bits;
use cholupdate::cuda::{Device, Hybrid};
use cholupdate::faer::{Mat, MatRef};
use cholupdate::{Cholesky, Error};
use std::fmt::Debug;

const ORDER: usize = 200;

#[track_caller]
fn check(new: MatRef<'_, f64>, problem: &Problem<f64>, what: impl Debug) {
    Observed::recorded(2.2).check(new, problem, what);
}

fn factor(rank: usize) -> (Problem<f64>, Cholesky<f64, Hybrid>) {
    let problem = Problem::feasible(ORDER, rank, Kind::Up, 0.5, 4);
    let engine = Hybrid::new(&Device::new(0).unwrap(), small()).unwrap();
    let factor = problem.factor(&engine);
    (problem, factor)
}

/// Bytes of L below the diagonal blocks and the next diagonal rows.
fn trailing_bytes() -> u64 {
    let cols = small().panel_cols;
    let rows = (0..ORDER).step_by(cols).map(|first| ORDER.saturating_sub(first + 2 * cols));
    rows.map(|rows| (rows.next_multiple_of(16) * cols * 8) as u64).sum()
}

#[test]
fn without_a_driver_that_will_do_there_is_an_error_in_words() {
    let Some(fake) = exclusive() else { return };
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
    let Some(fake) = exclusive() else { return };
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
    let Some(fake) = exclusive() else { return };
    let needed = Hybrid::device_bytes::<f64>(ORDER, 2, &small());
    assert!(needed < ORDER * ORDER * 8 / 2);
    fake.memory_cap(needed);
    let (problem, mut factor) = factor(2);
    factor.update(&problem.v).unwrap();
    check(factor.to_factor().unwrap().as_ref(), &problem, "capped");
}

#[test]
fn out_of_device_memory_leaves_the_factor_as_it_was() {
    let Some(fake) = exclusive() else { return };
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
    check(factor.to_factor().unwrap().as_ref(), &problem, "after out of memory");
}

#[test]
fn l_crosses_the_link_once_each_way_and_nothing_waits_for_the_device() {
    let Some(fake) = exclusive() else { return };
    for rank in [1, 16, 100] {
        let (problem, mut factor) = factor(rank);
        factor.update(&problem.v).unwrap();
        fake.reset_stats();
        factor.update(&problem.v).unwrap();
        let stats = fake.stats();
        let columns = (stats.bytes_up - trailing_bytes()) / (ORDER.next_multiple_of(16) * 8) as u64;
        assert!(
            (rank as u64..=2 * rank as u64 + 4).contains(&columns),
            "rank {rank}: {columns} columns of V"
        );
        assert_eq!(stats.bytes_down, trailing_bytes(), "rank {rank}");
        assert_eq!(stats.device_synchronizations, 0);
        let held = stats.live_bytes;
        assert_eq!(stats.peak_bytes, held, "nothing is allocated by a second call");
    }
}

/// The effect of a failure of the n-th launch, copy or fill on an update or a downdate.
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
    // A modification of another factor on the lost device is refused before anything is written.
    assert!(matches!(other.update(&problem.v), Err(Error::Device { .. })));
    fake.reset();
    assert_eq!(bits(other.to_factor().unwrap().as_ref()), bits(problem.l.as_ref()));
    other.update(&problem.v).unwrap();
    if downdate {
        // The target was another buffer: nothing is lost.
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
    let Some(fake) = exclusive() else { return };
    for downdate in [false, true] {
        let mut failures = 0;
        for at in [1, 2, 3, 5, 8, 13, 21, 34, 55, 89] {
            failures += usize::from(with_failure(&fake, at, downdate));
            // The next factor on the device is not affected.
            let (problem, mut factor) = factor(20);
            factor.update(&problem.v).unwrap();
            check(factor.to_factor().unwrap().as_ref(), &problem, "after a failure");
        }
        assert!(failures >= 5);
    }
}
