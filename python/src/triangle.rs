//! Copies of lower triangles.

use crate::numbers::Real;
use cholupdate::faer::{MatMut, MatRef};

/// The order of a tile, copied as a whole so that every cache line is used in full, for either layout of either matrix.
const TILE: usize = 32;

/// Copies the lower triangle. Columns with a negative diagonal entry are negated. (n × n)
pub fn copy_triangle<T: Real>(from: MatRef<'_, T>, mut to: MatMut<'_, T>) {
    let order = from.nrows();
    let entry = |row: usize, column: usize, negated: bool| {
        let entry = from[(row, column)];
        if negated { -entry } else { entry }
    };
    let is_negative = |column: usize| from[(column, column)] < T::ZERO;
    let by_rows = to.row_stride().unsigned_abs() > to.col_stride().unsigned_abs();
    for first in (0..order).step_by(TILE) {
        let columns = first..order.min(first + TILE);
        let mut negated = [false; TILE];
        columns.clone().zip(&mut negated).for_each(|(column, negated)| *negated = is_negative(column));
        for top in (first..order).step_by(TILE) {
            let rows = top..order.min(top + TILE);
            // The inner loop runs along the memory that is written.
            if by_rows {
                for row in rows {
                    for column in first..columns.end.min(row + 1) {
                        to[(row, column)] = entry(row, column, negated[column - first]);
                    }
                }
            } else {
                for column in columns.clone() {
                    for row in rows.start.max(column)..rows.end {
                        to[(row, column)] = entry(row, column, negated[column - first]);
                    }
                }
            }
        }
    }
}
