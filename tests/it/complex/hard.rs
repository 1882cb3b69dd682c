//! The accuracy contract on data that is hard for one method or another: what nearly cancels, what leaves almost nothing, and
//! the limits between methods.

use super::oracle::Checks;
use super::problem::{Kind, Problem, contraction, factor, phases, rng, uniform};
use super::scalar::{Complex, is_double, parts};
use crate::support::contract::Observed;
use crate::support::engines::sized;
use crate::support::problem::{Direction, Problem as RealProblem};
use cholupdate::Engine;
use cholupdate::faer::{Mat, c64, mat};

in_both_precisions!(
    mixed_signs_that_nearly_cancel,
    duplicates_of_both_signs,
    repeated_columns,
    weights_that_cancel_but_for_a_rounding,
    a_correction_by_a_nearly_equal_column,
    downdates_that_leave_little_of_a_direction,
    changes_at_the_edge_of_method_c1,
    blocks_at_the_edge_of_being_worked_on_at_once,
    v_that_outgrows_a_column_of_l,
    real_problems_turned_by_phases,
    what_nearly_vanishes_turned_by_phases,
);

/// Orders and pairs of columns of opposite signs.
fn pairs() -> impl Iterator<Item = (usize, usize)> {
    let orders = [1, 2, 3, 8, 9, 33, sized(70, 17)];
    orders.into_iter().flat_map(|n| [1, 2, 3, 8, 17].map(|pairs| (n, pairs)))
}

/// Plus and minus columns that are far larger than their sum.
fn mixed_signs_that_nearly_cancel<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(10.0));
    // As small as this precision of V allows.
    let pivots: &[f64] = if is_double::<T>() { &[1e-1, 1e-3, 1e-5] } else { &[1e-1, 3e-2] };
    for (n, pairs) in pairs() {
        for &pivot in pivots {
            for seed in 0..4 {
                let problem = Problem::<T>::cancelling(n, pairs, pivot, seed);
                checks.check(&problem, ("pairs that cancel, pivots", pivot, seed));
            }
        }
    }
}

/// V twice, up to a million times as large as L. The phases are exact, so that plus and minus cancel.
fn duplicates_of_both_signs<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(10.0));
    let scales: &[f64] = if is_double::<T>() { &[1.0, 1e3, 1e6] } else { &[1.0, 30.0] };
    for (n, pairs) in pairs() {
        for &scale in scales {
            let mut problem = Problem::<T>::feasible(n, 2 * pairs, Kind::Up, 0.5, n as u64).dominated(scale);
            for r in 0..pairs {
                let turn = [c64::new(1.0, 0.0), c64::new(0.0, 1.0), c64::new(-1.0, 0.0)][r % 3];
                (0..n).for_each(|i| {
                    problem.v[(i, pairs + r)] = T::from_c64(problem.v[(i, r)].c64() * turn);
                });
                problem.weights[pairs + r] = T::part(-1.0);
            }
            checks.check(&problem, ("± duplicates", scale));
        }
    }
}

/// One column k times, with phases.
fn repeated_columns<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(10.0));
    for n in [1, 2, 3, 9, 40, 65] {
        for k in [2, 3, 4, 5, 8, 17, 64] {
            for scale in [1e-3, 1.0, 1e4] {
                let mut problem = Problem::<T>::feasible(n, k, Kind::Up, 0.5, 11).dominated(scale);
                let turns = phases(k, &mut rng(k as u64));
                for r in 1..k {
                    (0..n).for_each(|i| {
                        problem.v[(i, r)] = T::from_c64(problem.v[(i, 0)].c64() * turns[r]);
                    });
                }
                checks.check(&problem, ("repeated", scale));
                // As a downdate: together they take away half of one direction.
                let mut p = contraction(n, 1, 0.5, &mut rng(n as u64));
                p.col_mut(0).iter_mut().for_each(|x| *x *= (k as f64).sqrt().recip());
                let l = factor(n, &mut rng(3));
                let v = &l * Mat::from_fn(n, k, |i, r| p[(i, 0)] * turns[r]);
                checks.check(&Problem::<T>::new(&l, &v, &vec![-1.0; k]), "repeated and removed");
            }
        }
    }
}

