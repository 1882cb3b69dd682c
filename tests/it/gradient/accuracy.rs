//! Derivatives of a modification against those through a fresh factorization in fx128.
//!
//! With s_i = √M_ii, M = L Lᵀ + V diag|w| Vᵀ, and L' the exact factor, rounded, the bound is
//!
//! ```text
//! max s_i |ΔL̄_ij| ≤ c max(n + k, 12) u max s_i |L̄_ij|       the same for V̄ s_i, and for dL'_ij / s_i
//! |Δw̄_c| ≤ c max(n + k, 12) u Σ_i |V_ic| q_ic / 2,   q_ic the larger of |Σ_j 2 Ā'_ij V_jc| and √Σ_j (2 Ā'_ij V_jc)²
//! ```
//!
//! where what stands on the right is the largest of some cotangents of L', or tangents, of the same magnitudes: a derivative along one of
//! them may be as small as one likes, and is then the difference of far larger numbers, whose rounding it has.

use super::reference::Exact;
use super::{Along, dual, inner, triangle};
use crate::support::problem::{Direction, Kind, Problem, rng};
use crate::support::real::Real;
use cholupdate::faer::Mat;
use cholupdate::gradient::{Cotangents, modify_jvp, modify_vjp};
use core::cell::Cell;
use rand::rngs::StdRng;

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

/// The larger, or NaN.
fn larger(x: f64, y: f64) -> f64 {
    if x.is_nan() || y <= x { x } else { y }
}

/// max s_i |x_ij|.
pub fn largest(a: &Mat<f64>, scale: impl Fn(usize) -> f64) -> f64 {
    let entries = a.col_iter().flat_map(|column| column.iter().enumerate());
    entries.map(|(i, x)| x.abs() * scale(i)).fold(0.0, larger)
}

/// max s_i |Δ_ij|.
pub fn difference<T: Real>(found: &Mat<T>, exact: &Mat<f64>, scale: impl Fn(usize) -> f64) -> f64 {
    largest(&Mat::from_fn(exact.nrows(), exact.ncols(), |i, j| found[(i, j)].f64() - exact[(i, j)]), scale)
}

pub fn ratio(error: f64, size: f64) -> f64 {
    if error == 0.0 { 0.0 } else { error / size }
}

/// Tangents, and a cotangent of L', of magnitudes that are those of the rows of L', or one over them.
fn directions<T: Real>(shape: (usize, usize), scales: &[f64], rng: &mut StdRng) -> (Along<T>, Mat<T>) {
    let by_rows = |a: &Mat<T>, power: i32| {
        Mat::from_fn(a.nrows(), a.ncols(), |i, j| T::of(a[(i, j)].f64() * scales[i].powi(power)))
    };
    let Along { l, v, weights } = Along::<T>::new(shape.0, shape.1, rng);
    let along = Along { l: by_rows(&l, 1), v: by_rows(&v, 1), weights };
    (along, by_rows(&triangle::<T>(shape.0, rng), -1))
}

/// The cotangents and tangents whose derivatives errors are relative to: the ones under test and two more.
const DIRECTIONS: usize = 3;

