//! The results of one machine: a file, whose wrong results are left out.

use cholupdate_bench::csv::{Line, Run, read};
use std::error::Error;
use std::fs;

pub struct Machine {
    /// The name of the file, without its ending.
    pub stem: String,
    pub runs: Vec<Run>,
    /// Correct results, the latest of each.
    pub lines: Vec<Line>,
    /// Methods of which a result was wrong.
    pub wrong: Vec<String>,
}

/// By the names of the files.
///
/// # Errors
/// When a file cannot be read, or a result of this library is wrong.
pub fn all(folder: &str) -> Result<Vec<Machine>, Box<dyn Error>> {
    let mut stems = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        stems.extend(name.strip_suffix(".csv").map(str::to_owned));
    }
    stems.sort();
    stems.into_iter().map(|stem| one(folder, stem)).collect()
}

fn one(folder: &str, stem: String) -> Result<Machine, Box<dyn Error>> {
    let runs = read(&format!("{folder}/{stem}.csv"))?;
    let (mut lines, mut wrong) = (Vec::<Line>::new(), Vec::new());
    for line in runs.iter().flat_map(|run| &run.lines) {
        if !line.is_right() {
            if is_ours(line) {
                return Err(format!("{stem}.csv: a wrong result of this library: {line:?}").into());
            }
            wrong.push(line.method.clone());
            continue;
        }
        match lines.iter_mut().find(|other| key(other) == key(line)) {
            Some(other) => *other = line.clone(),
            None => lines.push(line.clone()),
        }
    }
    wrong.sort();
    wrong.dedup();
    Ok(Machine { stem, runs, lines, wrong })
}

fn key(line: &Line) -> (&str, usize, &str, usize, usize, &str) {
    (&line.method, line.threads, &line.scalar, line.order, line.rank, &line.verb)
}

pub fn is_ours(line: &Line) -> bool {
    line.method.starts_with("cholupdate")
}

/// Whether a method works with a factor in device memory.
pub fn is_on_device(method: &str) -> bool {
    ["cholupdate resident", "refactor on the device", "JAX", "cholesky_solve", "cuSOLVER potrf"]
        .iter()
        .any(|name| method.starts_with(name))
}

impl Machine {
    /// What the runs say about something, each once, in order.
    pub fn about(&self, what: &str) -> Vec<&str> {
        let mut said = Vec::new();
        for (about, text) in self.runs.iter().flat_map(|run| &run.about) {
            if about == what && !said.contains(&text.as_str()) {
                said.push(text.as_str());
            }
        }
        said
    }

    /// Hardware, as the last run says it.
    pub fn hardware(&self) -> &str {
        self.about("machine").last().copied().unwrap_or_default()
    }

    /// The GPU, or the CPU where there is none.
    pub fn name(&self) -> &str {
        let hardware = self.hardware();
        match hardware.split_once("; ") {
            Some((_, device)) => device.split(", ").next().unwrap_or_default(),
            None => hardware.split(" (").next().unwrap_or_default(),
        }
    }

    /// The name, and the instruction set if it was limited.
    pub fn title(&self) -> String {
        let limit =
            self.hardware().split_once("limited to ").and_then(|(_, rest)| rest.split([',', ')']).next());
        match limit {
            Some(isa) => format!("{}, {}", self.name(), isa.to_uppercase()),
            None => self.name().to_owned(),
        }
    }

    /// The most threads that a method had.
    pub fn threads(&self) -> usize {
        self.lines.iter().map(|line| line.threads).max().unwrap_or(1)
    }

    pub fn has_device(&self) -> bool {
        self.hardware().contains("; ")
    }
}
