//! The resident engine against the CPU engine on all cores.
//!
//! Prints a line for each cell: median wall-clock times of update and downdate, from the call to the report, with V in host
//! memory and with V on the device; the CPU engine's times on all threads; and the residual of the new factor in sampled rows.
//! A second line has the modification and a solve in one step, V and B on the device. Then, for each order, lines of `solve`
//! with 1 to 1024 right-hand sides and, where the ranks contain 16, of updates that outweigh the matrix. Without a device it
//! prints that and ends. `support/refactor_on_device.py` and `support/solve_on_device.py` measure the alternatives on the same
//! device.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench resident
//! ```
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH_N`, `_K`, `_TYPES` | orders, ranks and types instead of the grid's: `4096,8192`, `1,16`, `f64` |
//! | `CHOLUPDATE_BENCH_CPU` | 0: without the CPU engine |
//! | `CHOLUPDATE_BENCH_CSV` | a file to which the lines are appended as CSV |

use cholupdate::cuda::{Device, DeviceMatrix, Resident};
use cholupdate::faer::Scale;
use cholupdate::{Cholesky, Weights};
use cholupdate_bench::about::about;
use cholupdate_bench::competitors::Verb;
use cholupdate_bench::csv::Csv;
use cholupdate_bench::engines::{effort, on_the_cpu, residual, residual_between, time};
use cholupdate_bench::link;
use cholupdate_bench::measure::{median, medians, time_calls};
use cholupdate_bench::problem::{Problem, Real};
use cholupdate_bench::settings::Settings;
use std::time::Instant;

/// Columns of an update that outweighs the matrix.
const HEAVY_RANK: usize = 16;

/// Seconds for the samples of a cell.
const BUDGET: u64 = 1;

/// Samples of updates that outweigh the matrix.
const SAMPLES: usize = 5;

/// Samples of a `solve` and of a step.
fn samples(order: usize) -> usize {
    if order <= 4096 { 51 } else { 5 }
}

/// Of `solve`.
const RIGHT_HAND_SIDES: [usize; 6] = [1, 4, 16, 64, 256, 1024];

struct Bench {
    settings: Settings,
    device: Device,
    ranks: Vec<usize>,
    /// Bytes of device memory read or written in a second.
    memory: f64,
    csv: Csv,
}

fn main() {
    let settings = Settings::new();
    let device = match Device::new(0) {
        Ok(device) => device,
        Err(error) => return println!("no device, nothing measured: {error}"),
    };
    let (orders, ranks) = settings.grid(&[512, 1024, 2048, 4096, 8192, 16384, 32768], &[1, 4, 16, 64, 256]);
    let memory = link::device_memory();
    println!(
        "{}, {} threads, device memory {:.2} TB/s read and written",
        device.name(),
        rayon::current_num_threads(),
        memory / 1e12
    );
    let csv = Csv::new(settings.csv.as_ref(), &about(Some(device.name())));
    let mut bench = Bench { settings, device, ranks, memory, csv };
    for order in orders {
        bench.cells::<f64>(order);
        bench.cells::<f32>(order);
    }
    bench.csv.finish();
}

impl Bench {
    fn cells<T: Real>(&mut self, order: usize) {
        let (name, threads) = (T::NAME, rayon::current_num_threads());
        if !self.settings.takes(name) {
            return;
        }
        let problem = Problem::<T>::from_factor(order);
        let cpu_times = on_the_cpu(&self.settings, effort(BUDGET), &problem, &self.ranks);
        let mut factor = Cholesky::from_factor_in(&problem.l, Resident::new(&self.device)).expect("a factor");
        // L is read, and the new L written.
        let bound = (order * (order + 1) * size_of::<T>()) as f64 / self.memory;
        for (at, &rank) in self.ranks.iter().enumerate() {
            let v = problem.v(rank);
            let [up, down] = time(effort(BUDGET), &mut factor, v.as_ref());
            let there = DeviceMatrix::from_host(&self.device, &v).expect("V on the device");
            let [there_up, there_down] = time_calls(effort(BUDGET), |verb| match verb {
                Verb::Update => factor.update(&there.view()),
                Verb::Downdate => factor.downdate(&there.view()),
            });
            let residual = residual(&problem, &mut factor, v.as_ref());
            print!(
                "{name} n {order:>5} k {rank:>3} update {:>8.3} ms downdate {:>8.3} ms, V there {:>8.3} / {:>8.3} ms, residual \
                 {residual:.1e}",
                1e3 * up,
                1e3 * down,
                1e3 * there_up,
                1e3 * there_down,
            );
            let mut line = |method, seconds, bound, residual: f64| {
                self.csv.both((method, threads), name, (order, rank), seconds, bound, [residual; 2]);
            };
            line("resident", [up, down], bound, residual);
            line("resident; V there", [there_up, there_down], bound, residual);
            if let Some(&[cpu_up, cpu_down]) = cpu_times.get(at) {
                let (ms_up, ms_down) = (1e3 * cpu_up, 1e3 * cpu_down);
                print!(", CPU {ms_up:.3} / {ms_down:.3} ms = {:.2} / {:.2} x", cpu_up / up, cpu_down / down);
                line("CPU", [cpu_up, cpu_down], f64::NAN, f64::NAN);
            }
            println!();
            step(&problem, &mut factor, &there, there_up);
        }
        for columns in RIGHT_HAND_SIDES {
            solves(&problem, &factor, &self.device, columns, bound);
        }
        if self.ranks.contains(&HEAVY_RANK) {
            heavy(&problem, &mut factor);
        }
    }
}

/// A modification and a solve with one right-hand side in one step of a loop, V and B on the device, and the residual of the solution.
fn step<T: Real>(
    problem: &Problem<T>,
    factor: &mut Cholesky<T, Resident>,
    v: &DeviceMatrix<T>,
    modification: f64,
) {
    let (name, order, rhs) = (T::NAME, factor.order(), problem.v(1));
    let mut b = DeviceMatrix::from_host(factor.engine().device(), &rhs).expect("B on the device");
    let samples = (0..=samples(order)).map(|_| {
        [Weights::Plus, Weights::Minus].map(|sign| {
            b.copy_from_host(&rhs).expect("B on the device");
            let start = Instant::now();
            let pending = factor.submit(v, sign).expect("a modification");
            let (modified, solved) = pending.solve_in_place(&mut b);
            let seconds = start.elapsed().as_secs_f64();
            modified.and(solved).expect("a step");
            seconds
        })
    });
    let [up, down] = medians(&samples.skip(1).collect::<Vec<_>>());
    let x = b.to_host().expect("the solution");
    let residual =
        (&problem.l * (problem.l.transpose() * &x) - &rhs).norm_max().wide() / rhs.norm_max().wide();
    println!(
        "{name} n {order:>5} k {:>3} and a solve, there {:>8.3} / {:>8.3} ms = {:.2} x the update, residual {residual:.1e}",
        v.shape().1,
        1e3 * up,
        1e3 * down,
        up / modification,
    );
}

/// `solve` with this number of right-hand sides on the device and on the host, and the residual of the first.
fn solves<T: Real>(
    problem: &Problem<T>,
    factor: &Cholesky<T, Resident>,
    device: &Device,
    columns: usize,
    bound: f64,
) {
    let (name, order, rhs) = (T::NAME, factor.order(), problem.v(columns));
    let mut there = DeviceMatrix::from_host(device, &rhs).expect("B on the device");
    let timed = |work: &mut dyn FnMut()| {
        let seconds = (0..=samples(order)).map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        });
        median(seconds.skip(1).collect())
    };
    let mut b = rhs.clone();
    let on_host = timed(&mut || {
        b.copy_from(&rhs);
        factor.solve_in_place(&mut b).expect("a solution");
    });
    let x = b.col(0);
    let back = &problem.l * (problem.l.transpose() * x);
    let residual = (back - rhs.col(0)).norm_max().wide() / rhs.col(0).norm_max().wide();
    let on_device = timed(&mut || factor.solve_in_place(&mut there.view_mut()).expect("a solution"));
    println!(
        "{name} n {order:>5} solve of {columns:>4} right-hand sides there {:>8.3} ms = {:.1} x bound, from the host {:>8.3} ms, \
         residual {residual:.1e}",
        1e3 * on_device,
        on_device / bound,
        1e3 * on_host,
    );
}

/// Updates that outweigh the matrix a thousand times, so that every panel takes the Householder fallback. Each is heavier than
/// the previous one.
fn heavy<T: Real>(problem: &Problem<T>, factor: &mut Cholesky<T, Resident>) {
    let (name, order) = (T::NAME, factor.order());
    let mut v = problem.v(HEAVY_RANK);
    let mut seconds = Vec::new();
    let mut before = None;
    for _ in 0..SAMPLES {
        v = &v * Scale(T::narrow(1e3));
        before = Some(factor.to_factor().expect("L"));
        let start = Instant::now();
        factor.update(&v).expect("an update");
        seconds.push(start.elapsed().as_secs_f64());
    }
    let (before, after) = (before.expect("L"), factor.to_factor().expect("L"));
    let residual = residual_between(before.as_ref(), v.as_ref(), after.as_ref());
    println!(
        "{name} n {order:>5} k {HEAVY_RANK:>3} heavy update {:>8.3} ms, residual {residual:.1e}",
        1e3 * median(seconds)
    );
}
