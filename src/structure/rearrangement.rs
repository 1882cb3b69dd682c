//! Maps from rows and columns of the old L to those of the new one.

use crate::error::Error;
use core::ops::Range;

/// Neighbouring rows or columns of the old L that are also neighbours in the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first old index.
    pub from: usize,
    /// The first new index.
    pub to: usize,
    /// Their number.
    pub len: usize,
}

impl Run {
    /// The part of the run at or after `first` in the old L.
    pub fn old_from(self, first: usize) -> Option<Self> {
        let skipped = first.saturating_sub(self.from);
        (skipped < self.len).then(|| Self {
            from: self.from + skipped,
            to: self.to + skipped,
            len: self.len - skipped,
        })
    }

    /// The part of the run at or after `first` in the new L, with new indices relative to `first`.
    pub fn new_from(self, first: usize) -> Option<Self> {
        let skipped = first.saturating_sub(self.to);
        (skipped < self.len).then(|| Self {
            from: self.from + skipped,
            to: self.to + skipped - first,
            len: self.len - skipped,
        })
    }

    /// Indices in the old L.
    pub fn old_places(self) -> Range<usize> {
        self.from..self.from + self.len
    }

    /// Indices in the new L.
    pub fn new_places(self) -> Range<usize> {
        self.to..self.to + self.len
    }
}

/// A new L from rows and columns of an old one. Entry (i, j) is the old entry in the row and column that the runs map to i and
/// j. It is zero if there is no such run, or if the old entry is above the diagonal.
#[derive(Clone, Debug, Default)]
pub struct Rearrangement {
    /// Order of the new L.
    pub order: usize,
    /// In ascending order of their indices in the new L.
    pub rows: Vec<Run>,
    /// The same. Either all of them move left, or all move right.
    pub columns: Vec<Run>,
}

impl Rearrangement {
    /// L (n × n) without the given rows and columns, which are in ascending order.
    pub fn without(&mut self, removed: &[usize], order: usize) -> &Self {
        self.order = order - removed.len();
        let starts = core::iter::once(0).chain(removed.iter().map(|&row| row + 1));
        let ends = removed.iter().copied().chain(core::iter::once(order));
        let kept =
            starts.zip(ends).enumerate().map(|(before, (from, end))| (from, from - before, end - from));
        places(&mut self.rows, kept);
        self.columns.clone_from(&self.rows);
        self
    }

    /// L (n × n) with room for `count` rows and columns before row `at`.
    pub fn with_room(&mut self, at: usize, count: usize, order: usize) -> &Self {
        self.order = order + count;
        places(&mut self.rows, [(0, 0, at), (at, at + count, order - at)]);
        self.columns.clone_from(&self.rows);
        self
    }

    /// L (n × n) with row `from` moved after row `to`, from ≤ to, and zeros for its column.
    pub fn forwards(&mut self, from: usize, to: usize, order: usize) -> &Self {
        let (before, after) = ((0, 0, from), (to + 1, to + 1, order - to - 1));
        let between = (from + 1, from, to - from);
        self.order = order;
        places(&mut self.rows, [before, between, (from, to, 1), after]);
        places(&mut self.columns, [before, between, after]);
        self
    }

    /// L (n × n) with row `from` moved before row `to`, to ≤ from, and zeros for its column.
    pub fn backwards(&mut self, from: usize, to: usize, order: usize) -> &Self {
        let (before, after) = ((0, 0, to), (from + 1, from + 1, order - from - 1));
        let between = (to, to + 1, from - to);
        self.order = order;
        places(&mut self.rows, [before, (from, to, 1), between, after]);
        places(&mut self.columns, [before, between, after]);
        self
    }

    /// Whether any row or column changes its position.
    pub fn moves(&self) -> bool {
        self.rows.iter().chain(&self.columns).any(|run| run.from != run.to)
    }

    /// The number of leading columns that do not change, with that number of rows.
    pub fn unchanged(&self) -> usize {
        self.rows.first().filter(|run| run.from == 0 && run.to == 0).map_or(0, |run| run.len)
    }
}

/// Replaces `runs` by runs with these first old and new indices and lengths.
pub fn places(runs: &mut Vec<Run>, all: impl IntoIterator<Item = (usize, usize, usize)>) {
    runs.clear();
    let all = all.into_iter().map(|(from, to, len)| Run { from, to, len });
    runs.extend(all.filter(|run| run.len > 0));
}

