//! The accuracy contract, row by row: small and large orders, every remainder of the tiles, all signs.

use crate::support::contract::assert_contract;
use crate::support::engines::sized;
use crate::support::problem::{Kind, Problem};
use crate::support::real::Real;
use cholupdate::{Cpu, Engine};
use std::fmt::Debug;

on_every_engine!(
    every_remainder_of_the_tiles,
    dominating_updates,
    destroying_downdates,
    graded_rows,
    scaled_as_a_whole,
    general_weights,
);

#[track_caller]
fn check<T: Real, E: Engine<T> + Clone>(engine: &E, problem: &Problem<T>, what: impl Debug) {
    let Problem { l, v, weights } = problem;
    let (new, _) = problem.modified(engine).unwrap_or_else(|error| {
        panic!("{what:?}, n = {}, k = {}: {error}", l.nrows(), v.ncols());
    });
    assert_contract(new.as_ref(), l.as_ref(), v.as_ref(), weights, what);
}

fn every_remainder_of_the_tiles<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in (0..=70).step_by(sized(1, 13)) {
        for k in [0, 1, 2, 3, 4, 5, 8, 16, 17] {
            for kind in Kind::ALL {
                check(engine, &Problem::feasible(n, k, kind, 0.3, (100 * n + k) as u64), kind);
            }
        }
    }
}

fn dominating_updates<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 2, 3, 5, 16, 49, 70, sized(200, 71)] {
        for k in [1, 2, 8, 33] {
            for scale in [1e2, 1e4, 1e6, 1e8] {
                for seed in 0..4 {
                    let problem = Problem::feasible(n, k, Kind::Up, 0.5, seed).dominated(scale);
                    check(engine, &problem, ("V dominates L", scale, seed));
                }
            }
        }
    }
}

/// 1 − ‖P‖² down to 1e-12, or as close to the unit roundoff in single precision.
fn destroying_downdates<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 2, 3, 5, 16, 49, 70, sized(200, 71)] {
        for k in [1, 2, 8, 33] {
            for kind in [Kind::Down, Kind::Mixed] {
                for gap in [1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12] {
                    if gap > 1e3 * T::U {
                        check(engine, &Problem::feasible(n, k, kind, gap, 5), (kind, "1 − ‖P‖²", gap));
                    }
                }
            }
        }
    }
}

fn graded_rows<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for n in [2, 7, 33, 64, sized(150, 65)] {
        for k in [1, 4, 17] {
            for kind in Kind::ALL {
                let problem = || Problem::<T>::feasible(n, k, kind, 0.1, 6);
                let grade = |at: usize| 10f64.powf(-8.0 * at as f64 / (n - 1) as f64);
                check(engine, &problem().graded(grade), (kind, "falling"));
                check(engine, &problem().graded(|i| grade(n - 1 - i)), (kind, "rising"));
                check(engine, &problem().graded(|i| grade(i * 31 % n)), (kind, "shuffled"));
            }
        }
    }
}

/// The contract does not care for units: rows may be as small or large as their squares allow.
fn scaled_as_a_whole<T: Real, E: Engine<T> + Clone>(engine: &E) {
    // u · x² must not underflow.
    let extremes = if T::U < 1e-10 { [1e-145, 1e145] } else { [1e-14, 1e16] };
    for scale in extremes {
        for kind in Kind::ALL {
            for (n, k) in [(1, 1), (9, 2), (40, 5), (70, 17)] {
                let problem = Problem::feasible(n, k, kind, 0.1, 7).graded(|_| scale);
                check(engine, &problem, (kind, "scaled by", scale));
            }
        }
    }
}

fn general_weights<T: Real, E: Engine<T> + Clone>(engine: &E) {
    for (n, k) in [(1, 1), (5, 9), (33, 4), (64, 16), (70, 3)] {
        for seed in 0..8 {
            let mut problem = Problem::<T>::feasible(n, k, Kind::Mixed, 0.5, seed);
            for (r, weight) in problem.weights.iter_mut().enumerate() {
                // Plus weights of any magnitude, minus weights up to 1, and zeros.
                let magnitude = 10f64.powi((r as i32 * 7 + seed as i32) % 9 - 4);
                let of_sign = if *weight > T::ZERO { magnitude } else { -0.9 / (1.0 + r as f64) };
                *weight = T::of(if r % 5 == 3 { 0.0 } else { of_sign });
            }
            check(engine, &problem, ("weights", seed));
        }
    }
}

#[test]
fn large_orders() {
    fn check_large<T: Real>()
    where
        Cpu: Engine<T>,
    {
        let shapes = [(1000, 300), (1000, 16), (777, 33), (300, 300), (513, 1), (150, 300)];
        for (n, k) in sized(&shapes[..], &[(150, 60), (201, 3)]) {
            for kind in Kind::ALL {
                check(&Cpu::default(), &Problem::<T>::feasible(*n, *k, kind, 1e-3, 8), kind);
            }
        }
    }
    check_large::<f64>();
    check_large::<f32>();
    let beyond_the_caches = Problem::<f64>::feasible(sized(1801, 101), 6, Kind::Down, 1e-3, 8);
    check(&Cpu::default(), &beyond_the_caches, "beyond the caches");
}