/// Weights 0.1, 0.2 and −0.3 on one column, many times as large as L.
fn weights_that_cancel_but_for_a_rounding<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(10.0));
    let scales: &[f64] = if is_double::<T>() { &[1.0, 1e3, 1e6] } else { &[1.0, 30.0] };
    for n in [1, 2, 7, 20, 65] {
        for &scale in scales {
            let mut problem = Problem::<T>::feasible(n, 3, Kind::Up, 0.5, n as u64).dominated(scale);
            let column = problem.v.col(0).to_owned();
            (1..3).for_each(|r| problem.v.col_mut(r).copy_from(&column));
            problem.weights = parts::<T>(&[0.1, 0.2, -0.3]);
            checks.check(&problem, ("weights that cancel", scale));
        }
    }
}

/// An observation is removed and replaced by a nearly equal one.
fn a_correction_by_a_nearly_equal_column<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(6.0));
    let small: &[f64] = if is_double::<T>() { &[1e-3, 1e-5] } else { &[5e-2] };
    let (one, zero) = (c64::new(1.0, 0.0), c64::default());
    for &pivot in small {
        let l = mat![[pivot.into(), zero], [zero, one]];
        for turn in phases(8, &mut rng(4)) {
            for weights in [[1.0, -1.0], [-1.0, 1.0]] {
                let v = mat![[one, turn], [one * 0.7, turn * (0.7 + 0.4 * pivot)]];
                checks.check(&Problem::<T>::new(&l, &v, &weights), (pivot, turn, weights));
            }
        }
    }
}

/// 1 − ‖L⁻¹v‖² down to 1e-14 or 1e-5, which is ninety units of rounding.
fn downdates_that_leave_little_of_a_direction<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(20.0));
    let (least, mut tried) = (if is_double::<T>() { 1e-14 } else { 1e-5 }, 0);
    for n in [2, 3, 8, 16, 40] {
        for main in [Some(0), Some(n - 1), None] {
            for seed in 0..sized(30, 10) {
                let left = f64::powf(least, 1.0 - (seed % 10) as f64 / 10.0);
                let problem = Problem::<T>::exhausting(n, left, main, seed);
                // After rounding, some of them are not positive definite.
                if problem.margin().is_some_and(|margin| margin > (n + 1) as f64 * T::ROUNDOFF) {
                    checks.check(&problem, (main, left, seed));
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 40, "{tried}");
}

/// t changes by factors for which method C1 is used and by factors for which it is not.
fn changes_at_the_edge_of_method_c1<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(10.0));
    for n in [2, 5, 16, 40] {
        for k in [1, 2] {
            for step in 0..sized(60, 12) {
                let scale = 10f64.powf(step as f64 / 20.0 - 1.0);
                let problem = Problem::<T>::feasible(n, k, Kind::Up, 0.5, step).dominated(scale);
                checks.check(&problem, ("t grows", scale));
                let problem = Problem::<T>::feasible(n, k, Kind::Down, (1.0 + scale).recip(), step);
                checks.check(&problem, ("t shrinks", scale));
            }
        }
    }
}

/// From negligible diagonal blocks and V to dominating ones.
fn blocks_at_the_edge_of_being_worked_on_at_once<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(12.0));
    for n in [8, 16, 40] {
        for k in [3, 4, 5, 16] {
            for step in 0..sized(40, 8) {
                let scale = 10f64.powf(step as f64 / 15.0 - 1.0);
                let mut rng = rng(step);
                let mut l = factor(n, &mut rng);
                for j in 0..n {
                    (j + 1..n).for_each(|i| l[(i, j)] *= scale.min(3.0));
                }
                let v = &l * contraction(n, k, (1.0 + scale).recip(), &mut rng);
                for kind in Kind::ALL {
                    let problem = Problem::<T>::new(&l, &v, &kind.weights(k));
                    checks.check(&problem, (kind, "D and I − P Pᴴ", scale));
                }
                let v = uniform(n, k, &mut rng) * cholupdate::faer::Scale(c64::from(scale));
                checks.check(&Problem::<T>::new(&l, &v, &vec![1.0; k]), ("V grows", scale));
            }
        }
    }
}

