//! OpenCL's devices, and what is missing where there are none. The methods are tested with the others, in `factorize`.

use crate::support::opencl::devices;
use crate::support::problem::{Kind, Problem};
#[cfg(feature = "cuda")]
use crate::support::real::Real;
use crate::support::real::bits;
use cholupdate::factorize::opencl::{ColumnKernels, Device, DeviceKind, platforms};
use cholupdate::factorize::{Method, factorize};
use cholupdate::faer::Mat;
use cholupdate::opencl::{Hybrid, Tuning};
use cholupdate::{Cholesky, DeviceErrorKind, Error};
use std::path::Path;
use std::process::Command;

#[test]
fn devices_say_what_they_are() {
    for device in devices() {
        assert!(!device.name().is_empty() && !device.platform().is_empty());
        assert!(device.compute_units() > 0);
        let first = Device::first(device.kind()).unwrap();
        assert_eq!(first.kind(), device.kind());
        assert!(format!("{device:?}").contains(device.name()));
    }
}

#[test]
fn a_kind_of_which_there_is_none_is_named() {
    let devices = devices();
    for kind in [DeviceKind::Cpu, DeviceKind::Gpu, DeviceKind::Accelerator] {
        match Device::first(kind) {
            Ok(device) => assert_eq!(device.kind(), kind),
            Err(Error::Device { kind: DeviceErrorKind::Unavailable, message }) if !devices.is_empty() => {
                assert!(message.contains(&format!("no OpenCL device is of the kind {kind}")), "{message}");
                assert!(message.contains(devices[0].name()), "{message}");
            }
            Err(error) => assert!(devices.is_empty(), "{error}"),
        }
    }
}

#[test]
fn any_number_of_threads_may_use_a_device() {
    let a = Mat::from_fn(70, 70, |i, j| if i == j { 80.0 } else { 1.0 / (1.0 + i.abs_diff(j) as f64) });
    for device in devices() {
        let method = Method::OpenCl { device, variant: ColumnKernels::Single, cutoff: 0 };
        let expected = factorize(&a, &method).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..5).for_each(|_| assert_eq!(factorize(&a, &method).unwrap(), expected)));
            }
        });
    }
}

#[test]
fn a_number_that_no_device_has_is_refused() {
    let Some(device) = devices().into_iter().next() else { return };
    match Device::new(99) {
        Err(Error::Device { kind: DeviceErrorKind::Unavailable, message }) => {
            assert!(message.starts_with("there is no OpenCL device 99; there are: 0: "), "{message}");
            assert!(message.contains(device.name()), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

/// The numbers of devices begin with GPUs and end with CPUs.
#[test]
fn a_cpu_is_no_default_where_there_is_a_gpu() {
    if devices().is_empty() {
        return;
    }
    let kinds: Vec<_> =
        (0..).map_while(|number| Device::new(number).ok()).map(|device| device.kind()).collect();
    assert!(!kinds.is_empty() && kinds.is_sorted(), "{kinds:?}");
}

/// Many threads modify factors of their own on one device.
#[test]
fn factors_of_several_threads_do_not_disturb_each_other() {
    let problem = Problem::<f64>::feasible(120, 5, Kind::Mixed, 0.3, 4);
    for device in devices() {
        let tuning = Tuning { panel_cols: 16, ..*Hybrid::on(&device).tuning() };
        let engine = Hybrid::new(&device, tuning).unwrap();
        let modified = || {
            let mut factor = Cholesky::from_factor_in(&problem.l, engine.clone()).unwrap();
            factor.modify(&problem.v, &problem.weights).unwrap();
            bits(factor.to_factor().unwrap().as_ref())
        };
        let expected = modified();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..3).for_each(|_| assert!(modified() == expected)));
            }
        });
    }
}

#[test]
fn parameters_of_the_engine_are_checked() {
    for device in devices() {
        let tuning = Tuning { slots: 7, ..Tuning::walder() };
        let refused = Hybrid::new(&device, tuning).unwrap_err();
        assert_eq!(refused.to_string(), "`slots` is 7, but must be 2 or 3");
        assert_eq!(*Hybrid::new(&device, Tuning::walder()).unwrap().tuning(), Tuning::walder());
        assert!(Hybrid::on(&device).tuning().validate().is_ok());
        let [small, large] = [10_000, 20_000].map(|n| Hybrid::device_bytes::<f64>(n, 8, &Tuning::walder()));
        assert!(small < large && large < 4 * small, "{small}, {large}: O(n)");
    }
}

