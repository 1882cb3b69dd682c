//! The accuracy contract, row by row: small and large orders, every remainder of the tiles, all signs and scales.

use super::oracle::Checks;
use super::problem::{Kind, Problem};
use super::scalar::{Complex, bits, is_double};
use crate::support::contract::Observed;
use crate::support::engines::sized;
use cholupdate::faer::{c32, c64};
use cholupdate::{Cpu, Engine};

in_both_precisions!(
    every_remainder_of_the_tiles,
    large_orders,
    dominating_updates,
    destroying_downdates,
    graded_rows,
    scaled_as_a_whole,
    general_weights,
    staircases,
);

fn every_remainder_of_the_tiles<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(8.0));
    for n in (0..=70).step_by(sized(1, 13)) {
        for k in [0, 1, 2, 3, 4, 5, 8, 17, 64] {
            // All ranks up to order 17, then one in three.
            if n <= 17 || (n + k) % 3 == 0 {
                for kind in Kind::ALL {
                    checks.check(&Problem::<T>::feasible(n, k, kind, 0.3, (100 * n + k) as u64), kind);
                }
            }
        }
    }
}

fn large_orders<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(8.0));
    let shapes = [(101, 64), (127, 5), (150, 17), (161, 1), (200, 2), (199, 3), (199, 8), (133, 150)];
    for (n, k) in sized(&shapes[..], &shapes[..2]) {
        for kind in Kind::ALL {
            checks.check(&Problem::<T>::feasible(*n, *k, kind, 0.3, (n + k) as u64), kind);
        }
    }
}

fn dominating_updates<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(12.0));
    for n in [1, 2, 3, 5, 16, 49, sized(131, 71)] {
        for k in [1, 2, 3, 8, 33] {
            for scale in [1e2, 1e4, 1e6, 1e8] {
                let problem = Problem::<T>::feasible(n, k, Kind::Up, 0.5, n as u64).dominated(scale);
                checks.check(&problem, ("V dominates L", scale));
            }
        }
    }
}

/// 1 − ‖P‖² down to 1e-12, or as close to the unit roundoff in single precision.
fn destroying_downdates<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(8.0));
    for n in [1, 2, 3, 5, 16, 49, sized(131, 71)] {
        for k in [1, 2, 3, 8, 33] {
            for kind in [Kind::Down, Kind::Mixed] {
                for gap in [1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12] {
                    if gap > 1e3 * T::ROUNDOFF {
                        checks.check(&Problem::<T>::feasible(n, k, kind, gap, 5), (kind, "1 − ‖P‖²", gap));
                    }
                }
            }
        }
    }
}

fn graded_rows<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(8.0));
    for n in [2, 7, 33, sized(101, 65)] {
        for k in [1, 2, 4, 17] {
            for kind in Kind::ALL {
                let problem = || Problem::<T>::feasible(n, k, kind, 0.1, 6);
                let grade = |at: usize| 10f64.powf(-8.0 * at as f64 / (n - 1) as f64);
                checks.check(&problem().graded(grade), (kind, "falling"));
                checks.check(&problem().graded(|i| grade(n - 1 - i)), (kind, "rising"));
                checks.check(&problem().graded(|i| grade(i * 31 % n)), (kind, "shuffled"));
            }
        }
    }
}

/// The contract is independent of units: rows may be as small or large as their squares allow.
fn scaled_as_a_whole<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(8.0));
    // u · x² must not underflow.
    let extremes = if is_double::<T>() { [1e-145, 1e145] } else { [1e-14, 1e16] };
    for scale in extremes {
        for kind in Kind::ALL {
            for (n, k) in [(1, 1), (9, 2), (9, 3), (40, 5), (70, 17)] {
                let problem = Problem::<T>::feasible(n, k, kind, 0.1, 7).graded(|_| scale);
                checks.check(&problem, (kind, "scaled by", scale));
            }
        }
    }
}

fn general_weights<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(12.0));
    for (n, k) in [(1, 1), (5, 9), (33, 4), (64, 16), (70, 3)] {
        for seed in 0..8 {
            let mut problem = Problem::<T>::feasible(n, k, Kind::Mixed, 0.5, seed);
            for (r, weight) in problem.weights.iter_mut().enumerate() {
                // Plus weights of any magnitude, minus weights up to 1, and zeros.
                let magnitude = 10f64.powi((r as i32 * 7 + seed as i32) % 9 - 4);
                let of_sign = if r % 2 == 0 { magnitude } else { -0.9 / (1.0 + r as f64) };
                *weight = T::part(if r % 5 == 3 { 0.0 } else { of_sign });
            }
            checks.check(&problem, ("weights", seed));
        }
    }
}

/// Column r of V starts in row r, or all columns start in a later row.
fn staircases<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(8.0));
    for (n, k) in [(3, 2), (9, 9), (40, 5), (70, 33)] {
        for scale in [0.1, 1.0, 1e3] {
            let problem = || Problem::<T>::feasible(n, k, Kind::Up, 0.5, 8).dominated(scale);
            let mut stairs = problem();
            (0..k).for_each(|r| (0..r).for_each(|i| stairs.v[(i, r)] = T::ZERO));
            checks.check(&stairs, ("a staircase", scale));
            let mut late = problem();
            (0..k).for_each(|r| (0..n / 2).for_each(|i| late.v[(i, r)] = T::ZERO));
            checks.check(&late, ("leading zeros", scale));
        }
    }
}

/// A result has the same bits for any number of threads.
#[test]
fn many_threads_make_the_same_bits() {
    fn check<T: Complex>()
    where
        Cpu: Engine<T>,
    {
        for (n, k) in sized(&[(33, 3), (300, 17), (700, 1), (700, 2), (700, 40)][..], &[(33, 3), (150, 9)]) {
            for kind in Kind::ALL {
                let problem = Problem::<T>::feasible(*n, *k, kind, 0.3, 9);
                let made = [Cpu::sequential(), Cpu::threads(2), Cpu::threads(8)].map(|cpu| {
                    let (new, report) = problem.modified(&cpu).unwrap();
                    (bits(new.as_ref()), report)
                });
                assert!(made[0] == made[1] && made[0] == made[2], "n = {n}, k = {k}, {kind:?}");
            }
        }
    }
    check::<c64>();
    check::<c32>();
}