fn v_that_outgrows_a_column_of_l<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(12.0));
    for n in [1, 2, 3, 5, 8, 30, sized(70, 31)] {
        for k in [1, 2, 3, 5, 16] {
            for kind in Kind::ALL {
                for seed in 0..sized(12, 2) {
                    checks.check(&Problem::<T>::outgrowing(n, k, kind, seed), ("outgrown", kind, seed));
                }
            }
        }
    }
}

/// A → D A Dᴴ and V → D V U of the problems of real numbers.
fn real_problems_turned_by_phases<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(12.0));
    let turned = Problem::<T>::turned;
    for n in [1, 2, 3, 7, 30, sized(65, 31)] {
        for k in [1, 2, 3, 5, 16] {
            for kind in Kind::ALL {
                for seed in 0..3 {
                    let real = || RealProblem::<f64>::feasible(n, k, kind, 1e-3, seed);
                    checks.check(&turned(&real(), seed), (kind, seed));
                    let grade = |i: usize| 10f64.powf(-6.0 * i as f64 / n as f64);
                    checks.check(&turned(&real().graded(grade), seed), (kind, "graded", seed));
                    if kind == Kind::Up {
                        checks.check(&turned(&real().dominated(1e5), seed), ("V dominates L", seed));
                    }
                    let outgrown = RealProblem::outgrowing(n, k, kind, seed);
                    checks.check(&turned(&outgrown, seed), ("outgrown", kind, seed));
                }
            }
            let pivot = if is_double::<T>() { 1e-4 } else { 5e-2 };
            checks.check(&turned(&RealProblem::cancelling(n, k, pivot, 1), 2), "pairs that cancel");
        }
    }
    for n in [64, sized(128, 65)] {
        for (k, ratios) in [(4, [0.6_f64, 0.3, 0.1]), (16, [0.75, 0.6, 0.5])] {
            for ratio in ratios {
                if ratio.powi(k as i32) > 1e3 * T::ROUNDOFF {
                    let parallel = RealProblem::parallel(n, k, ratio, 5);
                    checks.check(&turned(&parallel, 6), ("columns that fall by", ratio));
                }
            }
        }
    }
}

/// Downdates with little more left than (n + k) u, for the numbers as they are rounded.
fn what_nearly_vanishes_turned_by_phases<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(20.0));
    let mut tried = 0;
    let mut check = |problem: &Problem<T>, what: (usize, u64)| {
        let (n, k) = problem.v.shape();
        if problem.margin().is_some_and(|margin| margin > (n + k) as f64 * T::ROUNDOFF) {
            checks.check(problem, what);
            tried += 1;
        }
    };
    for n in [1, 2, 5, 16, 40] {
        for k in [1, 2, 4, 18] {
            for seed in 0..sized(20, 4) {
                let left = (n + k) as f64 * T::ROUNDOFF * (1.0 + (seed % 20) as f64);
                check(&Problem::turned(&RealProblem::at_the_edge(n, k, left, seed), seed), (k, seed));
            }
        }
        for direction in Direction::ALL {
            for seed in 0..sized(20, 4) {
                let left = (n + 1) as f64 * T::ROUNDOFF * (2.0 + (seed % 20) as f64);
                check(&Problem::turned(&RealProblem::exhausting(n, left, direction, seed), seed), (1, seed));
            }
        }
    }
    assert!(tried > 20, "{tried}");
}
