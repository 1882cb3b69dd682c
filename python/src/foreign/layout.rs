//! Triangles of square matrices in row-major memory, as other libraries keep them. The library writes columns, which are the rows of the
//! transposed matrix in the same memory.

/// The order of a tile whose rows are whole cache lines.
const TILE: usize = 16;

/// Reads the upper triangle, writes it to the lower one transposed, and zeros above the diagonal: what was written by columns is then
/// in rows.
///
/// # Safety
/// `at` is an n × n matrix in row-major order that nothing else uses.
pub unsafe fn flip<T: Copy>(at: *mut T, order: usize, zero: T) {
    if order <= TILE {
        // SAFETY: the entries are those of the matrix.
        unsafe { flip_diagonal(at, (0, order), order, zero) };
        return;
    }
    for first in (0..order).step_by(TILE) {
        let rows = first..order.min(first + TILE);
        // SAFETY: the rows are those of a tile on the diagonal.
        unsafe { flip_diagonal(at, (first, rows.end), order, zero) };
        for left in (rows.end..order).step_by(TILE) {
            let columns = left..order.min(left + TILE);
            let mut tile = [zero; TILE * TILE];
            for (i, row) in rows.clone().enumerate() {
                for (j, column) in columns.clone().enumerate() {
                    // SAFETY: both entries are in the matrix.
                    unsafe {
                        let from = at.add(row * order + column);
                        tile[j * TILE + i] = *from;
                        *from = zero;
                    }
                }
            }
            for (j, row) in columns.enumerate() {
                for (i, column) in rows.clone().enumerate() {
                    // SAFETY: the entry is in the matrix, below the diagonal.
                    unsafe { *at.add(row * order + column) = tile[j * TILE + i] };
                }
            }
        }
    }
}

/// Writes the lower triangle to the upper one, transposed, or with `upper` the upper one to the lower one.
///
/// # Safety
/// As [`flip`].
pub unsafe fn mirror<T: Copy>(at: *mut T, (order, upper): (usize, bool), zero: T) {
    for first in (0..order).step_by(TILE) {
        let below = first..order.min(first + TILE);
        for row in below.clone() {
            for column in first..row {
                // SAFETY: both entries are in the matrix.
                unsafe {
                    let (under, over) = (at.add(row * order + column), at.add(column * order + row));
                    let (from, to) = if upper { (over, under) } else { (under, over) };
                    *to = *from;
                }
            }
        }
        for left in (0..first).step_by(TILE) {
            let beside = left..left + TILE;
            let (rows, columns) = if upper { (beside, below.clone()) } else { (below.clone(), beside) };
            let mut tile = [zero; TILE * TILE];
            for (i, row) in rows.clone().enumerate() {
                for (j, column) in columns.clone().enumerate() {
                    // SAFETY: the entry is in the matrix.
                    tile[j * TILE + i] = unsafe { *at.add(row * order + column) };
                }
            }
            for (j, row) in columns.enumerate() {
                for (i, column) in rows.clone().enumerate() {
                    // SAFETY: the entry is in the matrix.
                    unsafe { *at.add(row * order + column) = tile[j * TILE + i] };
                }
            }
        }
    }
}

/// # Safety
/// As [`flip`], for the rows and columns `first..end`.
#[inline(always)]
unsafe fn flip_diagonal<T: Copy>(at: *mut T, (first, end): (usize, usize), order: usize, zero: T) {
    for row in first..end {
        for column in row + 1..end {
            // SAFETY: both entries are in the matrix.
            unsafe {
                let above = at.add(row * order + column);
                *at.add(column * order + row) = *above;
                *above = zero;
            }
        }
    }
}

/// Writes the lower triangle, or with `upper` the other one, by `entry`, and zeros elsewhere.
///
/// # Safety
/// As [`flip`].
pub unsafe fn fill<T: Copy>(
    at: *mut T,
    (order, upper): (usize, bool),
    zero: T,
    entry: impl Fn(usize, usize) -> T,
) {
    for row in 0..order {
        for column in 0..order {
            let inside = if upper { column >= row } else { column <= row };
            // SAFETY: the entry is in the matrix.
            unsafe { *at.add(row * order + column) = if inside { entry(row, column) } else { zero } };
        }
    }
}

/// Zeros above the diagonal, of rows as they lie in memory.
///
/// # Safety
/// As [`flip`].
pub unsafe fn clear_above<T: Copy>(at: *mut T, order: usize, zero: T) {
    for row in 0..order {
        let first = row * (order + 1) + 1;
        // SAFETY: the entries are in the matrix.
        unsafe { core::slice::from_raw_parts_mut(at.add(first), order - row - 1).fill(zero) };
    }
}

/// Zeros below the diagonal, of rows as they lie in memory.
///
/// # Safety
/// As [`flip`].
pub unsafe fn clear_below<T: Copy>(at: *mut T, order: usize, zero: T) {
    for row in 1..order {
        // SAFETY: the entries are in the matrix.
        unsafe { core::slice::from_raw_parts_mut(at.add(row * order), row).fill(zero) };
    }
}
