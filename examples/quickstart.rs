//! A Gaussian-process forecast over a sliding window of the weekly CO2 record of Mauna Loa, 1958 to 2001.
//!
//! The window holds the last n observations; its matrix A = K + σ² I (n × n) must be factored at every step. Refactorizing
//! costs n³/3 flops a step. Here the factor is modified instead: the observations are in a ring buffer, so that a step
//! replaces one of them and changes one row and column of A, which is a symmetric change of rank 2,
//!
//! ```text
//! A' = A + e dᵀ + d eᵀ = A + p pᵀ − m mᵀ,     p, m = (s e ± d / s) / √2,     s = ‖d‖^½
//! ```
//!
//! where e is the unit vector of the slot and d the change of its column (with half the change of the diagonal entry): one
//! update and one downdate, 4 n² flops. The update comes first, so that every intermediate matrix is positive definite.
//!
//! Run with `cargo run --release --example quickstart [window]`. Every step is checked against refactorizing.

mod mauna_loa;

use cholupdate::faer::{Col, Mat};
use cholupdate::{Cholesky, Error};
use mauna_loa::{NOISE, Observation, kernel, record};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::f64::consts::FRAC_1_SQRT_2;
use std::time::{Duration, Instant};

/// Observations from the end of the window to the forecast one: a quarter of a year.
const AHEAD: usize = 13;
/// Time between two lines of progress.
const SILENCE: Duration = Duration::from_secs(2);
/// Observations in a year, for the forecast to compare with.
const YEAR: usize = 52;

/// The last n observations, each in its own slot, and their matrix.
struct Window {
    slots: Vec<Observation>,
    /// A = K + σ² I (n × n), kept explicitly for the check against refactorizing.
    a: Mat<f64>,
}

impl Window {
    fn new(first: &[Observation]) -> Self {
        let n = first.len();
        let a = Mat::from_fn(n, n, |i, j| covariance(first, i, first[j], j));
        Self { slots: first.to_vec(), a }
    }

    /// Replaces the observation in `slot` by `new` and returns p and m with A' = A + p pᵀ − m mᵀ.
    fn replace(&mut self, slot: usize, new: Observation) -> (Col<f64>, Col<f64>) {
        self.slots[slot] = new;
        let n = self.slots.len();
        let column = Col::from_fn(n, |i| covariance(&self.slots, i, new, slot));
        let mut d = &column - self.a.col(slot);
        d[slot] *= 0.5;
        for i in 0..n {
            self.a[(i, slot)] = column[i];
            self.a[(slot, i)] = column[i];
        }
        // A balanced split: both p and m are as short as possible.
        let s = d.norm_l2().sqrt();
        let mut p = &d * (FRAC_1_SQRT_2 / s);
        let mut m = &p * -1.0;
        p[slot] += FRAC_1_SQRT_2 * s;
        m[slot] += FRAC_1_SQRT_2 * s;
        (p, m)
    }

    /// Mean and variance of the concentration in `week`, given the window.
    fn forecast(&self, factor: &Cholesky<f64>, week: usize) -> Result<(f64, f64), Error> {
        let level = self.slots.iter().map(|o| o.ppm).sum::<f64>() / self.slots.len() as f64;
        let k = Col::from_fn(self.slots.len(), |i| kernel(self.slots[i].week.abs_diff(week)));
        let z = factor.solve(&k)?; // A z = k  (n × 1)
        let mean = (0..k.nrows()).map(|i| z[(i, 0)] * (self.slots[i].ppm - level)).sum::<f64>();
        let explained = (0..k.nrows()).map(|i| z[(i, 0)] * k[i]).sum::<f64>();
        Ok((level + mean, kernel(0) + NOISE - explained))
    }

    /// ‖(L Lᵀ − A) x‖ / (‖A‖ ‖x‖): the agreement of L Lᵀ with A in the direction x, for 6 n² flops.
    fn residual(&self, factor: &Cholesky<f64>, x: &Col<f64>) -> f64 {
        let product = factor.l() * (factor.l().transpose() * x);
        (product - &self.a * x).norm_l2() / (self.a.norm_l2() * x.norm_l2())
    }
}

/// Entry of A between slot `i` and the observation `other` in slot `j`.
fn covariance(slots: &[Observation], i: usize, other: Observation, j: usize) -> f64 {
    kernel(slots[i].week.abs_diff(other.week)) + if i == j { NOISE } else { 0.0 }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let record = record();
    let n = std::env::args().nth(1).map_or(Ok(512), |argument| argument.parse::<usize>())?;
    if !(YEAR..record.len() - AHEAD).contains(&n) {
        return Err(format!("the window must be from {YEAR} to {} weeks", record.len() - AHEAD - 1).into());
    }
    let mut outcome = slide(&record, n)?;
    outcome.print();
    outcome.check();
    Ok(())
}

