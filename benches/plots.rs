//! Draws the results of the other benchmarks from their CSVs, and measures nothing.
//!
//! ```sh
//! cargo bench -p cholupdate-bench --bench plots                          # docs/benchmarks/*.csv
//! cargo bench -p cholupdate-bench --bench plots -- target/modify.csv     # this file
//! ```
//!
//! For each rank that a file has at three orders or more, the updates in double precision: the rate of each method, of the 2 k
//! n² flops of an update, by order. The limit of the machine is the line at the top. The plot of `cpu.csv` at rank 16 is
//! `cpu_k16.svg`, in the same folder.

use cholupdate_bench::csv::{Line, read};
use cholupdate_bench::plot::{Chart, Curve, Stroke, figure};
use cholupdate_bench::settings::{from_the_root, testing};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

const FOLDER: &str = "docs/benchmarks";

fn main() -> Result<(), Box<dyn Error>> {
    from_the_root();
    let mut paths: Vec<PathBuf> =
        env::args().skip(1).filter(|argument| !argument.starts_with("--")).map(PathBuf::from).collect();
    if testing() {
        return Ok(());
    }
    if paths.is_empty() {
        let found = fs::read_dir(FOLDER)?.map(|entry| entry.map(|entry| entry.path()));
        paths = found.collect::<Result<_, _>>()?;
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "csv"));
        paths.sort();
    }
    for path in paths {
        plots(&path)?;
    }
    Ok(())
}

/// The plots of one file.
fn plots(path: &Path) -> Result<(), Box<dyn Error>> {
    let (about, lines) = read(&path.display().to_string())?;
    let lines: Vec<_> = lines.iter().filter(|line| line.scalar == "f64" && line.verb == "update").collect();
    let mut ranks: Vec<_> = lines.iter().map(|line| line.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    for rank in ranks {
        let lines: Vec<_> = lines.iter().filter(|line| line.rank == rank).copied().collect();
        let mut orders: Vec<_> = lines.iter().map(|line| line.order).collect();
        orders.sort_unstable();
        orders.dedup();
        if orders.len() < 3 {
            continue;
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let svg = path.with_file_name(format!("{stem}_k{rank}.svg"));
        let chart = Chart {
            x: "n",
            unit: "GFLOP/s: 2 k n² flops over the time of an update",
            logarithmic: true,
            curves: curves(&lines),
        };
        figure(&svg, &format!("k = {rank}, f64: {about}"), [chart])?;
        println!("{}", svg.display());
    }
    Ok(())
}

/// The limit, and a curve for each method, in the order in which the file has them.
fn curves(lines: &[&Line]) -> Vec<Curve> {
    let rate =
        |line: &Line, seconds: f64| 2.0 * line.rank as f64 * (line.order as f64).powi(2) / seconds / 1e9;
    let sorted = |mut points: Vec<(f64, f64)>| {
        // The axis is logarithmic.
        points.retain(|point| point.1.is_finite() && point.1 > 0.0);
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    };
    let mut names: Vec<(&str, usize)> = Vec::new();
    for line in lines {
        if !names.contains(&(&line.method, line.threads)) {
            names.push((&line.method, line.threads));
        }
    }
    let mut curves = Vec::new();
    // For the number of threads of the file's first line.
    let limit = lines.iter().filter(|line| (&*line.method, line.threads) == names[0]);
    let limit = sorted(limit.map(|line| (line.order as f64, rate(line, line.bound))).collect());
    if !limit.is_empty() {
        curves.push(Curve {
            name: "limit of the machine".into(),
            points: limit,
            stroke: Stroke::Limit,
            color: 0,
        });
    }
    for (color, (method, threads)) in names.iter().enumerate() {
        let own = lines.iter().filter(|line| (&*line.method, line.threads) == (*method, *threads));
        let points = sorted(own.map(|line| (line.order as f64, rate(line, line.seconds))).collect());
        let method = match *method {
            "this crate" => "cholupdate",
            "refactor" => "factoring again",
            method => method,
        };
        let several = names.iter().any(|(_, other)| other != threads);
        let name = match threads {
            _ if !several => method.to_string(),
            1 => format!("{method}, 1 thread"),
            _ => format!("{method}, {threads} threads"),
        };
        curves.push(Curve { name, points, stroke: Stroke::Solid, color });
    }
    curves
}
