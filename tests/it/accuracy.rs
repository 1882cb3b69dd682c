//! The accuracy contract, row by row: small and large orders, every remainder of the tiles, all signs.

use crate::support::contract::Observed;
use crate::support::engines::{self, sized, steps};
use crate::support::problem::{self, Direction, Kind, Problem};
use crate::support::real::Real;
use cholupdate::faer::mat;
use cholupdate::{Cpu, Engine};
use std::fmt::Debug;

on_every_arithmetic!(
    every_remainder_of_the_tiles,
    dominating_updates,
    destroying_downdates,
    graded_rows,
    scaled_as_a_whole,
    general_weights,
    mixed_signs_that_nearly_cancel,
    duplicates_of_both_signs,
    weights_that_cancel_but_for_a_rounding,
    a_correction_by_a_nearly_equal_column,
    downdates_that_leave_little_of_a_direction,
    changes_at_the_edge_of_method_c1,
    blocks_at_the_edge_of_being_worked_on_at_once,
    v_that_outgrows_a_column_of_l,
    whatever_has_a_margin_is_not_refused,
    downdates_by_nearly_parallel_columns,
);

/// Problems for an engine, and their recorded errors.
struct Checks<'a, E>(&'a E, Observed);

impl<E> Checks<'_, E> {
    #[track_caller]
    fn check<T: Real>(&mut self, problem: &Problem<T>, what: impl Debug)
    where
        E: Engine<T> + Clone,
    {
        let Self(engine, observed) = self;
        let (new, _) = problem.modified(*engine).unwrap_or_else(|error| {
            panic!("{what:?}, n = {}, k = {}: {error}", problem.l.nrows(), problem.v.ncols());
        });
        observed.check(new.as_ref(), problem, what);
    }
}

fn every_remainder_of_the_tiles<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(5.3));
    // On the resident engine's fake device a third of the ranks with each order, so that orders with the same remainder have all.
    let share = if steps::<E>(100) == 1 { 3 } else { 1 };
    for n in (0..=70).step_by(sized(1, 13)) {
        let ranks = [0, 1, 2, 3, 4, 5, 8, 16, 17].into_iter().skip(n % share).step_by(share);
        for k in ranks {
            for kind in Kind::ALL {
                checks.check(&Problem::feasible(n, k, kind, 0.3, (100 * n + k) as u64), kind);
            }
        }
    }
}

fn dominating_updates<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(10.3));
    for n in [1, 2, 3, 5, 16, 49, 70, sized(200, 71)] {
        for k in [1, 2, 8, 33] {
            for scale in [1e2, 1e4, 1e6, 1e8] {
                for seed in 0..steps::<E>(400).div_ceil(100) as u64 {
                    let problem = Problem::feasible(n, k, Kind::Up, 0.5, seed).dominated(scale);
                    checks.check(&problem, ("V dominates L", scale, seed));
                }
            }
        }
    }
}

/// 1 − ‖P‖² down to 1e-12, or as close to the unit roundoff in single precision.
fn destroying_downdates<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(4.9));
    for n in [1, 2, 3, 5, 16, 49, 70, sized(200, 71)] {
        for k in [1, 2, 8, 33] {
            for kind in [Kind::Down, Kind::Mixed] {
                for gap in [1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12] {
                    if gap > 1e3 * T::U {
                        checks.check(&Problem::feasible(n, k, kind, gap, 5), (kind, "1 − ‖P‖²", gap));
                    }
                }
            }
        }
    }
}

fn graded_rows<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(4.7));
    for n in [2, 7, 33, 64, sized(150, 65)] {
        for k in [1, 4, 17] {
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
fn scaled_as_a_whole<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(5.2));
    // u · x² must not underflow.
    let extremes = if T::U < 1e-10 { [1e-145, 1e145] } else { [1e-14, 1e16] };
    for scale in extremes {
        for kind in Kind::ALL {
            for (n, k) in [(1, 1), (9, 2), (40, 5), (70, 17)] {
                let problem = Problem::feasible(n, k, kind, 0.1, 7).graded(|_| scale);
                checks.check(&problem, (kind, "scaled by", scale));
            }
        }
    }
}

fn general_weights<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(9.9));
    for (n, k) in [(1, 1), (5, 9), (33, 4), (64, 16), (70, 3)] {
        for seed in 0..8 {
            let mut problem = Problem::<T>::feasible(n, k, Kind::Mixed, 0.5, seed);
            for (r, weight) in problem.weights.iter_mut().enumerate() {
                // Plus weights of any magnitude, minus weights up to 1, and zeros.
                let magnitude = 10f64.powi((r as i32 * 7 + seed as i32) % 9 - 4);
                let of_sign = if *weight > T::ZERO { magnitude } else { -0.9 / (1.0 + r as f64) };
                *weight = T::of(if r % 5 == 3 { 0.0 } else { of_sign });
            }
            checks.check(&problem, ("weights", seed));
        }
    }
}