/// Launches and slots change no bit, and neither does the width of work-groups.
#[test]
fn launches_do_not_change_the_result() {
    let problem = Problem::<f64>::feasible(150, 9, Kind::Mixed, 0.3, 4);
    for device in devices() {
        let mut results = Vec::new();
        for (blocks_per_kernel, threads_per_block, slots) in [(1, 32, 2), (3, 64, 3), (1000, 128, 3)] {
            let tuning = Tuning {
                blocks_per_kernel,
                threads_per_block,
                slots,
                panel_cols: 24,
                ..*Hybrid::on(&device).tuning()
            };
            let engine = Hybrid::new(&device, tuning).unwrap();
            let mut factor = Cholesky::from_factor_in(&problem.l, engine).unwrap();
            factor.modify(&problem.v, &problem.weights).unwrap();
            results.push(bits(factor.to_factor().unwrap().as_ref()));
        }
        assert!(results.iter().all(|result| *result == results[0]), "{device:?}");
    }
}

/// The kernels round as those of CUDA do, where these have one thread for each row.
#[cfg(feature = "cuda")]
#[test]
fn results_are_those_of_the_hybrid_engine_on_cuda() {
    use crate::support::cuda;
    fn compare<T: Real>(device: &Device, on_cuda: &cholupdate::cuda::Hybrid, k: usize) {
        let problem = Problem::<T>::feasible(150, k, Kind::Mixed, 0.3, 4);
        let modified = |mut factor: Cholesky<T, _>| {
            factor.modify(&problem.v, &problem.weights).unwrap();
            bits(factor.to_factor().unwrap().as_ref())
        };
        let tuning = *on_cuda.tuning();
        let engine = Hybrid::new(device, tuning).unwrap();
        let here = modified(Cholesky::from_factor_in(&problem.l, engine).unwrap());
        let mut there = Cholesky::from_factor_in(&problem.l, on_cuda.clone()).unwrap();
        there.modify(&problem.v, &problem.weights).unwrap();
        assert!(here == bits(there.to_factor().unwrap().as_ref()), "k = {k}, {device:?}");
    }
    let Some((_turn, on_cuda)) = cuda::hybrid() else { return };
    for device in devices() {
        for k in [1, 4, 8] {
            compare::<f64>(&device, &on_cuda, k);
            compare::<f32>(&device, &on_cuda, k);
        }
        compare::<f32>(&device, &on_cuda, 16);
        let tuned = cholupdate::cuda::Hybrid::new(&cuda::device().unwrap(), *Hybrid::on(&device).tuning());
        compare::<f32>(&device, &tuned.unwrap(), 16);
    }
}

/// Run by the tests below, in a process whose loader finds less.
#[test]
#[ignore = "part of other tests"]
fn print_the_platforms() {
    match platforms() {
        Ok(platforms) => platforms.iter().for_each(|platform| println!("platform: {}", platform.name())),
        Err(Error::Device { kind, message }) => println!("{kind:?}: {message}"),
        Err(error) => panic!("{error}"),
    }
}

/// What `print_the_platforms` prints with this environment.
fn printed(variable: &str, value: &Path) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "opencl::print_the_platforms", "--ignored", "--nocapture"]);
    // They would add a loader, or platforms.
    command.env_remove("OPENCL_DYLIB_PATH").env_remove("OCL_ICD_FILENAMES");
    String::from_utf8(command.env(variable, value).output().unwrap().stdout).unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn without_a_loader_or_a_platform_the_error_says_so() {
    let folder = std::env::temp_dir().join(format!("cholupdate-no-opencl-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    // The dynamic linker finds this file first, and it is no library.
    std::fs::write(folder.join("libOpenCL.so.1"), "").unwrap();
    let without_a_loader = printed("LD_LIBRARY_PATH", &folder);
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(
        without_a_loader.contains("Unavailable: no OpenCL: its loader (libOpenCL) was not found"),
        "{without_a_loader}"
    );
    if devices().is_empty() {
        return;
    }
    let without_a_platform = printed("OCL_ICD_VENDORS", Path::new("/nonexistent"));
    if without_a_platform.contains("platform: ") {
        eprintln!("SKIPPED: this loader does not take its platforms from OCL_ICD_VENDORS");
        return;
    }
    assert!(
        without_a_platform.contains("Unavailable: no OpenCL: its loader finds no platform"),
        "{without_a_platform}"
    );
}
