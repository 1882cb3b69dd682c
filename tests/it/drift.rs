//! Drift: the accuracy of a factor after thousands of modifications, compared with the peers on the same data.
//!
//! If the errors of successive calls are independent, they grow with the square root of the number of calls. If a rounding
//! recurs in every call, they grow with that number, which shows in a loop that changes little.

use crate::support::contract::NOISE;
use crate::support::engines::{self, sized};
use crate::support::exact::Symmetric;
use crate::support::peers::Peer;
use crate::support::problem::{factor, rng, uniform};
use crate::support::real::Real;
use cholupdate::faer::{Mat, MatRef, Scale};
use cholupdate::{Cholesky, Cpu, Engine};

on_every_arithmetic!(
    toggled,
    sliding_window_in_one_call,
    sliding_window_in_two_calls,
    exponential_forgetting,
);

/// The allowed error, as a multiple of the best peer's.
const ALLOWED: f64 = 1.2;

/// Problems of a kind: on a single one, which method has the smaller error is chance. Fewer on the fake driver, like the steps, but more
/// for the hybrid engine, of which the CPU does all of it: with 500 steps the sum of four is still chance.
fn seeds<E>() -> u64 {
    match engines::steps::<E>(100) {
        1 => 2,
        5 => 16,
        steps if steps < 100 => 4,
        _ => sized(8, 2),
    }
}

fn is_fake<E>() -> bool {
    engines::steps::<E>(100) < 100
}

/// A ← s² A + V diag(w) Vᵀ.
struct Step<T> {
    s: T,
    v: Mat<T>,
    weights: Vec<T>,
}

/// A factor, its modifications, and the exact outcome.
struct Loop<T> {
    l: Mat<T>,
    steps: Vec<Step<T>>,
    exact: Symmetric,
}

impl<T: Real> Loop<T> {
    /// max over i, j of |L Lᵀ − A|_ij / (u · √(A_ii A_jj)) after all steps with `modify`; infinite where it fails.
    fn error(&self, mut modify: impl FnMut(&mut Mat<T>, &Step<T>) -> bool) -> f64 {
        let mut l = self.l.clone();
        for step in &self.steps {
            if step.s != T::ONE {
                l.col_iter_mut().for_each(|column| column.iter_mut().for_each(|x| *x *= step.s));
            }
            if !modify(&mut l, step) {
                return f64::INFINITY;
            }
        }
        self.error_of(l.as_ref())
    }

    fn error_of(&self, l: MatRef<'_, T>) -> f64 {
        Symmetric::product(l).largest_difference(&self.exact) / T::U
    }

    fn ours<E: Engine<T> + Clone>(&self, engine: &E) -> f64 {
        let new = |l: &Mat<T>| Cholesky::from_factor_in(l, engine.clone()).unwrap();
        if self.steps.iter().any(|step| step.s != T::ONE) {
            return self.error(|l, Step { v, weights, .. }| {
                let mut factor = new(l);
                factor.modify(v, weights).unwrap();
                *l = factor.to_factor().unwrap();
                true
            });
        }
        let mut factor = new(&self.l);
        for Step { v, weights, .. } in &self.steps {
            factor.modify(v, weights).unwrap();
        }
        self.error_of(factor.to_factor().unwrap().as_ref())
    }
}

/// Loops that differ in their seeds: the sum of the errors is at most `ALLOWED` times the best peer's, or `NOISE` for each.
fn compare<T: Real, E: Engine<T> + Clone>(engine: &E, what: &str, make: impl Fn(u64) -> Loop<T>) {
    let (mut ours, mut theirs) = (0.0, [0.0; Peer::ALL.len()]);
    for seed in 0..seeds::<E>() {
        let data = make(seed);
        ours += data.ours(engine);
        for (sum, peer) in theirs.iter_mut().zip(Peer::ALL) {
            *sum += data.error(|l, step| peer.modify(l, step.v.as_ref(), &step.weights));
        }
    }
    let best = theirs.into_iter().fold(f64::INFINITY, f64::min);
    println!("{}, {what}: {ours:.1} u, {:?} {theirs:.1?}", std::any::type_name::<T>(), Peer::ALL);
    let allowed = (ALLOWED * best).max(NOISE * seeds::<E>() as f64);
    assert!(ours <= allowed, "{what}: {ours:.1} u, the best peer {best:.1} u of {theirs:.1?}");
}

fn narrow<T: Real>(a: &Mat<f64>) -> Mat<T> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| T::of(a[(i, j)]))
}

/// V, added and removed repeatedly.
fn toggle<T: Real>(n: usize, k: usize, scale: f64, pairs: usize, seed: u64) -> Loop<T> {
    let mut rng = rng(seed);
    let l = narrow::<T>(&factor(n, &mut rng));
    let v = narrow::<T>(&(uniform(n, k, &mut rng) * Scale(scale)));
    let step = |w: T| Step { s: T::ONE, v: v.clone(), weights: vec![w; k] };
    let steps = (0..pairs).flat_map(|_| [step(T::ONE), step(-T::ONE)]).collect();
    Loop { exact: Symmetric::product(l.as_ref()), l, steps }
}

/// On every engine, V up to the size of L.
fn toggled<T: Real, E: Engine<T> + Clone>(engine: &E) {
    let pairs = engines::steps::<E>(sized(1000, 100));
    let large = if is_fake::<E>() { 70 } else { sized(150, 70) };
    for (n, k) in [(16, 1), (60, 1), (60, 2), (16, 8), (60, 4), (60, 8), (40, 17), (large, 1)] {
        for scale in [0.05, 0.3, 1.0] {
            let pairs = if n * k > 60 { (pairs / 4).max(10) } else { pairs };
            let what = format!("n = {n}, k = {k}, |v| ≤ {scale}, {pairs} pairs");
            compare::<T, E>(engine, &what, |seed| toggle(n, k, scale, pairs, seed));
        }
    }
}

