//! Recursive least squares with forgetting: estimates the parameters of a time-varying linear system.
//!
//! Every step has k new measurements y = X θ + noise (X: k × n). The estimate minimizes the squared errors of all
//! measurements so far, with the weight λᵃ at age a, so it solves P θ = q with
//!
//! ```text
//! P ← λ P + Xᵀ X,     q ← λ q + Xᵀ y.
//! ```
//!
//! Each step is one call, `modify_carrying` with the decay λ. It also updates z = L⁻¹ q and the weighted sum of squared
//! residuals, as LINPACK's `dchud` does: the residual norm is known at every step without the measurements and without P.
//! From time to time some measurements are found to be wrong and are removed, with their current weights.
//!
//! Old measurements are forgotten, but the rounding errors of downdates are not: the loop calls `needs_refactor`. When a
//! sensor fails and sends values a million times too large, which are removed in the next step, `needs_refactor` is true,
//! and the loop factors the P that it stores for this purpose.
//!
//! Run with `cargo run --release --example recursive_least_squares`. Every step is checked against refactorizing P.

use cholupdate::faer::{Col, Mat};
use cholupdate::{Carried, Cholesky, Error, RefactorPolicy};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::{Duration, Instant};

const ORDER: usize = 200;
/// Measurements a step.
const RANK: usize = 4;
const STEPS: usize = 3000;
/// At this step every parameter changes sign.
const JUMP: usize = STEPS / 2;
/// A measurement has half its weight after 69 steps.
const FORGETTING: f64 = 0.99;
/// Steps between two removals of the measurements of the previous step.
const WRONG: usize = 50;
/// At these steps a sensor fails, and its row of X is too large by the factor `FAILURE`.
const FAILURES: [usize; 3] = [700, 1900, 2500];
const FAILURE: f64 = 1e6;

/// The estimator: P and q, by the factor of P and the carried right-hand sides.
struct Estimator {
    factor: Cholesky<f64>,
    sums: Carried<f64>,
}

impl Estimator {
    /// Starts from θ = 0 with P = `ridge` I, which is forgotten like the measurements.
    fn new(ridge: f64) -> Result<Self, Error> {
        let l = Mat::from_fn(ORDER, ORDER, |i, j| if i == j { ridge.sqrt() } else { 0.0 });
        let factor = Cholesky::from_factor(&l)?;
        let sums = Carried::new(&factor, &Col::zeros(ORDER), &[0.0])?;
        Ok(Self { factor, sums })
    }

    /// Forgets, and adds rows of X with the values y, or removes them where their weight is negative.
    ///
    /// Shapes: Xᵀ (n × k), y (k), weights (k).
    fn observe(
        &mut self,
        forgetting: f64,
        xt: &Mat<f64>,
        y: &Col<f64>,
        weights: &[f64],
    ) -> Result<(), Error> {
        self.factor.modify_carrying(forgetting, xt, weights, y, &mut self.sums)?;
        Ok(())
    }

    fn estimate(&self) -> Result<Mat<f64>, Error> {
        self.factor.solve_lt(&self.sums.z)
    }
}

/// The observed system: parameters that rotate slowly and change their sign once.
struct System {
    phases: Col<f64>,
    random: StdRng,
}

impl System {
    fn parameters(&self, step: usize) -> Col<f64> {
        let sign = if step < JUMP { 1.0 } else { -1.0 };
        Col::from_fn(ORDER, |j| sign * (self.phases[j] + 1e-5 * step as f64).sin())
    }

    /// Xᵀ (n × k) and y (k).
    fn measure(&mut self, step: usize) -> (Mat<f64>, Col<f64>) {
        let theta = self.parameters(step);
        let xt = Mat::from_fn(ORDER, RANK, |_, _| self.random.random_range(-1.0..1.0));
        let noise = Col::from_fn(RANK, |_| self.random.random_range(-0.05..0.05));
        let y = xt.transpose() * theta + noise;
        (xt, y)
    }
}

