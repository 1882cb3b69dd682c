//! The competitors on the CPU: this crate, its peers, and refactorizing.

mod libraries;
pub mod ours;
pub mod refactor;

use crate::case::Case;
use crate::limits::{Cost, Team, all_threads};
use crate::measure::{Effort, Outcome, Timed, in_turns};
use crate::peers::eigen::{Eigen, version};
use crate::peers::python::{Python, Remote};
use crate::scalar::{Real, largest_residual};
use cholupdate::faer::Par;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Ours(Team),
    Hyhound,
    Linpack,
    Faer,
    Nalgebra,
    Eigen,
    Qrupdate,
    Refactor(Team),
}

impl Kind {
    /// Those that modify a factor.
    pub const MODIFY: [Self; 9] = [
        Self::Ours(Team::One),
        Self::Ours(Team::All),
        Self::Hyhound,
        Self::Eigen,
        Self::Faer,
        Self::Nalgebra,
        Self::Linpack,
        Self::Refactor(Team::One),
        Self::Refactor(Team::All),
    ];
    /// Those that insert, remove and move rows and columns.
    pub const ROWS: [Self; 6] = [
        Self::Ours(Team::One),
        Self::Ours(Team::All),
        Self::Qrupdate,
        Self::Nalgebra,
        Self::Refactor(Team::One),
        Self::Refactor(Team::All),
    ];

    /// Those of a list that differ on this machine.
    #[must_use]
    pub fn here(list: &[Self]) -> Vec<Self> {
        list.iter().copied().filter(|kind| all_threads() > 1 || kind.team() == Team::One).collect()
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ours(_) => "cholupdate",
            Self::Hyhound => "hyhound",
            Self::Linpack => "LINPACK",
            Self::Faer => "faer",
            Self::Nalgebra => "nalgebra",
            Self::Eigen => "Eigen",
            Self::Qrupdate => "qrupdate",
            Self::Refactor(_) => "refactor",
        }
    }

    #[must_use]
    pub fn team(self) -> Team {
        match self {
            Self::Ours(team) | Self::Refactor(team) => team,
            _ => Team::One,
        }
    }

    /// The work of one verb, to which predicted times are proportional.
    #[must_use]
    pub fn work(self, order: usize, rank: usize, cost: Cost) -> f64 {
        let (n, k) = (order as f64, rank as f64);
        match self {
            Self::Refactor(_) => n * n * (n / 3.0 + k),
            Self::Ours(_) | Self::Faer | Self::Hyhound => cost.flops + 2.0 * cost.moved,
            Self::Qrupdate => cost.flops + k * cost.moved,
            // For rows it copies the whole factor for each.
            Self::Linpack | Self::Nalgebra | Self::Eigen => cost.flops + k * n * n,
        }
    }

    /// `None` if it is not on this machine, or cannot do the case.
    fn build<'a, T: Real>(self, case: &'a Case<'a, T>) -> Option<Box<dyn Timed + 'a>> {
        use libraries::{ByEigen, ByQrupdate, Faer, Linpack, Nalgebra};
        Some(match self {
            Self::Ours(team) => {
                let factor = ours::factor(case.problem, ours::cpu(team));
                Box::new(ours::from_host(&factor, case))
            }
            Self::Hyhound => {
                let cell = (case.order(), case.rank);
                Box::new(Remote::new(hyhound()?, "update", T::NAME, cell, 2))
            }
            Self::Linpack => Box::new(Linpack::new(case)),
            Self::Faer => Box::new(Faer::new(case)),
            Self::Nalgebra => Box::new(Nalgebra::new(case)?),
            Self::Eigen => Box::new(ByEigen::new(case)?),
            Self::Qrupdate => Box::new(ByQrupdate::new(case)?),
            Self::Refactor(team) => {
                let par = if team == Team::One { Par::Seq } else { Par::rayon(0) };
                Box::new(refactor::Refactor::new(case, par))
            }
        })
    }

    /// The version of a peer that is found at run time; empty for the others, and if it is missing.
    #[must_use]
    pub fn version(self) -> String {
        match self {
            Self::Hyhound => hyhound().map_or(String::new(), |python| python.versions.clone()),
            Self::Eigen if Eigen::<f64>::load().is_some() => version().unwrap_or_default(),
            _ => String::new(),
        }
    }
}

fn hyhound() -> Option<&'static Python> {
    static PYTHON: OnceLock<Option<Python>> = OnceLock::new();
    PYTHON.get_or_init(|| Python::start("hyhound_peer.py")).as_ref()
}

/// Measures competitors, and leaves out those that would take too long.
pub struct Timer {
    effort: Effort,
    /// The time of an empty timed region.
    empty: Duration,
    /// Seconds per unit of [`Kind::work`] in the case measured last.
    rates: HashMap<(Kind, &'static str, String), f64>,
}

impl Timer {
    #[must_use]
    pub fn new(effort: Effort, empty: Duration) -> Self {
        Self { effort, empty, rates: HashMap::new() }
    }

    /// All these competitors in turns.
    pub fn measure<T: Real>(&mut self, kinds: &[Kind], case: &Case<'_, T>) -> Vec<Outcome> {
        let work = |kind: Kind| {
            let each = |turn| kind.work(case.problem.order(), case.rank, case.cost(turn));
            each(0) + each(1)
        };
        let key = |kind| (kind, T::NAME, case.label(1));
        let mut outcomes = Vec::new();
        let mut entrants = Vec::new();
        for (at, &kind) in kinds.iter().enumerate() {
            let predicted = self.rates.get(&key(kind)).map_or(0.0, |rate| rate * work(kind));
            let skipped = predicted > self.effort.skip.as_secs_f64() && !matches!(kind, Kind::Ours(_));
            outcomes.push(if skipped { Outcome::Skipped(predicted) } else { Outcome::Missing });
            if let Some(entrant) = if skipped { None } else { kind.build(case) } {
                entrants.push((at, entrant));
            }
        }
        let mut methods: Vec<&mut dyn Timed> = entrants.iter_mut().map(|(_, one)| &mut **one as _).collect();
        let largest = largest_residual(T::NAME, case.problem.order(), case.rank);
        let measured = in_turns(&mut methods, self.effort, self.empty, largest);
        for (&(at, _), timings) in entrants.iter().zip(measured) {
            let Some(timings) = timings else { continue };
            let seconds: f64 = timings.iter().map(|timing| timing.seconds).sum();
            self.rates.insert(key(kinds[at]), seconds / work(kinds[at]));
            outcomes[at] = Outcome::Measured(timings);
        }
        outcomes
    }
}
