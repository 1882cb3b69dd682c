//! One timer for all methods, which takes their samples in turns.

use cholupdate::Error;
use std::time::{Duration, Instant};

/// The time limits of a cell.
#[derive(Clone, Copy)]
pub struct Effort {
    /// Samples are taken until one method has used this time.
    pub budget: Duration,
    /// Samples besides the first, which has cold caches.
    pub at_least: usize,
    pub at_most: usize,
    /// If the fastest sample so far is longer, no more are taken: cold caches do not affect it noticeably.
    pub lone: Duration,
    /// A first sample may include compilation by a driver, and says nothing about the next.
    pub first_compiles: bool,
    /// A peer with a longer predicted time for all its verbs is skipped.
    pub skip: Duration,
}

/// The measurement of one verb of one method.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Median of the samples.
    pub seconds: f64,
    pub samples: usize,
    /// After the first call. A NaN is kept.
    pub residual: f64,
    /// Whether the residuals after each of the first calls and after the last are those of correct results.
    pub right: bool,
}

pub enum Outcome {
    /// One for each verb.
    Measured(Vec<Timing>),
    /// The predicted seconds for all verbs.
    Skipped(f64),
    /// Not on this machine, or not for this case.
    Missing,
}

/// A method whose verbs are called in turn; the last one leads back to the first, so that the input of every call is in place
/// without a copy: the factor stays in the caches, as in a loop that modifies one factor.
pub trait Competitor {
    /// Verbs in a cycle.
    fn turns(&self) -> usize {
        2
    }
    /// Restores inputs that `run` overwrites. Not timed.
    fn prepare(&mut self, _turn: usize) {}
    /// One verb. Timed.
    fn run(&mut self, turn: usize);
    /// Of the result that the last `run` left, which was of this verb.
    fn residual(&self, turn: usize) -> f64;
}

/// A method that can be timed, in this process or in another.
pub trait Timed {
    /// Seconds and residual of each verb in a first cycle. `None`: it cannot do the case.
    fn first(&mut self, timer: Duration) -> Option<Vec<(f64, f64)>>;
    /// Seconds of each verb in further cycles.
    fn cycles(&mut self, effort: Effort, timer: Duration) -> Vec<Vec<f64>>;
    /// After the last verb.
    fn residual(&mut self) -> f64;
}

impl<C: Competitor> Timed for C {
    fn first(&mut self, timer: Duration) -> Option<Vec<(f64, f64)>> {
        let turns = 0..self.turns();
        Some(turns.map(|turn| (time(self, turn, timer), Competitor::residual(self, turn))).collect())
    }
    fn cycles(&mut self, Effort { budget, at_least, at_most, .. }: Effort, timer: Duration) -> Vec<Vec<f64>> {
        let mut cycles = Vec::new();
        let start = Instant::now();
        while cycles.len() < at_least || cycles.len() < at_most && start.elapsed() < budget {
            cycles.push((0..self.turns()).map(|turn| time(self, turn, timer)).collect());
        }
        cycles
    }
    fn residual(&mut self) -> f64 {
        Competitor::residual(self, self.turns() - 1)
    }
}

/// Only the clock is read around a call; the time of an empty timed region is subtracted.
fn time(competitor: &mut impl Competitor, turn: usize, timer: Duration) -> f64 {
    competitor.prepare(turn);
    let start = Instant::now();
    competitor.run(turn);
    start.elapsed().saturating_sub(timer).as_secs_f64()
}

/// Rounds in which the methods of a cell take turns, so that other load of the machine affects all of them.
const ROUNDS: u32 = 4;

/// The state of one method between rounds.
struct Turn {
    first: Vec<(f64, f64)>,
    samples: Vec<Vec<f64>>,
    used: Duration,
}

/// Times all methods of a case in turns. `largest`: the largest residual of a correct result. `None`: it cannot do the case.
pub fn in_turns(
    methods: &mut [&mut dyn Timed],
    effort: Effort,
    timer: Duration,
    largest: f64,
) -> Vec<Option<Vec<Timing>>> {
    let first = |method: &mut &mut dyn Timed| {
        let first = method.first(timer)?;
        Some(Turn { first, samples: Vec::new(), used: Duration::ZERO })
    };
    let mut turns: Vec<Option<Turn>> = methods.iter_mut().map(first).collect();
    let slice = Effort {
        budget: effort.budget / ROUNDS,
        at_least: effort.at_least.div_ceil(ROUNDS as usize),
        at_most: effort.at_most.div_ceil(ROUNDS as usize),
        ..effort
    };
    for _ in 0..ROUNDS {
        for (method, turn) in methods.iter_mut().zip(&mut turns) {
            let Some(turn) = turn else { continue };
            let first = turn.first.iter().map(|(seconds, _)| seconds).sum();
            let first = if effort.first_compiles { None } else { Some(first) };
            let cycles = turn.samples.iter().map(|cycle| cycle.iter().sum::<f64>());
            let fastest = cycles.chain(first).reduce(f64::min);
            let enough = turn.samples.len() >= effort.at_least && turn.used >= effort.budget;
            if enough || fastest.is_some_and(|seconds| seconds > effort.lone.as_secs_f64()) {
                continue;
            }
            let start = Instant::now();
            turn.samples.extend(method.cycles(slice, timer));
            turn.used += start.elapsed();
        }
    }
    let timings = |(method, turn): (&mut &mut dyn Timed, Option<Turn>)| {
        turn.map(|Turn { first, samples, .. }| timings(&mut **method, &first, samples, largest))
    };
    methods.iter_mut().zip(turns).map(timings).collect()
}

fn timings(
    method: &mut dyn Timed,
    first: &[(f64, f64)],
    mut samples: Vec<Vec<f64>>,
    largest: f64,
) -> Vec<Timing> {
    let last = if samples.is_empty() { 0.0 } else { method.residual() };
    let cycles = 1 + samples.len();
    if samples.is_empty() {
        samples.push(first.iter().map(|(seconds, _)| *seconds).collect());
    }
    // Rounding errors add up: each cycle may add as much as the first.
    let right = first.iter().all(|&(seconds, residual)| seconds.is_nan() || residual <= largest)
        && last <= largest * cycles as f64;
    let timing = |(turn, &(_, residual)): (usize, &(f64, f64))| {
        let seconds = median(samples.iter().map(|cycle| cycle[turn]).collect());
        Timing { seconds, samples: samples.len(), residual, right }
    };
    first.iter().enumerate().map(timing).collect()
}

/// Median seconds of two calls, the second of which reverses the first, from the call to the report. The first pair allocates
/// and is not counted.
///
/// # Panics
/// When a call fails.
pub fn time_calls<R>(samples: usize, mut call: impl FnMut(usize) -> Result<R, Error>) -> [f64; 2] {
    let mut seconds = [const { Vec::new() }; 2];
    for sample in 0..=samples {
        for (turn, seconds) in seconds.iter_mut().enumerate() {
            let start = Instant::now();
            let outcome = call(turn);
            let elapsed = start.elapsed().as_secs_f64();
            outcome.unwrap_or_else(|error| panic!("call {turn} of a pair: {error}"));
            if sample > 0 {
                seconds.push(elapsed);
            }
        }
    }
    seconds.map(median)
}

#[must_use]
pub fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    let middle = samples.len() / 2;
    if samples.len() % 2 == 1 { samples[middle] } else { (samples[middle - 1] + samples[middle]) / 2.0 }
}