/// Writes the indices in ascending order to `sorted`.
///
/// # Errors
/// `Index` or `Duplicate`, naming the argument.
pub fn ascending(
    argument: &'static str,
    indices: &[usize],
    order: usize,
    sorted: &mut Vec<usize>,
) -> Result<(), Error> {
    for (entry, &found) in indices.iter().enumerate() {
        if found >= order {
            return Err(Error::Index { argument, entry, found, limit: order });
        }
    }
    sorted.clear();
    sorted.extend_from_slice(indices);
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(&[found, _]) => {
            let mut entries = (0..indices.len()).filter(|&entry| indices[entry] == found);
            Err(Error::Duplicate { argument, entry: entries.nth(1).unwrap_or(0), found })
        }
        _ => Ok(()),
    }
}

/// The shifts (from, to) that produce this order, applied one after the other. Rows of a longest ascending subsequence are not
/// shifted.
pub fn shifts(order: &[usize]) -> Vec<(usize, usize)> {
    let stays = longest_ascending(order);
    let mut rows: Vec<usize> = (0..order.len()).collect();
    let mut shifts = Vec::new();
    let mut before = None;
    for (&row, stays) in order.iter().zip(stays) {
        let place = |row: usize| rows.iter().position(|&other| other == row);
        if let (false, Some(from)) = (stays, place(row)) {
            let behind = before.and_then(place).map_or(0, |place| place + 1);
            let to = if from < behind { behind - 1 } else { behind };
            rows.remove(from);
            rows.insert(to, row);
            shifts.push((from, to));
        }
        before = Some(row);
    }
    shifts
}

/// Which entries belong to a longest ascending subsequence.
fn longest_ascending(order: &[usize]) -> Vec<bool> {
    // For each length, the smallest last entry of an ascending subsequence, and for each entry its predecessor.
    let mut last: Vec<usize> = Vec::new();
    let mut before = vec![None; order.len()];
    for (at, row) in order.iter().enumerate() {
        let len = last.partition_point(|&other| order[other] < *row);
        before[at] = len.checked_sub(1).map(|shorter| last[shorter]);
        match last.get_mut(len) {
            Some(other) => *other = at,
            None => last.push(at),
        }
    }
    let mut stays = vec![false; order.len()];
    let mut next = last.last().copied();
    while let Some(at) = next {
        stays[at] = true;
        next = before[at];
    }
    stays
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_and_what_is_removed_are_all_rows() {
        for removed in [vec![], vec![0], vec![4], vec![1, 2, 5], vec![0, 1, 2, 3, 4, 5, 6]] {
            let mut left = Rearrangement::default();
            left.without(&removed, 7);
            let rows: Vec<usize> = left.rows.iter().flat_map(|run| run.old_places()).collect();
            let wanted: Vec<usize> = (0..7).filter(|row| !removed.contains(row)).collect();
            assert_eq!(rows, wanted);
            let places: Vec<usize> = left.rows.iter().flat_map(|run| run.new_places()).collect();
            assert_eq!(places, (0..left.order).collect::<Vec<_>>());
            assert_eq!(left.unchanged(), removed.first().copied().unwrap_or(7));
        }
    }

    #[test]
    fn a_row_moves_behind_another() {
        let mut moved = Rearrangement::default();
        moved.forwards(1, 3, 6);
        let rows: Vec<usize> = moved.rows.iter().flat_map(|run| run.old_places()).collect();
        assert_eq!(rows, [0, 2, 3, 1, 4, 5]);
        let columns: Vec<usize> = moved.columns.iter().flat_map(|run| run.new_places()).collect();
        assert_eq!(columns, [0, 1, 2, 4, 5]);
    }

    #[test]
    fn shifts_make_the_order_and_are_few() {
        let orders: [(&[usize], usize); 6] = [
            (&[], 0),
            (&[0, 1, 2], 0),
            (&[1, 2, 3, 0], 1),
            (&[3, 0, 1, 2], 1),
            (&[4, 3, 2, 1, 0], 4),
            (&[2, 0, 5, 1, 3, 4], 2),
        ];
        for (order, few) in orders {
            let mut rows: Vec<usize> = (0..order.len()).collect();
            let shifts = shifts(order);
            assert_eq!(shifts.len(), few);
            for (from, to) in shifts {
                let row = rows.remove(from);
                rows.insert(to, row);
            }
            assert_eq!(rows, order);
        }
    }

    #[test]
    fn what_is_wrong_with_indices_is_named() {
        let mut sorted = Vec::new();
        let index = Error::Index { argument: "indices", entry: 1, found: 5, limit: 5 };
        assert_eq!(ascending("indices", &[4, 5], 5, &mut sorted), Err(index));
        let duplicate = Error::Duplicate { argument: "indices", entry: 2, found: 3 };
        assert_eq!(ascending("indices", &[3, 1, 3], 5, &mut sorted), Err(duplicate));
        assert_eq!(ascending("indices", &[3, 1, 4], 5, &mut sorted), Ok(()));
        assert_eq!(sorted, [1, 3, 4]);
    }
}
