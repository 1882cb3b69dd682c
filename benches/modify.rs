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
//! | `CHOLUPDATE_BENCH_CSV` | a file to which the cells of the table are appended as CSV |
//! | `CHOLUPDATE_BENCH_PYTHON` | the Python that has hyhound, instead of `python3` |
//! | `CHOLUPDATE_BENCH_EIGEN` | the folder of Eigen, instead of `/usr/include/eigen3` |
//! | `RAYON_NUM_THREADS` | the number of "all threads" |
//!
//! Other arguments than `--bench` are criterion's (`-- update/f64`, `-- --save-baseline main`); with them only criterion's part
//! runs. The binary also runs without Cargo: `modify-<hash> --bench`.

use cholupdate::Cholesky;
use cholupdate_bench::about::about;
use cholupdate_bench::case::{Case, Verb};
use cholupdate_bench::cells::Cells;
use cholupdate_bench::competitors::ours::{cpu, modify};
use cholupdate_bench::competitors::{Kind, Timer};
use cholupdate_bench::crossover;
use cholupdate_bench::csv::Csv;
use cholupdate_bench::forecast;
use cholupdate_bench::limits::{Limits, Team};
use cholupdate_bench::problem::Problem;
use cholupdate_bench::row::table;
use cholupdate_bench::scalar::Real;
use cholupdate_bench::settings::{Cell, Mode, Settings};
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
    let empty = limits.timer;
    if !settings.criterion_only && settings.mode != Mode::Test {
        println!("limits: {}; an empty timed region takes {} ns", limits.describe(), empty.as_nanos());
        println!("estimated time: {:.1} minutes", forecast::seconds(&settings, &mut limits) / 60.0);
    }

    if settings.section("criterion") {
        let mut criterion = configure(&settings);
        with_criterion::<f64>(&settings, &mut criterion, empty);
        with_criterion::<f32>(&settings, &mut criterion, empty);
        criterion.final_summary();
    }
    let mut right = true;
    if settings.section("table") {
        right = compare(&settings, limits);
    }
    if settings.section("crossover") {
        println!("refactorizing is faster from this rank on:");
        let mut timer = Timer::new(settings.effort(), empty);
        for order in settings.crossover_orders() {
            println!("{}", crossover::crossover(&Problem::<f64>::new(order), &mut timer).join("\n"));
        }
    }
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
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
            let mut state = None;
            for verb in Verb::MODIFY {
                let mut group = criterion.benchmark_group(format!("{}/{}", verb.name(), T::NAME));
                group.sampling_mode(SamplingMode::Flat);
                let id = BenchmarkId::new(format!("t={}", team.threads()), format!("n={order} k={rank}"));
                group.bench_function(id, |bencher| {
                    let (factor, v) = state.get_or_insert_with(|| {
                        let factor = Cholesky::from_factor_in(&problem.l, cpu(team));
                        (factor.expect("the problem is well posed"), problem.v(rank))
                    });
                    bencher.iter_custom(|calls| {
                        let mut total = Duration::ZERO;
                        for (_, turn) in (0..calls).flat_map(|call| Verb::MODIFY.map(|turn| (call, turn))) {
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

/// The table of all competitors; whether every result of this crate is correct.
fn compare(settings: &Settings, mut limits: Limits) -> bool {
    let kinds = Kind::here(&Kind::MODIFY);
    let versions: Vec<String> = kinds.iter().copied().map(Kind::version).collect();
    let csv = Csv::new(settings.csv.as_ref(), &about("modify", None, &versions, &limits.describe()));
    let timer = Timer::new(settings.effort(), limits.timer);
    let mut cells = Cells { kinds, limits, timer, csv, rows: Vec::new() };
    of_type::<f64>(settings, &mut cells);
    of_type::<f32>(settings, &mut cells);
    let right = cells.finish();
    println!("\nmedian times; in parentheses, times the bound\n{}", table(&cells.rows));
    right
}

fn of_type<T: Real>(settings: &Settings, cells: &mut Cells) {
    for of_order in settings.cells(T::NAME).chunk_by(|a, b| a.order == b.order) {
        let problem = Problem::<T>::new(of_order[0].order);
        for cell in of_order {
            cells.measure(&Case::modifying(&problem, cell.rank));
        }
    }
}
