//! Peers that are called from Python, in a process of their own, which takes its samples when it is asked to.
//!
//! The protocol is in `peer.py`: a request a line, an answer a line.

use crate::measure::{Effort, Timed};
use crate::settings::var;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const FOLDER: &str = "benches/support/peers";

/// A script that runs until the benchmark ends.
pub struct Python {
    child: Child,
    pipes: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
    /// Names and versions.
    pub versions: String,
}

impl Python {
    /// Starts a script with `CHOLUPDATE_BENCH_PYTHON`, else `python3`. `None`, and the reason printed, where it does not run.
    #[must_use]
    pub fn start(script: &str) -> Option<Self> {
        Self::try_start(script).inspect_err(|why| println!("without {script}: {why}")).ok()
    }

    fn try_start(script: &str) -> Result<Self, String> {
        let python = var("CHOLUPDATE_BENCH_PYTHON").unwrap_or_else(|| "python3".into());
        let child = Command::new(&python)
            .arg(format!("{FOLDER}/{script}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = child.map_err(|error| format!("{python}: {error}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes".into());
        };
        let (mut output, mut versions) = (BufReader::new(output), String::new());
        output.read_line(&mut versions).map_err(|error| error.to_string())?;
        let python = Self { child, pipes: Mutex::new((input, output)), versions: versions.trim().to_owned() };
        if python.versions.is_empty() { Err("see above".into()) } else { Ok(python) }
    }

    /// The numbers of the answer; `None` if it cannot do it.
    fn ask(&self, request: &str) -> Option<Vec<f64>> {
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        let (input, output) = &mut *pipes;
        writeln!(input, "{request}").and_then(|()| input.flush()).ok()?;
        let mut answer = String::new();
        output.read_line(&mut answer).ok()?;
        let numbers: Vec<f64> = answer.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        (!numbers.is_empty()).then_some(numbers)
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A method of a script for a case.
pub struct Remote<'a> {
    python: &'a Python,
    /// The method, the type, n and k.
    request: String,
    turns: usize,
}

impl<'a> Remote<'a> {
    #[must_use]
    pub fn new(python: &'a Python, method: &str, scalar: &str, (n, k): (usize, usize), turns: usize) -> Self {
        Self { python, request: format!("{method} {scalar} {n} {k}"), turns }
    }
}

impl Timed for Remote<'_> {
    fn first(&mut self, _: Duration) -> Option<Vec<(f64, f64)>> {
        let answer = self.python.ask(&format!("first {}", self.request))?;
        let pairs: Vec<_> = answer.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        (pairs.len() == self.turns).then_some(pairs)
    }
    fn cycles(&mut self, Effort { budget, at_least, at_most, .. }: Effort, _: Duration) -> Vec<Vec<f64>> {
        let request = format!("cycles {} {} {at_least} {at_most}", self.request, budget.as_secs_f64());
        let answer = self.python.ask(&request).unwrap_or_default();
        answer.chunks_exact(self.turns).map(<[f64]>::to_vec).collect()
    }
    fn residual(&mut self) -> f64 {
        let answer = self.python.ask(&format!("residual {}", self.request));
        answer.map_or(f64::NAN, |answer| answer[0])
    }
}

impl Drop for Remote<'_> {
    fn drop(&mut self) {
        self.python.ask(&format!("end {}", self.request));
    }
}
