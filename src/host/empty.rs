//! Matrices without rows. faer would construct them column by column, for any number of columns.

use faer::Mat;

/// A matrix without rows. (0 × columns)
pub(crate) fn without_rows<T>(columns: usize) -> Mat<T> {
    let mut empty = Mat::with_capacity(0, columns);
    // SAFETY: there is no entry to initialize, and capacity for this number of columns without rows.
    unsafe { empty.set_dims(0, columns) };
    empty
}
