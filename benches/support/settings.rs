//! What the environment and the command line ask for.

use crate::measure::Effort;
use std::env;
use std::time::Duration;

/// A cell of the grid.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    pub order: usize,
    pub rank: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Every code path once, nothing measured.
    Test,
    Quick,
    Full,
}

pub struct Settings {
    pub mode: Mode,
    /// Only criterion's part runs: its own arguments were given.
    pub criterion_only: bool,
    sections: Option<Vec<String>>,
    orders: Option<Vec<usize>>,
    ranks: Option<Vec<usize>>,
    types: Option<Vec<String>>,
    pub markdown: Option<String>,
}

impl Settings {
    pub fn new() -> Self {
        let arguments: Vec<_> = env::args().skip(1).collect();
        let has = |name: &str| arguments.iter().any(|argument| argument == name);
        let mode = match var("CHOLUPDATE_BENCH").as_deref() {
            // Criterion's own rule: without `--bench` it is `cargo test` that runs this binary.
            _ if has("--test") || !has("--bench") => Mode::Test,
            Some("quick") => Mode::Quick,
            Some("full") | None => Mode::Full,
            Some(other) => panic!("CHOLUPDATE_BENCH is quick or full, not {other}"),
        };
        Self {
            mode,
            criterion_only: arguments.iter().any(|argument| argument != "--bench" && argument != "--test"),
            sections: list("CHOLUPDATE_BENCH_SECTIONS"),
            orders: list("CHOLUPDATE_BENCH_N"),
            ranks: list("CHOLUPDATE_BENCH_K"),
            types: list("CHOLUPDATE_BENCH_TYPES"),
            markdown: var("CHOLUPDATE_BENCH_MARKDOWN"),
        }
    }

    /// Whether `criterion`, `table` or `crossover` runs.
    pub fn section(&self, name: &str) -> bool {
        let asked = self.sections.as_ref().is_none_or(|sections| sections.iter().any(|s| s == name));
        asked
            && (!self.criterion_only || name == "criterion")
            && (self.mode != Mode::Test || name != "crossover")
    }

    /// The cells of one type, by order. Lists from the environment replace those of the grid.
    pub fn cells(&self, name: &str) -> Vec<Cell> {
        if self.types.as_ref().is_some_and(|types| types.iter().all(|t| t != name)) {
            return Vec::new();
        }
        if self.orders.is_none() && self.ranks.is_none() && self.mode == Mode::Quick {
            return quick(name);
        }
        let (orders, ranks): (&[_], &[_]) = match (self.mode, name) {
            (Mode::Test, _) => (&[65], &[1, 5]),
            (_, "f64") => (&[64, 256, 1000, 1024, 4000, 4096, 8192], &[1, 4, 16, 64, 256]),
            _ => (&[1000, 1024, 4096], &[1, 16, 64]),
        };
        let orders = self.orders.as_deref().unwrap_or(orders);
        let ranks = self.ranks.as_deref().unwrap_or(ranks);
        orders.iter().flat_map(|&order| ranks.iter().map(move |&rank| Cell { order, rank })).collect()
    }

    /// The orders for which the crossover with refactorizing is sought.
    pub fn crossover_orders(&self) -> Vec<usize> {
        let orders: &[_] = if self.mode == Mode::Quick { &[1024] } else { &[1024, 4096] };
        self.orders.clone().unwrap_or(orders.to_vec())
    }

    pub fn effort(&self) -> Effort {
        let effort = |budget, at_least, lone, skip| Effort {
            budget: Duration::from_secs_f64(budget),
            at_least,
            lone: Duration::from_secs_f64(lone),
            skip: Duration::from_secs_f64(skip),
        };
        match self.mode {
            Mode::Test => effort(0.0, 1, 1e9, 1e9),
            Mode::Quick => effort(0.15, 1, 0.4, 8.0),
            Mode::Full => effort(1.0, 3, 5.0, 90.0),
        }
    }

    /// Criterion's warm-up and measurement times.
    pub fn criterion(&self) -> (Duration, Duration) {
        let (warm_up, measurement) = if self.mode == Mode::Full { (200, 1000) } else { (20, 100) };
        (Duration::from_millis(warm_up), Duration::from_millis(measurement))
    }

    /// How long a machine limit is measured, and a footprint that no cache holds.
    pub fn limits(&self) -> (Duration, usize) {
        match self.mode {
            Mode::Test => (Duration::from_micros(100), 1 << 20),
            Mode::Quick => (Duration::from_millis(20), 512 << 20),
            Mode::Full => (Duration::from_millis(100), 2 << 30),
        }
    }
}

/// A sample of the grid in which every size, every rank and both types occur.
fn quick(name: &str) -> Vec<Cell> {
    let cells: &[_] = match name {
        "f64" => &[
            (64, &[1, 16][..]),
            (256, &[1, 16]),
            (1000, &[4]),
            (1024, &[1, 4, 16, 64, 256]),
            (4096, &[1, 16, 64]),
        ],
        _ => &[(1024, &[1, 16]), (4096, &[16])],
    };
    cells.iter().flat_map(|(order, ranks)| ranks.iter().map(|&rank| Cell { order: *order, rank })).collect()
}

fn var(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// A comma-separated list.
fn list<T: std::str::FromStr>(name: &str) -> Option<Vec<T>> {
    let parse = |item: &str| item.trim().parse().unwrap_or_else(|_| panic!("{name}: {item} is not valid"));
    var(name).map(|value| value.split(',').map(parse).collect())
}
