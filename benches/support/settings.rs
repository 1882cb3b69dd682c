//! The settings from the environment and the command line.

use crate::measure::Effort;
use std::env;
use std::path::Path;
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
    /// The requested orders, instead of a benchmark's own.
    pub orders: Option<Vec<usize>>,
    ranks: Option<Vec<usize>>,
    types: Option<Vec<String>>,
    /// Whether the benchmarks of the other engines measure the CPU engine as well.
    pub with_cpu: bool,
    pub csv: Option<String>,
}

/// Whether all runs once and nothing is measured. This is criterion's own rule: without `--bench` a benchmark is run by
/// `cargo test`.
#[must_use]
pub fn testing() -> bool {
    let says = |flag| env::args().any(|argument| argument == flag);
    says("--test") || !says("--bench")
}

/// Changes to the root of the repository, if this is not the root of one: Cargo starts benchmarks in the folder of their package,
/// but users give paths from the root.
pub fn from_the_root() {
    if !Path::new("benches/Cargo.toml").is_file() {
        // A binary that was copied to another machine stays in its folder.
        let _ = env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::new()
    }
}

impl Settings {
    #[must_use]
    pub fn new() -> Self {
        from_the_root();
        let mut arguments = env::args().skip(1);
        let mode = match var("CHOLUPDATE_BENCH").as_deref() {
            _ if testing() => Mode::Test,
            Some("quick") => Mode::Quick,
            Some("full") | None => Mode::Full,
            Some(other) => panic!("CHOLUPDATE_BENCH is quick or full, not {other}"),
        };
        Self {
            mode,
            criterion_only: arguments.any(|argument| argument != "--bench" && argument != "--test"),
            sections: list("CHOLUPDATE_BENCH_SECTIONS"),
            orders: list("CHOLUPDATE_BENCH_N"),
            ranks: list("CHOLUPDATE_BENCH_K"),
            types: list("CHOLUPDATE_BENCH_TYPES"),
            with_cpu: var("CHOLUPDATE_BENCH_CPU").as_deref() != Some("0"),
            csv: var("CHOLUPDATE_BENCH_CSV"),
        }
    }

    /// Whether `criterion`, `table` or `crossover` runs.
    #[must_use]
    pub fn section(&self, name: &str) -> bool {
        let asked = self.sections.as_ref().is_none_or(|sections| sections.iter().any(|s| s == name));
        asked
            && (!self.criterion_only || name == "criterion")
            && (self.mode != Mode::Test || name != "crossover")
    }

    /// The cells of one type, by order. Lists from the environment replace those of the grid.
    #[must_use]
    pub fn cells(&self, name: &str) -> Vec<Cell> {
        if !self.takes(name) {
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

    /// Whether cells of this type are requested.
    #[must_use]
    pub fn takes(&self, name: &str) -> bool {
        self.types.as_ref().is_none_or(|types| types.iter().any(|t| t == name))
    }

    /// The orders and ranks of a benchmark with a grid of its own.
    #[must_use]
    pub fn grid(&self, orders: &[usize], ranks: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let (orders, ranks) =
            if self.mode == Mode::Test { (&[300][..], &[1, 40][..]) } else { (orders, ranks) };
        let or = |list: &Option<Vec<usize>>, default: &[usize]| list.clone().unwrap_or(default.to_vec());
        (or(&self.orders, orders), or(&self.ranks, ranks))
    }

    /// The orders for which the crossover with refactorizing is computed.
    #[must_use]
    pub fn crossover_orders(&self) -> Vec<usize> {
        let orders: &[_] = if self.mode == Mode::Quick { &[1024] } else { &[1024, 4096] };
        self.orders.clone().unwrap_or(orders.to_vec())
    }

    #[must_use]
    pub fn effort(&self) -> Effort {
        let effort = |budget, at_least, lone, skip| Effort {
            budget: Duration::from_secs_f64(budget),
            at_least,
            at_most: 10_000,
            lone: Duration::from_secs_f64(lone),
            first_compiles: false,
            skip: Duration::from_secs_f64(skip),
        };
        match self.mode {
            Mode::Test => effort(0.0, 1, 1e9, 1e9),
            Mode::Quick => effort(0.15, 1, 0.4, 8.0),
            Mode::Full => effort(1.0, 3, 5.0, 90.0),
        }
    }

    /// Criterion's warm-up and measurement times.
    #[must_use]
    pub fn criterion(&self) -> (Duration, Duration) {
        let (warm_up, measurement) = if self.mode == Mode::Full { (200, 1000) } else { (20, 100) };
        (Duration::from_millis(warm_up), Duration::from_millis(measurement))
    }

    /// The time for which a machine limit is measured, and a footprint that fits no cache.
    #[must_use]
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

/// An environment variable that is not empty.
#[must_use]
pub fn var(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// A comma-separated list.
fn list<T: std::str::FromStr>(name: &str) -> Option<Vec<T>> {
    let parse = |item: &str| item.trim().parse().unwrap_or_else(|_| panic!("{name}: {item} is not valid"));
    var(name).map(|value| value.split(',').map(parse).collect())
}
