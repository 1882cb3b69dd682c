//! The layout of L in host memory.

use super::pages::prefer_huge_pages;
use cholupdate_kernels::number::Number;
use core::ops::Range;
use faer::traits::ComplexField;
use faer::{Mat, MatMut, MatRef};

/// The distance between columns of L: an odd number of whole cache lines that is not close to a multiple of the page size.
///
/// Columns at a distance of a large power of two would compete for the same cache sets. With columns nearly a page apart, loads
/// from one would be mistaken for loads of data just stored to another.
pub(crate) fn stride<T>(order: usize) -> isize {
    const PAGE: usize = 64; // lines
    const CLEAR: usize = 8;
    let line = 64 / size_of::<T>();
    let mut lines = order.div_ceil(line) | 1;
    while lines > PAGE && !(CLEAR..=PAGE - CLEAR).contains(&(lines % PAGE)) {
        lines += 2;
    }
    (lines * line) as isize
}

/// A zero matrix with columns at that distance. (n × n)
pub(crate) fn zeros<T: Number>(order: usize) -> Mat<T> {
    with_capacity(order, order)
}

/// A zero matrix with capacity for `capacity` rows and columns, and the column distance of that order. (n × n)
pub(crate) fn with_capacity<T: Number>(capacity: usize, order: usize) -> Mat<T> {
    let rows = stride::<T>(capacity) as usize;
    let mut l = Mat::with_capacity(rows, capacity);
    prefer_huge_pages(l.as_ptr_mut(), rows * capacity);
    l.resize_with(order, order, |_, _| T::ZERO);
    l
}

/// Copies the lower triangle of `a` to such a matrix, with zeros above the diagonal. (n × n)
pub(crate) fn lower<T: Number + ComplexField>(a: MatRef<'_, T>) -> Mat<T> {
    let mut l = zeros(a.nrows());
    copy_lower(a, l.as_mut(), 0..a.ncols());
    l
}

/// Copies the lower triangle of a range of columns.
pub(crate) fn copy_lower<T: Number + ComplexField>(
    from: MatRef<'_, T>,
    mut to: MatMut<'_, T>,
    columns: Range<usize>,
) {
    for j in columns {
        let rows = from.nrows() - j;
        to.as_mut().col_mut(j).subrows_mut(j, rows).copy_from(from.col(j).subrows(j, rows));
    }
}

/// Sets the imaginary part of each diagonal entry to zero. (n × n)
pub(crate) fn make_diagonal_real<T: Number>(mut a: MatMut<'_, T>) {
    if T::PARTS > 1 {
        for j in 0..a.ncols() {
            a[(j, j)] = T::of_real(a[(j, j)].real());
        }
    }
}

/// `len` scalars rounded up to whole lines of 128 bytes, as the memory of GPUs has them: the distance between columns that a
/// device reads or writes.
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub(crate) fn whole_lines<T>(len: usize) -> usize {
    len.next_multiple_of(128 / size_of::<T>())
}
