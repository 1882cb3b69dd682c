//! Ridge regression over a sliding window, the factor on the CPU, streamed through a GPU, or on the GPU.
//!
//! n features of a signal that drifts; every step brings k measurements y = X θ + noise (X: k × n), and those of a window
//! ago leave. The estimate solves (λ I + Xᵀ X) θ = Xᵀ y over the window, so a step is one `modify` of rank 2 k and one
//! `solve`:
//!
//! ```text
//! A ← A + X_newᵀ X_new − X_oldᵀ X_old,     b ← b + X_newᵀ y_new − X_oldᵀ y_old,     A θ = b.
//! ```
//!
//! Run with `cargo run --release --example sliding_window [n [steps]]`. Prints the time of a step with each engine, and
//! with a fresh factorization of A instead, and how far each estimate is from the fresh one. Engines that need a GPU are
//! left out where there is none.

use cholupdate::cuda::{Device, Hybrid, Resident, Tuning};
use cholupdate::faer::{Col, Mat};
use cholupdate::{Cholesky, Cpu, Engine, Error};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::error;
use std::time::{Duration, Instant};

/// Measurements that come and go in a step.
const RANK: usize = 16;
const RIDGE: f64 = 1.0;

/// A step's measurements: Xᵀ (n × k) and y (k).
struct Batch {
    xt: Mat<f64>,
    y: Col<f64>,
}

/// All measurements, those of the first window first.
fn measurements(order: usize, steps: usize) -> Vec<Batch> {
    let mut rng = StdRng::seed_from_u64(7);
    let mut theta = Col::from_fn(order, |_| rng.random_range(-1.0..1.0));
    (0..window(order) + steps)
        .map(|_| {
            theta.iter_mut().for_each(|x| *x += rng.random_range(-1e-3..1e-3));
            let xt = Mat::from_fn(order, RANK, |_, _| rng.random_range(-1.0..1.0));
            let noise = Col::from_fn(RANK, |_| rng.random_range(-0.1..0.1));
            Batch { y: xt.transpose() * &theta + noise, xt }
        })
        .collect()
}

/// Steps that a measurement stays: twice as many measurements as features.
fn window(order: usize) -> usize {
    (2 * order).div_ceil(RANK)
}

/// λ I + Xᵀ X and Xᵀ y.
fn normal_equations(order: usize, batches: &[Batch]) -> (Mat<f64>, Col<f64>) {
    let mut a = Mat::from_fn(order, order, |i, j| if i == j { RIDGE } else { 0.0 });
    let mut b = Col::zeros(order);
    for Batch { xt, y } in batches {
        a += xt * xt.transpose();
        b += xt * y;
    }
    (a, b)
}

/// The last estimate, and the time of a step.
fn run<E: Engine<f64>>(engine: E, order: usize, batches: &[Batch]) -> Result<(Mat<f64>, Duration), Error> {
    let window = window(order);
    let (a, mut b) = normal_equations(order, &batches[..window]);
    let mut factor = Cholesky::new_in(&a, engine)?;
    let weights: Vec<f64> = (0..2 * RANK).map(|r| if r < RANK { 1.0 } else { -1.0 }).collect();
    let mut theta = Mat::zeros(order, 1);
    let (mut spent, steps) = (Duration::ZERO, batches.len() - window);
    for step in 0..steps {
        let (new, old) = (&batches[window + step], &batches[step]);
        let v = Mat::from_fn(
            order,
            2 * RANK,
            |i, r| if r < RANK { new.xt[(i, r)] } else { old.xt[(i, r - RANK)] },
        );
        b += &new.xt * &new.y - &old.xt * &old.y;
        let start = Instant::now();
        factor.modify(&v, &weights)?;
        theta = factor.solve(&b)?;
        // The first step allocates.
        spent += if step == 0 { Duration::ZERO } else { start.elapsed() };
    }
    Ok((theta, spent / (steps as u32 - 1).max(1)))
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|argument| argument.parse::<usize>());
    let order = numbers.next().transpose()?.unwrap_or(400).max(1);
    let steps = numbers.next().transpose()?.unwrap_or(100).max(2);
    let batches = measurements(order, steps);

    let (a, b) = normal_equations(order, &batches[steps..]);
    // The first call starts threads.
    Cholesky::new(&a)?;
    let start = Instant::now();
    let fresh = Cholesky::new(&a)?.solve(&b)?;
    println!("n = {order}, {steps} steps of {RANK} in and {RANK} out");
    println!("fresh factor, CPU {:>10.3} ms a step", 1e3 * start.elapsed().as_secs_f64());
    let report = |name: &str, outcome: Result<(Mat<f64>, Duration), Error>| -> Result<(), Error> {
        let (theta, step) = outcome?;
        let distance = (&theta - &fresh).norm_l2() / fresh.norm_l2();
        println!("{name:<17} {:>10.3} ms a step, relative distance {distance:.1e}", 1e3 * step.as_secs_f64());
        assert!(distance < 1e-8, "the estimate has drifted away");
        Ok(())
    };
    report("Cpu", run(Cpu::default(), order, &batches))?;
    match Device::new(0) {
        Ok(device) => {
            let hybrid = Hybrid::new(&device, Tuning::for_device(&device))?;
            report("cuda::Hybrid", run(hybrid, order, &batches))?;
            report("cuda::Resident", run(Resident::new(&device), order, &batches))?;
        }
        Err(error) => println!("without a GPU: {error}"),
    }
    Ok(())
}
