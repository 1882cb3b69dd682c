//! Derivatives of a modification against those through a fresh factorization in fx128.
//!
//! With s_i = √M_ii, M = L Lᵀ + V diag|w| Vᵀ, and L' the exact factor, rounded, the bound is
//!
//! ```text
//! max s_i |ΔL̄_ij| ≤ c max(n + k, 12) u max s_i |L̄_ij|       the same for V̄ s_i, and for dL'_ij / s_i
//! |Δw̄_c| ≤ c max(n + k, 12) u Σ |V_ic Q_ic| / 2,   Q = 2 Ā' V
//! ```

use super::reference::Exact;
use super::{Along, dual, inner, triangle};
use crate::support::problem::{Kind, Problem, rng};
use crate::support::real::Real;
use cholupdate::faer::Mat;
use cholupdate::gradient::{Cotangents, modify_jvp, modify_vjp};
use core::cell::Cell;

/// Computes both modes of a problem: with L', the cotangent of L' and tangents, the cotangents and the tangent of L'.
pub trait Modes<T> {
    fn both(
        &self,
        problem: &Problem<T>,
        new: &Mat<T>,
        bar: &Mat<T>,
        along: &Along<T>,
    ) -> (Cotangents<T>, Mat<T>);

    /// Some of all cases, if not all, which another number chooses.
    fn takes(&self, _case: usize) -> bool {
        true
    }
}

/// On the CPU.
struct OnCpu;

impl<T: Real> Modes<T> for OnCpu {
    fn both(
        &self,
        problem: &Problem<T>,
        new: &Mat<T>,
        bar: &Mat<T>,
        along: &Along<T>,
    ) -> (Cotangents<T>, Mat<T>) {
        let Problem { l, v, weights } = problem;
        let pulled = modify_vjp(l, new, v, weights, bar).unwrap();
        (pulled, modify_jvp(l, new, v, weights, &along.tangents()).unwrap())
    }
}

/// max s_i |Δ_ij| over max s_i |x_ij|.
pub fn distance<T: Real>(found: &Mat<T>, exact: &Mat<f64>, scale: impl Fn(usize) -> f64) -> f64 {
    let (mut error, mut largest) = (0.0f64, 0.0f64);
    for j in 0..exact.ncols() {
        for i in 0..exact.nrows() {
            let difference = (found[(i, j)].f64() - exact[(i, j)]).abs() * scale(i);
            // A NaN is kept.
            error = if difference <= error { error } else { difference };
            largest = largest.max(exact[(i, j)].abs() * scale(i));
        }
    }
    if error == 0.0 { 0.0 } else { error / largest }
}

/// The largest errors of L̄, V̄, w̄ and dL', in units of max(n + k, 12) u.
fn errors<T: Real>(modes: &impl Modes<T>, problem: &Problem<T>, seed: u64) -> [f64; 4] {
    let (n, k) = problem.v.shape();
    let mut rng = rng(seed);
    let exact = Exact::new(problem).expect("positive definite");
    let (new, scales) = (exact.factor::<T>(), exact.scales());
    let along = Along::<T>::new(n, k, &mut rng);
    let bar = triangle::<T>(n, &mut rng);
    // As the scales of the rows are.
    let by_rows = |a: &Mat<T>, power: i32| {
        Mat::from_fn(a.nrows(), a.ncols(), |i, j| T::of(a[(i, j)].f64() * scales[i].powi(power)))
    };
    let bar = by_rows(&bar, -1);
    let along = Along { l: by_rows(&along.l, 1), v: by_rows(&along.v, 1), weights: along.weights };
    let (pulled, pushed) = modes.both(problem, &new, &bar, &along);
    let ((expected, q), tangent) = (exact.pull(bar.as_ref()), exact.push(&along.tangents()));
    let mut of_weights = 0.0f64;
    for c in 0..k {
        let all: f64 = (0..n).map(|i| 0.5 * (problem.v[(i, c)].f64() * q[(i, c)]).abs()).sum();
        of_weights = of_weights.max((pulled.weights[c].f64() - expected.weights[c]).abs() / all);
    }
    let unit = (n + k).max(12) as f64 * T::U;
    [
        distance(&pulled.l, &expected.l, |i| scales[i]),
        distance(&pulled.v, &expected.v, |i| scales[i]),
        of_weights,
        distance(&pushed, &tangent, |i| 1.0 / scales[i]),
    ]
    .map(|error| error / unit)
}

pub const SHAPES: [(usize, usize); 12] =
    [(1, 1), (1, 3), (2, 1), (5, 20), (7, 2), (31, 1), (32, 4), (33, 3), (40, 8), (60, 1), (60, 4), (60, 20)];

/// Holds problems of all shapes to `limit`.
struct Held<'a, M> {
    modes: &'a M,
    shapes: &'a [(usize, usize)],
    cases: Cell<usize>,
}

