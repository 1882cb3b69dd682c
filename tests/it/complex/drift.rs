//! Drift: the accuracy of a factor after thousands of modifications, compared with LINPACK on the same data; and the diagonal of
//! L, which stays exactly real.

use super::exact::Hermitian;
use super::linpack;
use super::oracle::{backward_error, is_factor};
use super::problem::{factor, rng, uniform};
use super::scalar::{Complex, in_c64, is_double, narrow};
use crate::support::contract::{NOISE, allowed};
use crate::support::engines::sized;
use cholupdate::faer::{Mat, Scale, c64};
use cholupdate::{Cholesky, Engine};

in_both_precisions!(
    toggled,
    toggled_where_v_outweighs_l,
    back_to_l,
    sliding_window,
    exponential_forgetting,
    a_diagonal_stays_real,
);

/// The allowed error, as a multiple of LINPACK's.
const ALLOWED: f64 = 1.5;
/// Problems of a kind: on a single one, which method has the smaller error is chance.
const SEEDS: u64 = sized(16, 2);

/// A factor, its modifications, and the exact outcome.
struct Loop<T: Complex> {
    l: Mat<T>,
    /// V, and its weights of ±1.
    steps: Vec<(Mat<T>, Vec<T::Re>)>,
    exact: Hermitian,
}

impl<T: Complex> Loop<T> {
    fn error_of(&self, l: &Mat<T>) -> f64 {
        Hermitian::product(&in_c64(l.as_ref())).largest_difference(&self.exact) / T::ROUNDOFF
    }

    fn ours<E: Engine<T> + Clone>(&self, engine: &E) -> f64 {
        let mut factor = Cholesky::from_factor_in(&self.l, engine.clone()).unwrap();
        for (v, weights) in &self.steps {
            factor.modify(v, weights).unwrap();
        }
        let l = factor.to_factor().unwrap();
        assert!(is_factor(l.as_ref()));
        self.error_of(&l)
    }

    fn theirs(&self) -> f64 {
        let step =
            |l: Mat<T>, (v, weights): &(Mat<T>, Vec<T::Re>)| linpack::modify(l.as_ref(), v.as_ref(), weights);
        let last = self.steps.iter().try_fold(self.l.clone(), step);
        last.map_or(f64::INFINITY, |l| self.error_of(&l))
    }
}

/// Loops that differ in their seeds.
fn compare<T: Complex, E: Engine<T> + Clone>(engine: &E, what: &str, make: impl Fn(u64) -> Loop<T>) {
    let (mut ours, mut theirs) = (0.0, 0.0);
    for seed in 0..SEEDS {
        let data = make(seed);
        ours += data.ours(engine);
        theirs += data.theirs();
    }
    println!("{}, {what}: {ours:.1} u, LINPACK {theirs:.1} u", std::any::type_name::<T>());
    let bound = (ALLOWED * theirs).max(NOISE * SEEDS as f64);
    assert!(ours <= bound, "{what}: {ours:.1} u, LINPACK {theirs:.1} u");
}

/// V, added and removed repeatedly.
fn toggle<T: Complex>(n: usize, k: usize, scale: f64, pairs: usize, seed: u64) -> Loop<T> {
    let mut rng = rng(seed);
    let l = narrow::<T>(&factor(n, &mut rng));
    let v = narrow::<T>(&(uniform(n, k, &mut rng) * Scale(c64::from(scale))));
    let step = |w: f64| (v.clone(), vec![T::part(w); k]);
    let steps = (0..pairs).flat_map(|_| [step(1.0), step(-1.0)]).collect();
    Loop { exact: Hermitian::product(&in_c64(l.as_ref())), l, steps }
}

fn toggled<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let pairs = sized(250, 50);
    for (n, k) in [(16, 1), (33, 2), (16, 3), (33, 8), (24, 17)] {
        for scale in [0.05, 0.3, 1.0] {
            let what = format!("n = {n}, k = {k}, |v| ≤ {scale}, {pairs} pairs");
            compare::<T, E>(engine, &what, |seed| toggle(n, k, scale, pairs, seed));
        }
    }
}

/// The same where V outweighs L, up to a hundred times.
fn toggled_where_v_outweighs_l<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let pairs = sized(100, 20);
    for (n, k) in [(16, 1), (33, 1), (16, 2), (40, 3)] {
        // In single precision a downdate at 100 has nothing left to go by, with any method.
        for &scale in if is_double::<T>() { &[3.0, 14.0, 100.0][..] } else { &[3.0, 14.0] } {
            let what = format!("n = {n}, k = {k}, |v| ≤ {scale}, {pairs} pairs");
            compare::<T, E>(engine, &what, |seed| toggle(n, k, scale, pairs, seed));
        }
    }
}

