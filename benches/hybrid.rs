//! The hybrid engine against the link, and against the CPU engine on all cores.
//!
//! Prints a line for each cell: median times of update and downdate, bytes over the link each way, the share
//! of the link's both-ways rate, the CPU engine's time on all threads, and the residual of the new factor in
//! sampled rows. Without a device it says so and does nothing.
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH_N`, `_K`, `_TYPES` | orders, ranks and types instead of the grid's: `4096,8192`, `1,16`, `f64` |
//! | `CHOLUPDATE_BENCH_TUNING` | `blocks,threads,elements,panel_cols,slots` instead of `Tuning::for_device`; several by `;` |
//! | `CHOLUPDATE_BENCH_CPU` | 0: without the CPU engine |

#[path = "support/cells.rs"]
mod cells;
#[path = "support/link.rs"]
mod link;

use self::cells::{change, factor, list, measure, residual, testing, var};
use cholupdate::cuda::{Device, Hybrid, Tuning};
use cholupdate::{Cholesky, Cpu, Scalar};
use std::time::Duration;

/// For the samples of a cell.
const BUDGET: Duration = Duration::from_secs(4);

fn main() {
    let device = match Device::new(0) {
        Ok(device) => device,
        Err(error) => return println!("no device, nothing measured: {error}"),
    };
    let (orders, ranks) = if testing() {
        (vec![300], vec![1, 40])
    } else {
        (vec![4096, 8192, 16384, 32768], vec![1, 16, 64, 256])
    };
    let orders = list("CHOLUPDATE_BENCH_N").unwrap_or(orders);
    let ranks = list("CHOLUPDATE_BENCH_K").unwrap_or(ranks);
    let types = var("CHOLUPDATE_BENCH_TYPES").unwrap_or("f64,f32".into());
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
    for order in orders {
        if types.contains("f64") {
            cells::<f64>("f64", &device, order, &ranks, &tunings, link);
        }
        if types.contains("f32") {
            cells::<f32>("f32", &device, order, &ranks, &tunings, link);
        }
    }
}

fn cells<T: Scalar>(
    name: &str,
    device: &Device,
    order: usize,
    ranks: &[usize],
    tunings: &[Tuning],
    link: f64,
) {
    let l = factor::<T>(order);
    let cpu = (var("CHOLUPDATE_BENCH_CPU").as_deref() != Some("0"))
        .then(|| Cholesky::from_factor_in(&l, Cpu::default()).expect("a factor"));
    let mut cpu_times = Vec::new();
    if let Some(mut cpu) = cpu {
        cpu_times = ranks.iter().map(|&rank| measure(&mut cpu, &change(order, rank), BUDGET)).collect();
    }
    for tuning in tunings {
        let engine = Hybrid::new(device, *tuning).expect("a valid tuning");
        let mut factor = Cholesky::from_factor_in(&l, engine).expect("a factor");
        for (at, &rank) in ranks.iter().enumerate() {
            let v = change::<T>(order, rank);
            let [up, down] = measure(&mut factor, &v, BUDGET);
            factor.update(&v).expect("an update");
            let residual = residual(l.as_ref(), v.as_ref(), factor.to_factor().expect("L").as_ref());
            factor.downdate(&v).expect("a downdate");
            let bytes = bytes_each_way::<T>(order, tuning.panel_cols);
            let share = |seconds: f64| 100.0 * bytes / link / seconds;
            print!(
                "{name} n {order:>5} k {rank:>3} update {:>8.2} ms = {:>4.1} % downdate {:>8.2} ms = {:>4.1} % of the \
                 link for {:.0} MB each way, residual {residual:.1e}",
                1e3 * up,
                share(up),
                1e3 * down,
                share(down),
                bytes / 1e6,
            );
            if let Some([cpu_up, cpu_down]) = cpu_times.get(at) {
                print!(
                    ", CPU {:.2} / {:.2} ms = {:.2} / {:.2} x",
                    1e3 * cpu_up,
                    1e3 * cpu_down,
                    cpu_up / up,
                    cpu_down / down
                );
            }
            println!(" [{tuning:?}]");
        }
    }
}

/// Bytes of L that cross the link, each way: all below the diagonal blocks and their heads.
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
