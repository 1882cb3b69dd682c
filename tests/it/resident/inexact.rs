//! Inexact reciprocals and reciprocal roots: the contract, and the recorded errors, hold.

use super::check;
use crate::support::contract::Observed;
use crate::support::cuda::{device, fake_cuda};
use crate::support::problem::{Direction, Kind, Problem};
use crate::support::real::Real;
use cholupdate::cuda::Resident;

/// Errors of roots and of reciprocals, in units in the last place: twice what arithmetic.cuh promises.
const ULPS: u32 = 4;

fn any_problem<T: Real>(engine: &Resident, seed: u64, observed: &mut Observed) {
    let mut check = |problem: &Problem<T>, what| check(observed, engine, problem, (what, seed));
    for (n, k) in [(1, 1), (2, 3), (7, 2), (33, 5), (65, 16), (65, 17), (130, 4)] {
        for kind in Kind::ALL {
            for gap in [0.5, 1e-4] {
                check(&Problem::feasible(n, k, kind, gap, seed), "feasible");
            }
            check(&Problem::outgrowing(n, k, kind, seed), "outgrown");
        }
        check(&Problem::feasible(n, k, Kind::Up, 0.5, seed).dominated(1e5), "V dominates L");
        check(&Problem::cancelling(n, k, 0.1, seed), "pairs that cancel");
        let problem = Problem::feasible(n, k, Kind::Mixed, 0.1, seed);
        check(&problem.graded(|i| 10f64.powi(-(i as i32 % 8))), "graded");
        for direction in Direction::ALL {
            check(&Problem::exhausting(n, 1e3 * (n + 1) as f64 * T::U, direction, seed), "little left");
        }
    }
}

#[test]
fn reciprocals_that_are_wrong_cost_no_accuracy() {
    let Some(fake) = fake_cuda::exclusive() else { return };
    let engine = Resident::new(&device().unwrap());
    let (mut double, mut single) = (Observed::recorded(58.8), Observed::recorded(3.2));
    for seed in 0..4 {
        fake.inexact(ULPS, ULPS, seed);
        any_problem::<f64>(&engine, seed.into(), &mut double);
        any_problem::<f32>(&engine, seed.into(), &mut single);
    }
}