/// One update and the downdate by the same V: each has an error of up to the contract's bound, relative to A + V Vᴴ.
fn back_to_l<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for n in [1, 2, 3, 9, 33, 70] {
        for k in [1, 2, 3, 5, 17] {
            for scale in [1e-3, 0.3, 3.0] {
                let Loop { l, steps, .. } = toggle::<T>(n, k, scale, 1, (n + k) as u64);
                let mut kept = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
                for (v, weights) in &steps {
                    kept.modify(v, weights).unwrap();
                }
                // The same V as part of the matrix, with weights that add up to nothing.
                let v = &steps[0].0;
                let both = Mat::from_fn(n, 2 * k, |i, r| v[(i, r % k)]);
                let weights: Vec<T::Re> =
                    (0..2 * k).map(|r| T::part(if r < k { 0.5 } else { -0.5 })).collect();
                let made = kept.to_factor().unwrap();
                let error = backward_error(made.as_ref(), l.as_ref(), both.as_ref(), &weights);
                assert!(error <= 2.0 * allowed(n, k), "n = {n}, k = {k}, |v| ≤ {scale}: {error:.1} u");
            }
        }
    }
}

/// The Gram matrix of the last 3 n rows, r of them new and r of them old at a time, in one call or in two.
fn sliding_window<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let count = sized(500, 60);
    for (n, r, together) in [(16, 1, true), (16, 1, false), (12, 4, true), (12, 4, false)] {
        compare::<T, E>(engine, &format!("n = {n}, {r} rows a step, together: {together}"), |seed| {
            let rows = 3 * n;
            let all = narrow::<T>(&uniform(n, rows + count * r, &mut rng(seed)));
            let wide = in_c64(all.as_ref());
            let part = |from: usize, len: usize| wide.subcols(from, len).to_owned();
            let gram = Hermitian::product(&part(0, rows)).factor().expect("3 n rows");
            let entry = |i: usize, j: usize| c64::new(gram[i][j].re.0, gram[i][j].im.0);
            let l =
                narrow::<T>(&Mat::from_fn(n, n, |i, j| if j <= i { entry(i, j) } else { c64::default() }));
            let steps = (0..count).flat_map(|at| {
                let (new, old) = (part(rows + at * r, r), part(at * r, r));
                if together {
                    let v = Mat::from_fn(n, 2 * r, |i, c| if c < r { new[(i, c)] } else { old[(i, c - r)] });
                    let weight = |c: usize| T::part(if c < r { 1.0 } else { -1.0 });
                    vec![(narrow(&v), (0..2 * r).map(weight).collect())]
                } else {
                    vec![(narrow(&new), vec![T::part(1.0); r]), (narrow(&old), vec![T::part(-1.0); r])]
                }
            });
            let steps = steps.collect();
            // From the rounded factor, not from the Gram matrix: the difference is no method's error.
            let mut exact = Hermitian::product(&in_c64(l.as_ref()));
            exact.add(&part(count * r, rows), &vec![1.0; rows]);
            exact.add(&part(0, rows), &vec![-1.0; rows]);
            Loop { l, steps, exact }
        });
    }
}

/// δ = 0.98: A forgets what is older than some hundred steps, errors included. A step adds at most the contract's bound.
fn exponential_forgetting<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    let (decay, steps) = (T::part(0.98), sized(1000, 100));
    for (n, k) in [(9, 1), (16, 2), (12, 3)] {
        let mut rng = rng(3);
        let l = narrow::<T>(&factor(n, &mut rng));
        let mut kept = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
        let mut exact = Hermitian::product(&in_c64(l.as_ref()));
        for _ in 0..steps {
            let v = narrow::<T>(&uniform(n, k, &mut rng));
            kept.modify_scaled(decay, &v, &vec![T::part(1.0); k]).unwrap();
            exact.scale_by(crate::support::real::Real::f64(decay));
            exact.add(&in_c64(v.as_ref()), &vec![1.0; k]);
        }
        let made = kept.to_factor().unwrap();
        assert!(is_factor(made.as_ref()));
        let error = Hermitian::product(&in_c64(made.as_ref())).largest_difference(&exact) / T::ROUNDOFF;
        // Σ δᵗ is 50. The rounding of √δ recurs in every step; of the other errors, which are of either sign, a tenth.
        let bound = 50.0 * (2.0 + 0.1 * allowed(n, k));
        assert!(error <= bound, "n = {n}, k = {k}: {error:.1} u, not {bound} u");
    }
}

/// V Vᴴ formed by fused multiplications and additions has imaginary parts of about u on its diagonal.
fn a_diagonal_stays_real<T: Complex, E: Engine<T> + Clone>(engine: &E) {
    for (n, k) in [(1, 1), (5, 2), (9, 1), (17, 3), (33, 8)] {
        let Loop { l, steps, .. } = toggle::<T>(n, k, 1.0, 1, 5);
        let mut kept = Cholesky::from_factor_in(&l, engine.clone()).unwrap();
        for call in 0..sized(2000, 200) {
            let (v, weights) = &steps[call % 2];
            kept.modify(v, weights).unwrap();
            let made = kept.to_factor().unwrap();
            assert!((0..n).all(|j| made[(j, j)].c64().im == 0.0), "call {call}, n = {n}, k = {k}");
        }
        assert!(is_factor(kept.to_factor().unwrap().as_ref()));
        // A is Hermitian to the last bit, its diagonal exactly real.
        let a = in_c64(kept.reconstruct().unwrap().as_ref());
        let adjoint = a.adjoint().to_owned();
        assert!((0..n).all(|i| a[(i, i)].im == 0.0));
        assert!(a == adjoint, "n = {n}, k = {k}: A is not Hermitian");
    }
}
