//! BFGS minimization with the Cholesky factor of the Hessian approximation.
//!
//! With s the step and y the change of the gradient, BFGS replaces the approximation B (n × n) by
//!
//! ```text
//! B' = B + y yᵀ / (yᵀ s) − (B s)(B s)ᵀ / (sᵀ B s),
//! ```
//!
//! which is positive definite if yᵀ s > 0; a line search with the Wolfe conditions ensures that. This is one `modify` of
//! rank 2 with one positive and one negative weight, 4 n² flops. B itself is never needed: the search direction is p = −B⁻¹
//! g, so for the step s = α p the product B s is −α g. Factoring B rather than its inverse keeps B positive definite in
//! spite of rounding, and a refused modification shows where it would not be.
//!
//! Run with `cargo run --release --example bfgs`. Every step is checked against refactorizing an explicit B.

use cholupdate::faer::{Col, Mat};
use cholupdate::{Cholesky, Error};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::{Duration, Instant};

const ORDER: usize = 200;
/// Converged when no entry of the gradient is larger.
const GRADIENT: f64 = 1e-8;
const MAX_STEPS: usize = 2000;

/// A point, with the value and the gradient of the function.
struct Point {
    x: Col<f64>,
    value: f64,
    gradient: Col<f64>,
}

impl Point {
    /// The extended Rosenbrock function: Σ 100 (x₂ᵢ − x₂ᵢ₋₁²)² + (1 − x₂ᵢ₋₁)², with its minimum at (1, …, 1).
    fn new(x: Col<f64>) -> Self {
        let mut value = 0.0;
        let mut gradient = Col::zeros(x.nrows());
        for i in (0..x.nrows()).step_by(2) {
            let (valley, slope) = (x[i + 1] - x[i] * x[i], 1.0 - x[i]);
            value += 100.0 * valley * valley + slope * slope;
            gradient[i] = -400.0 * valley * x[i] - 2.0 * slope;
            gradient[i + 1] = 200.0 * valley;
        }
        Self { x, value, gradient }
    }
}

fn dot(a: &Col<f64>, b: &Col<f64>) -> f64 {
    a.transpose() * b
}

/// A step length that satisfies the weak Wolfe conditions, and the new point: by doubling, then bisection (Lewis and
/// Overton, *Nonsmooth optimization via quasi-Newton methods*, 2013).
fn line_search(from: &Point, direction: &Col<f64>) -> Option<(f64, Point)> {
    let slope = dot(&from.gradient, direction);
    let (mut short, mut long, mut length) = (0.0, f64::INFINITY, 1.0);
    for _ in 0..60 {
        let to = Point::new(&from.x + direction * length);
        let decreased = to.value <= from.value + 1e-4 * length * slope;
        if !decreased {
            long = length;
        } else if dot(&to.gradient, direction) < 0.9 * slope {
            short = length;
        } else {
            return Some((length, to));
        }
        length = if long.is_finite() { 0.5 * (short + long) } else { 2.0 * short };
    }
    None
}

/// An explicit B, for the check against refactorizing.
struct Explicit {
    b: Mat<f64>,
    refactorizing: Duration,
    worst_residual: f64,
}

impl Explicit {
    /// Applies the same change to B, refactorizes it and compares it with `factor`.
    fn follow(&mut self, v: &Mat<f64>, weights: [f64; 2], factor: &Cholesky<f64>) -> Result<(), Error> {
        let weighted = Mat::from_fn(ORDER, 2, |i, r| v[(i, r)] * weights[r]);
        self.b += weighted * v.transpose();
        let start = Instant::now();
        Cholesky::new(&self.b)?;
        self.refactorizing += start.elapsed();
        let residual = (factor.reconstruct()? - &self.b).norm_max() / self.b.norm_max();
        if residual > self.worst_residual || residual.is_nan() {
            self.worst_residual = residual;
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The usual starting point (−1.2, 1), perturbed: otherwise all pairs of variables would move in the same way.
    let mut random = StdRng::seed_from_u64(1970);
    let start = Col::from_fn(ORDER, |i| if i % 2 == 0 { -1.2 } else { 1.0 } + random.random_range(-0.5..0.5));
    let mut at = Point::new(start);

    let mut factor = Cholesky::from_factor(&Mat::<f64>::identity(ORDER, ORDER))?;
    let mut explicit =
        Explicit { b: Mat::identity(ORDER, ORDER), refactorizing: Duration::ZERO, worst_residual: 0.0 };
    let (mut modifying, mut least_ratio, mut steps, mut refused) = (Duration::ZERO, 1.0_f64, 0, 0);
    println!("extended Rosenbrock function of {ORDER} variables");
    while at.gradient.norm_max() > GRADIENT && steps < MAX_STEPS {
        if steps % 50 == 0 {
            println!("step {steps:>4}: value {:>9.2e}, gradient {:>8.1e}", at.value, at.gradient.norm_max());
        }
        let direction = factor.solve(&at.gradient)?.col(0) * -1.0;
        let (length, next) = line_search(&at, &direction).ok_or("the line search failed")?;

        let s = &direction * length;
        let y = &next.gradient - &at.gradient;
        let bs = &at.gradient * -length;
        let v = Mat::from_fn(ORDER, 2, |i, r| if r == 0 { y[i] } else { bs[i] }); // (n × 2)
        let weights = [1.0 / dot(&y, &s), -1.0 / dot(&s, &bs)];

        let start = Instant::now();
        let outcome = factor.modify(&v, &weights);
        modifying += start.elapsed();
        match outcome {
            Ok(report) => {
                least_ratio = least_ratio.min(report.min_pivot_ratio);
                explicit.follow(&v, weights, &factor)?;
            }
            // Only because of rounding. The factor is as it was, and B is used for another step.
            Err(Error::NotPositiveDefinite { .. }) => refused += 1,
            Err(error) => return Err(error.into()),
        }
        at = next;
        steps += 1;
    }

    let error = at.x.iter().fold(0.0, |m: f64, x| m.max((x - 1.0).abs()));
    println!("step {steps:>4}: value {:>9.2e}, gradient {:>8.1e}", at.value, at.gradient.norm_max());
    println!(
        "largest error of x {error:.1e}; refused modifications {refused}; least pivot ratio {least_ratio:.1e}"
    );
    let micros = |total: Duration| total.as_secs_f64() * 1e6 / steps as f64;
    println!(
        "time of a step: modify {:.1} us, refactorizing {:.1} us",
        micros(modifying),
        micros(explicit.refactorizing)
    );
    println!("largest entry of L L^T - B at any step: {:.1e} of the largest of B", explicit.worst_residual);

    assert!(at.gradient.norm_max() <= GRADIENT, "not converged");
    // The smallest eigenvalue of the Hessian at the minimum is 0.4.
    assert!(error <= 1e-7, "converged to a point that is not the minimum");
    // A step adds an error of at most (n + k) u, relative to B, and they add up as random errors do.
    let bound = f64::sqrt(steps as f64) * (ORDER + 2) as f64 * (f64::EPSILON / 2.0);
    assert!(explicit.worst_residual <= bound, "residual above {bound:.1e}");
    println!("all checks passed: gradient <= {GRADIENT:.0e}, x within 1e-7, residual <= {bound:.1e}");
    Ok(())
}
