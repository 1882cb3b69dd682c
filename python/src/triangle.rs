//! Lower triangles, looked at and copied.

use crate::numbers::Real;
use cholupdate::faer::{MatMut, MatRef};

/// Columns and rows that are copied together, so that lines of the cache are used whole whichever way either matrix lies.
const TILE: usize = 32;

/// Copies the lower triangle; columns with a negative diagonal are negated. (n × n)
pub fn copy_triangle<T: Real>(from: MatRef<'_, T>, mut to: MatMut<'_, T>) {
    let order = from.nrows();
    for first in (0..order).step_by(TILE) {
        for top in (first..order).step_by(TILE) {
            for column in first..order.min(first + TILE) {
                let negated = from[(column, column)] < T::ZERO;
                for row in top.max(column)..order.min(top + TILE) {
                    let entry = from[(row, column)];
                    to[(row, column)] = if negated { -entry } else { entry };
                }
            }
        }
    }
}

/// An entry of the lower triangle that is infinite or NaN: its row and column. (n × n)
pub fn first_not_finite<T: Real>(l: MatRef<'_, T>) -> Option<(usize, usize)> {
    // x · 0 is 0 for every finite x and NaN for every other; sums of it keep the loop free of branches.
    let by_rows = l.row_stride().abs() > l.col_stride().abs();
    let (line, start) = if by_rows { (l.transpose(), 0) } else { (l, 1) };
    (0..l.nrows()).find_map(|at| {
        let rows = if start == 0 { 0..at + 1 } else { at..l.nrows() };
        let entries = line.col(at).subrows(rows.start, rows.len());
        let probe = match entries.try_as_col_major() {
            Some(contiguous) => probe(contiguous.as_slice()),
            None => entries.iter().fold(T::ZERO, |probe, &x| probe + x * T::ZERO),
        };
        if probe == T::ZERO {
            return None;
        }
        let within = rows.start + entries.iter().position(|x| !x.double().is_finite())?;
        Some(if by_rows { (at, within) } else { (within, at) })
    })
}

/// In several chains, so that none waits for every addition.
fn probe<T: Real>(entries: &[T]) -> T {
    let (chunks, rest) = entries.as_chunks::<16>();
    let mut lanes = [T::ZERO; 16];
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane += x * T::ZERO;
        }
    }
    lanes.iter().chain(rest).fold(T::ZERO, |probe, &x| probe + x * T::ZERO)
}
