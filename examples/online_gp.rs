//! A Gaussian process that learns the CO2 record of Mauna Loa online, four weeks at a time.
//!
//! The factor is that of A = K + σ² I for the observations of the last fifteen years, oldest first. New observations are
//! learned by `append`, r n² flops for r observations; old ones are forgotten by `remove`, 2 r n² flops. Refactorizing would
//! take n³/3. Every step forecasts four weeks a year later, for comparison with the measurements.
//!
//! At the end the next five years are sampled jointly, as Bayesian optimization samples its candidates. `extension` borders
//! A by these r times and does not change the factor,
//!
//! ```text
//! A' = (A B; Bᵀ C),     A'⁻¹ (y 0; 0 I) = (·  ·; −q  P),     P = (C − Bᵀ A⁻¹ B)⁻¹,     q = P Bᵀ A⁻¹ y.
//! ```
//!
//! P is the inverse of their covariance, and P⁻¹ q their mean. With P = R Rᵀ and a standard normal z, P⁻¹ (q + R z) is a sample.
//!
//! Run with `cargo run --release --example online_gp [plot.svg]`. Every step is checked against refactorizing. The plot of the
//! record, the forecast with a band of 95 %, and the samples goes to `target/online_gp.svg`.

mod mauna_loa;
#[path = "online_gp/plot.rs"]
mod plot;

use cholupdate::faer::{Col, Mat};
use cholupdate::{Cholesky, Cpu, Error};
use mauna_loa::{NOISE, Observation, kernel, record};
use plot::plot;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::f64::consts::TAU;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Observations learned in a step.
const BLOCK: usize = 4;
/// Observations in the window: fifteen years.
const WINDOW: usize = 780;
const YEAR: usize = 52;
/// Weeks at the end of the record, which are forecast at the end and never learned.
const HELD_BACK: usize = 5 * YEAR;
const SAMPLES: usize = 3;
/// Standard deviations on each side of the mean that contain 95 %.
const BAND: f64 = 1.96;

/// The covariance at two weeks is a function of their distance: a table.
struct Covariance(Vec<f64>);

impl Covariance {
    fn between(&self, rows: &[usize], columns: &[usize]) -> Mat<f64> {
        Mat::from_fn(rows.len(), columns.len(), |i, j| self.0[rows[i].abs_diff(columns[j])])
    }

    /// With the noise of each measurement, for distinct weeks.
    fn measured(&self, weeks: &[usize]) -> Mat<f64> {
        let mut a = self.between(weeks, weeks);
        (0..weeks.len()).for_each(|i| a[(i, i)] += NOISE);
        a
    }
}

struct Process {
    covariance: Covariance,
    /// The known observations, oldest first: weeks and measurements.
    weeks: Vec<usize>,
    ppm: Vec<f64>,
    /// Of A (n × n), for `weeks`.
    factor: Cholesky<f64>,
}

/// A week, and the mean and standard deviation of its measurement.
type Expected = (usize, f64, f64);

impl Process {
    fn new(covariance: Covariance, known: &[Observation]) -> Result<Self, Error> {
        let weeks: Vec<_> = known.iter().map(|o| o.week).collect();
        let ppm = known.iter().map(|o| o.ppm).collect();
        // One thread: a change ends before a second thread would have started.
        let mut factor = Cholesky::new_in(&covariance.measured(&weeks), Cpu::sequential())?;
        // So that L is never reallocated.
        factor.reserve(WINDOW + BLOCK - weeks.len())?;
        Ok(Self { covariance, weeks, ppm, factor })
    }

    /// Learns new observations and forgets those outside the window. Returns the time spent on the factor.
    ///
    /// If `append` fails, the factor and the observations remain consistent: the observations change after the `?`.
    fn learn(&mut self, new: &[Observation]) -> Result<Duration, Error> {
        let weeks: Vec<_> = new.iter().map(|o| o.week).collect();
        let cross = self.covariance.between(&self.weeks, &weeks); // (n × r)
        let corner = self.covariance.measured(&weeks); // (r × r)
        let start = Instant::now();
        self.factor.append(&cross, &corner)?;
        let mut spent = start.elapsed();
        self.weeks.extend(weeks);
        self.ppm.extend(new.iter().map(|o| o.ppm));

        let old: Vec<_> = (0..self.weeks.len().saturating_sub(WINDOW)).collect();
        let start = Instant::now();
        self.factor.remove(&old)?;
        spent += start.elapsed();
        self.weeks.drain(..old.len());
        self.ppm.drain(..old.len());
        Ok(spent)
    }

