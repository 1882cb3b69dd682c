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

#[path = "support/link.rs"]
mod link;

use cholupdate::cuda::{Device, Hybrid, Tuning};
use cholupdate::faer::{Mat, MatRef};
use cholupdate::{Cholesky, Cpu, Engine, Scalar};
use rayon::prelude::*;
use std::env;
use std::time::{Duration, Instant};

/// Samples of each verb, unless they take longer than this together.
const SAMPLES: usize = 9;
const BUDGET: Duration = Duration::from_secs(4);
const SAMPLED_ROWS: usize = 8;

fn main() {
    let says = |flag| env::args().any(|argument| argument == flag);
    let testing = says("--test") || !says("--bench");
    let device = match Device::new(0) {
        Ok(device) => device,
        Err(error) => return println!("no device, nothing measured: {error}"),
    };
    let (orders, ranks) = if testing {
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
        cpu_times = ranks.iter().map(|&rank| measure(&mut cpu, &change(order, rank))).collect();
    }
    for tuning in tunings {
        let engine = Hybrid::new(device, *tuning).expect("a valid tuning");
        let mut factor = Cholesky::from_factor_in(&l, engine).expect("a factor");
        for (at, &rank) in ranks.iter().enumerate() {
            let v = change::<T>(order, rank);
            let [up, down] = measure(&mut factor, &v);
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

/// Median seconds of an update and of the downdate that takes it back.
fn measure<T: Scalar, E: Engine<T>>(factor: &mut Cholesky<T, E>, v: &Mat<T>) -> [f64; 2] {
    let mut seconds = [Vec::new(), Vec::new()];
    // The first call allocates.
    factor.update(v).expect("an update");
    factor.downdate(v).expect("a downdate");
    let begin = Instant::now();
    while seconds[0].len() < SAMPLES && (seconds[0].is_empty() || begin.elapsed() < BUDGET) {
        let start = Instant::now();
        factor.update(v).expect("an update");
        seconds[0].push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        factor.downdate(v).expect("a downdate");
        seconds[1].push(start.elapsed().as_secs_f64());
    }
    seconds.map(|mut seconds| {
        seconds.sort_by(f64::total_cmp);
        seconds[seconds.len() / 2]
    })
}

/// Bytes of L that cross the link, each way: all below the diagonal blocks and their heads.
fn bytes_each_way<T>(order: usize, panel_cols: usize) -> f64 {
    let panels = (0..order).step_by(panel_cols);
    let entries: usize = panels
        .map(|first| order.saturating_sub(first + 2 * panel_cols) * panel_cols.min(order - first))
        .sum();
    (entries * size_of::<T>()) as f64
}

/// A number in ±1 that depends on its place alone.
fn noise(seed: u64, i: usize, j: usize) -> f64 {
    let mut x = seed ^ ((i as u64) << 32 | j as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// A well-conditioned factor. (n × n)
fn factor<T: Scalar>(order: usize) -> Mat<T> {
    let mut l = Mat::<T>::zeros(order, order);
    let scale = 0.5 / (order as f64).sqrt();
    l.as_mut().par_col_iter_mut().enumerate().for_each(|(j, column)| {
        for (i, x) in column.iter_mut().enumerate().skip(j) {
            *x = T::from_f64(if i == j { 1.0 } else { scale * noise(1, i, j) });
        }
    });
    l
}

/// V. (n × k)
fn change<T: Scalar>(order: usize, rank: usize) -> Mat<T> {
    Mat::from_fn(order, rank, |i, r| T::from_f64(noise(2, i, r) / (rank as f64).sqrt()))
}

/// The largest entry of L'L'ᵀ − (L Lᵀ + V Vᵀ) in sampled rows, over that of A'.
fn residual<T: Scalar>(l: MatRef<'_, T>, v: MatRef<'_, T>, new: MatRef<'_, T>) -> f64 {
    let order = l.nrows();
    let rows: Vec<_> = (1..=SAMPLED_ROWS).map(|s| s * order / SAMPLED_ROWS - 1).collect();
    let products = |m: MatRef<'_, T>, triangular: bool| -> Vec<Vec<f64>> {
        let (n, k) = (m.nrows(), m.ncols());
        let partial = |j: usize, sums: &mut Vec<Vec<f64>>| {
            let first = if triangular { j } else { 0 };
            for (row, sums) in rows.iter().zip(sums) {
                let x = m[(*row, j)].to_f64();
                if x != 0.0 {
                    (first..n).for_each(|i| sums[i] += x * m[(i, j)].to_f64());
                }
            }
        };
        let zero = || vec![vec![0.0; n]; rows.len()];
        let fold = (0..k).into_par_iter().with_min_len(64).fold(zero, |mut sums, j| {
            partial(j, &mut sums);
            sums
        });
        fold.reduce(zero, |a, b| {
            a.iter().zip(&b).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect()).collect()
        })
    };
    let (old, change, new) = (products(l, true), products(v, false), products(new, true));
    let (mut largest, mut difference) = (0.0f64, 0.0f64);
    for ((old, change), new) in old.iter().flatten().zip(change.iter().flatten()).zip(new.iter().flatten()) {
        let expected = old + change;
        largest = largest.max(expected.abs());
        // NaN stays.
        let d = (new - expected).abs();
        difference = if d <= difference { difference } else { d };
    }
    difference / largest
}

fn tuning(text: &str) -> Tuning {
    let numbers: Vec<usize> =
        text.split(',').map(|number| number.trim().parse().expect("five numbers")).collect();
    let [blocks_per_kernel, threads_per_block, elements_per_thread, panel_cols, slots] = numbers[..] else {
        panic!("CHOLUPDATE_BENCH_TUNING takes five numbers");
    };
    Tuning { blocks_per_kernel, threads_per_block, elements_per_thread, panel_cols, slots }
}

fn var(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn list(name: &str) -> Option<Vec<usize>> {
    var(name).map(|value| value.split(',').map(|item| item.trim().parse().expect("numbers")).collect())
}
