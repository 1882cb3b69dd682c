//! Rows and columns of batches of small factors: a removal of another row in each matrix, and the append that leads back to the same
//! matrices, on the CPU engine and, if there is one, on a GPU.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench batch_rows
//! CHOLUPDATE_BENCH_N=16,32 CHOLUPDATE_BENCH_TYPES=f64 cargo bench -p cholupdate-bench --bench batch_rows
//! CHOLUPDATE_BENCH_CPU=0 cargo bench -p cholupdate-bench --bench batch_rows      # the GPU alone
//! ```
//!
//! All methods take the same matrices and new columns (on a GPU PyTorch has its own), in turns. Times are medians for one matrix. The
//! row that goes is in the middle half. Beside them: factoring the matrices that a removal and an append lead to, which are in place.
//!
//! On the CPU the batch fits a second-level cache, and peers are called in a loop. qrupdate is the system's (Debian: `apt-get install
//! libqrupdate1`), with the system's BLAS; without it, it is left out.
//!
//! On a GPU the lower triangles fill 512 MiB, and new columns are in device memory. The indices of a removal are in host memory, so that
//! its time includes their copy to the device; that of factoring in a batch of this library includes the allocation of its memory. A
//! call is timed on the host until its results are there. Without a device it prints that and ends.
//!
//! `bound` is the time to read and write, at the bandwidth of the machine for memory of this size or of the device, the lower triangles
//! before and after a removal; and the one before an append, the new column and the new row.
//!
//! | variable | |
//! |---|---|
//! | `CHOLUPDATE_BENCH` | `quick` or `full` (the default) |
//! | `CHOLUPDATE_BENCH_N`, `_TYPES` | orders n ≥ 2 and types instead of the grid's |
//! | `CHOLUPDATE_BENCH_CPU` | 0: without the CPU engine |
//! | `CHOLUPDATE_BENCH_PYTHON` | the Python that has PyTorch, instead of `python3` |
//! | `RAYON_NUM_THREADS` | the number of "all threads" |

mod cpu;
#[cfg(feature = "cuda")]
mod device;
mod matrices;

use cholupdate_bench::measure::Timing;
use cholupdate_bench::settings::{Mode, Settings};
use std::process::ExitCode;

const HEADINGS: [&str; 7] = ["type", "n", "matrices", "method", "removal", "append", "residual"];

fn main() -> ExitCode {
    let settings = Settings::new();
    let mut right = true;
    if settings.with_cpu {
        right &= cpu::measure(&settings);
    }
    #[cfg(feature = "cuda")]
    {
        right &= device::measure().unwrap_or_else(|error| {
            println!("FAILED: {error}");
            false
        });
    }
    if right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The orders of one part of the grid.
fn orders(settings: &Settings, grid: &[usize]) -> Vec<usize> {
    match settings.mode {
        Mode::Test => vec![5],
        _ => settings.grid(grid, &[1]).0,
    }
}

/// A time for one of `count` matrices in ns, and its ratio to the bound, in seconds.
fn cell(timing: &Timing, count: usize, bound: f64, digits: usize) -> String {
    let each = timing.seconds / count as f64;
    format!(
        "{:.digits$} ({:.digits_of_ratio$})",
        each * 1e9,
        each / bound,
        digits_of_ratio = 1.max(digits - 1)
    )
}
