//! Measurements as CSV, one line a verb, for plots and comparisons of two runs.

use crate::competitors::Verb;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};

/// The columns of every file. `bound` is the shortest time that the limits of the machine allow.
const HEADINGS: &str = "method,threads,type,n,k,verb,seconds,bound,residual\n";

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

/// The lines of one run, which are appended to the file.
pub struct Csv {
    path: Option<String>,
    text: String,
}

impl Csv {
    /// For the file at `path`, if one is given; `about`: the hardware and version.
    #[must_use]
    pub fn new(path: Option<&String>, about: &str) -> Self {
        Self { path: path.cloned(), text: format!("# {about}\n{HEADINGS}") }
    }

    /// An update and a downdate of one method.
    pub fn both(
        &mut self,
        (method, threads): (&str, usize),
        scalar: &str,
        (order, rank): (usize, usize),
        seconds: [f64; 2],
        bound: f64,
        residuals: [f64; 2],
    ) {
        for (i, verb) in Verb::BOTH.into_iter().enumerate() {
            let (method, scalar, verb) = (method.into(), scalar.into(), verb.name().into());
            let (seconds, residual) = (seconds[i], residuals[i]);
            self.one(&Line { method, threads, scalar, order, rank, verb, seconds, bound, residual });
        }
    }

    /// One verb of one method.
    pub fn one(&mut self, line: &Line) {
        let number = |x: f64| if x.is_nan() { String::new() } else { format!("{x:.4e}") };
        let Line { method, threads, scalar, order, rank, verb, .. } = line;
        let (seconds, bound, residual) = (number(line.seconds), number(line.bound), number(line.residual));
        let _ = writeln!(
            self.text,
            "{method},{threads},{scalar},{order},{rank},{verb},{seconds},{bound},{residual}"
        );
    }

    /// Writes the lines.
    pub fn finish(self) {
        let Some(path) = self.path else { return };
        let file = OpenOptions::new().create(true).append(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(self.text.as_bytes()));
        written.unwrap_or_else(|error| println!("{path}: {error}"));
    }
}

/// The text before the first line, and the lines.
///
/// # Errors
/// When the file cannot be read, or a line of it is not what [`Csv`] writes.
pub fn read(path: &str) -> io::Result<(String, Vec<Line>)> {
    let text = std::fs::read_to_string(path)?;
    let about = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default().to_string();
    let data = text.lines().filter(|line| !line.starts_with('#') && *line != HEADINGS.trim_end());
    let lines = data.map(|line| parse(line).ok_or_else(|| io::Error::other(format!("{path}: {line}"))));
    Ok((about, lines.collect::<io::Result<_>>()?))
}

fn parse(line: &str) -> Option<Line> {
    let fields: Vec<_> = line.split(',').collect();
    let [method, threads, scalar, order, rank, verb, seconds, bound, residual] = fields[..] else {
        return None;
    };
    let number = |text: &str| if text.is_empty() { Some(f64::NAN) } else { text.parse().ok() };
    Some(Line {
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
