//! OpenCL's devices, and what is missing where there are none. The methods are tested with the others, in `factorize`.

use crate::support::opencl::devices;
use cholupdate::factorize::opencl::{ColumnKernels, Device, DeviceKind, platforms};
use cholupdate::factorize::{Method, factorize};
use cholupdate::faer::Mat;
use cholupdate::{DeviceErrorKind, Error};
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
        if devices.is_empty() || devices.iter().any(|device| device.kind() == kind) {
            continue;
        }
        match Device::first(kind) {
            Err(Error::Device { kind: DeviceErrorKind::Unavailable, message }) => {
                assert!(message.contains(&format!("no OpenCL device is a {kind}")), "{message}");
                assert!(message.contains(devices[0].platform()), "{message}");
            }
            other => panic!("{other:?}"),
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
    assert!(
        without_a_platform.contains("Unavailable: no OpenCL: its loader finds no platform"),
        "{without_a_platform}"
    );
}