fn main() -> Result<(), Error> {
    let mut random = StdRng::seed_from_u64(1821);
    let phases = Col::from_fn(ORDER, |_| random.random_range(0.0..std::f64::consts::TAU));
    let mut system = System { phases, random };

    let mut estimator = Estimator::new(1.0)?;
    // P, q and the sum of y², which only refactorizing needs.
    let mut p = Mat::<f64>::identity(ORDER, ORDER);
    let (mut q, mut squares) = (Col::<f64>::zeros(ORDER), 0.0);
    let policy = RefactorPolicy { max_error: Some(1e-10), ..RefactorPolicy::default() };
    let (mut modifying, mut refactorizing) = (Duration::ZERO, Duration::ZERO);
    let (mut error, mut worst, mut worst_squares, mut afresh) = (0.0, 0.0_f64, 0.0_f64, Vec::new());
    let mut before: Option<(Mat<f64>, Col<f64>)> = None;

    println!("{ORDER} parameters, {RANK} measurements a step, forgetting factor {FORGETTING}");
    for step in 0..STEPS {
        let (mut xt, mut y) = system.measure(step);
        if FAILURES.contains(&step) {
            xt.col_mut(0).iter_mut().for_each(|x| *x *= FAILURE);
            y[0] *= FAILURE;
        }
        let out = before.take().filter(|_| step % WRONG == 0 || FAILURES.contains(&(step - 1)));

        let start = Instant::now();
        estimator.observe(FORGETTING, &xt, &y, &[1.0; RANK])?;
        if let Some((xt, y)) = &out {
            estimator.observe(1.0, xt, y, &[-FORGETTING; RANK])?;
        }
        modifying += start.elapsed();

        let mut count = |xt: &Mat<f64>, y: &Col<f64>, weight: f64, forgetting: f64| {
            p = &p * forgetting + xt * xt.transpose() * weight;
            q = &q * forgetting + xt * y * weight;
            squares = squares * forgetting + weight * y.squared_norm_l2();
        };
        // Measurements of a failure never enter P, which would also retain their rounding errors.
        let failed = FAILURES.contains(&step);
        if let Some((xt, y)) = out.as_ref().filter(|_| !FAILURES.contains(&(step - 1))) {
            count(xt, y, -1.0, 1.0);
        }
        count(&xt, &y, if failed { 0.0 } else { 1.0 }, FORGETTING);
        before = Some((xt, y));

        let start = Instant::now();
        let reference = Cholesky::new(&p)?;
        refactorizing += start.elapsed();
        if estimator.factor.needs_refactor(&policy) && !failed {
            afresh.push((step, estimator.factor.error_estimate()));
            let sums = Carried::new(&reference, &q, &[squares])?;
            estimator = Estimator { factor: reference.clone(), sums };
        }
        if failed {
            continue;
        }
        let theta = estimator.estimate()?;
        let exact = reference.solve(&q)?;
        worst = worst.max((&theta - &exact).norm_l2() / exact.norm_l2());
        let residual = squares - (q.transpose() * exact.col(0));
        worst_squares = worst_squares.max((estimator.sums.squares[0] - residual).abs() / squares);
        let truth = system.parameters(step);
        error = (theta.col(0) - &truth).norm_l2() / truth.norm_l2();
        if [JUMP - 1, JUMP, JUMP + 100, JUMP + 500, STEPS - 1].contains(&step) {
            let jump = if step == JUMP { ": the parameters have just changed sign" } else { "" };
            let norm = estimator.sums.squares[0].sqrt();
            println!("step {step:>4}: error {:>6.2} %, residual norm {norm:>8.3}{jump}", 100.0 * error);
        }
    }

    let micros = |total: Duration| total.as_secs_f64() * 1e6 / STEPS as f64;
    println!(
        "time of a step: modify_carrying {:.1} us, refactorizing {:.1} us",
        micros(modifying),
        micros(refactorizing)
    );
    let residual = (estimator.factor.reconstruct()? - &p).norm_max() / p.norm_max();
    println!(
        "estimates differ by at most {worst:.1e}, sums of squares by {worst_squares:.1e}; L L^T - P is {residual:.1e} of P"
    );
    for (step, estimate) in &afresh {
        println!("step {step}: factored again, since digits had been lost (error estimate {estimate:.1e})");
    }

    assert!(residual <= 1e-10 && worst <= 1e-8 && worst_squares <= 1e-9, "not the least-squares problem");
    assert!(error < 0.05, "the estimate does not follow the system");
    let failures: Vec<usize> = FAILURES.iter().map(|step| step + 1).collect();
    assert_eq!(
        afresh.iter().map(|(step, _)| *step).collect::<Vec<_>>(),
        failures,
        "factored again elsewhere"
    );
    println!(
        "all checks passed: residual <= 1e-10, estimates <= 1e-8, error < 5 %, factored again behind failures alone"
    );
    Ok(())
}
