//! Whether more threads ever cost time: updates and triangular solves of the CPU engine on one thread, on two, four, … and on all.
//!
//! For each order and rank: median times by the allowed number of threads, and how much longer all of them take than the best
//! number. The engine uses fewer threads where the work is not worth waking them (`src/cpu/tuning.rs`). Where the column "all /
//! best" is well above 1, its constants do not fit the machine. In these columns calls follow each other at once. In the last two,
//! with all threads, they are a millisecond apart: the threads have gone to sleep, or a scope keeps them awake
//! (`Cpu::keep_awake`).
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench threads
//! ```
//!
//! `CHOLUPDATE_BENCH_AWAKE=1`: all columns but the last but one in a scope. `CHOLUPDATE_BENCH_N`, `_K`: orders and ranks (numbers of
//! right-hand sides) instead of the grid's. `RAYON_NUM_THREADS`: the number of all threads.

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
/// Time between calls after which threads sleep.
const APART: Duration = Duration::from_millis(1);

fn main() {
    let settings = Settings::new();
    let awake = std::env::var("CHOLUPDATE_BENCH_AWAKE").is_ok_and(|value| value != "0");
    let (orders, ranks) = settings.grid(&[256, 512, 1024, 2048, 4096], &[1, 4, 16, 64]);
    let most = rayon::current_num_threads();
    let counts: Vec<usize> = core::iter::successors(Some(1), |t| (2 * t < most).then_some(2 * t)).collect();
    let counts = if most > 1 { [counts, vec![most]].concat() } else { counts };
    let mut headings = vec!["n".to_owned(), "k".into(), "what".into()];
    headings.extend(counts.iter().map(|t| format!("{t} thr., us")));
    headings.extend(["all / best", "1 ms apart, us", "the same in a scope, us"].map(String::from));
    let mut lines = Vec::new();
    for order in orders {
        let problem = Problem::<f64>::from_factor(order);
        for &rank in &ranks {
            let v = problem.v(rank);
            let at_once = counts.iter().map(|&threads| (threads, Duration::ZERO, awake));
            let cases = at_once.chain([(most, APART, false), (most, APART, true)]);
            let (updates, solves): (Vec<f64>, Vec<f64>) =
                cases.map(|(threads, apart, awake)| times(&problem, &v, threads, apart, awake)).unzip();
            for (what, all) in [("update", updates), ("solve", solves)] {
                let (seconds, apart) = all.split_at(counts.len());
                let best = seconds.iter().copied().fold(f64::INFINITY, f64::min);
                let mut line = vec![order.to_string(), rank.to_string(), what.into()];
                line.extend(seconds.iter().map(|seconds| format!("{:.1}", 1e6 * seconds)));
                line.push(format!("{:.2}", seconds[seconds.len() - 1] / best));
                line.extend(apart.iter().map(|seconds| format!("{:.1}", 1e6 * seconds)));
                lines.push(line);
            }
        }
    }
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    print!("{}", lay_out(&headings, &lines));
}

/// Median seconds of an update, each reversed by a downdate, and of L Y = V, with this time before each.
fn times(problem: &Problem<f64>, v: &Mat<f64>, threads: usize, apart: Duration, awake: bool) -> (f64, f64) {
    let engine = Cpu::threads(threads);
    let mut factor = Cholesky::from_factor_in(&problem.l, engine).expect("a factor");
    let _awake = awake.then(|| engine.keep_awake());
    // Not asleep: the caller has other work in the meantime.
    let pause = || {
        let begin = Instant::now();
        while begin.elapsed() < apart {
            core::hint::spin_loop();
        }
    };
    let (mut updates, mut solves) = (Vec::new(), Vec::new());
    let begin = Instant::now();
    while updates.len() <= SAMPLES || begin.elapsed() < BUDGET {
        pause();
        let start = Instant::now();
        factor.update(v).expect("an update");
        updates.push(start.elapsed().as_secs_f64());
        factor.downdate(v).expect("a downdate");
        pause();
        let start = Instant::now();
        factor.solve_l(v).expect("a solution");
        solves.push(start.elapsed().as_secs_f64());
    }
    // The first call of each allocates.
    (median(updates.split_off(1)), median(solves.split_off(1)))
}