/// The same where V outweighs L, up to a hundred times: the CPU engine, and one to three columns of V.
#[test]
fn toggled_where_v_outweighs_l() {
    fn compare_all<T: Real>()
    where
        Cpu: Engine<T>,
    {
        let pairs = sized(100, 20);
        for (n, k) in [(16, 1), (60, 1), (16, 2), (60, 2), (40, 3)] {
            // In single precision a downdate at 100 has nothing left to go by, with any method.
            for &scale in if T::U < 1e-10 { &[3.0, 14.0, 100.0][..] } else { &[3.0, 14.0] } {
                let what = format!("n = {n}, k = {k}, |v| ≤ {scale}, {pairs} pairs");
                compare::<T, Cpu>(&Cpu::sequential(), &what, |seed| toggle(n, k, scale, pairs, seed));
            }
        }
    }
    compare_all::<f64>();
    compare_all::<f32>();
}

/// With one column of four that is not zero, the errors are those of that column alone.
#[test]
fn toggled_columns_of_zeros_cost_nothing() {
    fn compare_all<T: Real>()
    where
        Cpu: Engine<T>,
    {
        for scale in [0.3, 1.0, 5.0] {
            let alone = toggle::<T>(60, 1, scale, sized(200, 50), 3);
            let padded = |step: &Step<T>| Step {
                s: T::ONE,
                v: Mat::from_fn(60, 4, |i, r| if r == 2 { step.v[(i, 0)] } else { T::ZERO }),
                weights: vec![step.weights[0]; 4],
            };
            let steps = alone.steps.iter().map(padded).collect();
            let among_zeros = Loop { l: alone.l.clone(), steps, exact: Symmetric::product(alone.l.as_ref()) };
            let cpu = Cpu::sequential();
            assert_eq!(among_zeros.ours(&cpu), alone.ours(&cpu), "|v| ≤ {scale}");
        }
    }
    compare_all::<f64>();
    compare_all::<f32>();
}

/// The Gram matrix of the last 3 n rows, r of them new and r of them old at a time.
fn window<T: Real>(n: usize, r: usize, count: usize, calls: usize, seed: u64) -> Loop<T> {
    let mut rng = rng(seed);
    let rows = 3 * n;
    let all = narrow::<T>(&uniform(n, rows + count * r, &mut rng));
    let gram = Symmetric::product(all.as_ref().subcols(0, rows));
    let l = narrow::<T>(&gram.factor());
    let step = |range: std::ops::Range<usize>, w: T| (all.as_ref().subcols(range.start, range.len()), w);
    let steps = (0..count).flat_map(|at| {
        let new = step(rows + at * r..rows + (at + 1) * r, T::ONE);
        let old = step(at * r..(at + 1) * r, -T::ONE);
        let together = |parts: &[(MatRef<'_, T>, T)]| Step {
            s: T::ONE,
            v: Mat::from_fn(n, parts.len() * r, |i, c| parts[c / r].0[(i, c % r)]),
            weights: (0..parts.len() * r).map(|c| parts[c / r].1).collect(),
        };
        if calls == 1 { vec![together(&[new, old])] } else { vec![together(&[new]), together(&[old])] }
    });
    let steps = steps.collect();
    // From the rounded factor, not from the Gram matrix: the difference is no method's error.
    let mut exact = Symmetric::product(l.as_ref());
    exact.add(all.as_ref().subcols(count * r, rows), T::ONE);
    exact.add(all.as_ref().subcols(0, rows), -T::ONE);
    Loop { l, steps, exact }
}

fn sliding_window<T: Real, E: Engine<T> + Clone>(engine: &E, calls: usize) {
    let steps = engines::steps::<E>(sized(10_000, 300));
    for (n, r) in [(32, 1), (24, 4)] {
        compare::<T, E>(engine, &format!("n = {n}, {r} rows a step, {steps} steps"), |seed| {
            window(n, r, steps, calls, seed)
        });
    }
}

fn sliding_window_in_one_call<T: Real, E: Engine<T> + Clone>(engine: &E) {
    sliding_window(engine, 1);
}

fn sliding_window_in_two_calls<T: Real, E: Engine<T> + Clone>(engine: &E) {
    sliding_window(engine, 2);
}

/// λ = 0.99: A forgets what is older than some hundreds of steps, errors included.
fn exponential_forgetting<T: Real, E: Engine<T> + Clone>(engine: &E) {
    // A new factor in each step, which dominates the time on a device.
    let on_device = engines::is::<E>("cuda");
    let steps = engines::steps::<E>(if on_device { 1000 } else { sized(10_000, 500) });
    for (n, r) in [(16, 1), (24, 3)] {
        compare::<T, E>(engine, &format!("n = {n}, {r} rows a step, {steps} steps"), |seed| {
            let mut rng = rng(seed);
            let s = T::of(0.99f64.sqrt());
            let l = narrow::<T>(&factor(n, &mut rng));
            let mut exact = Symmetric::product(l.as_ref());
            let step = |_| {
                let v = narrow::<T>(&uniform(n, r, &mut rng));
                exact.scale(s);
                exact.add(v.as_ref(), T::ONE);
                Step { s, v, weights: vec![T::ONE; r] }
            };
            let steps = (0..steps).map(step).collect();
            Loop { l, steps, exact }
        });
    }
}
