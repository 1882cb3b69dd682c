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
//! qrupdate is the system's (Debian: `apt-get install libqrupdate1`), with the system's BLAS. Without it its column is empty.
//! Under each case it prints how long this crate takes in units of its own work of the same size: a removal in updates of the
//! same rank of the rows after the first that is removed, an append in triangular solves with as many right-hand sides.
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH` | `quick` or `full` (the default) |
//! | `CHOLUPDATE_BENCH_N`, `_K`, `_TYPES` | orders n, rows r and types instead of the grid's: `256,1024`, `1,8`, `f64` |
//! | `CHOLUPDATE_BENCH_CSV` | a file to which the cells of the table are appended as CSV |
//! | `RAYON_NUM_THREADS` | the number of "all threads" |

use cholupdate::faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use cholupdate::faer::{Mat, Par};
use cholupdate::{Cholesky, Error};
use cholupdate_bench::about::about;
use cholupdate_bench::case::{Case, Verb};
use cholupdate_bench::cells::Cells;
use cholupdate_bench::competitors::ours::{cpu, modify};
use cholupdate_bench::competitors::{Kind, Timer};
use cholupdate_bench::csv::Csv;
use cholupdate_bench::limits::{Limits, Team};
use cholupdate_bench::measure::{Outcome, time_calls};
use cholupdate_bench::problem::Problem;
use cholupdate_bench::row::table;
use cholupdate_bench::scalar::Real;
use cholupdate_bench::settings::{Mode, Settings};
use std::process::ExitCode;

/// Samples of this crate's own work of the same size.
const SAMPLES: usize = 9;

fn main() -> ExitCode {
    let settings = Settings::new();
    if settings.mode == Mode::Test {
        println!("test mode: every code path once, nothing measured; --bench measures");
    }
    let (interval, dram_bytes) = settings.limits();
    let mut limits = Limits::new(interval, dram_bytes);
    let csv = Csv::new(settings.csv.as_ref(), &about("structure", None, &[], &limits.describe()));
    let timer = Timer::new(settings.effort(), limits.timer);
    let mut cells = Cells { kinds: Kind::here(&Kind::ROWS), limits, timer, csv, rows: Vec::new() };
    of_type::<f64>(&settings, &mut cells);
    of_type::<f32>(&settings, &mut cells);
    let right = cells.finish();
    println!("\nmedian times; in parentheses, times the bound\n{}", table(&cells.rows));
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn of_type<T: Real>(settings: &Settings, cells: &mut Cells) {
    if !settings.takes(T::NAME) {
        return;
    }
    let orders: &[_] = if settings.mode == Mode::Quick { &[64, 256, 1024] } else { &[64, 256, 1024, 4096] };
    let (orders, ranks) = settings.grid(orders, &[1, 8, 64]);
    for (&n, &rank) in orders.iter().flat_map(|n| ranks.iter().map(move |rank| (n, rank))) {
        let problem = Problem::<T>::new(n + rank);
        let mut measure = |case: &Case<'_, T>| {
            cells.measure(case);
            print_own(cells, case);
        };
        for place in [("front", 0), ("middle", n / 2), ("end", n)] {
            measure(&Case::coming(&problem, Verb::Insert, place, rank));
        }
        measure(&Case::coming(&problem, Verb::Append, ("end", n), rank));
        if rank == 1 {
            for (place, at) in [("front", 0), ("middle", n / 4), ("end", n - n / 2)] {
                measure(&Case::shifting(&problem, (place, at), at + n / 2));
            }
        }
    }
}

/// How long this crate takes for the case measured last in units of its own work of the same size.
fn print_own<T: Real>(cells: &Cells, case: &Case<'_, T>) {
    let Some(row) = cells.rows.last() else { return };
    for (entry, kind) in row.entries.iter().zip(&cells.kinds) {
        let (Outcome::Measured(timings), Kind::Ours(team)) = (&entry.outcome, *kind) else { continue };
        if let Some((verb, what, seconds)) = own(case, team) {
            let ratio = timings[verb].seconds / seconds;
            println!("{}, {} thr.: {ratio:.2} x {what}", row.verbs[verb], entry.threads);
        }
    }
}

/// The verb, its own work of the same size, and the seconds of that.
fn own<T: Real>(case: &Case<'_, T>, team: Team) -> Option<(usize, &'static str, f64)> {
    let l = case.problem.l.as_ref();
    let first = case.at + case.rank;
    let behind = l.nrows() - first;
    match case.verbs {
        [Verb::Remove, Verb::Append] => {
            let (l, given) = (l.submatrix(0, 0, case.at, case.at), case.columns.subrows(0, case.at));
            let par = if team == Team::One { Par::Seq } else { Par::rayon(0) };
            let mut rhs = given.to_owned();
            // Restoring the right-hand sides is the first call of a pair.
            let [_, seconds] = time_calls::<()>(SAMPLES, |turn| {
                if turn == 0 {
                    rhs.copy_from(given);
                } else {
                    solve_lower_triangular_in_place(l, rhs.as_mut(), par);
                }
                Ok::<_, Error>(())
            });
            Some((1, "a triangular solve", seconds))
        }
        [Verb::Remove, _] if behind > 0 => {
            let l = l.submatrix(first, first, behind, behind);
            let v: Mat<T> = case.problem.v(case.rank).subrows(first, behind).to_owned();
            let mut factor = Cholesky::from_factor_in(l, cpu(team)).expect("a factor");
            let seconds = time_calls(SAMPLES, |turn| modify(&mut factor, v.as_ref(), Verb::MODIFY[turn]))[0];
            Some((0, "an update of the rows behind", seconds))
        }
        _ => None,
    }
}
