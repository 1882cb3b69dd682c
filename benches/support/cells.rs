//! Cases on the CPU: all competitors, measured, printed and written.

use crate::case::Case;
use crate::competitors::{Kind, Timer};
use crate::csv::{Csv, Line};
use crate::limits::Limits;
use crate::row::{Entry, Row};
use crate::scalar::Real;

/// The results so far.
pub struct Cells {
    pub kinds: Vec<Kind>,
    pub limits: Limits,
    pub timer: Timer,
    pub csv: Csv,
    pub rows: Vec<Row>,
}

impl Cells {
    /// Measures and prints one case.
    pub fn measure<T: Real>(&mut self, case: &Case<'_, T>) {
        let outcomes = self.timer.measure(&self.kinds, case);
        let entry = |(&kind, outcome): (&Kind, _)| Entry {
            method: kind.name().into(),
            threads: kind.team().threads(),
            outcome,
            bounds: [0, 1].map(|turn| self.limits.bound(T::NAME, case.cost(turn), kind.team())).into(),
        };
        let row = Row {
            scalar: T::NAME,
            order: case.order(),
            rank: case.rank,
            verbs: [0, 1].map(|turn| case.label(turn)).into(),
            costs: [0, 1].map(|turn| case.cost(turn)).into(),
            entries: self.kinds.iter().zip(outcomes).map(entry).collect(),
        };
        row.print();
        self.csv.add(&row.lines());
        self.rows.push(row);
    }

    /// Measures the limits once more, and writes all lines with the bounds that these give. Returns whether every result of
    /// this crate is correct.
    pub fn finish(&mut self) -> bool {
        self.limits.again();
        for row in &mut self.rows {
            for (entry, kind) in row.entries.iter_mut().zip(&self.kinds) {
                for (bound, cost) in entry.bounds.iter_mut().zip(&row.costs) {
                    *bound = self.limits.bound(row.scalar, *cost, kind.team());
                }
            }
        }
        let lines: Vec<Line> = self.rows.iter().flat_map(Row::lines).collect();
        self.csv.replace(&lines);
        self.rows.iter().all(Row::ours_is_right)
    }
}
