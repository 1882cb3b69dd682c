//! Measurements as CSV, one line a verb, with a head for each run.

use crate::about::About;
use crate::scalar::largest_residual;
use std::fs::OpenOptions;
use std::io::{self, Write as _};

/// The columns of every file. `bound` is the shortest time that the limits of the machine allow.
const HEADINGS: &str = "method,threads,type,n,k,verb,seconds,bound,residual";

/// One measurement. An unknown number is NaN, and an empty field in the file.
#[derive(Clone, Debug)]
pub struct Line {
    pub method: String,
    pub threads: usize,
    pub scalar: String,
    pub order: usize,
    pub rank: usize,
    pub verb: String,
    pub seconds: f64,
    pub bound: f64,
    pub residual: f64,
}

impl Line {
    /// Whether the residual is known, and that of a correct result.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.residual <= largest_residual(&self.scalar, self.order, self.rank)
    }

    fn text(&self) -> String {
        let number = |x: f64| if x.is_nan() { String::new() } else { format!("{x:.4e}") };
        let Self { method, threads, scalar, order, rank, verb, .. } = self;
        let (seconds, bound, residual) = (number(self.seconds), number(self.bound), number(self.residual));
        format!("{method},{threads},{scalar},{order},{rank},{verb},{seconds},{bound},{residual}\n")
    }

    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<_> = line.split(',').collect();
        let [method, threads, scalar, order, rank, verb, seconds, bound, residual] = fields[..] else {
            return None;
        };
        let number = |text: &str| if text.is_empty() { Some(f64::NAN) } else { text.parse().ok() };
        Some(Self {
            method: method.into(),
            threads: threads.parse().ok()?,
            scalar: scalar.into(),
            order: order.parse().ok()?,
            rank: rank.parse().ok()?,
            verb: verb.into(),
            seconds: number(seconds)?,
            bound: number(bound)?,
            residual: number(residual)?,
        })
    }
}

/// The lines of one run, which are appended to the file as they come.
pub struct Csv {
    path: Option<String>,
    head: String,
    /// The length of the file before this run.
    start: u64,
}

impl Csv {
    /// For the file at `path`, if one is given.
    ///
    /// # Panics
    /// When it cannot be written: what is measured next would be lost.
    #[must_use]
    pub fn new(path: Option<&String>, about: &About) -> Self {
        let about: String = about.iter().map(|(what, text)| format!("# {what}: {text}\n")).collect();
        let head = format!("{about}{HEADINGS}\n");
        let length = path.and_then(|path| std::fs::metadata(path).ok()).map_or(0, |file| file.len());
        let csv = Self { path: path.cloned(), head, start: length };
        csv.append(&csv.head);
        csv
    }

    pub fn add(&self, lines: &[Line]) {
        self.append(&lines.iter().filter(|line| !line.seconds.is_nan()).map(Line::text).collect::<String>());
    }

    /// Writes these lines in place of all that were added.
    pub fn replace(&self, lines: &[Line]) {
        let Some(path) = &self.path else { return };
        let file = OpenOptions::new().write(true).open(path);
        let cut = file.and_then(|file| file.set_len(self.start));
        cut.unwrap_or_else(|error| panic!("{path}: {error}"));
        self.append(&self.head);
        self.add(lines);
    }

    fn append(&self, text: &str) {
        let Some(path) = &self.path else { return };
        let file = OpenOptions::new().create(true).append(true).open(path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.unwrap_or_else(|error| panic!("{path}: {error}"));
    }
}

/// One run of a file.
pub struct Run {
    /// What each line of the head is about, and what it says.
    pub about: Vec<(String, String)>,
    pub lines: Vec<Line>,
}

/// The runs of a file.
///
/// # Errors
/// When the file cannot be read, or a line of it is not what [`Csv`] writes.
pub fn read(path: &str) -> io::Result<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    for line in std::fs::read_to_string(path)?.lines() {
        let wrong = || io::Error::other(format!("{path}: {line}"));
        if let Some(text) = line.strip_prefix("# ") {
            let (what, says) = text.split_once(": ").unwrap_or((text.trim_end_matches(':'), ""));
            if what == "machine" {
                runs.push(Run { about: Vec::new(), lines: Vec::new() });
            }
            runs.last_mut().ok_or_else(wrong)?.about.push((what.into(), says.into()));
        } else if line != HEADINGS {
            let line = Line::parse(line).ok_or_else(wrong)?;
            runs.last_mut().ok_or_else(wrong)?.lines.push(line);
        }
    }
    runs.retain(|run| !run.lines.is_empty());
    Ok(runs)
}
