//! Calls that are stopped.

use crate::support::problem::{Kind, Problem};
use crate::support::real::{Real, bits};
use cholupdate::faer::{Mat, mat};
use cholupdate::{
    Carried, Cholesky, Cpu, Error, Safeguard, Workspace, interruptible, modify_in_place, modify_into,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `call` and stops its sweeps at the n-th query; also returns the number of queries.
fn stopped_at<R>(nth: usize, call: impl FnOnce() -> R) -> (R, usize) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let outcome = interruptible(move || count.fetch_add(1, Ordering::Relaxed) + 1 >= nth, call);
    (outcome, asked.load(Ordering::Relaxed))
}

fn engines() -> impl Iterator<Item = Cpu> {
    [Cpu::sequential(), Cpu::threads(3), Cpu::threads(8)].into_iter().flat_map(|cpu| {
        [Safeguard::ShadowBuffer, Safeguard::DryRun].map(|safeguard| cpu.with_safeguard(safeguard))
    })
}

fn a_call_that_is_stopped_leaves_the_factor<T: Real>() {
    for (n, k) in [(60, 2), (300, 5), (1000, 2), (1000, 20)] {
        let problem = Problem::<T>::feasible(n, k, Kind::Mixed, 0.3, 3);
        let before = bits(problem.l.as_ref());
        for cpu in engines() {
            let expected = problem.modified(&cpu).unwrap();
            let mut factor = problem.factor(&cpu);
            let (outcome, panels) =
                stopped_at(usize::MAX, || problem.factor(&cpu).modify(&problem.v, &problem.weights));
            assert_eq!(outcome, Ok(expected.1));
            assert!(panels > n / 64, "{panels} panels of {n} columns");
            for nth in [1, 2, panels / 2, panels].into_iter().filter(|&nth| nth > 0 && nth <= panels) {
                let (outcome, asked) = stopped_at(nth, || factor.modify(&problem.v, &problem.weights));
                assert_eq!((outcome, asked), (Err(Error::Interrupted), nth), "{n} × {k}, {cpu:?}");
                assert!(bits(factor.l()) == before);
            }
            let (outcome, _) = stopped_at(1, || factor.can_downdate(&problem.v));
            assert_eq!(outcome, Err(Error::Interrupted));
            let (outcome, _) =
                stopped_at(1, || factor.modify_scaled(T::of(0.5), &problem.v, &problem.weights));
            assert_eq!(outcome, Err(Error::Interrupted));
            assert!(bits(factor.l()) == before);
            assert_eq!(factor.modify(&problem.v, &problem.weights), Ok(expected.1));
            assert!(bits(factor.l()) == bits(expected.0.as_ref()));
        }
    }
}

#[test]
fn a_call_that_is_stopped_leaves_the_factor_f64() {
    a_call_that_is_stopped_leaves_the_factor::<f64>();
}

#[test]
fn a_call_that_is_stopped_leaves_the_factor_f32() {
    a_call_that_is_stopped_leaves_the_factor::<f32>();
}

/// A breakdown that is examined in twice the precision takes longest.
#[test]
fn so_is_what_is_done_again() {
    let l =
        mat![[1.0, 0.0, 0.0], [-145.11213347519777, 1.0, 0.0], [28.96018790147825, 62.4046605677754, 1.0]];
    let v = [0.2634638816175617, -38.135379766510546, 12.687569201709028];
    let mut factor = Cholesky::from_factor_in(&l, Cpu::sequential()).unwrap();
    let (outcome, panels) = stopped_at(usize::MAX, || factor.clone().downdate(&v));
    assert!(outcome.is_ok() && panels >= 3, "{panels}");
    let (outcome, asked) = stopped_at(panels, || factor.downdate(&v));
    assert_eq!((outcome, asked), (Err(Error::Interrupted), panels));
    assert!(bits(factor.l()) == bits(l.as_ref()));
    factor.downdate(&v).unwrap();
}

#[test]
fn what_works_in_place_is_not_asked() {
    let problem = Problem::<f64>::feasible(300, 5, Kind::Up, 0.3, 3);
    for cpu in engines() {
        let mut factor = problem.factor(&cpu);
        assert_eq!(stopped_at(1, || factor.update(&problem.v).map(drop)), (Ok(()), 0));
        let mut unguarded = problem.factor(&cpu.with_safeguard(Safeguard::None));
        let v = problem.v.subcols(0, 1).to_owned();
        unguarded.update(&v).unwrap();
        assert_eq!(stopped_at(1, || unguarded.downdate(&v).map(drop)), (Ok(()), 0));
        assert_eq!(stopped_at(1, || factor.remove(&[3, 250]).map(drop)), (Ok(()), 0));
    }
}

#[test]
fn so_does_memory_of_the_callers() {
    let problem = Problem::<f64>::feasible(300, 5, Kind::Mixed, 0.3, 3);
    let Problem { l, v, weights } = &problem;
    for cpu in engines() {
        let mut workspace = Workspace::new();
        let mut to = Mat::zeros(300, 300);
        let (outcome, asked) =
            stopped_at(3, || modify_into(l.as_ref(), v, weights, to.as_mut(), &cpu, &mut workspace));
        assert_eq!((outcome, asked), (Err(Error::Interrupted), 3));
        let mut in_place = l.clone();
        let (outcome, _) =
            stopped_at(3, || modify_in_place(in_place.as_mut(), v, weights, &cpu, &mut workspace));
        assert_eq!(outcome, Err(Error::Interrupted));
        assert_eq!(bits(in_place.as_ref()), bits(l.as_ref()));
    }
}

#[test]
fn what_is_carried_stays_with_the_factor() {
    let problem = Problem::<f64>::feasible(200, 3, Kind::Mixed, 0.3, 3);
    let mut factor = problem.factor(&Cpu::default());
    let mut carried = Carried::new(&factor, &Mat::<f64>::ones(200, 2), &[1e6, 1e6]).unwrap();
    let (kept, y) = (carried.clone(), Mat::<f64>::ones(3, 2));
    let (outcome, _) =
        stopped_at(2, || factor.modify_carrying(0.9, &problem.v, &problem.weights, &y, &mut carried));
    assert_eq!(outcome, Err(Error::Interrupted));
    assert_eq!(carried, kept);
    assert_eq!(bits(factor.l()), bits(problem.l.as_ref()));
}
