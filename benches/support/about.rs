//! The hardware and the version, for the head of every result.

use std::{env, fs};

/// The CPU, its threads, the device if there is one, and the version of the library.
#[must_use]
pub fn about(device: Option<&str>) -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split(':').nth(1)?.trim().to_string())
    });
    let cpu = cpu.unwrap_or_else(|| env::consts::ARCH.to_string());
    let gpu = device.map_or_else(String::new, |name| format!(", {name}"));
    let threads = rayon::current_num_threads();
    // The packages of the workspace share their version.
    format!("{cpu}, {threads} threads{gpu}; cholupdate {}", env!("CARGO_PKG_VERSION"))
}
