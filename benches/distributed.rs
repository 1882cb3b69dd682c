//! Updates, downdates and solves in double precision on several devices of one host, against one of them.
//!
//! L is diagonal at first, and V is on the first device; neither changes the time. For each order and rank, in turns, the
//! median of some calls; that one device and several give the same bits is checked by the solution of a system. Without a
//! second device it prints that and ends.
//!
//! ```sh
//! CHOLUPDATE_BENCH_N=32768,65536 CHOLUPDATE_BENCH_K=1,16 cargo bench -p cholupdate-bench --bench distributed
//! ```
//!
//! `CHOLUPDATE_BENCH_ROWS` is a list of block sizes instead of the engine's own, `CHOLUPDATE_BENCH_CALLS` the number of calls of each
//! kind, and `CHOLUPDATE_BENCH_HYBRID=1` adds the hybrid engine on the first device, with L in host memory.

use cholupdate::cuda::{Device, DeviceMatrix, Distributed, Hybrid, Resident, Tuning};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Engine, Error};
use cholupdate_bench::settings::var;
use std::time::{Duration, Instant};

/// Calls of each kind, after one that is not counted.
const CALLS: usize = 7;
const RIGHT_HAND_SIDES: [usize; 2] = [1, 64];

fn numbers(variable: &str, otherwise: &[usize]) -> Vec<usize> {
    let listed = var(variable).map(|text| text.split(',').map(|n| n.parse().expect("a number")).collect());
    listed.unwrap_or_else(|| otherwise.to_vec())
}

fn main() -> Result<(), Error> {
    let devices: Vec<Device> = (0..16).map_while(|ordinal| Device::new(ordinal).ok()).collect();
    if devices.len() < 2 {
        println!("distributed: there is no second device");
        return Ok(());
    }
    println!("{} devices, the first of them {}", devices.len(), devices[0].name());
    let engine = Distributed::new(&devices)?;
    let blocks = numbers("CHOLUPDATE_BENCH_ROWS", &[1024]);
    for order in numbers("CHOLUPDATE_BENCH_N", &[4096, 8192, 16384, 32768]) {
        let mut l = Mat::<f64>::zeros(order, order);
        (0..order).for_each(|j| l[(j, j)] = 4.0 + (j % 3) as f64);
        let (_, all) = devices[0].memory_bytes()?;
        let fits = 2 * size_of::<f64>() * order * order < all;
        let bits = match fits {
            true => Some(measure(order, &l, &devices[0], ("one device", Resident::new(&devices[0])))?),
            false => None,
        };
        for &rows in &blocks {
            let engine = engine.clone().with_block_rows(rows)?;
            let several = measure(order, &l, &devices[0], (&format!("blocks of {rows} rows"), engine))?;
            println!("{order}: same bits: {:?}", bits.as_ref().map(|bits| *bits == several));
        }
        if var("CHOLUPDATE_BENCH_HYBRID").is_some() {
            let engine = Hybrid::new(&devices[0], Tuning::for_device(&devices[0]))?;
            measure(order, &l, &devices[0], ("hybrid engine", engine))?;
        }
    }
    Ok(())
}

/// Prints times, and returns bits of a solution.
fn measure<E: Engine<f64>>(
    order: usize,
    l: &Mat<f64>,
    device: &Device,
    (name, engine): (&str, E),
) -> Result<Vec<u64>, Error> {
    let calls = numbers("CHOLUPDATE_BENCH_CALLS", &[CALLS])[0];
    let begin = Instant::now();
    let mut factor = Cholesky::from_factor_in(l, engine)?;
    println!("{order}: {name}: from_factor {:.1} s", begin.elapsed().as_secs_f64());
    for rank in numbers("CHOLUPDATE_BENCH_K", &[1, 16, 64]) {
        let v = Mat::from_fn(order, rank, |i, r| ((i * 7 + r * 13) % 101) as f64 / 1000.0 - 0.05);
        let v = DeviceMatrix::from_host(device, &v)?;
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..=calls {
            let begin = Instant::now();
            factor.update(v.view())?;
            times[0].push(begin.elapsed());
            let begin = Instant::now();
            factor.downdate(v.view())?;
            times[1].push(begin.elapsed());
        }
        factor.update(v.view())?;
        let [up, down] = times.map(median);
        println!("{order}: {name}: k = {rank}: update {up:.3} ms, downdate {down:.3} ms");
    }
    let mut bits = Vec::new();
    for count in RIGHT_HAND_SIDES {
        let b = Mat::from_fn(order, count, |i, c| ((i * 3 + c * 5) % 17) as f64);
        let mut times = Vec::new();
        for _ in 0..=calls {
            let mut b = DeviceMatrix::from_host(device, &b)?;
            let begin = Instant::now();
            factor.solve_in_place(&mut b)?;
            times.push(begin.elapsed());
            bits = b.to_host()?.col(0).iter().map(|x| x.to_bits()).collect();
        }
        println!("{order}: {name}: solve {count}: {:.3} ms", median(times));
    }
    Ok(bits)
}

/// Without the first, in milliseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.remove(0);
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}
