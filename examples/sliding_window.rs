//! Ridge regression over a sliding window, with the factor on the CPU, streamed through a GPU, or on the GPU.
//!
//! The signal has n features and drifts. Every step adds k measurements y = X θ + noise (X: k × n), and removes those that
//! are older than the window. The estimate solves (λ I + Xᵀ X) θ = Xᵀ y over the window, so a step is one `modify` of rank 2
//! k and one `solve`:
//!
//! ```text
//! A ← A + X_newᵀ X_new − X_oldᵀ X_old,     b ← b + X_newᵀ y_new − X_oldᵀ y_old,     A θ = b.
//! ```
//!
//! Run with `cargo run --release --example sliding_window [n [steps]]`. Prints the time of a step with each engine, and with
//! a new factorization of A, and the distance of each estimate from that of the new factorization. Without a GPU the GPU
//! engines are skipped.

use cholupdate::cuda::{Device, Hybrid, Resident, Tuning};
use cholupdate::faer::{Col, Mat};
use cholupdate::{Cholesky, Cpu, Engine, Error};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::error;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Measurements added and removed in a step.
const RANK: usize = 16;
const RIDGE: f64 = 1.0;
/// Time between two lines of progress.
const SILENCE: Duration = Duration::from_secs(2);

/// All measurements, those of the first window first: Xᵀ (n × m) and y (m).
struct Measurements {
    xt: Mat<f64>,
    y: Col<f64>,
    /// Measurements in a window: at least twice as many as features.
    window: usize,
    steps: usize,
}

impl Measurements {
    /// The measurements of a signal that drifts from step to step.
    fn new(order: usize, steps: usize) -> Self {
        let mut rng = StdRng::seed_from_u64(7);
        let window = (2 * order).next_multiple_of(RANK);
        let count = window + RANK * steps;
        let mut theta = Col::from_fn(order, |_| rng.random_range(-1.0..1.0));
        let xt = Mat::from_fn(order, count, |_, _| rng.random_range(-1.0..1.0));
        let mut y = Col::zeros(count);
        for measurement in 0..count {
            if measurement % RANK == 0 {
                theta.iter_mut().for_each(|x| *x += rng.random_range(-1e-3..1e-3));
            }
            y[measurement] = xt.col(measurement).transpose() * &theta + rng.random_range(-0.1..0.1);
        }
        Self { xt, y, window, steps }
    }

    /// λ I + Xᵀ X and Xᵀ y of a window.
    fn normal_equations(&self, window: Range<usize>) -> (Mat<f64>, Col<f64>) {
        let xt = self.xt.subcols(window.start, window.len());
        let mut a = xt * xt.transpose();
        (0..a.nrows()).for_each(|i| a[(i, i)] += RIDGE);
        (a, xt * self.y.subrows(window.start, window.len()))
    }

    /// The measurements added and removed in a step: V (n × 2 k), its weights, and the change of Xᵀ y.
    fn step(&self, step: usize) -> (Mat<f64>, [f64; 2 * RANK], Col<f64>) {
        let (new, old) = (self.window + step * RANK, step * RANK);
        let column = |r: usize| if r < RANK { new + r } else { old + r - RANK };
        let v = Mat::from_fn(self.xt.nrows(), 2 * RANK, |i, r| self.xt[(i, column(r))]);
        let weights: [f64; 2 * RANK] = std::array::from_fn(|r| if r < RANK { 1.0 } else { -1.0 });
        let signed = Col::from_fn(2 * RANK, |r| weights[r] * self.y[column(r)]);
        let change = &v * signed;
        (v, weights, change)
    }
}

/// The last estimate, and the time of a step.
fn run<E: Engine<f64>>(
    name: &str,
    engine: E,
    measurements: &Measurements,
    (a, b): &(Mat<f64>, Col<f64>),
) -> Result<(Mat<f64>, Duration), Error> {
    let mut factor = Cholesky::new_in(a, engine)?;
    let mut b = b.clone();
    let mut theta = Mat::zeros(a.nrows(), 1);
    let (mut spent, mut said) = (Duration::ZERO, Instant::now());
    let steps = measurements.steps;
    for step in 0..steps {
        let (v, weights, change) = measurements.step(step);
        b += change;
        let start = Instant::now();
        factor.modify(&v, &weights)?;
        theta = factor.solve(&b)?;
        // The first step allocates.
        spent += if step == 0 { Duration::ZERO } else { start.elapsed() };
        if said.elapsed() > SILENCE {
            println!("{name}: step {step} of {steps}");
            said = Instant::now();
        }
    }
    Ok((theta, spent / (steps as u32 - 1).max(1)))
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let order = numbers.next().transpose()?.unwrap_or(400).max(1);
    let steps = numbers.next().transpose()?.unwrap_or(100).max(2);
    println!("n = {order}, {steps} steps of {RANK} measurements in and {RANK} out");
    let measurements = Measurements::new(order, steps);
    let window = measurements.window;
    println!("{} measurements made; forming A of the first window and of the last", measurements.y.nrows());
    let first = measurements.normal_equations(0..window);
    let last = steps * RANK;
    let (a, b) = measurements.normal_equations(last..last + window);

    // The first call starts threads.
    Cholesky::new(&a)?;
    let start = Instant::now();
    let fresh = Cholesky::new(&a)?.solve(&b)?;
    println!("fresh factor, CPU {:>10.3} ms a step", 1e3 * start.elapsed().as_secs_f64());
    let report = |name: &str, outcome: Result<(Mat<f64>, Duration), Error>| -> Result<(), Error> {
        let (theta, step) = outcome?;
        let distance = (&theta - &fresh).norm_l2() / fresh.norm_l2();
        println!("{name:<17} {:>10.3} ms a step, relative distance {distance:.1e}", 1e3 * step.as_secs_f64());
        assert!(distance < 1e-8, "the estimate has drifted away");
        Ok(())
    };
    report("Cpu", run("Cpu", Cpu::default(), &measurements, &first))?;
    match Device::new(0) {
        Ok(device) => {
            let hybrid = Hybrid::new(&device, Tuning::for_device(&device))?;
            report("cuda::Hybrid", run("cuda::Hybrid", hybrid, &measurements, &first))?;
            let resident = Resident::new(&device);
            report("cuda::Resident", run("cuda::Resident", resident, &measurements, &first))?;
        }
        Err(error) => println!("without a GPU: {error}"),
    }
    Ok(())
}
