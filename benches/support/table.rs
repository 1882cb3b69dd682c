//! The printed tables.

use crate::competitors::{Kind, Team, Verb};
use crate::measure::{Outcome, Timing};
use crate::settings::Cell;
use std::fmt::Write;

/// All measurements of one cell.
pub struct Row {
    pub scalar: &'static str,
    pub cell: Cell,
    /// By team: one thread, all threads.
    pub bounds: [f64; 2],
    /// In the order of [`Kind::ALL`].
    pub outcomes: Vec<Outcome>,
}

impl Row {
    fn bound(&self, team: Team) -> f64 {
        self.bounds[team as usize]
    }

    fn outcome(&self, kind: Kind) -> &Outcome {
        let at = Kind::ALL.iter().position(|k| *k == kind).expect("every kind is in the list");
        &self.outcomes[at]
    }

    fn timing(&self, kind: Kind, verb: Verb) -> Option<&Timing> {
        match self.outcome(kind) {
            Outcome::Measured(timings) => Some(&timings[verb as usize]),
            Outcome::Skipped(_) | Outcome::Missing => None,
        }
    }

    /// The fastest other competitor with a correct result: among those on one thread, or among all.
    fn best_peer(&self, team: Team, verb: Verb) -> Option<(Kind, f64)> {
        let peers = Kind::ALL.into_iter().filter(|kind| !matches!(kind, Kind::Ours(_)));
        peers
            .filter(|kind| team == Team::All || kind.team() == Team::One)
            .filter_map(|kind| Some((kind, self.timing(kind, verb).filter(|t| t.right)?.seconds)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Whether every result in the row is correct.
    pub fn ours_is_right(&self) -> bool {
        let ours = [Team::One, Team::All].map(Kind::Ours);
        ours.into_iter()
            .all(|kind| Verb::BOTH.iter().all(|&verb| self.timing(kind, verb).is_none_or(|t| t.right)))
    }

    /// One line per competitor and verb.
    pub fn print(&self) {
        let Cell { order, rank } = self.cell;
        for (kind, outcome) in Kind::ALL.into_iter().zip(&self.outcomes) {
            let all = if kind.team() == Team::All { ", all" } else { "" };
            let name = format!("{}{all}", kind.name());
            let bound = self.bound(kind.team());
            match outcome {
                Outcome::Missing => {}
                Outcome::Skipped(predicted) => {
                    println!(
                        "{} {order:5} {rank:4} both     {name:15} skipped: over budget, some {predicted:.0} s",
                        self.scalar
                    );
                }
                Outcome::Measured(timings) => {
                    for (verb, t) in Verb::BOTH.iter().zip(timings) {
                        println!(
                            "{} {order:5} {rank:4} {:8} {name:15} {} bound {} = {:5.1} % residual {:.1e} {}samples {}",
                            self.scalar,
                            verb.name(),
                            time(t.seconds),
                            time(bound),
                            100.0 * bound / t.seconds,
                            t.residual,
                            if t.right { "" } else { "WRONG " },
                            t.samples,
                        );
                    }
                }
            }
        }
    }

    fn fields(&self, verb: Verb) -> Vec<String> {
        let entry = |kind| match self.timing(kind, verb) {
            None if matches!(self.outcome(kind), Outcome::Missing) => "missing".into(),
            None => "over budget".into(),
            Some(t) if t.right => time(t.seconds),
            Some(_) => "WRONG".into(),
        };
        let of = |kind: Kind, ratio: &dyn Fn(f64) -> f64| {
            self.timing(kind, verb).map_or("-".into(), |t| format!("{:.2}", ratio(t.seconds)))
        };
        let [one, all] = [Team::One, Team::All].map(Kind::Ours);
        let lead = |team| match (self.best_peer(team, verb), self.timing(Kind::Ours(team), verb)) {
            (Some((_, peer)), Some(ours)) => format!("{:.2}", peer / ours.seconds),
            _ => "-".into(),
        };
        let mut fields = vec![
            self.scalar.into(),
            self.cell.order.to_string(),
            self.cell.rank.to_string(),
            verb.name().into(),
            time(self.bound(Team::One)),
            entry(one),
            of(one, &|seconds| seconds / self.bound(Team::One)),
            time(self.bound(Team::All)),
            entry(all),
            of(all, &|seconds| seconds / self.bound(Team::All)),
            self.timing(one, verb).map_or("-".into(), |one| of(all, &|seconds| one.seconds / seconds)),
        ];
        fields.extend(Kind::ALL[2..].iter().map(|&kind| entry(kind)));
        fields.push(self.best_peer(Team::One, verb).map_or("-".into(), |(kind, _)| kind.name().into()));
        fields.extend([lead(Team::One), lead(Team::All)]);
        fields.push(self.timing(one, verb).map_or("-".into(), |t| format!("{:.0e}", t.residual)));
        fields
    }
}

const HEADINGS: [&str; 21] = [
    "type",
    "n",
    "k",
    "verb",
    "bound 1",
    "ours 1",
    "x bound",
    "bound all",
    "ours all",
    "x bound",
    "speed-up",
    "LINPACK",
    "faer",
    "nalgebra",
    "Eigen",
    "refactor 1",
    "refact. all",
    "best peer, 1",
    "peer/ours 1",
    "peer/ours all",
    "residual",
];

/// The table of all rows, one line a cell and verb: fixed width, and as Markdown.
pub fn tables(rows: &[Row]) -> (String, String) {
    let lines: Vec<_> = rows.iter().flat_map(|row| Verb::BOTH.map(|verb| row.fields(verb))).collect();
    lay_out(&HEADINGS, &lines)
}

/// A table of these fields: fixed width, and as Markdown.
pub fn lay_out(headings: &[&str], lines: &[Vec<String>]) -> (String, String) {
    let width = |i: usize| lines.iter().map(|line| line[i].len()).max().unwrap_or(0).max(headings[i].len());
    let widths: Vec<_> = (0..headings.len()).map(width).collect();
    let (mut plain, mut markdown) = (String::new(), String::new());
    let mut add = |line: &[&str]| {
        let padded: Vec<_> =
            line.iter().zip(&widths).map(|(field, &width)| format!("{field:>width$}")).collect();
        let _ = writeln!(plain, "{}", padded.join("  "));
        let trimmed: Vec<_> = line.iter().map(|field| field.trim()).collect();
        let _ = writeln!(markdown, "| {} |", trimmed.join(" | "));
    };
    add(headings);
    for line in lines {
        add(&line.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let rule = format!("{}|", "|---:".repeat(headings.len()));
    let markdown = markdown.replacen('\n', &format!("\n{rule}\n"), 1);
    (plain, markdown)
}

/// Three digits and a unit.
pub fn time(seconds: f64) -> String {
    let (scale, unit) = match seconds {
        s if s < 1e-6 => (1e9, "ns"),
        s if s < 1e-3 => (1e6, "us"),
        s if s < 1.0 => (1e3, "ms"),
        _ => (1.0, "s "),
    };
    let x = seconds * scale;
    let digits = if x < 10.0 {
        2
    } else if x < 100.0 {
        1
    } else {
        0
    };
    format!("{x:5.digits$} {unit}")
}
