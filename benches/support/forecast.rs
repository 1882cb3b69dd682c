//! Predicts the time of the run before it starts.

use crate::case::cost_of_modification;
use crate::competitors::Kind;
use crate::limits::{Limits, Team};
use crate::measure::Effort;
use crate::scalar::Real;
use crate::settings::{Cell, Settings};

/// Seconds for all requested sections.
pub fn seconds(settings: &Settings, limits: &mut Limits) -> f64 {
    of_type::<f64>(settings, limits) + of_type::<f32>(settings, limits) + crossover(settings, limits)
}

fn of_type<T: Real>(settings: &Settings, limits: &mut Limits) -> f64 {
    let (warm_up, measurement) = settings.criterion();
    let target = (warm_up + measurement).as_secs_f64();
    let mut total = 0.0;
    for cell in settings.cells(T::NAME) {
        if settings.section("table") {
            total += Kind::MODIFY
                .map(|kind| table::<T>(kind, cell, settings.effort(), limits))
                .iter()
                .sum::<f64>();
        }
        if settings.section("criterion") {
            for kind in Team::BOTH.map(Kind::Ours) {
                // Criterion counts half of what runs: one verb of two. Ten samples and the warm-up are the least.
                total += 2.0 * f64::max(2.0 * target, 12.0 * pair::<T>(kind, cell, limits));
            }
        }
    }
    total
}

fn table<T: Real>(kind: Kind, cell: Cell, effort: Effort, limits: &mut Limits) -> f64 {
    let pair = pair::<T>(kind, cell, limits);
    if pair > effort.skip.as_secs_f64() {
        0.0
    } else if pair > effort.lone.as_secs_f64() {
        pair
    } else {
        pair + effort.budget.as_secs_f64().max(effort.at_least as f64 * pair)
    }
}

fn crossover(settings: &Settings, limits: &mut Limits) -> f64 {
    /// Ranks that the bisection measures, times competitors at each.
    const STEPS: f64 = 7.0 * 2.0;
    if !settings.section("crossover") {
        return 0.0;
    }
    let mut total = 0.0;
    for order in settings.crossover_orders() {
        for kind in Team::BOTH.map(Kind::Refactor) {
            total += STEPS * table::<f64>(kind, Cell { order, rank: order / 3 }, settings.effort(), limits);
        }
    }
    total
}

/// Predicted seconds for an update and a downdate, from typical shares of the peak.
fn pair<T: Real>(kind: Kind, cell: Cell, limits: &mut Limits) -> f64 {
    let slowdown = match kind {
        Kind::Ours(_) | Kind::Hyhound => 1.5,
        Kind::Refactor(_) => 2.0,
        Kind::Faer => 3.0,
        Kind::Nalgebra | Kind::Eigen | Kind::Qrupdate => 8.0,
        Kind::Linpack => 9.0,
    };
    let cost = cost_of_modification(cell.order, cell.rank);
    let flops = match kind {
        Kind::Refactor(_) => 2.0 * kind.work(cell.order, cell.rank, cost),
        _ => kind.work(cell.order, cell.rank, cost),
    };
    2.0 * slowdown * flops / limits.flops::<T>().of(kind.team())
}
