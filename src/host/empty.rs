//! Matrices without rows, which faer makes column by column, however many there are.

use faer::Mat;

/// No row and so many columns. (0 × columns)
pub(crate) fn without_rows<T>(columns: usize) -> Mat<T> {
    let mut empty = Mat::with_capacity(0, columns);
    // SAFETY: there is no entry to be initialized, and room for as many columns of none.
    unsafe { empty.set_dims(0, columns) };
    empty
}
