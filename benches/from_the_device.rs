//! Factors of matrices that are in device memory, against cuSOLVER's `potrf` on the same card.
//!
//! Prints a line for each order, of medians of wall-clock times: `potrf` in place, without a copy of A; `Cholesky::new_in` on
//! the resident engine, with A on the device and in host memory; `from_factor_in` and `to_factor_on_device`; the target for the
//! first, 1.25 times `potrf` and two passes over A; and the residual of L in sampled rows, in units of rounding. Without a
//! device it prints that and ends.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench from_the_device
//! ```
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH_N` | orders, instead of 512, 2048, 8192 and 16384 |

use cholupdate::cuda::{Device, DeviceMatrix, Resident};
use cholupdate::faer::Mat;
use cholupdate::{Cholesky, Error};
use cholupdate_bench::link;
use cholupdate_bench::measure::median;
use cudarc::driver::result;
use libloading::Library;
use std::ffi::{c_int, c_void};
use std::time::Instant;

type Handle = *mut c_void;
type Create = unsafe extern "C" fn(*mut Handle) -> c_int;
type BufferSize = unsafe extern "C" fn(Handle, c_int, c_int, u64, c_int, *mut c_int) -> c_int;
type Potrf = unsafe extern "C" fn(Handle, c_int, c_int, u64, c_int, u64, c_int, u64) -> c_int;

const LOWER: c_int = 0;

/// Samples of a call.
const SAMPLES: usize = 9;

fn main() {
    let device = match Device::new(0) {
        Ok(device) => device,
        Err(error) => return println!("no device, nothing measured: {error}"),
    };
    let orders = std::env::var("CHOLUPDATE_BENCH_N").unwrap_or_else(|_| "512,2048,8192,16384".into());
    let memory = link::device_memory();
    println!("{}, device memory {:.2} TB/s read and written", device.name(), memory / 1e12);
    for order in orders.split(',').map(|order| order.trim().parse().expect("an order")) {
        if let Err(error) = measure(&device, order, memory) {
            println!("n {order:>5} {error}");
        }
    }
}

fn measure(device: &Device, order: usize, memory: f64) -> Result<(), Error> {
    let engine = Resident::new(device);
    let a = Mat::from_fn(order, order, |i, j| {
        if i == j { 4.0 } else { ((i * 31 + j * 31) % 17) as f64 / (17.0 * order as f64) }
    });
    let there = DeviceMatrix::from_host(device, &a)?;
    let potrf = time_potrf(&there)?;
    let mut last = None;
    let new = time(|| {
        last = None;
        let start = Instant::now();
        last = Some(Cholesky::new_in(&there, engine.clone())?);
        Ok(start.elapsed().as_secs_f64())
    })?;
    let Some(factor) = last else { return Ok(()) };
    let l = factor.to_factor_on_device()?;
    let copied = time(|| {
        let start = Instant::now();
        let copy = factor.to_factor_on_device()?;
        let seconds = start.elapsed().as_secs_f64();
        drop(copy);
        Ok(seconds)
    })?;
    let residual = residual(&a, &factor.to_factor()?);
    drop(factor);
    let adopted = time(|| {
        let start = Instant::now();
        let factor = Cholesky::from_factor_in(&l, engine.clone())?;
        let seconds = start.elapsed().as_secs_f64();
        drop(factor);
        Ok(seconds)
    })?;
    drop(l);
    let from_host = time(|| {
        let start = Instant::now();
        let factor = Cholesky::new_in(&a, engine.clone())?;
        let seconds = start.elapsed().as_secs_f64();
        drop(factor);
        Ok(seconds)
    })?;
    // The rate counts reads and writes together; a pass reads or writes.
    let bound = 2.0 * (order * order * size_of::<f64>()) as f64 / memory;
    let ms = |seconds: f64| 1e3 * seconds;
    println!(
        "n {order:>5} potrf {:>8.3} ms new {:>8.3} ms ({:.2} of at most {:.3} ms) from host {:>8.3} ms from_factor {:>7.3} ms \
         to_factor {:>7.3} ms residual {residual:.1} u",
        ms(potrf.unwrap_or(f64::NAN)),
        ms(new),
        new / (1.25 * potrf.unwrap_or(f64::NAN) + bound),
        ms(1.25 * potrf.unwrap_or(f64::NAN) + bound),
        ms(from_host),
        ms(adopted),
        ms(copied),
    );
    Ok(())
}

/// The first call loads kernels and libraries, and is not counted.
fn time(mut call: impl FnMut() -> Result<f64, Error>) -> Result<f64, Error> {
    call()?;
    Ok(median((0..SAMPLES).map(|_| call()).collect::<Result<_, _>>()?))
}

/// `None` if cuSOLVER is not found.
fn time_potrf(a: &DeviceMatrix<f64>) -> Result<Option<f64>, Error> {
    // SAFETY: the library's initializers have no preconditions; the functions have the types of its documentation.
    let found = unsafe {
        ["libcusolver.so", "libcusolver.so.12", "libcusolver.so.11"]
            .iter()
            .find_map(|name| Library::new(*name).ok())
    };
    let Some(library) = found else { return Ok(None) };
    let n = a.shape().0 as c_int;
    // SAFETY: as above.
    let (create, buffer_size, potrf) = unsafe {
        (
            library.get::<Create>(b"cusolverDnCreate").expect("a function of cuSOLVER"),
            library.get::<BufferSize>(b"cusolverDnDpotrf_bufferSize").expect("a function of cuSOLVER"),
            library.get::<Potrf>(b"cusolverDnDpotrf").expect("a function of cuSOLVER"),
        )
    };
    let device = Device::new(0)?;
    let info = DeviceMatrix::from_host(&device, &[0.0_f64])?;
    let (mut handle, mut len) = (std::ptr::null_mut(), 0);
    // SAFETY: handle and length are written; A is n × n.
    unsafe {
        assert_eq!(create(&raw mut handle), 0, "cuSOLVER does not start");
        assert_eq!(buffer_size(handle, LOWER, n, a.view().address(), n, &raw mut len), 0);
    }
    let work = DeviceMatrix::from_host(&device, &vec![0.0_f64; len as usize])?;
    let seconds = time(|| {
        let copy = a.view().to_matrix()?;
        let start = Instant::now();
        // SAFETY: a matrix of this order, the working memory of the size that the library returned, and a number; all of them
        // live until the device is idle.
        unsafe {
            let (a, work, info) = (copy.view().address(), work.view().address(), info.view().address());
            assert_eq!(potrf(handle, LOWER, n, a, n, work, len, info), 0);
        }
        result::ctx::synchronize().expect("the device is idle");
        Ok(start.elapsed().as_secs_f64())
    })?;
    Ok(Some(seconds))
}

/// max |(L Lᵀ − A)_ij| / √(a_ii a_jj) over some rows i, in units of rounding.
fn residual(a: &Mat<f64>, l: &Mat<f64>) -> f64 {
    let order = a.nrows();
    let mut worst = 0.0_f64;
    for i in [0, order / 3, order / 2, order - 1] {
        let mut row: Vec<f64> = (0..order).map(|j| -a[(i.max(j), i.min(j))]).collect();
        for p in 0..=i {
            let x = l[(i, p)];
            row.iter_mut().zip(l.col(p).iter()).for_each(|(sum, &y)| *sum += x * y);
        }
        let scaled = row.iter().enumerate().map(|(j, x)| x.abs() / (a[(i, i)] * a[(j, j)]).sqrt());
        worst = scaled.fold(worst, f64::max);
    }
    worst / (f64::EPSILON / 2.0)
}
