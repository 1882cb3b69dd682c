//! Which rows are removed, and which are left.

use crate::error::Error;
use core::ops::Range;

/// The indices in ascending order.
///
/// # Errors
/// `Index` or `Duplicate`, naming `indices`.
pub fn ascending(indices: &[usize], order: usize) -> Result<Vec<usize>, Error> {
    const ARGUMENT: &str = "indices";
    for (entry, &found) in indices.iter().enumerate() {
        if found >= order {
            return Err(Error::Index { argument: ARGUMENT, entry, found, limit: order });
        }
    }
    let mut entries: Vec<usize> = (0..indices.len()).collect();
    entries.sort_by_key(|&entry| indices[entry]);
    for pair in entries.windows(2) {
        let (first, second) = (indices[pair[0]], indices[pair[1]]);
        if first == second {
            return Err(Error::Duplicate { argument: ARGUMENT, entry: pair[1], found: second });
        }
    }
    Ok(entries.into_iter().map(|entry| indices[entry]).collect())
}

/// The runs of rows from `first` to `end` that are left, each with how many before it are removed. `removed` ascends.
pub fn kept(removed: &[usize], first: usize, end: usize) -> impl Iterator<Item = (Range<usize>, usize)> + '_ {
    let before = removed.partition_point(|&row| row < first);
    let inside = &removed[before..];
    let starts = core::iter::once(first).chain(inside.iter().map(|&row| row + 1));
    let ends = inside.iter().copied().chain(core::iter::once(end));
    starts
        .zip(ends)
        .enumerate()
        .map(move |(more, (start, end))| (start..end.max(start), before + more))
        .filter(|(run, _)| !run.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_and_what_is_removed_are_all_rows() {
        for removed in [vec![], vec![0], vec![4], vec![1, 2, 5], vec![0, 1, 2, 3, 4, 5, 6]] {
            for first in 0..=7 {
                let rows: Vec<usize> = kept(&removed, first, 7).flat_map(|(run, _)| run).collect();
                let wanted: Vec<usize> = (first..7).filter(|row| !removed.contains(row)).collect();
                assert_eq!(rows, wanted);
                for (run, before) in kept(&removed, first, 7) {
                    assert_eq!(before, removed.iter().filter(|&&row| row < run.start).count());
                }
            }
        }
    }

    #[test]
    fn what_is_wrong_with_indices_is_named() {
        let index = Error::Index { argument: "indices", entry: 1, found: 5, limit: 5 };
        assert_eq!(ascending(&[4, 5], 5), Err(index));
        let duplicate = Error::Duplicate { argument: "indices", entry: 2, found: 3 };
        assert_eq!(ascending(&[3, 1, 3], 5), Err(duplicate));
        assert_eq!(ascending(&[3, 1, 4], 5), Ok(vec![1, 3, 4]));
    }
}