/// Slides a window of n observations over the record and forecasts from every position.
fn slide(record: &[Observation], n: usize) -> Result<Outcome, Error> {
    let mut window = Window::new(&record[..n]);
    let mut factor = Cholesky::new(&window.a)?;
    let mut random = StdRng::seed_from_u64(1958);
    let probe = Col::from_fn(n, |_| random.random_range(-1.0..1.0));

    let mut outcome = Outcome { order: n, ..Outcome::default() };
    let steps = n..record.len() - AHEAD;
    println!("a window of {n} weeks slides over 43 years of weekly measurements");
    let mut said = Instant::now();
    for now in steps.clone() {
        if said.elapsed() > SILENCE {
            println!("step {} of {}", now - n, steps.len());
            said = Instant::now();
        }
        let (p, m) = window.replace(now % n, record[now]);

        let start = Instant::now();
        factor.update(&p)?;
        factor.downdate(&m)?;
        outcome.followed.note(start.elapsed(), window.residual(&factor, &probe));

        let start = Instant::now();
        let reference = Cholesky::new(&window.a)?;
        outcome.refactored.note(start.elapsed(), window.residual(&reference, &probe));

        let target = record[now + AHEAD];
        let (mean, variance) = window.forecast(&factor, target.week)?;
        let (reference_mean, _) = window.forecast(&reference, target.week)?;
        // The naive forecast: the same week of the last year, plus the rise since then.
        let guess = record[now + AHEAD - YEAR].ppm + (record[now].ppm - record[now - YEAR].ppm);
        outcome.apart = larger(outcome.apart, (mean - reference_mean).abs());
        outcome.forecasts.note(target.ppm - mean, variance);
        outcome.seasonal.note(target.ppm - guess, f64::INFINITY);
    }
    outcome.last_entries = (factor.reconstruct()? - &window.a).norm_max() / window.a.norm_max();
    Ok(outcome)
}

#[derive(Default)]
struct Outcome {
    order: usize,
    followed: Way,
    refactored: Way,
    /// Largest difference of the two forecasts, ppm.
    apart: f64,
    forecasts: Score,
    seasonal: Score,
    /// max |L Lᵀ − A| / max |A| after the last step.
    last_entries: f64,
}

impl Outcome {
    fn print(&mut self) {
        let Self { followed, refactored, forecasts, seasonal, .. } = self;
        println!("{} steps, each with a forecast {AHEAD} weeks ahead", forecasts.errors);
        println!("                       median time of a step   worst residual");
        for (name, way) in [("update and downdate", &mut *followed), ("refactorizing", &mut *refactored)] {
            println!("{name:<22} {:>18.1} us {:>16.1e}", way.median_s() * 1e6, way.worst_residual);
        }
        println!("speedup                {:>18.1} x", refactored.median_s() / followed.median_s());
        println!(
            "largest entry of L L^T - A after the last step: {:.1e} of the largest of A",
            self.last_entries
        );
        println!("the two forecasts differ by at most {:.1e} ppm", self.apart);
        println!(
            "error of the forecasts {:.2} ppm (RMS), of a seasonal guess {:.2}",
            forecasts.rms(),
            seasonal.rms()
        );
        println!("{:.0} % of the targets within two standard deviations", 100.0 * forecasts.within());
    }

    fn check(&self) {
        // One modification adds an error of at most (n + 1) u to an entry, relative to A, and the two a step add up as
        // random errors do. In a random direction the error is 1/√n of the error of the entries.
        let entries = (2.0 * self.forecasts.errors).sqrt() * (self.order + 1) as f64 * (f64::EPSILON / 2.0);
        let direction = entries / (self.order as f64).sqrt();
        assert!(self.followed.worst_residual <= direction, "residual above {direction:.1e}");
        assert!(self.last_entries <= entries, "largest entry of L L^T - A above {entries:.1e}");
        assert!(self.apart <= 1e-6, "forecasts differ by more than 1e-6 ppm");
        assert!(self.forecasts.rms() < self.seasonal.rms(), "the forecasts are worse than a guess");
        println!(
            "all checks passed: residual <= {direction:.1e}, entries <= {entries:.1e}, forecasts <= 1e-6 ppm"
        );
    }
}

/// The larger of two numbers; unlike `f64::max`, a NaN if there is one.
fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// One way to obtain the factor of every step.
#[derive(Default)]
struct Way {
    seconds: Vec<f64>,
    worst_residual: f64,
}

impl Way {
    fn note(&mut self, time: Duration, residual: f64) {
        self.seconds.push(time.as_secs_f64());
        self.worst_residual = larger(self.worst_residual, residual);
    }

    fn median_s(&mut self) -> f64 {
        self.seconds.sort_by(f64::total_cmp);
        self.seconds[self.seconds.len() / 2]
    }
}

/// The quality of a series of forecasts.
#[derive(Default)]
struct Score {
    errors: f64,
    squares: f64,
    within: f64,
}

impl Score {
    fn note(&mut self, error: f64, variance: f64) {
        self.errors += 1.0;
        self.squares += error * error;
        self.within += f64::from(error * error <= 4.0 * variance);
    }

    fn rms(&self) -> f64 {
        (self.squares / self.errors).sqrt()
    }

    /// Share of the errors within two standard deviations.
    fn within(&self) -> f64 {
        self.within / self.errors
    }
}
