//! OpenCL devices.

use cholupdate::Error;
use cholupdate::opencl::{Device, Hybrid, Tuning, platforms};

/// Every device of every platform. Without any the test prints that, or fails if one is required.
pub fn devices() -> Vec<Device> {
    let found = platforms().and_then(|platforms| {
        let devices = platforms.iter().map(|platform| platform.devices());
        devices.collect::<Result<Vec<_>, _>>().map(|devices| devices.concat())
    });
    match found {
        Err(Error::Device { message, .. })
            if std::env::var_os("CHOLUPDATE_REQUIRE_OPENCL").is_none_or(|value| value != "1") =>
        {
            eprintln!("SKIPPED, for want of a device: {message}");
            Vec::new()
        }
        found => found.unwrap(),
    }
}

/// On the first device, with panels so narrow that small factors have many, and launches of few rows.
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
