//! Insertion, removal and shifts of rows and columns on the CPU engine, against the limits of the machine, qrupdate, nalgebra,
//! and refactorizing.
//!
//! Removal deletes r rows and columns of a factor of order n + r; insertion, and append at the end, restore them in the
//! remaining factor of order n. A shift moves one row and column of a factor of order n + 1 by n/2 places, and back. qrupdate
//! and nalgebra process one row and column a call, in r calls. For refactorizing the new A is in place.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench structure
//! CHOLUPDATE_BENCH=quick cargo bench -p cholupdate-bench --bench structure   # orders up to 1024
//! ```
//!
//! qrupdate is the system's (Debian: `apt-get install libqrupdate1`), with the system's BLAS. Without it its columns are empty,
//! and the benchmark prints that.
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH` | `quick` or `full` (the default) |
//! | `CHOLUPDATE_BENCH_N`, `_K`, `_TYPES` | orders n, rows r and types instead of the grid's: `256,1024`, `1,8`, `f64` |
//! | `CHOLUPDATE_BENCH_MARKDOWN` | a file for the table as Markdown |
//! | `CHOLUPDATE_BENCH_CSV` | a file to which the cells of the table are appended as CSV |
//! | `RAYON_NUM_THREADS` | the number of "all threads" |

use cholupdate::faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use cholupdate::faer::{Mat, Par};
use cholupdate::{Cholesky, Cpu};
use cholupdate_bench::about::about;
use cholupdate_bench::competitors::{Team, modify};
use cholupdate_bench::csv::{Csv, Line};
use cholupdate_bench::limits::{Limits, all_threads};
use cholupdate_bench::measure::{Outcome, Timing, medians, sample, time_calls};
use cholupdate_bench::problem::{Problem, Real};
use cholupdate_bench::qrupdate::Qrupdate;
use cholupdate_bench::rows::{Case, Kind, Verb};
use cholupdate_bench::settings::{Mode, Settings};
use cholupdate_bench::table::{lay_out, time};
use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Instant;

const TEAMS: [Team; 2] = [Team::One, Team::All];

const HEADINGS: [&str; 23] = [
    "type",
    "n",
    "r",
    "verb",
    "place",
    "bound 1",
    "ours 1",
    "x bound",
    "bound all",
    "ours all",
    "x bound",
    "x own 1",
    "x own all",
    "qrupdate",
    "nalgebra",
    "refactor 1",
    "refact. all",
    "res. ours 1",
    "ours all",
    "qrupdate",
    "nalgebra",
    "refactor 1",
    "refact. all",
];

const LEGEND: &str = "x own: removal over this crate's own rank-r update of the rows behind the first that is removed; append over
faer's triangular solve with the same L and r right-hand sides. -: there is nothing to measure, or the library has no such
verb or is not installed; over budget: it would take too long, as smaller orders say. Residuals: max |L'L'ᵀ − A'| / max |A'| over sampled rows.";

struct Bench {
    settings: Settings,
    limits: Limits,
    /// Seconds per unit of [`Kind::work`] in the cell measured last.
    rates: HashMap<(Kind, &'static str, Verb, &'static str), f64>,
    lines: Vec<Vec<String>>,
    csv: Csv,
    right: bool,
}

fn main() -> ExitCode {
    let settings = Settings::new();
    if settings.mode == Mode::Test {
        println!("test mode: every code path once, nothing measured; --bench measures");
    }
    let (interval, dram_bytes) = settings.limits();
    let csv = Csv::new(settings.csv.as_ref(), &about(None));
    let limits = Limits::new(interval, dram_bytes);
    let mut bench = Bench { settings, limits, rates: HashMap::new(), lines: Vec::new(), csv, right: true };
    bench.of_type::<f64>();
    bench.of_type::<f32>();
    let Bench { settings, mut limits, lines, csv, right, .. } = bench;
    if settings.mode != Mode::Test {
        limits.print();
    }
    let (plain, markdown) = lay_out(&HEADINGS, &lines);
    println!("\nmedian times of one call, {} threads where it says all\n{plain}\n{LEGEND}", all_threads());
    if let Some(path) = &settings.markdown {
        let written = std::fs::write(path, format!("{markdown}\n{LEGEND}\n"));
        written.unwrap_or_else(|error| println!("{path}: {error}"));
    }
    csv.finish();
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

impl Bench {
    fn of_type<T: Real>(&mut self) {
        if !self.settings.takes(T::NAME) {
            return;
        }
        let library = Qrupdate::<T>::load();
        if let Err(error) = &library {
            println!("SKIPPED, for want of qrupdate: its columns for {} stay empty: {error}", T::NAME);
        }
        let library = library.ok();
        let orders: &[_] =
            if self.settings.mode == Mode::Quick { &[64, 256, 1024] } else { &[64, 256, 1024, 4096] };
        let (orders, ranks) = self.settings.grid(orders, &[1, 8, 64]);
        for (&n, &rank) in orders.iter().flat_map(|n| ranks.iter().map(move |rank| (n, rank))) {
            let problem = Problem::<T>::new(n + rank);
            for (place, at) in [("front", 0), ("middle", n / 2), ("end", n)] {
                let case = Case::coming(&problem, Verb::Insert, at, rank);
                self.measure(&case, place, &Verb::ALL, library.as_ref());
            }
            let case = Case::coming(&problem, Verb::Append, n, rank);
            self.measure(&case, "end", &[Verb::Append], library.as_ref());
            if rank == 1 {
                for (place, at) in [("front", 0), ("middle", n / 4), ("end", n - n / 2)] {
                    let case = Case::shifting(&problem, at, at + n / 2);
                    self.measure(&case, place, &Verb::ALL, library.as_ref());
                }
            }
        }
    }

    /// Measures both verbs of a case with all competitors, and keeps the requested ones.
    fn measure<T: Real>(
        &mut self,
        case: &Case<'_, T>,
        place: &'static str,
        kept: &[Verb],
        library: Option<&Qrupdate<T>>,
    ) {
        let (effort, timer) = (self.settings.effort(), self.limits.timer);
        let outcomes = Kind::ALL.map(|kind| {
            let (key, work) = ((kind, T::NAME, case.verbs[1], place), kind.work(case));
            let predicted = self.rates.get(&key).map_or(0.0, |rate| rate * work);
            if predicted > effort.skip.as_secs_f64() && !matches!(kind, Kind::Ours(_)) {
                return Some(Outcome::Skipped(predicted));
            }
            let timings = kind.measure(case, library, effort, timer)?;
            self.rates.insert(key, (timings[0].seconds + timings[1].seconds) / work);
            Some(Outcome::Measured(timings))
        });
        let own = TEAMS.map(|team| self.own(case, team));
        for (turn, verb) in case.verbs.into_iter().enumerate().filter(|(_, verb)| kept.contains(verb)) {
            self.add(
                case,
                (place, verb),
                &outcomes.each_ref().map(|outcome| of_turn(outcome.as_ref(), turn)),
                own,
            );
        }
    }

    /// A line of the table, and a line of the file for each measured competitor.
    fn add<T: Real>(
        &mut self,
        case: &Case<'_, T>,
        (place, verb): (&str, Verb),
        entries: &[Entry; 6],
        own: [Option<f64>; 2],
    ) {
        let (order, rank) = (case.problem.order(), case.rank);
        let (flops, moved) = case.cost(verb);
        let bounds = TEAMS.map(|team| self.limits.bound_of::<T>(order * (order + 1) / 2, moved, flops, team));
        let times: Vec<String> = entries.iter().map(Entry::time).collect();
        let over = |team: usize, other: Option<f64>| match (&entries[team], other) {
            (Entry::Timed(timing), Some(other)) if other > 0.0 => format!("{:.2}", timing.seconds / other),
            _ => "-".into(),
        };
        // That of the second verb for an append, and that of the first for a removal.
        let own = |team: usize| over(team, own[team].filter(|_| matches!(verb, Verb::Remove | Verb::Append)));
        let mut line: Vec<String> = vec![
            T::NAME.into(),
            (order - rank).to_string(),
            rank.to_string(),
            verb.name().into(),
            place.into(),
        ];
        for (team, bound) in bounds.into_iter().enumerate() {
            line.extend([time(bound), times[team].clone(), over(team, Some(bound))]);
        }
        line.extend([own(0), own(1)]);
        line.extend_from_slice(&times[2..]);
        line.extend(entries.iter().map(Entry::residual));
        println!("{}", line.join("  "));
        self.lines.push(line);
        for (kind, entry) in Kind::ALL.into_iter().zip(entries) {
            let Entry::Timed(timing) = entry else { continue };
            self.right &= timing.right || !matches!(kind, Kind::Ours(_));
            self.csv.one(&Line {
                method: kind.name().into(),
                threads: if kind.team() == Team::One { 1 } else { all_threads() },
                scalar: T::NAME.into(),
                order: order - rank,
                rank,
                verb: format!("{} {place}", verb.name()),
                seconds: timing.seconds,
                bound: bounds[kind.team() as usize],
                residual: timing.residual,
            });
        }
    }

    /// Seconds of the reference for a verb of the case: this crate's own update of the rows after it, or a triangular solve.
    fn own<T: Real>(&self, case: &Case<'_, T>, team: Team) -> Option<f64> {
        let (effort, l) = (self.settings.effort(), case.problem.l.as_ref());
        let (engine, par) = match team {
            Team::One => (Cpu::sequential(), Par::Seq),
            Team::All => (Cpu::default(), Par::rayon(0)),
        };
        let first = case.at + case.rank;
        let behind = l.nrows() - first;
        match case.verbs {
            [Verb::Remove, Verb::Append] => {
                let (l, given) = (l.submatrix(0, 0, case.at, case.at), case.columns.subrows(0, case.at));
                let mut rhs = given.to_owned();
                let mut solve = |_| {
                    rhs.copy_from(given);
                    let start = Instant::now();
                    solve_lower_triangular_in_place(l, rhs.as_mut(), par);
                    start.elapsed().saturating_sub(self.limits.timer).as_secs_f64()
                };
                let first = [0, 1].map(&mut solve);
                Some(medians(&sample(effort, first, solve))[1])
            }
            [Verb::Remove, _] if behind > 0 => {
                let l = l.submatrix(first, first, behind, behind);
                let v: Mat<T> = case.problem.v(case.rank).subrows(first, behind).to_owned();
                let mut factor = Cholesky::from_factor_in(&l, engine).expect("a factor");
                Some(time_calls(effort, |verb| modify(&mut factor, v.as_ref(), verb))[0])
            }
            _ => None,
        }
    }
}

/// The result of one competitor.
#[derive(Clone, Copy)]
enum Entry {
    None,
    OverBudget,
    Timed(Timing),
}

fn of_turn(outcome: Option<&Outcome>, turn: usize) -> Entry {
    match outcome {
        None => Entry::None,
        Some(Outcome::Skipped(_) | Outcome::Missing) => Entry::OverBudget,
        Some(Outcome::Measured(timings)) => Entry::Timed(timings[turn]),
    }
}

impl Entry {
    fn time(&self) -> String {
        match self {
            Self::None => "-".into(),
            Self::OverBudget => "over budget".into(),
            Self::Timed(timing) if timing.right => time(timing.seconds),
            Self::Timed(_) => "WRONG".into(),
        }
    }

    fn residual(&self) -> String {
        match self {
            Self::Timed(timing) => format!("{:.0e}", timing.residual),
            _ => "-".into(),
        }
    }
}
