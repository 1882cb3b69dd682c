//! Engines on the GPU, or on the fake driver with the environment variable `CHOLUPDATE_FAKE_CUDA`.

use cholupdate::cuda::{Device, Distributed, Hybrid, Resident, Tuning};
use cholupdate::{Error, Safeguard};

#[cfg(target_os = "linux")]
#[path = "../../fake_cuda/mod.rs"]
pub mod fake_cuda;

/// Excludes the tests that change the behaviour of the fake driver, where there is one.
#[cfg(target_os = "linux")]
pub type Turn = Option<fake_cuda::Shared>;
#[cfg(not(target_os = "linux"))]
pub type Turn = ();

pub fn turn() -> Turn {
    #[cfg(target_os = "linux")]
    fake_cuda::shared()
}

/// Whether the devices are those of the fake driver, where one host thread runs all threads of a device.
pub fn on_the_fake_driver() -> bool {
    #[cfg(target_os = "linux")]
    return fake_cuda::wanted();
    #[cfg(not(target_os = "linux"))]
    false
}

/// The first device. Without one the test prints that, or fails if a device is required.
pub fn device() -> Option<Device> {
    match Device::new(0) {
        Ok(device) => Some(device),
        Err(error) if std::env::var_os("CHOLUPDATE_REQUIRE_CUDA").is_some_and(|value| value == "1") => {
            panic!("CHOLUPDATE_REQUIRE_CUDA is set, but: {error}")
        }
        Err(Error::Device { message, .. }) => {
            eprintln!("SKIPPED, for want of a device: {message}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// All of these, or on the fake driver every `step`-th from a place that follows from `seed`: with other seeds it is others.
pub fn share<X>(all: impl IntoIterator<Item = X>, step: usize, seed: usize) -> impl Iterator<Item = X> {
    let (first, step) = if on_the_fake_driver() { (seed % step, step) } else { (0, 1) };
    all.into_iter().skip(first).step_by(step)
}

/// Small values, except for the columns of V in a rank block, so that small factors have many panels and launches.
pub fn small() -> Tuning {
    Tuning { blocks_per_kernel: 2, threads_per_block: 32, elements_per_thread: 32, panel_cols: 16, slots: 3 }
}

pub fn hybrid() -> Option<(Turn, Hybrid)> {
    let turn = turn();
    Some((turn, Hybrid::new(&device()?, small()).unwrap()))
}

pub fn resident() -> Option<(Turn, Resident)> {
    let turn = turn();
    Some((turn, Resident::new(&device()?)))
}

/// The first two devices, or the only one, with small blocks of rows.
pub fn distributed() -> Option<(Turn, Distributed)> {
    let turn = turn();
    let devices: Vec<Device> = std::iter::once(device()?).chain(Device::new(1).ok()).collect();
    let engine = Distributed::new(&devices).and_then(|engine| engine.with_block_rows(128));
    Some((turn, engine.unwrap()))
}

/// Another tuning, and no shadow buffer.
pub fn hybrid_dry_run() -> Option<(Turn, Hybrid)> {
    let tuning = Tuning { blocks_per_kernel: 7, panel_cols: 40, slots: 2, ..small() };
    let turn = turn();
    let engine = Hybrid::new(&device()?, tuning).unwrap();
    Some((turn, engine.with_safeguard(Safeguard::DryRun)))
}
