//! The results of all methods for one case.

use crate::csv::Line;
use crate::limits::Cost;
use crate::measure::{Outcome, Timing};
use crate::table::{lay_out, time};

/// The result of one method.
pub struct Entry {
    pub method: String,
    pub threads: usize,
    pub outcome: Outcome,
    /// Of each verb. NaN: unknown.
    pub bounds: Vec<f64>,
}

impl Entry {
    /// Whether this crate is the method.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.method.starts_with("cholupdate")
    }

    fn timing(&self, turn: usize) -> Option<&Timing> {
        match &self.outcome {
            Outcome::Measured(timings) => timings.get(turn).filter(|timing| !timing.seconds.is_nan()),
            Outcome::Skipped(_) | Outcome::Missing => None,
        }
    }

    fn field(&self, turn: usize) -> String {
        match (&self.outcome, self.timing(turn)) {
            (Outcome::Skipped(_), _) => "over budget".into(),
            (_, None) => "-".into(),
            (_, Some(timing)) if !timing.right => format!("WRONG {:.0e}", timing.residual),
            (_, Some(timing)) if self.is_ours() && self.bounds[turn] > 0.0 => {
                format!("{} ({:.1})", time(timing.seconds), timing.seconds / self.bounds[turn])
            }
            (_, Some(timing)) => time(timing.seconds),
        }
    }
}

/// All methods for one case.
pub struct Row {
    pub scalar: &'static str,
    pub order: usize,
    pub rank: usize,
    pub verbs: Vec<String>,
    /// Of each verb, where the bounds are those of the CPU.
    pub costs: Vec<Cost>,
    pub entries: Vec<Entry>,
}

impl Row {
    /// One line for each measured method and verb.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        for entry in &self.entries {
            for (turn, verb) in self.verbs.iter().enumerate() {
                let Some(timing) = entry.timing(turn) else { continue };
                lines.push(Line {
                    method: entry.method.clone(),
                    threads: entry.threads,
                    scalar: self.scalar.into(),
                    order: self.order,
                    rank: self.rank,
                    verb: verb.clone(),
                    seconds: timing.seconds,
                    bound: entry.bounds[turn],
                    // A result that became wrong later is marked as well.
                    residual: if timing.right { timing.residual } else { f64::INFINITY },
                });
            }
        }
        lines
    }

    /// Whether every result of this crate is correct.
    #[must_use]
    pub fn ours_is_right(&self) -> bool {
        let right =
            |entry: &Entry| (0..self.verbs.len()).all(|turn| entry.timing(turn).is_none_or(|t| t.right));
        self.entries.iter().filter(|entry| entry.is_ours()).all(right)
    }

    /// Prints a table with a line a verb.
    pub fn print(&self) {
        println!("{}", table(std::slice::from_ref(self)));
    }

    /// A line a verb: the case, all methods, the fastest peer with a correct result, and the largest residual of this crate.
    fn fields(&self) -> Vec<Vec<String>> {
        let line = |(turn, verb): (usize, &String)| {
            let mut fields =
                vec![self.scalar.into(), self.order.to_string(), self.rank.to_string(), verb.clone()];
            fields.extend(self.entries.iter().map(|entry| entry.field(turn)));
            let peers =
                self.entries.iter().filter(|entry| !entry.is_ours()).filter_map(|entry| {
                    Some((entry, entry.timing(turn).filter(|timing| timing.right)?.seconds))
                });
            let best = peers.min_by(|a, b| a.1.total_cmp(&b.1));
            fields.push(best.map_or("-".into(), |(entry, _)| entry.method.clone()));
            let ours = self.entries.iter().filter(|entry| entry.is_ours());
            let residual = ours.filter_map(|entry| entry.timing(turn)).map(|timing| timing.residual);
            fields.push(format!("{:.0e}", residual.fold(0.0, f64::max)));
            fields
        };
        self.verbs.iter().enumerate().map(line).collect()
    }
}

/// A table of rows with the same methods. In parentheses: times the bound.
#[must_use]
pub fn table(rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let name = |entry: &Entry| match entry.threads {
        0 | 1 => entry.method.clone(),
        threads => format!("{}, {threads} thr.", entry.method),
    };
    let methods: Vec<String> = first.entries.iter().map(name).collect();
    let mut headings = vec!["type", "n", "k", "verb"];
    headings.extend(methods.iter().map(String::as_str));
    headings.extend(["best peer", "residual"]);
    lay_out(&headings, &rows.iter().flat_map(Row::fields).collect::<Vec<_>>())
}
