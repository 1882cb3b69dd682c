//! Factors of matrices that are in device memory, against cuSOLVER's `potrf` on the same card.
//!
//! For each order, in turns: `Cholesky::new_in` on the resident engine, with A on the device and in host memory, and `potrf` in
//! place of a copy of A made beforehand; then `from_factor_in` and `to_factor_on_device`. Without a device it prints that and
//! ends.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench factorize_device
//! ```
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH` | `quick` or `full` (the default) |
//! | `CHOLUPDATE_BENCH_N` | orders, instead of 512, 2048, 8192 and 16384 |
//! | `CHOLUPDATE_BENCH_CSV` | a file to which the lines are appended as CSV |

use cholupdate::cuda::{Device, DeviceMatrix, Resident};
use cholupdate::{Cholesky, Error};
use cholupdate_bench::engines::{Calls, Entrant, OnDevice};
use cholupdate_bench::problem::Problem;
use cudarc::driver::result;
use libloading::Library;
use std::ffi::{c_int, c_void};

type Handle = *mut c_void;
type Create = unsafe extern "C" fn(*mut Handle) -> c_int;
type BufferSize = unsafe extern "C" fn(Handle, c_int, c_int, u64, c_int, *mut c_int) -> c_int;
type PotrfFn = unsafe extern "C" fn(Handle, c_int, c_int, u64, c_int, u64, c_int, u64) -> c_int;

const LOWER: c_int = 0;

fn main() -> Result<(), Error> {
    let Some(on) = OnDevice::new("factorize_device", &[]) else { return Ok(()) };
    let (orders, _) = on.settings.grid(&[512, 2048, 8192, 16384], &[0]);
    for order in orders {
        measure(&on, order)?;
    }
    Ok(())
}

fn measure(on: &OnDevice, order: usize) -> Result<(), Error> {
    let (engine, problem) = (Resident::new(&on.device), Problem::<f64>::new(order));
    let there = DeviceMatrix::from_host(&on.device, problem.a())?;
    let l = DeviceMatrix::from_host(&on.device, &problem.l)?;
    // A is read and L written; of n³/3 flops.
    let bound = on.bound::<f64>(order, (order as f64).powi(3) / 3.0);
    let of_there = || Cholesky::new_in(&there, engine.clone());
    let of_host = || Cholesky::new_in(problem.a(), engine.clone());
    let potrf = Potrf::new(&on.device, &there)?;
    let mut entrants = vec![
        Entrant::new("cholupdate resident", 0, &[bound], making(&problem, of_there)),
        Entrant::new("cholupdate resident; from host", 0, &[bound], making(&problem, of_host)),
    ];
    if let Some(potrf) = &potrf {
        let calls = Calls {
            turns: 1,
            state: there.view().to_matrix()?,
            prepare: Box::new(|copy: &mut DeviceMatrix<f64>, _| {
                *copy = there.view().to_matrix().expect("a copy")
            }),
            run: Box::new(|copy, _| potrf.run(copy)),
            residual: Box::new(|copy, _| problem.sampled().residual(copy.to_host().expect("L").as_ref())),
        };
        entrants.push(Entrant::new("cuSOLVER potrf", 0, &[f64::NAN], calls));
    }
    on.measure::<f64>((order, 0), &["new".into()], entrants);

    let bound = on.bound::<f64>(order, 0.0);
    let of_factor = || Cholesky::from_factor_in(&l, engine.clone());
    let adopted = Entrant::new("cholupdate resident", 0, &[bound], making(&problem, of_factor));
    on.measure::<f64>((order, 0), &["from_factor".into()], vec![adopted]);
    let factor = Cholesky::from_factor_in(&l, engine.clone())?;
    let calls = Calls {
        turns: 1,
        state: None,
        prepare: Box::new(|copy: &mut Option<DeviceMatrix<f64>>, _| *copy = None),
        run: Box::new(|copy, _| *copy = Some(factor.to_factor_on_device().expect("a copy"))),
        residual: Box::new(|copy, _| {
            let l = copy.as_ref().and_then(|copy| copy.to_host().ok());
            l.map_or(f64::NAN, |l| problem.sampled().residual(l.as_ref()))
        }),
    };
    let copied = Entrant::new("cholupdate resident", 0, &[bound], calls);
    on.measure::<f64>((order, 0), &["to_factor_on_device".into()], vec![copied]);
    Ok(())
}

/// What makes a factor; the one of the call before is released first.
fn making<'a>(
    problem: &'a Problem<f64>,
    make: impl Fn() -> Result<Cholesky<f64, Resident>, Error> + 'a,
) -> Calls<'a, Option<Cholesky<f64, Resident>>> {
    Calls {
        turns: 1,
        state: None,
        prepare: Box::new(|factor, _| *factor = None),
        run: Box::new(move |factor, _| *factor = Some(make().expect("a factor"))),
        residual: Box::new(|factor, _| {
            let l = factor.as_ref().and_then(|factor| factor.to_factor().ok());
            l.map_or(f64::NAN, |l| problem.sampled().residual(l.as_ref()))
        }),
    }
}

/// cuSOLVER's factorization of one order, and the memory that it works with.
struct Potrf {
    order: c_int,
    handle: Handle,
    work: DeviceMatrix<f64>,
    info: DeviceMatrix<f64>,
    len: c_int,
    /// Kept open.
    library: Library,
}

impl Potrf {
    /// `None` if cuSOLVER is not found.
    fn new(device: &Device, a: &DeviceMatrix<f64>) -> Result<Option<Self>, Error> {
        // SAFETY: the library's initializers have no preconditions.
        let found = unsafe {
            ["libcusolver.so", "libcusolver.so.12", "libcusolver.so.11"]
                .iter()
                .find_map(|name| Library::new(*name).ok())
        };
        let Some(library) = found else { return Ok(None) };
        let (mut handle, mut len, order) = (std::ptr::null_mut(), 0, a.shape().0 as c_int);
        // SAFETY: the functions have the types of the library's documentation; handle and length are written; A is n × n.
        unsafe {
            let create = library.get::<Create>(b"cusolverDnCreate");
            let size = library.get::<BufferSize>(b"cusolverDnDpotrf_bufferSize");
            let (Ok(create), Ok(size)) = (create, size) else { return Ok(None) };
            assert_eq!(create(&raw mut handle), 0, "cuSOLVER does not start");
            assert_eq!(size(handle, LOWER, order, a.view().address(), order, &raw mut len), 0);
        }
        let work = DeviceMatrix::from_host(device, &vec![0.0_f64; len as usize])?;
        let info = DeviceMatrix::from_host(device, &[0.0_f64])?;
        Ok(Some(Self { order, handle, work, info, len, library }))
    }

    /// In place, and waits for it.
    fn run(&self, a: &DeviceMatrix<f64>) {
        let (n, address) = (self.order, a.view().address());
        // SAFETY: a matrix of this order, the working memory of the size that the library returned, and a number; all of them
        // live until the device is idle. The function has the type of the library's documentation.
        unsafe {
            let potrf = self.library.get::<PotrfFn>(b"cusolverDnDpotrf").expect("a function of cuSOLVER");
            let (work, info) = (self.work.view().address(), self.info.view().address());
            assert_eq!(potrf(self.handle, LOWER, n, address, n, work, self.len, info), 0);
        }
        result::ctx::synchronize().expect("the device is idle");
    }
}
