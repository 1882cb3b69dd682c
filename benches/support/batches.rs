//! What the benchmarks of batches have in common: their tables, and the residual of one factor.

use crate::measure::Timing;
use crate::table::lay_out;

/// The results of the methods, a line for each.
pub struct Table {
    headings: &'static [&'static str],
    lines: Vec<Vec<String>>,
    /// Whether all results are right.
    right: bool,
}

impl Table {
    /// The last heading is that of the residual.
    #[must_use]
    pub fn new(headings: &'static [&'static str]) -> Self {
        Self { headings, lines: Vec::new(), right: true }
    }

    /// Prints and keeps a line of these fields and the largest residual of the method.
    pub fn line(&mut self, mut fields: Vec<String>, timings: &[Timing]) {
        let right = timings.iter().all(|timing| timing.right);
        let worst = norm_max(timings.iter().map(|timing| timing.residual));
        self.right &= right;
        fields.push(format!("{}{worst:.1e}", if right { "" } else { "WRONG " }));
        println!("{}", fields.join("  "));
        self.lines.push(fields);
    }

    /// Prints the table. Returns whether all results are right.
    #[must_use]
    pub fn finish(&self) -> bool {
        println!("\nns for one matrix; × the bound in parentheses\n{}", lay_out(self.headings, &self.lines));
        self.right
    }
}

/// max |L Lᵀ − A| / max |A| of a matrix of order n.
pub fn residual(n: usize, l: impl Fn(usize, usize) -> f64, a: impl Fn(usize, usize) -> f64) -> f64 {
    let lower = || (0..n).flat_map(|i| (0..=i).map(move |j| (i, j)));
    let square = |i: usize, j: usize| (0..=j).map(|m| l(i, m) * l(j, m)).sum::<f64>();
    norm_max(lower().map(|(i, j)| square(i, j) - a(i, j))) / norm_max(lower().map(|(i, j)| a(i, j)))
}

/// The largest magnitude. A NaN is kept.
pub fn norm_max(all: impl Iterator<Item = f64>) -> f64 {
    all.map(f64::abs).max_by(f64::total_cmp).unwrap_or(0.0)
}