/// Orders and pairs of columns of opposite signs.
fn pairs() -> impl Iterator<Item = (usize, usize)> {
    let orders = [1, 2, 3, 8, 9, 33, sized(70, 17)];
    orders.into_iter().flat_map(|n| [1, 2, 3, 8, 17].map(|pairs| (n, pairs)))
}

/// Plus and minus columns that are far larger than their sum.
fn mixed_signs_that_nearly_cancel<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(6.2));
    // As small as this precision of V allows.
    let pivots: &[f64] = if T::U < 1e-10 { &[1e-1, 1e-3, 1e-5] } else { &[1e-1, 3e-2] };
    for (n, pairs) in pairs() {
        for &pivot in pivots {
            for seed in 0..engines::steps::<E>(20).max(1) as u64 {
                let problem = Problem::cancelling(n, pairs, pivot, seed);
                checks.check(&problem, ("pairs that cancel, pivots", pivot, seed));
            }
        }
    }
}

/// V twice, up to a million times as large as L.
fn duplicates_of_both_signs<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(5.6));
    let scales: &[f64] = if T::U < 1e-10 { &[1.0, 1e3, 1e6] } else { &[1.0, 30.0] };
    for (n, pairs) in pairs() {
        for &scale in scales {
            let mut problem = Problem::<T>::feasible(n, 2 * pairs, Kind::Up, 0.5, n as u64).dominated(scale);
            for r in 0..pairs {
                let column = problem.v.col(r).to_owned();
                problem.v.col_mut(pairs + r).copy_from(column);
                problem.weights[pairs + r] = -T::ONE;
            }
            checks.check(&problem, ("± duplicates", scale));
        }
    }
}

/// Weights 0.1, 0.2 and −0.3 on one column, many times as large as L.
fn weights_that_cancel_but_for_a_rounding<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(6.0));
    let scales: &[f64] = if T::U < 1e-10 { &[1.0, 1e3, 1e6] } else { &[1.0, 30.0] };
    for n in [1, 2, 7, 20, 65] {
        for &scale in scales {
            let mut problem = Problem::<T>::feasible(n, 3, Kind::Up, 0.5, n as u64).dominated(scale);
            let column = problem.v.col(0).to_owned();
            (1..3).for_each(|r| problem.v.col_mut(r).copy_from(&column));
            problem.weights = [0.1, 0.2, -0.3].map(T::of).to_vec();
            checks.check(&problem, ("weights that cancel", scale));
        }
    }
}

/// An observation is removed and replaced by a nearly equal one.
fn a_correction_by_a_nearly_equal_column<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(2.0));
    let small: &[f64] = if T::U < 1e-10 { &[1e-3, 1e-5] } else { &[5e-2] };
    for &pivot in small {
        let l = mat![[pivot, 0.0], [0.0, 1.0]];
        for (first, second) in [([1.0, 1.0], [0.7, 0.7 + 0.4 * pivot]), ([1.0, 1.0], [0.7, 0.7])] {
            for weights in [[1.0, -1.0], [-1.0, 1.0]] {
                let v = mat![[first[0], first[1]], [second[0], second[1]]];
                checks.check(&Problem::new(&l, &v, &weights), (pivot, second, weights));
            }
        }
    }
}

/// 1 − ‖L⁻¹v‖² down to 1e-14 or 1e-5, which is ninety units of rounding.
fn downdates_that_leave_little_of_a_direction<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(14.1));
    let (least, mut tried) = (if T::U < 1e-10 { 1e-14 } else { 1e-5 }, 0);
    for n in [2, 3, 8, 16, 40, sized(130, 41)] {
        for direction in Direction::ALL {
            for seed in 0..engines::steps::<E>(100).max(4) as u64 {
                let left = f64::powf(least, 1.0 - (seed % 10) as f64 / 10.0);
                let problem = Problem::<T>::exhausting(n, left, direction, seed);
                // After rounding, some of them are not positive definite.
                if problem.margin().is_some_and(|margin| margin > (n + 1) as f64 * T::U) {
                    checks.check(&problem, (direction, left, seed));
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 40, "{tried}");
    if T::U < 1e-10 {
        let (l, v) = (mat![[1.1, 0.0], [0.7, 0.8]], mat![[1.09999999999999], [0.699999995]]);
        checks.check(&Problem::new(&l, &v, &[-1.0]), "1.1");
    } else {
        let (l, v) = (mat![[1.1, 0.0], [0.6, 0.8]], mat![[1.099999], [0.599512]]);
        checks.check(&Problem::new(&l, &v, &[-1.0]), "1.1");
    }
}

/// t changes by factors for which method C1 is used and by factors for which it is not.
fn changes_at_the_edge_of_method_c1<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(5.2));
    let l = mat![[0.1660898609493447, 0.0], [2.1890376931564317, 1.4170201755057001]];
    let v = mat![[-1.4971107986292942], [-1.7635303900380488]];
    checks.check(&Problem::new(&l, &v, &[1.0]), "growth 81");
    for n in [2, 5, 16, 40, sized(130, 41)] {
        for step in 0..engines::steps::<E>(60).max(3) {
            let scale = 10f64.powf(step as f64 / 20.0 - 1.0);
            let problem = Problem::feasible(n, 1, Kind::Up, 0.5, step as u64).dominated(scale);
            checks.check(&problem, ("t grows", scale));
            let problem = Problem::feasible(n, 1, Kind::Down, (1.0 + scale).recip(), step as u64);
            checks.check(&problem, ("t shrinks", scale));
        }
    }
}

