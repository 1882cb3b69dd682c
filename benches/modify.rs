//! Updates and downdates against the limits of the machine, against the peers, and against refactorizing.
//!
//! Runs criterion on this crate (for its baselines), then a table of all competitors by one timer, then the rank from which
//! refactorizing is faster.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench modify                          # prints how long it will take
//! CHOLUPDATE_BENCH=quick cargo bench -p cholupdate-bench --bench modify   # two minutes
//! ```
//!
//! The environment chooses:
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH` | `quick` (two minutes) or `full` (the default; prints how long it will take) |
//! | `CHOLUPDATE_BENCH_N`, `_K`, `_TYPES` | orders, ranks and types instead of the grid's: `4096,8192`, `1,16`, `f64` |
//! | `CHOLUPDATE_BENCH_SECTIONS` | some of `criterion,table,crossover` |
//! | `CHOLUPDATE_BENCH_MARKDOWN` | a file for the table as Markdown |
//! | `CHOLUPDATE_BENCH_CSV` | a file to which the cells of the table are appended as CSV |
//! | `RAYON_NUM_THREADS` | the number of "all threads" |
//!
//! Other arguments than `--bench` are criterion's (`-- update/f64`, `-- --save-baseline main`); with them only criterion's part
//! runs. The binary also runs without Cargo: `modify-<hash> --bench`.

use cholupdate_bench::about::about;
use cholupdate_bench::competitors::{Kind, Team, Verb, modify, ours};
use cholupdate_bench::crossover;
use cholupdate_bench::csv::Csv;
use cholupdate_bench::forecast;
use cholupdate_bench::limits::{Limits, all_threads};
use cholupdate_bench::measure::{Outcome, Timer};
use cholupdate_bench::problem::{Problem, Real};
use cholupdate_bench::settings::{Cell, Mode, Settings};
use cholupdate_bench::table::{Row, tables};
use criterion::{BenchmarkId, Criterion, SamplingMode};
use std::cell::LazyCell;
use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let settings = Settings::new();
    if settings.mode == Mode::Test {
        println!("test mode: every code path once, nothing measured; --bench measures");
    }
    let (interval, dram_bytes) = settings.limits();
    let mut limits = Limits::new(interval, dram_bytes);
    if !settings.criterion_only && settings.mode != Mode::Test {
        limits.print();
        println!("estimated time: {:.1} minutes", forecast::seconds(&settings, &mut limits) / 60.0);
    }

    if settings.section("criterion") {
        let mut criterion = configure(&settings);
        with_criterion::<f64>(&settings, &mut criterion, limits.timer);
        with_criterion::<f32>(&settings, &mut criterion, limits.timer);
        criterion.final_summary();
    }
    let mut timer = Timer::new(settings.effort());
    let mut rows = Vec::new();
    if settings.section("table") {
        compare::<f64>(&settings, &mut timer, &mut limits, &mut rows);
        compare::<f32>(&settings, &mut timer, &mut limits, &mut rows);
    }
    let mut crossovers = Vec::new();
    if settings.section("crossover") {
        for order in settings.crossover_orders() {
            crossovers.extend(crossover::crossover(&Problem::<f64>::new(order), &mut timer, &limits));
        }
    }
    if !rows.is_empty() && settings.mode != Mode::Test {
        limits.again();
        limits.print();
    }
    for row in &mut rows {
        row.bounds = bounds(row.scalar, row.cell, &mut limits);
    }
    report(&settings, &rows, &crossovers);
    if rows.iter().all(Row::ours_is_right) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn configure(settings: &Settings) -> Criterion {
    let (warm_up, measurement) = settings.criterion();
    Criterion::default()
        .sample_size(10)
        .nresamples(2000)
        .warm_up_time(warm_up)
        .measurement_time(measurement)
        .without_plots()
        .configure_from_args()
}

/// This crate's cells by criterion. As in the table, the other verb restores the input outside the timed region.
fn with_criterion<T: Real>(settings: &Settings, criterion: &mut Criterion, timer: Duration) {
    for cells in settings.cells(T::NAME).chunk_by(|a, b| a.order == b.order) {
        // Built by the first benchmark that passes criterion's filter.
        let problem = LazyCell::new(|| Problem::<T>::new(cells[0].order));
        for (cell, team) in cells.iter().flat_map(|cell| [(cell, Team::One), (cell, Team::All)]) {
            let Cell { order, rank } = *cell;
            let threads = if team == Team::One { 1 } else { all_threads() };
            let mut state = None;
            for verb in Verb::BOTH {
                let mut group = criterion.benchmark_group(format!("{}/{}", verb.name(), T::NAME));
                group.sampling_mode(SamplingMode::Flat);
                let id = BenchmarkId::new(format!("t={threads}"), format!("n={order} k={rank}"));
                group.bench_function(id, |bencher| {
                    let (factor, v) = state.get_or_insert_with(|| {
                        let v = problem.v(rank);
                        (ours(&problem, v.as_ref(), team), v)
                    });
                    bencher.iter_custom(|calls| {
                        let mut total = Duration::ZERO;
                        for (_, turn) in (0..calls).flat_map(|call| Verb::BOTH.map(|turn| (call, turn))) {
                            let start = Instant::now();
                            modify(factor, v.as_ref(), turn).expect("the problem is well posed");
                            let elapsed = start.elapsed().saturating_sub(timer);
                            total += if turn == verb { elapsed } else { Duration::ZERO };
                        }
                        total.max(Duration::from_nanos(calls))
                    });
                });
            }
        }
    }
}

/// Measures and prints every cell of one type.
fn compare<T: Real>(settings: &Settings, timer: &mut Timer, limits: &mut Limits, rows: &mut Vec<Row>) {
    for cells in settings.cells(T::NAME).chunk_by(|a, b| a.order == b.order) {
        let problem = Problem::<T>::new(cells[0].order);
        for &cell in cells {
            let v = problem.v(cell.rank);
            let bounds = bounds(T::NAME, cell, limits);
            let outcomes =
                Kind::ALL.map(|kind| timer.measure(kind, &problem, v.as_ref(), limits)).into_iter().collect();
            let row = Row { scalar: T::NAME, cell, bounds, outcomes };
            row.print();
            rows.push(row);
        }
    }
}

/// The bounds of a cell for one thread and for all, by the limits measured so far.
fn bounds(scalar: &str, Cell { order, rank }: Cell, limits: &mut Limits) -> [f64; 2] {
    [Team::One, Team::All].map(|team| match scalar {
        f32::NAME => limits.bound::<f32>(order, rank, team),
        _ => limits.bound::<f64>(order, rank, team),
    })
}

fn report(settings: &Settings, rows: &[Row], crossovers: &[String]) {
    let (plain, markdown) = tables(rows);
    if !rows.is_empty() {
        println!("\nmedian times of one run, {} threads where it says all\n{plain}", all_threads());
    }
    if !crossovers.is_empty() {
        println!("refactorizing is faster from this rank on:\n{}", crossovers.join("\n"));
    }
    if let Some(path) = &settings.markdown {
        let written = std::fs::write(path, format!("{markdown}\n{}\n", crossovers.join("\n\n")));
        written.unwrap_or_else(|error| println!("{path}: {error}"));
    }
    let mut csv = Csv::new(settings.csv.as_ref(), &about(None));
    rows.iter().for_each(|row| add(&mut csv, row));
    csv.finish();
}

/// The lines of a cell.
fn add(csv: &mut Csv, row: &Row) {
    let Row { scalar, cell, bounds, outcomes } = row;
    for (kind, outcome) in Kind::ALL.into_iter().zip(outcomes) {
        if let Outcome::Measured(timings) = outcome {
            let threads = if kind.team() == Team::One { 1 } else { all_threads() };
            csv.both(
                (kind.name(), threads),
                scalar,
                (cell.order, cell.rank),
                timings.map(|timing| timing.seconds),
                bounds[kind.team() as usize],
                timings.map(|timing| timing.residual),
            );
        }
    }
}
