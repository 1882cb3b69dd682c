//! Recursive least squares with forgetting: the parameters of a linear system that changes while it is observed.
//!
//! Every step brings k measurements y = X θ + noise (X: k × n). The estimate minimizes the squared errors of all
//! measurements so far, those of age a weighted by λᵃ, so it solves P θ = q with
//!
//! ```text
//! P ← λ P + Xᵀ X,     q ← λ q + Xᵀ y.
//! ```
//!
//! Scaling P by λ scales its whole factor: n²/2 multiplications a step, and a pass over memory that costs as much as an
//! update of rank 1. So the factor kept here is that of A = λ⁻ᵗ P, where old measurements keep their weight and new ones
//! weigh more,
//!
//! ```text
//! A ← A + λ⁻ᵗ Xᵀ X,     b ← b + λ⁻ᵗ Xᵀ y,     A θ = b,
//! ```
//!
//! one `modify` of rank k a step, 2 k n² flops. Before the weights grow out of range the factor is brought back through
//! `from_factor`, scaled by a power of two, which rounds nothing; that is one copy in 1,380 steps.
//!
//! Run with `cargo run --release --example recursive_least_squares`. Every step is checked against refactorizing P.

use cholupdate::faer::{Col, Mat};
use cholupdate::{Cholesky, Error};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::{Duration, Instant};

const ORDER: usize = 200;
/// Measurements a step.
const RANK: usize = 4;
const STEPS: usize = 3000;
/// At this step every parameter changes sign.
const JUMP: usize = STEPS / 2;
/// A measurement counts half after 69 steps.
const FORGETTING: f64 = 0.99;
/// The weight at which the factor is rescaled: 2²⁰, so that its square root is a power of two as well.
const LARGE_WEIGHT: f64 = (1 << 20) as f64;

/// The estimator: P = A / weight and q = b / weight, by the factor of A.
struct Estimator {
    factor: Cholesky<f64>,
    b: Col<f64>,
    /// λ⁻ᵗ, up to the rescalings.
    weight: f64,
}

impl Estimator {
    /// Starts from θ = 0 with P = `ridge` I, which is forgotten like everything else.
    fn new(ridge: f64) -> Result<Self, Error> {
        let l = Mat::from_fn(ORDER, ORDER, |i, j| if i == j { ridge.sqrt() } else { 0.0 });
        Ok(Self { factor: Cholesky::from_factor(&l)?, b: Col::zeros(ORDER), weight: 1.0 })
    }

    /// Takes in the measurements y of one step.
    ///
    /// Shapes: Xᵀ (n × k), y (k).
    fn observe(&mut self, xt: &Mat<f64>, y: &Col<f64>) -> Result<(), Error> {
        self.weight /= FORGETTING;
        if self.weight > LARGE_WEIGHT {
            self.rescale()?;
        }
        self.factor.modify(xt, &[self.weight; RANK])?;
        self.b += xt * y * self.weight;
        Ok(())
    }

    fn rescale(&mut self) -> Result<(), Error> {
        self.factor = Cholesky::from_factor(&(self.factor.l() * LARGE_WEIGHT.sqrt().recip()))?;
        self.b *= LARGE_WEIGHT.recip();
        self.weight /= LARGE_WEIGHT;
        Ok(())
    }

    fn estimate(&self) -> Result<Mat<f64>, Error> {
        self.factor.solve(&self.b)
    }
}

/// The system under observation: parameters that turn slowly and, once, change their sign.
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
    let mut p = Mat::<f64>::identity(ORDER, ORDER);
    let mut q = Col::<f64>::zeros(ORDER);
    let (mut modifying, mut refactorizing) = (Duration::ZERO, Duration::ZERO);
    let (mut error, mut apart) = (0.0, Vec::with_capacity(STEPS));

    println!("{ORDER} parameters, {RANK} measurements a step, forgetting factor {FORGETTING}");
    for step in 0..STEPS {
        let (xt, y) = system.measure(step);

        let start = Instant::now();
        estimator.observe(&xt, &y)?;
        modifying += start.elapsed();
        let theta = estimator.estimate()?;

        p = p * FORGETTING + &xt * xt.transpose();
        q = q * FORGETTING + &xt * &y;
        let start = Instant::now();
        let reference = Cholesky::new(&p)?;
        refactorizing += start.elapsed();
        let reference = reference.solve(&q)?;

        apart.push((&theta - &reference).norm_l2() / reference.norm_l2());
        let truth = system.parameters(step);
        error = (theta.col(0) - &truth).norm_l2() / truth.norm_l2();
        if [JUMP - 1, JUMP, JUMP + 100, JUMP + 500, STEPS - 1].contains(&step) {
            let jump = if step == JUMP { ": the parameters have just changed sign" } else { "" };
            println!("step {step:>4}: error of the estimate {:>6.2} %{jump}", 100.0 * error);
        }
    }

    let micros = |total: Duration| total.as_secs_f64() * 1e6 / STEPS as f64;
    println!(
        "time of a step: modify {:.1} us, refactorizing {:.1} us",
        micros(modifying),
        micros(refactorizing)
    );
    let worst = apart.iter().fold(0.0, |a: f64, &b| if b > a || b.is_nan() { b } else { a });
    let residual =
        (estimator.factor.reconstruct()? * estimator.weight.recip() - &p).norm_max() / p.norm_max();
    println!("estimates differ by at most {worst:.1e}; L L^T / weight - P is {residual:.1e} of P");

    // What a step adds to the error, (n + k) u at most, is forgotten as the measurements are: the sum is a geometric series.
    let bound = (ORDER + RANK) as f64 * (f64::EPSILON / 2.0) / (1.0 - FORGETTING);
    assert!(residual <= bound, "residual above {bound:.1e}");
    // P has a condition number below a thousand at every step.
    assert!(worst <= 1e3 * bound, "estimates differ by more than {:.1e}", 1e3 * bound);
    assert!(error < 0.05, "the estimate does not follow the system");
    println!("all checks passed: residual <= {bound:.1e}, estimates <= {:.1e}, error < 5 %", 1e3 * bound);
    Ok(())
}
