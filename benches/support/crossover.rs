//! From which rank on refactorizing is faster.

use crate::case::Case;
use crate::competitors::{Kind, Timer};
use crate::limits::Team;
use crate::measure::Outcome;
use crate::problem::Problem;
use crate::scalar::Real;
use crate::table::time;

/// For one thread and for all, the smallest rank whose update takes longer than forming A' and its factor.
pub fn crossover<T: Real>(problem: &Problem<T>, timer: &mut Timer) -> Vec<String> {
    Team::BOTH.map(|team| seek(problem, team, timer)).to_vec()
}

fn seek<T: Real>(problem: &Problem<T>, team: Team, timer: &mut Timer) -> String {
    let n = problem.order();
    let mut both = |rank: usize| {
        let case = Case::modifying(problem, rank);
        let outcomes = timer.measure(&[Kind::Ours(team), Kind::Refactor(team)], &case);
        let seconds = outcomes.iter().map(|outcome| match outcome {
            Outcome::Measured(timings) => timings[0].seconds,
            Outcome::Skipped(_) | Outcome::Missing => f64::NAN,
        });
        let seconds: Vec<f64> = seconds.collect();
        [seconds[0], seconds[1]]
    };
    let threads = if team == Team::One { "1 thread" } else { "all threads" };
    let label = format!("{} n = {n:5}, {threads:11}:", T::NAME);

    // Invariant after the initial checks: the update is faster at `low` and refactorizing at `high`.
    let (mut low, mut high) = (0, n / 2);
    let [mut ours, mut refactor] = both(high);
    while ours < refactor {
        if high >= 2 * n {
            return format!("{label} the update is faster up to k = {high}");
        }
        (low, high) = (high, 2 * high);
        [ours, refactor] = both(high);
    }
    if ours.is_nan() || refactor.is_nan() {
        return format!("{label} skipped: over budget at k = {high}");
    }
    while high - low > (n / 64).max(1) {
        let middle = usize::midpoint(low, high);
        let [a, b] = both(middle);
        if a < b {
            low = middle;
        } else {
            (high, ours, refactor) = (middle, a, b);
        }
    }
    let share = high as f64 / n as f64;
    format!("{label} k = {high} = {share:.2} n (update {}, refactor {})", time(ours), time(refactor))
}
