//! The hybrid engine against the link, and against the CPU engine on all cores.
//!
//! Prints a line for each cell: median times of update and downdate, bytes over the link each way, the share of the link's
//! both-ways rate, the CPU engine's time on all threads, and the residual of the new factor in sampled rows. Without a device
//! it prints that and ends.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench hybrid
//! ```
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH_N`, `_K`, `_TYPES` | orders, ranks and types instead of the grid's: `4096,8192`, `1,16`, `f64` |
//! | `CHOLUPDATE_BENCH_TUNING` | `blocks,threads,elements,panel_cols,slots` instead of `Tuning::for_device`; several by `;` |
//! | `CHOLUPDATE_BENCH_CPU` | 0: without the CPU engine |
//! | `CHOLUPDATE_BENCH_CSV` | a file to which the lines are appended as CSV |

use cholupdate::Cholesky;
use cholupdate::cuda::{Device, Hybrid, Tuning};
use cholupdate_bench::about::about;
use cholupdate_bench::csv::Csv;
use cholupdate_bench::engines::{effort, on_the_cpu, residual, time};
use cholupdate_bench::link;
use cholupdate_bench::problem::{Problem, Real};
use cholupdate_bench::settings::{Settings, var};

/// Seconds for the samples of a cell.
const BUDGET: u64 = 4;

struct Bench {
    settings: Settings,
    device: Device,
    ranks: Vec<usize>,
    tunings: Vec<Tuning>,
    /// Bytes a second, each way.
    link: f64,
    csv: Csv,
}

fn main() {
    let settings = Settings::new();
    let device = match Device::new(0) {
        Ok(device) => device,
        Err(error) => return println!("no device, nothing measured: {error}"),
    };
    let (orders, ranks) = settings.grid(&[4096, 8192, 16384, 32768], &[1, 16, 64, 256]);
    let tunings = match var("CHOLUPDATE_BENCH_TUNING") {
        Some(text) => text.split(';').map(tuning).collect(),
        None => vec![Tuning::for_device(&device)],
    };
    let link = link::both_ways();
    println!(
        "{}, {} threads, link {:.1} GB/s each way",
        device.name(),
        rayon::current_num_threads(),
        link / 1e9
    );
    let csv = Csv::new(settings.csv.as_ref(), &about(Some(device.name())));
    let mut bench = Bench { settings, device, ranks, tunings, link, csv };
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
        for tuning in &self.tunings {
            let engine = Hybrid::new(&self.device, *tuning).expect("a valid tuning");
            let mut factor = Cholesky::from_factor_in(&problem.l, engine).expect("a factor");
            for (at, &rank) in self.ranks.iter().enumerate() {
                let v = problem.v(rank);
                let [up, down] = time(effort(BUDGET), &mut factor, v.as_ref());
                let residual = residual(&problem, &mut factor, v.as_ref());
                let bytes = bytes_each_way::<T>(order, tuning.panel_cols);
                let bound = bytes / self.link;
                print!(
                    "{name} n {order:>5} k {rank:>3} update {:>8.2} ms = {:>4.1} % downdate {:>8.2} ms = {:>4.1} % of the \
                     link for {:.0} MB each way, residual {residual:.1e}",
                    1e3 * up,
                    100.0 * bound / up,
                    1e3 * down,
                    100.0 * bound / down,
                    bytes / 1e6,
                );
                self.csv.both(("hybrid", threads), name, (order, rank), [up, down], bound, [residual; 2]);
                if let Some([cpu_up, cpu_down]) = cpu_times.get(at) {
                    print!(
                        ", CPU {:.2} / {:.2} ms = {:.2} / {:.2} x",
                        1e3 * cpu_up,
                        1e3 * cpu_down,
                        cpu_up / up,
                        cpu_down / down
                    );
                    let unknown = f64::NAN;
                    self.csv.both(
                        ("CPU", threads),
                        name,
                        (order, rank),
                        [*cpu_up, *cpu_down],
                        unknown,
                        [unknown; 2],
                    );
                }
                println!(" [{tuning:?}]");
            }
        }
    }
}

/// Bytes of L that cross the link, each way: all below the diagonal blocks and the next diagonal rows.
fn bytes_each_way<T>(order: usize, panel_cols: usize) -> f64 {
    let panels = (0..order).step_by(panel_cols);
    let entries: usize = panels
        .map(|first| order.saturating_sub(first + 2 * panel_cols) * panel_cols.min(order - first))
        .sum();
    (entries * size_of::<T>()) as f64
}

fn tuning(text: &str) -> Tuning {
    let numbers: Vec<usize> =
        text.split(',').map(|number| number.trim().parse().expect("five numbers")).collect();
    let [blocks_per_kernel, threads_per_block, elements_per_thread, panel_cols, slots] = numbers[..] else {
        panic!("CHOLUPDATE_BENCH_TUNING takes five numbers");
    };
    Tuning { blocks_per_kernel, threads_per_block, elements_per_thread, panel_cols, slots }
}