/// The largest errors of L̄, V̄, w̄ and dL', in units of max(n + k, 12) u.
fn errors<T: Real>(modes: &impl Modes<T>, problem: &Problem<T>, seed: u64) -> [f64; 4] {
    let (n, k) = problem.v.shape();
    let mut rng = rng(seed);
    let exact = Exact::new(problem).expect("positive definite");
    let scales = exact.scales();
    let (up, down) = (|i: usize| scales[i], |i: usize| 1.0 / scales[i]);
    let (mut sizes, mut of_weights) = ([0.0f64; 3], vec![0.0f64; k]);
    let mut derivatives = |along: &Along<T>, bar: &Mat<T>| {
        let ((pulled, terms), pushed) = (exact.pull(bar.as_ref()), exact.push(&along.tangents()));
        let found = [largest(&pulled.l, up), largest(&pulled.v, up), largest(&pushed, down)];
        sizes.iter_mut().zip(found).for_each(|(size, found)| *size = larger(*size, found));
        of_weights.iter_mut().zip(terms).for_each(|(size, terms)| *size = larger(*size, terms));
        (pulled, pushed)
    };
    let (along, bar) = directions((n, k), &scales, &mut rng);
    let (expected, tangent) = derivatives(&along, &bar);
    for _ in 1..DIRECTIONS {
        let (along, bar) = directions((n, k), &scales, &mut rng);
        derivatives(&along, &bar);
    }
    let (pulled, pushed) = modes.both(problem, &exact.factor::<T>(), &bar, &along);
    let weights = pulled.weights.iter().zip(&expected.weights).zip(of_weights);
    [
        ratio(difference(&pulled.l, &expected.l, up), sizes[0]),
        ratio(difference(&pulled.v, &expected.v, up), sizes[1]),
        weights.map(|((w, exact), size)| ratio((w.f64() - exact).abs(), size)).fold(0.0, larger),
        ratio(difference(&pushed, &tangent, down), sizes[2]),
    ]
    .map(|error| error / ((n + k).max(12) as f64 * T::U))
}

/// Some with k far above n.
pub const SHAPES: [(usize, usize); 15] = [
    (1, 1),
    (1, 3),
    (1, 64),
    (2, 1),
    (2, 33),
    (3, 64),
    (5, 20),
    (7, 2),
    (31, 1),
    (32, 4),
    (33, 3),
    (40, 8),
    (60, 1),
    (60, 4),
    (60, 20),
];

/// Problems of some shapes, and the modes of an engine.
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
            // Small ones take no time, and it is for them that chance decides.
            for seed in 0..if n < 10 { 10 } else { 3 } {
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
        held.hold::<T>(&format!("{kind:?}"), 1.0, |n, k, seed| Problem::feasible(n, k, kind, 0.3, seed));
        for (name, up) in [("down", false), ("up", true)] {
            held.hold::<T>(&format!("{kind:?}, graded {name}"), 1.0, |n, k, seed| {
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
    held.hold::<T>("outgrowing", 1.0, |n, k, seed| Problem::outgrowing(n, k, Kind::Up, seed));
    // The gap of L and V is the one named where it outweighs their rounding.
    for gap in [1e-2, 1e-4, 1e-6].into_iter().filter(|&gap| gap > 1e3 * T::U) {
        held.hold::<T>(&format!("down to {gap}"), 2.0, |n, k, seed| {
            Problem::feasible(n, k, Kind::Down, gap, seed)
        });
        // |L'| |L'⁻¹| is of the order of 1 / √gap.
        held.hold::<T>(&format!("down to {gap} by one along the first column"), 2.0, |n, _, seed| {
            Problem::exhausting(n, gap, Direction::First, seed)
        });
    }
    held.hold::<T>("weights", 1.0, |n, k, seed| {
        let mut problem = Problem::<T>::feasible(n, k, Kind::Mixed, 0.3, seed);
        for (c, w) in problem.weights.iter_mut().enumerate() {
            let size = if *w > T::ZERO { 3.0 } else { 0.3 };
            *w = T::of(w.f64() * size * [1.0, 0.01, 1e-3][c / 2 % 3]);
        }
        problem
    });
    held.hold::<T>("weights of zero", 1.0, |n, k, seed| {
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
    all::<f64>(&OnCpu, &[&SHAPES[..], &[(5, 100), (3, 200)]].concat());
}

#[test]
fn derivatives_are_those_through_a_factorization_f32() {
    all::<f32>(&OnCpu, &[&SHAPES[..], &[(5, 100), (3, 200)]].concat());
}

/// Plus and minus that nearly cancel: what the factor in between loses is lost here as well.
#[test]
fn signs_that_cancel() {
    for (pairs, seed) in [(1, 0), (2, 1), (4, 2)] {
        let problem = Problem::<f64>::cancelling(30, pairs, 0.1, seed);
        let found = errors(&OnCpu, &problem, seed);
        println!("{pairs} pairs: {found:.1?}");
        assert!(found.iter().all(|&error| error < 15.0), "{found:?}");
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
