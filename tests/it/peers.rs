//! Against refactorization and LINPACK on the same inputs: never worse, and no problem refused that LINPACK completes.
//!
//! *Worse* means: over a family of similar problems, the largest backward error (row by row, as the contract measures it) is
//! larger than the peer's. Errors below `NOISE` units of rounding count as equal, because their order is chance. A peer that
//! refuses a problem has an infinite error.
//!
//! Where the problem itself amplifies errors, the forward errors are compared as well. On a single problem their ratio is
//! chance, by an order of magnitude and more. The test therefore uses the geometric mean of the ratio over all problems, which
//! chance changes by less than a fifth.

use crate::support::contract::{NOISE, backward_error};
use crate::support::engines::{sized, steps};
use crate::support::exact::{exact_factor, forward_error};
use crate::support::peers::{linpack, refactorize};
use crate::support::problem::{Kind, Problem};
use crate::support::real::Real;
use cholupdate::Engine;
use cholupdate::faer::Mat;

on_every_arithmetic!(
    never_worse_where_all_is_well,
    never_worse_where_v_dominates,
    never_worse_where_rows_are_graded,
    never_worse_where_little_is_left,
    completes_every_downdate_that_linpack_completes,
);

const SHAPES: &[(usize, usize)] = sized(
    &[(1, 1), (2, 1), (5, 2), (8, 8), (20, 1), (20, 8), (40, 60), (60, 4), (60, 30)],
    &[(1, 1), (2, 1), (5, 2), (8, 8), (20, 1), (20, 8)],
);

const PEERS: [&str; 2] = ["refactorization", "LINPACK"];

/// A comparison over many families of problems.
#[derive(Default)]
struct Contest {
    /// Logarithms of our forward error over each peer's, summed.
    logs: [f64; 2],
    problems: usize,
}

impl Contest {
    /// `make(seed)` is never solved worse than by a peer.
    fn family<T: Real, E: Engine<T> + Clone>(
        &mut self,
        engine: &E,
        what: &str,
        make: impl Fn(u64) -> Problem<T>,
    ) {
        let mut largest = [0.0f64; 3];
        // As few on the resident engine's fake device as without optimization.
        for seed in 0..if steps::<E>(100) == 1 { 4 } else { sized(12, 4) } {
            let problem = make(seed);
            let (l, v, weights) = (problem.l.as_ref(), problem.v.as_ref(), &problem.weights[..]);
            let results: [Option<Mat<T>>; 3] = [
                problem.modified(engine).ok().map(|(new, _)| new),
                refactorize(l, v, weights),
                linpack(l, v, weights),
            ];
            let errors = |of: &dyn Fn(&Mat<T>) -> f64| {
                [0, 1, 2].map(|who: usize| results[who].as_ref().map_or(f64::INFINITY, of))
            };
            let backward = errors(&|new| backward_error(new.as_ref(), l, v, weights));
            largest = [0, 1, 2].map(|who| largest[who].max(backward[who]));
            // If L' is not known at this precision, the forward error is not defined.
            let Some(exact) = exact_factor(l, v, weights) else { continue };
            let [ours, theirs @ ..] = errors(&|new| forward_error(new.as_ref(), &exact));
            for (sum, theirs) in self.logs.iter_mut().zip(theirs) {
                // At most ten digits better: one refusal by a peer must not dominate the mean.
                *sum += (ours.max(1.0) / theirs.max(1.0)).max(1e-10).ln();
            }
            self.problems += 1;
        }
        for (name, theirs) in PEERS.iter().zip(&largest[1..]) {
            let ours = largest[0];
            assert!(ours <= theirs.max(NOISE), "{what}: backward error {ours:.2} u, {name} {theirs:.2} u");
        }
    }

    /// In the mean, forward errors are no larger than a peer's.
    fn assert_forward_errors_no_larger(&self, peers: &[&str]) {
        for (name, sum) in PEERS.iter().zip(&self.logs).filter(|(name, _)| peers.contains(name)) {
            let ratio = (sum / self.problems as f64).exp();
            assert!(ratio <= 1.2, "forward errors are typically {ratio:.2} times those of {name}");
        }
    }
}

fn never_worse_where_all_is_well<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut contest = Contest::default();
    for &(n, k) in SHAPES {
        for kind in Kind::ALL {
            contest.family(engine, &format!("{kind:?}, n = {n}, k = {k}"), |seed| {
                Problem::<T>::feasible(n, k, kind, 0.5, seed)
            });
        }
    }
    contest.assert_forward_errors_no_larger(&PEERS);
}

fn never_worse_where_v_dominates<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut contest = Contest::default();
    for &(n, k) in SHAPES {
        for scale in [1e2, 1e4, 1e8] {
            contest.family(engine, &format!("‖V‖/‖L‖ = {scale:.0e}, n = {n}, k = {k}"), |seed| {
                Problem::<T>::feasible(n, k, Kind::Up, 0.5, seed).dominated(scale)
            });
        }
    }
    contest.assert_forward_errors_no_larger(&PEERS);
}

fn never_worse_where_rows_are_graded<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut contest = Contest::default();
    for &(n, k) in SHAPES {
        for kind in Kind::ALL {
            contest.family(engine, &format!("graded rows, {kind:?}, n = {n}, k = {k}"), |seed| {
                let grade = |i: usize| 10f64.powf(-8.0 * i as f64 / n as f64);
                Problem::<T>::feasible(n, k, kind, 0.1, seed).graded(grade)
            });
        }
    }
    contest.assert_forward_errors_no_larger(&PEERS);
}

/// 1 − ‖P‖² of the hard downdates: as small as the scalar type can distinguish from zero with some digits left.
fn gaps<T: Real>() -> &'static [f64] {
    if T::U < 1e-10 { &[1e-4, 1e-8, 1e-12] } else { &[1e-2, 1e-4] }
}

fn never_worse_where_little_is_left<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut contest = Contest::default();
    for &(n, k) in SHAPES {
        for kind in [Kind::Down, Kind::Mixed] {
            for &gap in gaps::<T>() {
                let what = format!("1 − ‖P‖² = {gap:.0e}, {kind:?}, n = {n}, k = {k}");
                contest.family(engine, &what, |seed| Problem::<T>::feasible(n, k, kind, gap, seed));
            }
        }
    }
    contest.assert_forward_errors_no_larger(&PEERS);
}

fn completes_every_downdate_that_linpack_completes<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut completed = 0;
    for &(n, k) in SHAPES {
        for &gap in gaps::<T>() {
            for seed in 0..sized(steps::<E>(100) as u64, 5) {
                let problem = Problem::<T>::feasible(n, k, Kind::Down, gap, 1000 + seed);
                if linpack(problem.l.as_ref(), problem.v.as_ref(), &problem.weights).is_some() {
                    completed += 1;
                    if let Err(error) = problem.modified(engine) {
                        panic!("1 − ‖P‖² = {gap:.0e}, n = {n}, k = {k}, seed {seed}: {error}");
                    }
                }
            }
        }
    }
    assert!(completed > 0);
}