impl<M> Held<'_, M> {
    fn hold<T: Real>(&self, name: &str, limit: f64, problem: impl Fn(usize, usize, u64) -> Problem<T>)
    where
        M: Modes<T>,
    {
        let mut worst = [0.0f64; 4];
        for &(n, k) in self.shapes {
            for seed in 0..3 {
                self.cases.set(self.cases.get() + 1);
                if !self.modes.takes(self.cases.get()) {
                    continue;
                }
                let found = errors(self.modes, &problem(n, k, seed), seed);
                for (worst, found) in worst.iter_mut().zip(found) {
                    assert!(found <= limit, "{name}, {n} × {k}, seed {seed}: {found:.2} of {limit}");
                    *worst = worst.max(found);
                }
            }
        }
        let [l, v, w, tangent] = worst;
        println!("{name}: L {l:.2}, V {v:.2}, w {w:.2}, tangent {tangent:.2}");
    }
}

/// Holds all kinds of problems to their limits.
pub fn all<T: Real>(modes: &impl Modes<T>, shapes: &[(usize, usize)]) {
    let held = Held { modes, shapes, cases: Cell::new(0) };
    for kind in Kind::ALL {
        held.hold::<T>(&format!("{kind:?}"), 2.0, |n, k, seed| Problem::feasible(n, k, kind, 0.3, seed));
        for (name, up) in [("down", false), ("up", true)] {
            held.hold::<T>(&format!("{kind:?}, graded {name}"), 2.0, |n, k, seed| {
                let at = move |i: usize| if up { n - i } else { i } as f64 / n as f64;
                Problem::feasible(n, k, kind, 0.3, seed).graded(move |i| 10f64.powf(-5.0 * at(i)))
            });
        }
    }
    for scale in [10.0, 1e3, 1e5] {
        held.hold::<T>(&format!("V times {scale}"), 4.0, |n, k, seed| {
            Problem::feasible(n, k, Kind::Up, 0.3, seed).dominated(scale)
        });
    }
    held.hold::<T>("outgrowing", 2.0, |n, k, seed| Problem::outgrowing(n, k, Kind::Up, seed));
    for gap in [1e-2f64, 1e-4] {
        // L', which is given, is rounded, and its smallest pivot is √gap of the old one.
        held.hold::<T>(&format!("down to {gap}"), 0.3 / gap.sqrt(), |n, k, seed| {
            Problem::feasible(n, k, Kind::Down, gap, seed)
        });
    }
    held.hold::<T>("weights", 2.0, |n, k, seed| {
        let mut problem = Problem::<T>::feasible(n, k, Kind::Mixed, 0.3, seed);
        for (c, w) in problem.weights.iter_mut().enumerate() {
            let size = if *w > T::ZERO { 3.0 } else { 0.3 };
            *w = T::of(w.f64() * size * [1.0, 0.01, 1e-3][c / 2 % 3]);
        }
        problem
    });
    held.hold::<T>("weights of zero", 2.0, |n, k, seed| {
        let mut problem = Problem::<T>::feasible(n, k, Kind::Mixed, 0.3, seed);
        problem.weights.iter_mut().step_by(3).for_each(|w| *w = T::ZERO);
        problem
    });
    held.hold::<T>("weights of zero beside large V", 4.0, |n, k, seed| {
        let mut problem = Problem::<T>::feasible(n, k, Kind::Up, 0.3, seed).dominated(100.0);
        problem.weights.iter_mut().step_by(2).for_each(|w| *w = T::ZERO);
        problem
    });
}

#[test]
fn derivatives_are_those_through_a_factorization_f64() {
    all::<f64>(&OnCpu, &SHAPES);
}

#[test]
fn derivatives_are_those_through_a_factorization_f32() {
    all::<f32>(&OnCpu, &SHAPES);
}

/// Plus and minus that nearly cancel: what the factor in between loses is lost here as well.
#[test]
fn signs_that_cancel() {
    for (pairs, seed) in [(1, 0), (2, 1), (4, 2)] {
        let problem = Problem::<f64>::cancelling(30, pairs, 0.1, seed);
        let found = errors(&OnCpu, &problem, seed);
        println!("{pairs} pairs: {found:.1?}");
        assert!(found.iter().all(|&error| error < 50.0), "{found:?}");
    }
}

/// Larger than a group of rows, where the reference would take too long: reverse and forward mode are adjoint.
#[test]
fn reverse_and_forward_mode_are_adjoint() {
    for (n, k) in [(300, 1), (517, 5), (530, 40)] {
        for kind in Kind::ALL {
            let problem = Problem::<f64>::feasible(n, k, kind, 0.3, 5);
            let (new, _) = problem.modified(&cholupdate::Cpu::default()).unwrap();
            let mut rng = rng(9);
            let (along, bar) = (Along::<f64>::new(n, k, &mut rng), triangle::<f64>(n, &mut rng));
            let pulled = modify_vjp(&problem.l, &new, &problem.v, &problem.weights, &bar).unwrap();
            let pushed =
                modify_jvp(&problem.l, &new, &problem.v, &problem.weights, &along.tangents()).unwrap();
            let (one, (other, all)) =
                (inner(bar.as_ref(), pushed.as_ref(), true), dual(&pulled, &along.tangents()));
            let error = (one.0 - other).abs() / (one.1 + all);
            assert!(error < 1e-15 * ((n + k) as f64).sqrt(), "{n} × {k}, {kind:?}: {error:.1e}");
        }
    }
}
