//! The page of results and its plots, from the CSVs of the other benchmarks. It measures nothing.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench report
//! ```
//!
//! Reads `docs/benchmarks/*.csv`, and writes `docs/benchmarks.md`, the plots beside the CSVs, and the part of the README between
//! its two marks. As a test (`cargo test --benches`) it writes nothing, and fails where one of these is not what the CSVs give,
//! or the page has more than 180 lines.

mod compare;
mod figures;
mod machine;
mod page;
mod readme;

use cholupdate_bench::settings::{from_the_root, testing};
use std::error::Error;
use std::path::Path;
use std::{env, fs};

const FOLDER: &str = "docs/benchmarks";
const PAGE: &str = "docs/benchmarks.md";
const LONGEST: usize = 180;

fn main() -> Result<(), Box<dyn Error>> {
    from_the_root();
    if !Path::new("docs").is_dir() {
        println!("SKIPPED: there is no folder docs in {}", env::current_dir()?.display());
        return Ok(());
    }
    fs::create_dir_all(FOLDER)?;
    let machines = machine::all(FOLDER)?;
    let mut files = Vec::new();
    for machine in &machines {
        files.extend(figures::all(FOLDER, machine)?);
    }
    let page = page::page(&machines);
    if page.lines().count() > LONGEST {
        return Err(format!("{PAGE} would have {} lines, more than {LONGEST}", page.lines().count()).into());
    }
    files.push((PAGE.into(), page));
    files.push(("README.md".into(), readme::with_results(&fs::read_to_string("README.md")?, &machines)?));

    let stale = plots_without_results(&files)?;
    for (path, text) in files {
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            continue;
        }
        if testing() {
            return Err(format!("{path} is not what the CSVs give: run the benchmark `report`").into());
        }
        fs::write(&path, text)?;
        println!("{path}");
    }
    for path in stale {
        if testing() {
            return Err(format!("{path} has no CSV: run the benchmark `report`").into());
        }
        fs::remove_file(&path)?;
        println!("{path} is removed");
    }
    Ok(())
}

/// Plots in the folder that are not among these files.
fn plots_without_results(files: &[(String, String)]) -> Result<Vec<String>, Box<dyn Error>> {
    let mut stale = Vec::new();
    for entry in fs::read_dir(FOLDER)? {
        let path = format!("{FOLDER}/{}", entry?.file_name().to_string_lossy());
        if path.ends_with(".svg") && files.iter().all(|(file, _)| *file != path) {
            stale.push(path);
        }
    }
    Ok(stale)
}
