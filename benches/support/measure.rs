//! One timer for all competitors.

use crate::competitors::{Competitor, Kind, Verb};
use crate::limits::Limits;
use crate::problem::{Problem, Real};
use cholupdate::Error;
use cholupdate::faer::MatRef;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// The time limits of a cell.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Samples are taken until one competitor has used this time.
    pub budget: Duration,
    /// Samples besides the first, which has cold caches.
    pub at_least: usize,
    pub at_most: usize,
    /// A first sample longer than this is the only one: cold caches do not affect it noticeably.
    pub lone: Duration,
    /// A competitor with a longer predicted time for an update and a downdate is skipped, unless it is this crate.
    pub skip: Duration,
}

/// The measurement of one verb of one competitor.
#[derive(Clone, Copy)]
pub struct Timing {
    /// Median of the samples.
    pub seconds: f64,
    pub samples: usize,
    /// After the first call, and NaN-propagating: see [`Problem::residual`].
    pub residual: f64,
    /// By [`is_right`].
    pub right: bool,
}

pub enum Outcome {
    /// In the order of [`Verb::BOTH`].
    Measured([Timing; 2]),
    /// The predicted seconds for an update and a downdate.
    Skipped(f64),
    /// Not on this machine.
    Missing,
}

/// The timer, and the rates measured so far.
pub struct Timer {
    pub effort: Effort,
    /// Seconds per unit of [`Kind::work`] in the cell measured last.
    rates: HashMap<(Kind, &'static str), f64>,
}

impl Timer {
    #[must_use]
    pub fn new(effort: Effort) -> Self {
        Self { effort, rates: HashMap::new() }
    }

    pub fn measure<T: Real>(
        &mut self,
        kind: Kind,
        problem: &Problem<T>,
        v: MatRef<'_, T>,
        limits: &Limits,
    ) -> Outcome {
        let work = kind.work(problem.order(), v.ncols());
        let predicted = self.rates.get(&(kind, T::NAME)).map_or(0.0, |rate| 2.0 * rate * work);
        if predicted > self.effort.skip.as_secs_f64() && !matches!(kind, Kind::Ours(_)) {
            return Outcome::Skipped(predicted);
        }
        let Some(mut competitor) = kind.build(problem, v) else { return Outcome::Missing };
        let timings = alternate(&mut *competitor, problem, v, self.effort, limits.timer);
        self.rates.insert((kind, T::NAME), (timings[0].seconds + timings[1].seconds) / 2.0 / work);
        Outcome::Measured(timings)
    }
}

/// Times updates and downdates of a competitor by the same V in turn.
///
/// Every downdate reverses the update before it, so that the input of every call is in place without a copy: the factor stays
/// in the caches, as in a loop that modifies one factor. Only the clock is read between calls; the time of an empty timed
/// region is subtracted.
fn alternate<T: Real>(
    competitor: &mut dyn Competitor<T>,
    problem: &Problem<T>,
    v: MatRef<'_, T>,
    effort: Effort,
    timer: Duration,
) -> [Timing; 2] {
    let timed = |competitor: &mut dyn Competitor<T>, verb| {
        competitor.prepare(verb);
        let start = Instant::now();
        competitor.run(verb);
        start.elapsed().saturating_sub(timer).as_secs_f64()
    };
    let residual = |competitor: &dyn Competitor<T>, verb| {
        let sign = if verb == Verb::Update { 1.0 } else { 0.0 };
        problem.residual(competitor.factor(), v, sign)
    };

    let mut residuals = [0.0; 2];
    let mut first = [0.0; 2];
    for (i, verb) in Verb::BOTH.into_iter().enumerate() {
        first[i] = timed(competitor, verb);
        residuals[i] = residual(competitor, verb);
    }
    let samples = sample(effort, first, |turn| timed(competitor, Verb::BOTH[turn]));
    let last = residual(competitor, Verb::Downdate);
    let medians = medians(&samples);
    core::array::from_fn(|i| Timing {
        seconds: medians[i],
        samples: samples.len(),
        residual: residuals[i],
        right: is_right::<T>(residuals, last, samples.len()),
    })
}

/// Whether the residuals after each of the first two calls and after the last are those of correct results. Rounding errors add
/// up: each pair of calls may add as much as the first.
#[must_use]
pub fn is_right<T: Real>(first: [f64; 2], last: f64, pairs: usize) -> bool {
    let of_all = T::LARGEST_RESIDUAL.max(first[1] * pairs as f64);
    first.iter().all(|&residual| residual <= T::LARGEST_RESIDUAL) && last <= of_all
}

/// Median seconds of updates and of the downdates that reverse them, from the call to the report. The first pair allocates and
/// is not counted.
///
/// # Panics
/// When a call fails.
pub fn time_calls<R>(effort: Effort, mut call: impl FnMut(Verb) -> Result<R, Error>) -> [f64; 2] {
    let mut timed = |verb: Verb| {
        let start = Instant::now();
        let outcome = call(verb);
        let seconds = start.elapsed().as_secs_f64();
        outcome.unwrap_or_else(|error| panic!("{}: {error}", verb.name()));
        seconds
    };
    let first = Verb::BOTH.map(&mut timed);
    medians(&sample(effort, first, |turn| timed(Verb::BOTH[turn])))
}

/// Samples of two alternating calls, the second of which reverses the first, after a first pair.
pub fn sample(effort: Effort, first: [f64; 2], mut timed: impl FnMut(usize) -> f64) -> Vec<[f64; 2]> {
    let Effort { budget, at_least, at_most, lone, .. } = effort;
    let mut samples = Vec::new();
    if first[0] + first[1] > lone.as_secs_f64() {
        samples.push(first);
        return samples;
    }
    let start = Instant::now();
    while samples.len() < at_least || samples.len() < at_most && start.elapsed() < budget {
        samples.push([0, 1].map(&mut timed));
    }
    samples
}

/// Of each of the two calls.
#[must_use]
pub fn medians(samples: &[[f64; 2]]) -> [f64; 2] {
    [0, 1].map(|turn| median(samples.iter().map(|pair| pair[turn]).collect()))
}

#[must_use]
pub fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    let middle = samples.len() / 2;
    if samples.len() % 2 == 1 { samples[middle] } else { (samples[middle - 1] + samples[middle]) / 2.0 }
}
