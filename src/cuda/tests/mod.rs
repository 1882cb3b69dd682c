//! Tests of the modules of this folder, on a device if there is one.

use super::cusolver::Solver;
use super::dense::Dense;
use super::device::Device;
use super::factorize::{self, By};
use super::hybrid::Tuning;
use super::memory::{DeviceBuffer, Pinned};
use super::stream::{Event, Stream};
use crate::error::Error;
use crate::host::blocked;
use crate::real::Real;
use faer::{Mat, Par};

mod layout;
mod trailing;

#[cfg(target_os = "linux")]
#[path = "../../../tests/fake_cuda/mod.rs"]
pub(super) mod fake_cuda;

/// Excludes the tests that change the behaviour of the fake driver, where there is one.
#[cfg(target_os = "linux")]
type Turn = Option<fake_cuda::Shared>;
#[cfg(not(target_os = "linux"))]
type Turn = ();

fn turn() -> Turn {
    #[cfg(target_os = "linux")]
    fake_cuda::shared()
}

/// The first device. Without one the test prints that it is skipped, or fails if a device is required.
fn device() -> Option<(Turn, Device)> {
    let turn = turn();
    match Device::new(0) {
        Ok(device) => Some((turn, device)),
        Err(error) if std::env::var_os("CHOLUPDATE_REQUIRE_CUDA").is_some_and(|value| value == "1") => {
            panic!("CHOLUPDATE_REQUIRE_CUDA is set, but: {error}")
        }
        Err(error) => {
            eprintln!("SKIPPED, for want of a device: {error}");
            None
        }
    }
}

/// Entries in [-1, 1), the same in every run.
fn entries<T: Real>(seed: u64, len: usize) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        T::from_f64((state >> 11) as f64 / (1u64 << 52) as f64 - 1.0)
    };
    (0..len).map(|_| next()).collect()
}

#[test]
fn a_device_that_is_not_there_is_an_error() {
    let _turn = turn();
    let error = Device::new(usize::MAX).unwrap_err();
    assert!(matches!(&error, Error::Device { message, .. } if !message.is_empty()), "{error:?}");
}

#[test]
fn a_device_tells_what_it_is() {
    let Some((_turn, device)) = device() else { return };
    let (free, all) = device.memory_bytes().unwrap();
    assert!(free <= all && all > 0);
    assert!(device.multiprocessors() > 0 && !device.name().is_empty());
    assert!(format!("{device:?}").contains(device.name()));
    Tuning::for_device(&device).validate().unwrap();
}

#[test]
fn more_memory_than_there_is_is_an_error() {
    let Some((_turn, device)) = device() else { return };
    for len in [usize::MAX, usize::MAX / 16] {
        assert!(matches!(DeviceBuffer::<f64>::new(&device, len), Err(Error::Device { .. })));
        assert!(matches!(Pinned::<f64>::new(&device, len), Err(Error::Device { .. })));
    }
    assert_eq!(DeviceBuffer::<f32>::new(&device, 0).unwrap().len(), 0);
    assert_eq!(Pinned::<f32>::new(&device, 0).unwrap().as_slice(), []);
}

#[test]
fn parts_of_memory_go_to_the_device_and_back() {
    let Some((_turn, device)) = device() else { return };
    let (up, down, arrived) =
        (Stream::new(&device).unwrap(), Stream::new(&device).unwrap(), Event::new(&device).unwrap());
    let mut source = Pinned::<f64>::new(&device, 1000).unwrap();
    source.as_mut_slice().unwrap().copy_from_slice(&entries(1, 1000));
    let target = Pinned::<f64>::new(&device, 1000).unwrap();
    let buffer = DeviceBuffer::<f64>::new(&device, 500).unwrap();
    // SAFETY: the slices are 300 long, `down` waits for `up`, and no other code uses the memory before both are done.
    unsafe {
        up.upload(&source, 100..400, buffer.slice(7..307)).unwrap();
        arrived.record(&up).unwrap();
        down.wait(&arrived).unwrap();
        down.download(buffer.slice(7..307), &target, 600..900).unwrap();
        down.upload(&source, 5..5, buffer.slice(0..0)).unwrap();
    }
    down.synchronize().unwrap();
    arrived.synchronize().unwrap();
    assert_eq!(target.as_slice()[600..900], source.as_slice()[100..400]);
    assert!(target.as_slice()[..600].iter().chain(&target.as_slice()[900..]).all(|&x| x == 0.0));
}

/// A = G Gᵀ + n I, the lower triangle alone; entries above it are NaN, because they must not be read.
fn positive_definite<T: Real>(order: usize) -> Mat<T> {
    let g = entries::<T>(7, 3 * order);
    Mat::from_fn(order, order, |i, j| match i {
        _ if i < j => T::from_f64(f64::NAN),
        _ if i == j => T::from_f64(order as f64 + 3.0),
        _ => (0..3).fold(T::ZERO, |sum, r| sum + g[3 * i + r] * g[3 * j + r]),
    })
}

