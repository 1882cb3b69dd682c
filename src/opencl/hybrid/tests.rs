//! The engine on a device that permits only small work-groups, on one whose calls fail, and its memory.

mod failing;

use self::failing::{Calls, FailingEngine};
use super::Hybrid;
use crate::opencl::device::tests::{all_waits, unaltered, with_work_groups_of};
use crate::opencl::{Device, Tuning};
use crate::storage::Safeguard;
use crate::{Cholesky, Engine, Error, RealScalar, Weights};
use faer::Mat;

const ORDER: usize = 150;
/// So that there are several panels, of several launches.
const TUNING: Tuning =
    Tuning { blocks_per_kernel: 1, threads_per_block: 32, elements_per_thread: 16, panel_cols: 16, slots: 2 };

fn matrix<T: RealScalar>() -> Mat<T> {
    let entry = |i: usize, j: usize| if i == j { 9.0 } else { 1.0 / (1 + i.abs_diff(j)) as f64 };
    Mat::from_fn(ORDER, ORDER, |i, j| T::from_f64(entry(i, j)))
}

fn columns<T: RealScalar>(rank: usize) -> Mat<T> {
    Mat::from_fn(ORDER, rank, |i, r| T::from_f64(((i * 7 + r * 3) % 11) as f64 / 55.0 - 0.08))
}

/// L after an update and a downdate. (ORDER × ORDER)
fn modified(device: &Device) -> Mat<f32> {
    let v = columns(5);
    let mut factor = Cholesky::new_in(&matrix(), Hybrid::new(device, TUNING).unwrap()).unwrap();
    factor.update(&v).unwrap();
    factor.modify_scaled(0.5, &v, Weights::Plus).unwrap();
    factor.downdate(v.subcols(0, 2)).unwrap();
    factor.to_factor().unwrap()
}

/// The rows of a launch are no multiple of these sizes, so that each launch has more work-items than rows.
#[test]
fn small_work_groups_change_no_bit() {
    let _waits = all_waits();
    let Some(device) = with_work_groups_of(usize::MAX) else { return };
    let expected = modified(&device);
    for limit in [1, 5, 24] {
        let device = with_work_groups_of(limit).unwrap();
        assert!(modified(&device) == expected, "{limit} work-items");
    }
}

/// What any call of the driver may return in a modification that works in place, and in one that writes to the shadow buffer.
#[test]
fn a_failing_call_of_the_driver_is_an_error_and_loses_at_most_a_factor_in_place() {
    fn run(engine: &FailingEngine, in_place: bool) -> (Result<(), Error>, Result<Mat<f64>, Error>) {
        engine.calls.fail_after(usize::MAX);
        let mut factor = Cholesky::new_in(&matrix(), engine.clone()).unwrap();
        let v = columns(3);
        // Its memory is made in this call.
        factor.update(v.subcols(0, 1)).unwrap();
        engine.calls.restart();
        let outcome = if in_place { factor.update(&v) } else { factor.downdate(&v) };
        engine.calls.fail_after(usize::MAX);
        (outcome.map(drop), factor.to_factor())
    }
    let _waits = all_waits();
    let Some(device) = unaltered() else { return };
    for in_place in [true, false] {
        let engine = FailingEngine::new(&device, TUNING);
        engine.calls.next_limit(0);
        let before = {
            let mut factor = Cholesky::new_in(&matrix(), engine.clone()).unwrap();
            factor.update(columns(3).subcols(0, 1)).unwrap();
            factor.to_factor().unwrap()
        };
        let (mut failures, mut poisoned) = (0, 0);
        for limit in 0.. {
            engine.calls.next_limit(limit);
            let (outcome, l) = run(&engine, in_place);
            let Err(error) = outcome else { break };
            failures += 1;
            assert!(matches!(error, Error::Device { .. }), "call {limit}: {error}");
            match l {
                Ok(l) => assert!(l == before, "call {limit}"),
                Err(error) => {
                    assert!(in_place && error == Error::Poisoned, "call {limit}: {error}");
                    poisoned += 1;
                }
            }
        }
        assert!(failures > 50 && (poisoned > 0) == in_place, "{failures} failures, {poisoned} in place");
    }
}

#[test]
fn device_memory_is_what_is_said() {
    let _waits = all_waits();
    let Some(device) = unaltered() else { return };
    for k in [1, 3, 17] {
        let engine = FailingEngine::new(&device, TUNING);
        let mut factor = Cholesky::new_in(&matrix(), engine.clone()).unwrap();
        factor.update(&columns::<f64>(k)).unwrap();
        assert_eq!(engine.calls.device_bytes(), Hybrid::device_bytes::<f64>(ORDER, k, &TUNING), "k = {k}");
    }
}

/// A dry run is an engine's own, and leaves the factor as a shadow buffer does.
#[test]
fn a_breakdown_after_a_dry_run_leaves_the_factor() {
    let _waits = all_waits();
    let Some(device) = unaltered() else { return };
    let engine = Hybrid::new(&device, TUNING).unwrap().with_safeguard(Safeguard::DryRun);
    let mut factor = Cholesky::new_in(&matrix::<f64>(), engine).unwrap();
    let before = factor.to_factor().unwrap();
    let huge = Mat::from_fn(ORDER, 1, |i, _| if i == 70 { 100.0 } else { 0.0 });
    assert_eq!(factor.downdate(&huge), Err(Error::NotPositiveDefinite { column: 70 }));
    assert!(factor.to_factor().unwrap() == before);
}

const _: () = {
    const fn is_an_engine<E: Engine<f64>>() {}
    is_an_engine::<FailingEngine>();
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<Calls>();
};
