//! Rows and columns of L in host memory that come and go.

use super::factor::HostFactor;
use crate::error::Error;
use crate::host::layout::{copy_lower, with_capacity};
use crate::scalar::Scalar;
use crate::structure::{Border, Resizable, kept};
use core::ops::Range;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::reborrow::ReborrowMut;
use faer::{Accum, Mat, MatMut, MatRef};

impl<T: Scalar> Resizable<T> for HostFactor<T> {
    fn capacity(&self) -> usize {
        HostFactor::capacity(self)
    }

    fn reserve(&mut self, capacity: usize) -> Result<(), Error> {
        let order = self.l().nrows();
        let mut l = with_capacity(capacity, order);
        copy_lower(self.l().as_ref(), l.as_mut(), 0..order);
        self.move_to(l, capacity);
        Ok(())
    }

    fn eliminate(&self, columns: usize, rhs: MatMut<'_, T>) {
        let l = self.l();
        let (mut above, below) = rhs.split_at_row_mut(columns);
        let left = l.subcols(0, columns);
        solve_lower_triangular_in_place(left.subrows(0, columns), above.rb_mut(), self.par());
        let rest = left.subrows(columns, l.nrows() - columns);
        matmul(below, Accum::Add, rest, above.as_ref(), -T::ONE, self.par());
    }

    fn removed_columns(&self, removed: &[usize], mut v: MatMut<'_, T>) {
        let order = self.l().nrows();
        for (r, &column) in removed.iter().enumerate() {
            for (run, before) in kept(removed, column, order) {
                let from = self.l().col(column).subrows(run.start, run.len());
                v.rb_mut().col_mut(r).subrows_mut(run.start - before, run.len()).copy_from(from);
            }
        }
    }

    fn remove(&mut self, removed: &[usize]) {
        let order = self.l().nrows();
        let l = self.l_mut();
        for (columns, before) in kept(removed, 0, order) {
            for column in columns {
                for (run, above) in kept(removed, column, order) {
                    let to = run.start - above;
                    move_rows(l, (column, run), (column - before, to));
                }
            }
        }
        l.truncate(order - removed.len(), order - removed.len());
    }

    fn insert(&mut self, at: usize, border: &Border<T>) {
        let (order, rank) = (self.l().nrows(), border.rows());
        let l = self.l_mut();
        l.resize_with(order + rank, order + rank, |_, _| T::ZERO);
        for column in (at..order).rev() {
            move_rows(l, (column, column..order), (column + rank, column + rank));
        }
        for column in 0..at {
            move_rows(l, (column, at..order), (column, at + rank));
        }
        write(l.as_mut(), at, border);
    }

    fn write(&mut self, at: usize, border: &Border<T>) {
        write(self.l_mut().as_mut(), at, border);
    }
}

/// Moves rows of one column of L to another place, which may overlap with where they are.
fn move_rows<T: Scalar>(l: &mut Mat<T>, (from, rows): (usize, Range<usize>), (to, first): (usize, usize)) {
    if from == to {
        return l.col_as_slice_mut(from).copy_within(rows, first);
    }
    let (before, after) = l.as_mut().split_at_col_mut(from.max(to));
    let (mut before, mut after) = (before.col_mut(from.min(to)), after.col_mut(0));
    let (to, from) =
        if to < from { (before.rb_mut(), after.as_ref()) } else { (after.rb_mut(), before.as_ref()) };
    to.subrows_mut(first, rows.len()).copy_from(from.subrows(rows.start, rows.len()));
}

/// Writes the rows and columns of a border to L, from row and column `at` on.
fn write<T: Scalar>(mut l: MatMut<'_, T>, at: usize, border: &Border<T>) {
    let rank = border.rows();
    let mut put = |row, column, from: MatRef<'_, T>| {
        l.rb_mut().submatrix_mut(row, column, from.nrows(), from.ncols()).copy_from(from);
    };
    put(at, 0, border.left.transpose());
    put(at, at, border.corner.as_ref());
    put(at + rank, at, border.below.as_ref());
}