/// From negligible diagonal blocks and V to dominating ones.
fn blocks_at_the_edge_of_being_worked_on_at_once<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(7.6));
    for n in [8, 16, 40, sized(130, 41)] {
        for k in [3, 4, 5, 16] {
            for step in 0..engines::steps::<E>(40).max(3) {
                let (scale, seed) = (10f64.powf(step as f64 / 15.0 - 1.0), step as u64);
                let problem = Problem::feasible(n, k, Kind::Up, 0.5, seed).dominated(scale);
                checks.check(&problem, ("V grows", scale));
                let mut rng = problem::rng(seed);
                let mut l = problem::factor(n, &mut rng);
                for j in 0..n {
                    for i in j + 1..n {
                        l[(i, j)] *= scale.min(3.0);
                    }
                }
                let v = &l * problem::contraction(n, k, (1.0 + scale).recip(), &mut rng);
                for kind in Kind::ALL {
                    checks.check(&Problem::new(&l, &v, &kind.weights(k)), (kind, "D and I - P Pᵀ", scale));
                }
            }
        }
    }
}

fn v_that_outgrows_a_column_of_l<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(6.2));
    for n in [1, 2, 3, 5, 8, 30, sized(70, 31)] {
        for k in [1, 2, 3, 5, 16] {
            for kind in Kind::ALL {
                for seed in 0..engines::steps::<E>(100).max(2) as u64 {
                    checks.check(&Problem::outgrowing(n, k, kind, seed), ("outgrown", kind, seed));
                }
            }
        }
    }
}

/// A + V₊ V₊ᵀ − v vᵀ is positive definite, by more than (n + k) u of A + V₊ V₊ᵀ.
fn whatever_has_a_margin_is_not_refused<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(6.4));
    let mut tried = 0;
    for n in [1, 2, 5, 16, 40] {
        for k in [1, 2, 4, 18] {
            for seed in 0..engines::steps::<E>(100).max(4) as u64 {
                let left = (n + k) as f64 * T::U * (1.0 + (seed % 20) as f64);
                let problem = Problem::<T>::at_the_edge(n, k, left, seed);
                if problem.margin().is_some_and(|margin| margin > (n + k) as f64 * T::U) {
                    checks.check(&problem, ("left", left, seed));
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 20, "{tried}");
}

#[test]
#[ignore = "takes half a minute on two cores: run by CI"]
fn large_orders() {
    fn check_large<T: Real>()
    where
        Cpu: Engine<T>,
    {
        let cpu = Cpu::default();
        let mut checks = Checks(&cpu, Observed::recorded(5.6));
        let shapes =
            [(1000, 300), (1000, 16), (777, 33), (300, 300), (513, 1), (270, 3), (500, 4), (150, 300)];
        for (n, k) in sized(&shapes[..], &[(150, 60), (201, 3)]) {
            for kind in Kind::ALL {
                checks.check(&Problem::<T>::feasible(*n, *k, kind, 1e-3, 8), kind);
            }
        }
    }
    check_large::<f64>();
    check_large::<f32>();
    let beyond_the_caches = Problem::<f64>::feasible(sized(1801, 101), 6, Kind::Down, 1e-3, 8);
    let cpu = Cpu::default();
    Checks(&cpu, Observed::recorded(2.0)).check(&beyond_the_caches, "beyond the caches");
}

/// Each column leaves much of the direction, all together leave almost nothing: limits on each column alone do not suffice.
fn downdates_by_nearly_parallel_columns<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let mut checks = Checks(engine, Observed::recorded(3.5));
    for n in [64, 128, 200] {
        for (k, ratios) in [(4, [0.6_f64, 0.3, 0.1]), (16, [0.75, 0.6, 0.5])] {
            for ratio in ratios {
                // In single precision, as long as more than a rounding is left.
                if ratio.powi(k as i32) > 1e3 * T::U {
                    checks.check(&Problem::parallel(n, k, ratio, 5), ("columns that fall by", ratio));
                }
            }
        }
    }
}
