//! Shared by the benchmarks of the hybrid and the resident engine.

use crate::competitors::{Verb, modify};
use crate::measure::{Effort, time_calls};
use crate::problem::{Problem, Real, Sampled};
use crate::settings::Settings;
use cholupdate::faer::MatRef;
use cholupdate::{Cholesky, Cpu, Engine};
use std::time::Duration;

/// Up to nine samples of each verb, within `seconds` together if that is possible.
#[must_use]
pub fn effort(seconds: u64) -> Effort {
    let never = Duration::MAX;
    Effort { budget: Duration::from_secs(seconds), at_least: 1, at_most: 9, lone: never, skip: never }
}

/// Median seconds of an update and of the downdate that reverses it.
///
/// # Panics
/// When one of them fails.
pub fn time<T: Real, E: Engine<T>>(
    effort: Effort,
    factor: &mut Cholesky<T, E>,
    v: MatRef<'_, T>,
) -> [f64; 2] {
    time_calls(effort, |verb| modify(factor, v, verb))
}

/// The same of the CPU engine on all threads, for each rank; empty if the settings leave it out.
///
/// # Panics
/// When a call fails.
#[must_use]
pub fn on_the_cpu<T: Real>(
    settings: &Settings,
    effort: Effort,
    problem: &Problem<T>,
    ranks: &[usize],
) -> Vec<[f64; 2]> {
    if !settings.with_cpu {
        return Vec::new();
    }
    let mut cpu = Cholesky::from_factor_in(&problem.l, Cpu::default()).expect("a factor");
    ranks.iter().map(|&rank| time(effort, &mut cpu, problem.v(rank).as_ref())).collect()
}

/// The residual of an update, which is reversed afterwards.
///
/// # Panics
/// When a call fails.
pub fn residual<T: Real, E: Engine<T>>(
    problem: &Problem<T>,
    factor: &mut Cholesky<T, E>,
    v: MatRef<'_, T>,
) -> f64 {
    modify(factor, v, Verb::Update).expect("an update");
    let residual = problem.residual(factor.to_factor().expect("L").as_ref(), v, 1.0);
    modify(factor, v, Verb::Downdate).expect("a downdate");
    residual
}

/// The residual of an update of any factor, from L before and after it.
#[must_use]
pub fn residual_between<T: Real>(before: MatRef<'_, T>, v: MatRef<'_, T>, after: MatRef<'_, T>) -> f64 {
    Sampled::of_factor(before).residual(after, v, 1.0)
}
