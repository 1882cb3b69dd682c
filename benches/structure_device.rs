//! Insertion and removal of rows and columns on the GPU engines.
//!
//! For each engine and order: median times of `remove` and `insert` of sixteen rows in the middle, against the modification of
//! the same rank of the rows after them; of `append` of 64 rows, against the triangular solve with as many right-hand sides; of
//! `shift` across the half. Every removal reverses an insertion of the same columns: at the end the factor is compared with the
//! initial one, entry by entry, relative to the largest entry. Without a device it prints that and ends.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench structure_device
//! ```
//!
//! `CHOLUPDATE_BENCH_N`, `_TYPES`: orders and types instead of the grid's.

use cholupdate::cuda::{Device, Hybrid, Resident, Tuning};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Engine};
use cholupdate_bench::measure::median;
use cholupdate_bench::problem::{Problem, Real};
use cholupdate_bench::settings::Settings;
use std::time::Instant;

const RANK: usize = 16;
const APPENDED: usize = 64;
const SAMPLES: usize = 7;

fn main() {
    let settings = Settings::new();
    let device = match Device::new(0) {
        Ok(device) => device,
        Err(error) => return println!("no device, nothing measured: {error}"),
    };
    let (orders, _) = settings.grid(&[1024, 4096, 16384], &[RANK]);
    println!("{}, {} threads", device.name(), rayon::current_num_threads());
    for order in orders {
        if settings.takes("f64") {
            both::<f64>(&device, order);
        }
        if settings.takes("f32") {
            both::<f32>(&device, order);
        }
    }
}

fn both<T: Real>(device: &Device, order: usize) {
    let problem = Problem::<T>::from_factor(order);
    engine("resident", Resident::new(device), &problem);
    let hybrid = Hybrid::new(device, Tuning::for_device(device)).expect("a tuning that is valid");
    engine("hybrid", hybrid, &problem);
}

fn engine<T: Real, E: Engine<T>>(name: &str, engine: E, problem: &Problem<T>) {
    let order = problem.l.nrows();
    let half = order / 2;
    let mut factor = Cholesky::from_factor_in(&problem.l, engine).expect("a factor");
    factor.reserve(APPENDED).expect("room");
    // The columns of A to remove and insert, by two products with L.
    let columns = |rows: core::ops::Range<usize>| {
        let l = &problem.l;
        l * l.subrows(rows.start, rows.len()).transpose()
    };
    let middle = columns(half..half + RANK);
    let v = problem.v(RANK);
    let v = Mat::from_fn(order, RANK, |i, r| if i < half { T::narrow(0.0) } else { v[(i, r)] });
    let removed: Vec<usize> = (half..half + RANK).collect();
    let mut times = [const { Vec::new() }; 8];
    for sample in 0..=SAMPLES {
        let mut at = 0;
        let mut timed = |work: &mut dyn FnMut()| {
            let start = Instant::now();
            work();
            if sample > 0 {
                times[at].push(1e3 * start.elapsed().as_secs_f64());
            }
            at += 1;
        };
        timed(&mut || {
            factor.update(&v).expect("an update");
        });
        timed(&mut || {
            factor.downdate(&v).expect("a downdate");
        });
        timed(&mut || {
            factor.remove(&removed).expect("a removal");
        });
        timed(&mut || {
            factor.insert(half, &middle).expect("an insertion");
        });
        timed(&mut || {
            factor.solve_l(&problem.v(APPENDED)).expect("a solve");
        });
        // Small compared with the corner, so that the bordered matrix is positive definite.
        let cross = Mat::<T>::from_fn(order, APPENDED, |i, j| {
            T::narrow(1e-3 * problem.l[(i, 0)].wide() * ((i + 7 * j) % 5) as f64)
        });
        let corner = Mat::<T>::from_fn(APPENDED, APPENDED, |i, j| {
            T::narrow(if i == j { 1e3 * order as f64 } else { 0.0 })
        });
        timed(&mut || {
            factor.append(&cross, &corner).expect("rows");
        });
        factor.remove(&(order..order + APPENDED).collect::<Vec<_>>()).expect("a removal");
        timed(&mut || {
            factor.shift(half, order - 1).expect("a shift");
        });
        timed(&mut || {
            factor.shift(order - 1, half).expect("a shift");
        });
    }
    let [update, downdate, remove, insert, solve, append, forwards, backwards] = times.map(median);
    let l = factor.to_factor().expect("L");
    let off = (&l - &problem.l).norm_max().wide() / problem.l.norm_max().wide();
    println!(
        "{name:>8} {} n {order:>5}: half modified {update:.3} / {downdate:.3} ms; {RANK} removed {remove:.3} ms = {:.2} x, \
         inserted {insert:.3} ms = {:.2} x; {APPENDED} appended {append:.3} ms = {:.2} x a solve of {solve:.3} ms; shift \
         {forwards:.3} / {backwards:.3} ms; off by {off:.1e}",
        T::NAME,
        remove / update,
        insert / downdate,
        append / solve,
    );
}