fn factors<T: Real>(by: By, tolerance: f64) {
    let Some((_turn, device)) = device() else { return };
    if by == By::CuSolver && !factorize::has_cusolver() {
        return eprintln!("SKIPPED, for want of cuSOLVER");
    }
    // The last one is transferred in several pieces.
    for order in [0, 1, 2, 31, 100, 2100] {
        let a = positive_definite::<T>(order);
        let mut expected = a.clone();
        blocked::factorize(expected.as_mut(), Par::Seq).unwrap();
        let mut found = a.clone();
        factorize::in_device_memory(&device, found.as_mut(), by).unwrap();
        for j in 0..order {
            assert!((0..j).all(|i| found[(i, j)] == T::ZERO), "above column {j}");
            for i in j..order {
                let difference = (found[(i, j)] - expected[(i, j)]).to_f64().abs();
                let size = expected[(i, i)].to_f64();
                assert!(difference <= tolerance * size, "order {order}, ({i}, {j}): {difference:e}");
            }
        }
    }
    for column in [0, 1, 29, 39] {
        let mut a = positive_definite::<T>(40);
        a[(column, column)] = T::from_f64(-1.0);
        let error = factorize::in_device_memory(&device, a.as_mut(), by).unwrap_err();
        assert_eq!(error, Error::NotPositiveDefinite { column });
    }
}

#[test]
fn cusolver_factors_as_the_cpu_does() {
    factors::<f64>(By::CuSolver, 1e-13);
    factors::<f32>(By::CuSolver, 1e-4);
}

/// With a column stride greater than the number of rows.
fn solves<T: Real>(tolerance: f64) {
    let Some((_turn, device)) = device() else { return };
    if !factorize::has_cusolver() {
        return eprintln!("SKIPPED, for want of cuSOLVER");
    }
    let (solver, stream) = (Solver::new(&device).unwrap(), Stream::new(&device).unwrap());
    for (order, columns) in [(1, 1), (33, 5), (150, 64)] {
        let mut l = positive_definite::<T>(order);
        blocked::factorize(l.as_mut(), Par::Seq).unwrap();
        let on_device = Dense::aligned(&device, order, order + 7).unwrap();
        on_device.upload(&stream, l.as_ref()).unwrap();
        let mut x = Pinned::<T>::new(&device, order * columns).unwrap();
        x.as_mut_slice().unwrap().copy_from_slice(&entries(9, order * columns));
        let rhs = Mat::from_fn(order, columns, |i, j| x.as_slice()[j * order + i]);
        let there = DeviceBuffer::new(&device, x.len()).unwrap();
        let all = there.slice(0..x.len());
        // SAFETY: all memory exists, and no other code uses it until the stream has been waited for.
        unsafe {
            stream.upload(&x, 0..x.len(), all).unwrap();
            let l = (on_device.slice(), on_device.stride());
            solver.solve(&stream, l, (order, columns), all).unwrap();
            stream.download(all, &x, 0..x.len()).unwrap();
        }
        stream.synchronize().unwrap();
        let l = Mat::from_fn(order, order, |i, j| if i < j { T::ZERO } else { l[(i, j)] });
        let x = Mat::from_fn(order, columns, |i, j| x.as_slice()[j * order + i]);
        let residual = (&l * (l.transpose() * &x) - rhs).norm_max().to_f64();
        assert!(residual <= tolerance, "order {order}: {residual:e}");
    }
}

#[test]
fn cusolver_solves() {
    solves::<f64>(1e-14);
    solves::<f32>(1e-5);
}

#[test]
fn the_blocked_kernels_factor_as_the_cpu_does() {
    factors::<f64>(By::Blocked, 1e-13);
    factors::<f32>(By::Blocked, 1e-4);
}

/// The memory decides: cuSOLVER needs half as much again, this library's kernels almost none, faer none.
#[cfg(target_os = "linux")]
#[test]
fn who_factors_is_who_can() {
    let Some(fake) = fake_cuda::exclusive() else { return };
    let device = Device::new(0).unwrap();
    let (order, small) = (2048, 2047);
    let a = positive_definite::<f32>(order);
    let made = |order| {
        let made = factorize::where_it_pays(&device, a.as_ref().submatrix(0, 0, order, order)).unwrap();
        made.map(|factored| factored.by())
    };
    let matrix = order * order * size_of::<f32>();
    assert_eq!(made(small), None);
    assert_eq!(made(order), Some(By::CuSolver));
    fake.memory_cap(matrix + matrix / 4);
    assert_eq!(made(order), Some(By::Blocked));
    fake.memory_cap(matrix);
    assert_eq!(made(order), None);
}
