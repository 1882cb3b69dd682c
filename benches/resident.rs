//! The resident engine against the CPU engine on all cores.
//!
//! Prints a line for each cell: median wall-clock times of update and downdate, from the call to the report, with V in
//! host memory and with V on the device; the CPU engine's times on all threads; and the residual of the new factor in
//! sampled rows. Then, for each order, a line of updates that outweigh the matrix, where the ranks contain 16, and one of
//! `solve` with 1 and with 64 right-hand sides. Without a device it says so and does nothing.
//! `support/refactor_on_device.py` measures the alternatives on the same device.
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH_N`, `_K`, `_TYPES` | orders, ranks and types instead of the grid's: `4096,8192`, `1,16`, `f64` |
//! | `CHOLUPDATE_BENCH_CPU` | 0: without the CPU engine |

#[path = "support/cells.rs"]
mod cells;

use self::cells::{change, factor, list, measure, measure_calls, residual, testing, var};
use cholupdate::cuda::{Device, DeviceMatrix, Resident};
use cholupdate::faer::Scale;
use cholupdate::{Cholesky, Cpu, Scalar};
use std::time::{Duration, Instant};

/// Columns of an update that outweighs all that there is.
const HEAVY_RANK: usize = 16;

/// For the samples of a cell.
const BUDGET: Duration = Duration::from_secs(1);

fn main() {
    let device = match Device::new(0) {
        Ok(device) => device,
        Err(error) => return println!("no device, nothing measured: {error}"),
    };
    let (orders, ranks) = if testing() {
        (vec![300], vec![1, 40])
    } else {
        (vec![512, 1024, 2048, 4096, 8192, 16384, 32768], vec![1, 4, 16, 64, 256])
    };
    let orders = list("CHOLUPDATE_BENCH_N").unwrap_or(orders);
    let ranks = list("CHOLUPDATE_BENCH_K").unwrap_or(ranks);
    let types = var("CHOLUPDATE_BENCH_TYPES").unwrap_or("f64,f32".into());
    println!("{}, {} threads", device.name(), rayon::current_num_threads());
    for order in orders {
        if types.contains("f64") {
            cells::<f64>("f64", &device, order, &ranks);
        }
        if types.contains("f32") {
            cells::<f32>("f32", &device, order, &ranks);
        }
    }
}

fn cells<T: Scalar>(name: &str, device: &Device, order: usize, ranks: &[usize]) {
    let l = factor::<T>(order);
    let mut cpu_times = Vec::new();
    if var("CHOLUPDATE_BENCH_CPU").as_deref() != Some("0") {
        let mut cpu = Cholesky::from_factor_in(&l, Cpu::default()).expect("a factor");
        cpu_times = ranks.iter().map(|&rank| measure(&mut cpu, &change(order, rank), BUDGET)).collect();
    }
    let mut factor = Cholesky::from_factor_in(&l, Resident::new(device)).expect("a factor");
    for (at, &rank) in ranks.iter().enumerate() {
        let v = change::<T>(order, rank);
        let [up, down] = measure(&mut factor, &v, BUDGET);
        let there = DeviceMatrix::from_host(device, &v).expect("V on the device");
        let [there_up, there_down] = measure_calls(BUDGET, |up| match up {
            true => factor.update(&there.view()),
            false => factor.downdate(&there.view()),
        });
        factor.update(&v).expect("an update");
        let residual = residual(l.as_ref(), v.as_ref(), factor.to_factor().expect("L").as_ref());
        factor.downdate(&v).expect("a downdate");
        print!(
            "{name} n {order:>5} k {rank:>3} update {:>8.3} ms downdate {:>8.3} ms, V there {:>8.3} / {:>8.3} ms, residual \
             {residual:.1e}",
            1e3 * up,
            1e3 * down,
            1e3 * there_up,
            1e3 * there_down,
        );
        if let Some([cpu_up, cpu_down]) = cpu_times.get(at) {
            let (ms_up, ms_down) = (1e3 * cpu_up, 1e3 * cpu_down);
            print!(", CPU {ms_up:.3} / {ms_down:.3} ms = {:.2} / {:.2} x", cpu_up / up, cpu_down / down);
        }
        println!();
    }
    if ranks.contains(&HEAVY_RANK) {
        heavy(name, &mut factor);
    }
    for columns in [1, 64] {
        let rhs = change::<T>(order, columns);
        let mut seconds: Vec<_> = (0..5)
            .map(|_| {
                let start = Instant::now();
                factor.solve(&rhs).expect("a solution");
                start.elapsed().as_secs_f64()
            })
            .collect();
        seconds.sort_by(f64::total_cmp);
        println!("{name} n {order:>5} solve of {columns:>2} right-hand sides {:>8.3} ms", 1e3 * seconds[2]);
    }
}

/// Updates that outweigh all that there is a thousand times, so that every panel goes column by column. Each is heavier
/// than the one before.
fn heavy<T: Scalar>(name: &str, factor: &mut Cholesky<T, Resident>) {
    let order = factor.order();
    let mut v = change::<T>(order, HEAVY_RANK);
    let mut seconds = Vec::new();
    let mut before = None;
    for _ in 0..5 {
        v = &v * Scale(T::from_f64(1e3));
        before = Some(factor.to_factor().expect("L"));
        let start = Instant::now();
        factor.update(&v).expect("an update");
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    let (before, after) = (before.expect("L"), factor.to_factor().expect("L"));
    let residual = residual(before.as_ref(), v.as_ref(), after.as_ref());
    println!(
        "{name} n {order:>5} k {HEAVY_RANK:>3} heavy update {:>8.3} ms, residual {residual:.1e}",
        1e3 * seconds[2]
    );
}