    fn level(&self) -> f64 {
        self.ppm.iter().sum::<f64>() / self.ppm.len() as f64
    }

    /// Forecasts each week separately, by the factor of A.
    fn forecast(&self, factor: &Cholesky<f64>, weeks: &[usize]) -> Result<Vec<Expected>, Error> {
        let (level, cross) = (self.level(), self.covariance.between(&self.weeks, weeks));
        let z = factor.solve(&cross)?; // (n × r)
        let known = Col::from_fn(self.ppm.len(), |i| self.ppm[i] - level);
        let at = |j: usize| {
            let mean = level + z.col(j).transpose() * &known;
            let variance = self.covariance.0[0] + NOISE - z.col(j).transpose() * cross.col(j);
            (weeks[j], mean, variance.sqrt())
        };
        Ok((0..weeks.len()).map(at).collect())
    }

    /// Joint samples of the measurements in these weeks. (r × samples)
    fn sample(&self, weeks: &[usize], random: &mut StdRng, versus: &mut Versus) -> Result<Mat<f64>, Error> {
        let (n, r, level) = (self.weeks.len(), weeks.len(), self.level());
        let cross = self.covariance.between(&self.weeks, weeks);
        let corner = self.covariance.measured(weeks);
        let rhs = Mat::from_fn(n + r, 1 + r, |i, j| match j {
            0 if i < n => self.ppm[i] - level,
            0 => 0.0,
            _ => f64::from(i == n + j - 1),
        });
        let start = Instant::now();
        let extension = self.factor.extension(&cross, &corner)?;
        versus.kept += start.elapsed();
        let x = extension.solve(&rhs)?;

        let a = self.covariance.measured(&[&self.weeks, weeks].concat());
        let start = Instant::now();
        let fresh = Cholesky::new_in(&a, Cpu::sequential())?;
        versus.fresh += start.elapsed();
        versus.count += 1;
        let reference = fresh.solve(&rhs)?;
        versus.apart = (&x - &reference).norm_max() / reference.norm_max();
        versus.apart = larger(versus.apart, (extension.log_det()? / fresh.log_det()? - 1.0).abs());

        let p = Cholesky::new(x.submatrix(n, 1, r, r))?;
        let rz = p.l() * Mat::from_fn(r, SAMPLES, |_, _| normal(random));
        let samples = p.solve(&Mat::from_fn(r, SAMPLES, |i, j| rz[(i, j)] - x[(n + i, 0)]))?;
        Ok(Mat::from_fn(r, SAMPLES, |i, j| level + samples[(i, j)]))
    }
}

/// A standard normal number, by Box and Muller.
fn normal(random: &mut StdRng) -> f64 {
    let (u, v): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (TAU * v).cos()
}

/// The larger of two numbers; unlike `f64::max`, a NaN if there is one.
fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// A changed factor against a new factor: the time of both, and the largest difference of their results.
#[derive(Default)]
struct Versus {
    count: u32,
    kept: Duration,
    fresh: Duration,
    /// The largest difference of forecasts, ppm, or of solutions, relative.
    apart: f64,
}

impl Versus {
    fn print(&self, what: &str) {
        let millis = |total: Duration| total.as_secs_f64() * 1e3 / f64::from(self.count);
        let (kept, fresh) = (millis(self.kept), millis(self.fresh));
        println!("{what} {kept:.3} ms, refactorizing {fresh:.3} ms: {:.1} times as fast", fresh / kept);
    }
}

/// Errors of a series of forecasts.
#[derive(Default)]
struct Score {
    count: f64,
    squares: f64,
    within: f64,
}

impl Score {
    fn note(&mut self, error: f64, deviation: f64) {
        self.count += 1.0;
        self.squares += error * error;
        self.within += f64::from(error.abs() <= BAND * deviation);
    }

    fn rms(&self) -> f64 {
        (self.squares / self.count).sqrt()
    }

    /// Share within the band, per cent.
    fn within(&self) -> f64 {
        100.0 * self.within / self.count
    }
}

/// The measurement of a week, if there is one.
fn measured(record: &[Observation], week: usize) -> Option<f64> {
    record.binary_search_by_key(&week, |o| o.week).ok().map(|at| record[at].ppm)
}

/// The results of learning.
#[derive(Default)]
struct Learning {
    versus: Versus,
    /// A year ahead.
    forecasts: Score,
    guesses: Score,
}

