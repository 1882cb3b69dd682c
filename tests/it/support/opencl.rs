//! OpenCL devices.

use cholupdate::Error;
use cholupdate::opencl::{Device, DeviceKind, Hybrid, Tuning, platforms};
use std::sync::OnceLock;

/// Every device of every platform, or the one whose number `CHOLUPDATE_OPENCL_DEVICE` has. Without any the test prints that, or
/// fails if one is required.
pub fn devices() -> Vec<Device> {
    let required = std::env::var_os("CHOLUPDATE_REQUIRE_OPENCL").is_some_and(|value| value == "1");
    let found = match std::env::var("CHOLUPDATE_OPENCL_DEVICE") {
        Ok(number) => Device::new(number.parse().unwrap()).map(|device| vec![device]),
        Err(_) => platforms().and_then(|platforms| {
            let devices = platforms.iter().map(|platform| platform.devices());
            devices.collect::<Result<Vec<_>, _>>().map(|devices| devices.concat())
        }),
    };
    match found {
        Err(Error::Device { message, .. }) if !required => {
            eprintln!("SKIPPED, for want of a device: {message}");
            Vec::new()
        }
        found => {
            let devices = found.unwrap();
            assert!(
                !required || !devices.is_empty(),
                "CHOLUPDATE_REQUIRE_OPENCL is set, but there is no device"
            );
            devices
        }
    }
}

/// Whether the first of them is the CPU.
pub fn on_the_cpu() -> bool {
    static IS_CPU: OnceLock<bool> = OnceLock::new();
    *IS_CPU.get_or_init(|| devices().first().is_some_and(|device| device.kind() == DeviceKind::Cpu))
}

/// On the first of them, with panels so narrow that small factors have many, and launches of few rows.
pub fn hybrid() -> Option<((), Hybrid)> {
    let tuning = Tuning {
        blocks_per_kernel: 2,
        threads_per_block: 32,
        elements_per_thread: 32,
        panel_cols: 16,
        slots: 3,
    };
    let device = devices().into_iter().next()?;
    Some(((), Hybrid::new(&device, tuning).unwrap()))
}
