//! Whether more threads ever cost time: updates and triangular solves of the CPU engine on one thread, on two, four, … and on all.
//!
//! For each order and rank: median times by the allowed number of threads, and how much longer all of them take than the best
//! number. The engine uses fewer threads where the work is not worth waking them (`src/cpu/tuning.rs`). Where the last column
//! is well above 1, its constants do not fit the machine.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench threads
//! ```
//!
//! `CHOLUPDATE_BENCH_N`, `_K`: orders and ranks (numbers of right-hand sides) instead of the grid's. `RAYON_NUM_THREADS`: the
//! number of all threads.

use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Cpu};
use cholupdate_bench::measure::median;
use cholupdate_bench::problem::Problem;
use cholupdate_bench::settings::Settings;
use cholupdate_bench::table::lay_out;
use std::time::{Duration, Instant};

/// Time for the samples of one number of threads, and the smallest number of samples.
const BUDGET: Duration = Duration::from_millis(60);
const SAMPLES: usize = 5;

fn main() {
    let settings = Settings::new();
    let (orders, ranks) = settings.grid(&[256, 512, 1024, 2048, 4096], &[1, 4, 16, 64]);
    let most = rayon::current_num_threads();
    let counts: Vec<usize> = core::iter::successors(Some(1), |t| (2 * t < most).then_some(2 * t)).collect();
    let counts = if most > 1 { [counts, vec![most]].concat() } else { counts };
    let mut headings = vec!["n".to_owned(), "k".into(), "what".into()];
    headings.extend(counts.iter().map(|t| format!("{t} thr., us")));
    headings.push("all / best".into());
    let mut lines = Vec::new();
    for order in orders {
        let problem = Problem::<f64>::from_factor(order);
        for &rank in &ranks {
            let v = problem.v(rank);
            let [updates, solves]: [Vec<f64>; 2] = {
                let both = counts.iter().map(|&threads| times(&problem, &v, threads));
                let (updates, solves) = both.unzip();
                [updates, solves]
            };
            for (what, seconds) in [("update", updates), ("solve", solves)] {
                let best = seconds.iter().copied().fold(f64::INFINITY, f64::min);
                let mut line = vec![order.to_string(), rank.to_string(), what.into()];
                line.extend(seconds.iter().map(|seconds| format!("{:.1}", 1e6 * seconds)));
                line.push(format!("{:.2}", seconds[seconds.len() - 1] / best));
                lines.push(line);
            }
        }
    }
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    print!("{}", lay_out(&headings, &lines));
}

/// Median seconds of an update, each reversed by a downdate, and of L Y = V.
fn times(problem: &Problem<f64>, v: &Mat<f64>, threads: usize) -> (f64, f64) {
    let mut factor = Cholesky::from_factor_in(&problem.l, Cpu::threads(threads)).expect("a factor");
    let (mut updates, mut solves) = (Vec::new(), Vec::new());
    let begin = Instant::now();
    while updates.len() <= SAMPLES || begin.elapsed() < BUDGET {
        let start = Instant::now();
        factor.update(v).expect("an update");
        updates.push(start.elapsed().as_secs_f64());
        factor.downdate(v).expect("a downdate");
        let start = Instant::now();
        factor.solve_l(v).expect("a solution");
        solves.push(start.elapsed().as_secs_f64());
    }
    // The first call of each allocates.
    (median(updates.split_off(1)), median(solves.split_off(1)))
}