impl Learning {
    /// Learns the next observations, also with a new factor, and forecasts as many weeks a year later.
    fn step(&mut self, process: &mut Process, new: &[Observation], all: &[Observation]) -> Result<(), Error> {
        let before = process.weeks[process.weeks.len() - 1];
        self.versus.kept += process.learn(new)?;
        self.versus.count += 1;

        let a = process.covariance.measured(&process.weeks);
        let start = Instant::now();
        let fresh = Cholesky::new_in(&a, Cpu::sequential())?;
        self.versus.fresh += start.elapsed();

        let now = process.weeks[process.weeks.len() - 1];
        let weeks: Vec<_> = (before + 1 + YEAR..=now + YEAR).collect();
        let forecast = process.forecast(&process.factor, &weeks)?;
        let reference = process.forecast(&fresh, &weeks)?;
        for (&(week, mean, deviation), (_, other, _)) in forecast.iter().zip(reference) {
            self.versus.apart = larger(self.versus.apart, (mean - other).abs());
            let past = |years: usize| measured(all, week - years * YEAR);
            if let (Some(ppm), Some(now), Some(then)) = (past(0), past(1), past(2)) {
                self.forecasts.note(ppm - mean, deviation);
                // The naive forecast: the rise of the last year is repeated.
                self.guesses.note(ppm - (now + (now - then)), f64::INFINITY);
            }
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "target/online_gp.svg".into());
    let record = record();
    let end = record[record.len() - 1].week;
    let (known, rest) = record.split_at(3 * YEAR);
    let rest = &rest[..rest.partition_point(|o| o.week + HELD_BACK <= end)];
    let mut process = Process::new(Covariance((0..=end).map(kernel).collect()), known)?;

    let steps = rest.chunks(BLOCK);
    println!("{} steps of {BLOCK} observations, the last {WINDOW} of which are kept", steps.len());
    let mut learning = Learning::default();
    for new in steps {
        learning.step(&mut process, new, &record)?;
    }
    let Learning { versus, forecasts, guesses } = learning;
    versus.print("append and remove");
    let a = process.covariance.measured(&process.weeks);
    let residual = (process.factor.reconstruct()? - &a).norm_max() / a.norm_max();
    println!("largest entry of L L^T - A at the end: {residual:.1e} of the largest of A");
    println!("forecasts differ by at most {:.1e} ppm", versus.apart);

    let now = process.weeks[process.weeks.len() - 1];
    let future = process.forecast(&process.factor, &(now + 1..=end).collect::<Vec<_>>())?;
    let mut five_years = Score::default();
    for &(week, mean, deviation) in &future {
        measured(&record, week).into_iter().for_each(|ppm| five_years.note(ppm - mean, deviation));
    }
    let sampled: Vec<_> = (now + BLOCK..=end).step_by(BLOCK).collect();
    let mut extended = Versus::default();
    let samples = process.sample(&sampled, &mut StdRng::seed_from_u64(1958), &mut extended)?;
    extended.print(&format!("extension by {} rows", sampled.len()));
    println!("solutions and log det differ by at most {:.1e}", extended.apart);

    println!("error a year ahead {:.2} ppm (RMS), of a guess {:.2}", forecasts.rms(), guesses.rms());
    println!("error in the five years after the last step {:.2} ppm (RMS)", five_years.rms());
    println!("in the band of 95 %: {:.0} % and {:.0} %", forecasts.within(), five_years.within());
    fs::create_dir_all(Path::new(&path).parent().ok_or("the plot needs the name of a file")?)?;
    fs::write(&path, plot(&record, &future, &sampled, &samples))?;
    println!("plot in {path}");

    // Each of the two changes of a step adds an error of at most (n + r) u, relative to A; they add up as random errors do.
    let bound = (2.0 * f64::from(versus.count)).sqrt() * (WINDOW + 2 * BLOCK) as f64 * (f64::EPSILON / 2.0);
    assert!(residual <= bound, "residual above {bound:.1e}");
    assert!(versus.apart <= 1e-6, "forecasts differ by more than 1e-6 ppm");
    assert!(extended.apart <= 1e-8, "solutions differ by more than 1e-8");
    assert!(forecasts.rms() < guesses.rms(), "the forecasts are worse than a guess");
    assert!(forecasts.within() > 85.0 && five_years.within() > 85.0, "too much is outside of the band");
    println!("all checks passed: residual <= {bound:.1e}, forecasts <= 1e-6 ppm, solutions <= 1e-8");
    Ok(())
}
