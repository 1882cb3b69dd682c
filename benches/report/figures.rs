//! The plots of one machine: for each rank the rates of updates in double precision, by order, below the bound.

use crate::compare::distinct;
use crate::machine::{Machine, is_ours};
use cholupdate_bench::csv::Line;
use cholupdate_bench::plot::{Chart, Curve, Stroke, svg};
use std::error::Error;

/// Methods have the same color in all plots.
const METHODS: [&str; 12] = [
    "cholupdate",
    "hyhound",
    "Eigen",
    "faer",
    "nalgebra",
    "LINPACK",
    "refactor",
    "cholupdate hybrid",
    "cholupdate resident",
    "cholupdate resident; from host",
    "refactor on the device",
    "refactor over the link",
];

/// The names of the plots of a machine, in the order of ranks.
pub fn names(machine: &Machine) -> Vec<String> {
    plotted(machine).into_iter().map(|(name, _)| format!("{name}.svg")).collect()
}

/// Paths and texts.
pub fn all(folder: &str, machine: &Machine) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let plot = |(name, lines): (String, Vec<&Line>)| {
        let (rank, threads) = (lines[0].rank, lines.iter().map(|line| line.threads).max().unwrap_or(1));
        let threads = match threads {
            0 => String::new(),
            1 => ", 1 thread".into(),
            threads => format!(", {threads} threads"),
        };
        let chart = Chart {
            x: "n",
            unit: "GFLOP/s: 2 k n² over the time of an update",
            logarithmic: true,
            curves: curves(&lines, machine.has_device()),
        };
        let title = format!("k = {rank}, f64: {}{threads}", machine.name());
        Ok((format!("{folder}/{name}.svg"), svg(&title, [chart])?))
    };
    plotted(machine).into_iter().map(plot).collect()
}

/// What is plotted: the updates of a rank, those on one thread apart from others, where there are three orders or more.
fn plotted(machine: &Machine) -> Vec<(String, Vec<&Line>)> {
    let updates = || machine.lines.iter().filter(|line| line.scalar == "f64" && line.verb == "update");
    let mut plots = Vec::new();
    for several in [false, true] {
        for rank in distinct(updates().map(|line| line.rank)) {
            let of_rank = updates().filter(|line| line.rank == rank);
            let of_engine = |line: &&Line| (line.threads > 1) == several || machine.has_device();
            // Peers on one thread are in both.
            let is_peer = |line: &&Line| several && !is_ours(line) && line.method != "refactor";
            let lines: Vec<_> = of_rank.filter(|line| of_engine(line) || is_peer(line)).collect();
            let engine = lines.iter().filter(|line| is_ours(line));
            let orders = distinct(engine.map(|line| line.order));
            if orders.len() >= 3 && !(several && machine.has_device()) {
                let lines = lines.into_iter().filter(|line| orders.contains(&line.order)).collect();
                let part = if several { "_threads" } else { "" };
                plots.push((format!("{}{part}_k{rank}", machine.stem), lines));
            }
        }
    }
    plots
}

/// The bound, and a curve for each method.
fn curves(lines: &[&Line], has_device: bool) -> Vec<Curve> {
    let rate =
        |line: &Line, seconds: f64| 2.0 * line.rank as f64 * (line.order as f64).powi(2) / seconds / 1e9;
    let sorted = |mut points: Vec<(f64, f64)>| {
        // The axis is logarithmic.
        points.retain(|point| point.1.is_finite() && point.1 > 0.0);
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    };
    let mut names: Vec<(usize, &str, usize)> = Vec::new();
    for line in lines {
        let color = METHODS.iter().position(|name| *name == line.method).unwrap_or(5);
        if !names.contains(&(color, &line.method, line.threads)) {
            names.push((color, &line.method, line.threads));
        }
    }
    names.sort_unstable();
    // The highest of the bounds of this library's engines.
    let bounds = lines.iter().filter(|line| is_ours(line)).map(|line| (line.order, rate(line, line.bound)));
    let bounds: Vec<(usize, f64)> = bounds.collect();
    let at =
        |order| bounds.iter().filter(|bound| bound.0 == order).fold(0.0, |top: f64, bound| top.max(bound.1));
    let limit =
        distinct(lines.iter().map(|line| line.order)).into_iter().map(|order| (order as f64, at(order)));
    let limit =
        Curve { name: "bound".into(), points: sorted(limit.collect()), stroke: Stroke::Limit, color: 0 };
    let curve = |(color, method, threads): (usize, &str, usize)| {
        let own = lines.iter().filter(|line| line.method == method && line.threads == threads);
        let points = sorted(own.map(|line| (line.order as f64, rate(line, line.seconds))).collect());
        let several = names.iter().any(|(_, name, other)| *name == method && *other != threads);
        let stroke = if method.starts_with("cholupdate") { Stroke::Bold } else { Stroke::Solid };
        let method = match method.strip_prefix("cholupdate ") {
            Some(engine) => engine.to_owned(),
            None if has_device && method == "cholupdate" => "CPU engine".into(),
            None => method.to_owned(),
        };
        let name = match threads {
            _ if !several => method,
            1 => format!("{method}, 1 thread"),
            _ => format!("{method}, {threads} threads"),
        };
        Curve { name, points, stroke, color }
    };
    let limit = if limit.points.is_empty() { None } else { Some(limit) };
    limit.into_iter().chain(names.iter().copied().map(curve)).collect()
}
