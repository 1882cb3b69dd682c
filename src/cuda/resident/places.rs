//! Which rows and columns of L a rearrangement moves, and where.

use crate::structure::{Rearrangement, Run};

/// Where rows move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// To smaller indices.
    Up,
    /// To larger ones.
    Down,
}

impl Direction {
    /// The one in which all rows of a rearrangement move, if there is one, and if columns move with the rows.
    pub fn of(new: &Rearrangement) -> Option<Self> {
        let all = |moves: fn(&Run) -> bool| new.rows.iter().all(moves);
        match (new.rows == new.columns, all(|run| run.to <= run.from), all(|run| run.to >= run.from)) {
            (true, true, _) => Some(Self::Up),
            (true, _, true) => Some(Self::Down),
            _ => None,
        }
    }
}

/// The entries that a gather copies.
pub(super) struct Places<'a> {
    /// Rows of the old matrix and of the new one, which has `order` of them.
    pub rows: &'a [Run],
    pub order: usize,
    /// The same for columns.
    pub columns: &'a [Run],
    pub cols: usize,
    /// Whether entries above the diagonal of the new matrix are left unchanged.
    pub triangle: bool,
}
