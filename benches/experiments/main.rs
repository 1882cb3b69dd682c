//! The experiments on initial factors of the systems that this library descends from, on this machine.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench experiments                          # all, as in the originals: 15 repetitions, hours
//! cargo bench -p cholupdate-bench --bench experiments -- --quick               # all, 3 repetitions, orders up to 2500
//! cargo bench -p cholupdate-bench --bench experiments -- table-4.1 figure-5.2  # these
//! cargo bench -p cholupdate-bench --bench experiments -- --up-to 5000 --repetitions 5
//! # Those with OpenCL alone, and those that compare it with the others:
//! cargo bench -p cholupdate-bench --bench experiments -- figure-5.4 figure-5.5 figure-5.8 figure-5.9
//! cargo bench -p cholupdate-bench --bench experiments -- figure-5.6 figure-5.13 figure-5.14
//! ```
//!
//! Writes a CSV and an SVG for each to `target/experiments`, or to the folder after `--out`. Cells that need a device which is
//! missing are left out: CUDA's first, OpenCL's first CPU or OpenCL's first GPU. Times are those of the algorithm alone, with the
//! transfers to the GPU and back; each row has their mean, its standard error, and the deviation max |L Lᵀ − A|.

mod devices;
mod plan;
mod report;
mod run;

use crate::devices::{Devices, opencl_in_short};
use crate::plan::{Scale, experiments};
use crate::report::report;
use crate::run::{SEED, run};
use cholupdate::cuda::Device;
use cholupdate_bench::about::in_short;
use cholupdate_bench::settings::{from_the_root, testing};
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let says = |flag| env::args().any(|argument| argument == flag);
    from_the_root();
    let testing = testing();
    let mut scale = match testing {
        true => Scale::TEST,
        false if says("--quick") => Scale::QUICK,
        false => Scale::FULL,
    };
    let mut out = PathBuf::from(if testing { "target/experiments/test" } else { "target/experiments" });
    let mut names = Vec::new();
    let mut arguments = env::args().skip(1).peekable();
    while let Some(argument) = arguments.next() {
        let mut value = || {
            // Cargo puts a flag of its own at the end.
            let given = arguments.next_if(|next| !next.starts_with("--"));
            given.ok_or(format!("{argument} wants a value"))
        };
        let number = |text: String| match text.parse() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(format!("{argument} wants a number from 1 on, not {text}")),
        };
        match argument.as_str() {
            "--bench" | "--test" | "--quick" => {}
            "--up-to" => scale.limit = number(value()?)?,
            "--repetitions" => scale.repetitions = number(value()?)?,
            "--out" => out = value()?.into(),
            name => names.push(name.to_string()),
        }
    }
    let devices = Devices::new();
    let all = experiments(scale, &devices);
    if let Some(unknown) = names.iter().find(|name| all.iter().all(|one| one.name != **name)) {
        let known: Vec<_> = all.iter().map(|one| one.name).collect();
        return Err(format!("there is no {unknown}, but {}", known.join(", ")).into());
    }
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let about = format!("{}, seed {SEED}", in_short(devices.cuda.as_ref().map(Device::name)));
    let mut done = Vec::new();
    for experiment in all.iter().filter(|one| names.is_empty() || names.iter().any(|name| name == one.name)) {
        if experiment.cells.is_empty() {
            println!("{}: needs a device", experiment.name);
            continue;
        }
        let rows = run(experiment, scale, &mut done)?;
        let mut about = vec![about.clone()];
        about.extend(opencl_in_short(experiment.cells.iter().map(|cell| &cell.method)));
        report(&out, experiment, &rows, &about)?;
    }
    Ok(())
}
