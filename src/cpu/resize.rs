//! Rows and columns of L in host memory that come and go.

use super::factor::HostFactor;
use crate::error::Error;
use crate::host::layout::{copy_lower, with_capacity};
use crate::input::Operand;
use crate::modify::{Modifiable, Stop};
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::structure::{
    Border, HostColumns, LaterV, Rearrangement, Resizable, backwards, each_column, gather_v, rearrange,
    rearrange_and_sweep, write_border,
};
use crate::sweep::outline::Outline;
use crate::sweep::weights::Weights;
use core::ops::Range;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::reborrow::ReborrowMut;
use faer::{Accum, ColMut, Mat, MatMut, MatRef, Par};

impl<T: Scalar> Resizable<T> for HostFactor<T> {
    fn capacity(&self) -> usize {
        HostFactor::capacity(self)
    }

    fn reserve(&mut self, capacity: usize) -> Result<(), Error> {
        let order = self.order();
        let mut l = with_capacity(capacity, order);
        copy_lower(self.l().as_ref(), l.as_mut(), 0..order);
        self.move_to(l, capacity);
        Ok(())
    }

    fn eliminate(&self, columns: usize, rhs: MatMut<'_, T>) -> Result<(), Error> {
        let l = self.l();
        let (mut above, below) = rhs.split_at_row_mut(columns);
        let left = l.subcols(0, columns);
        solve_lower_triangular_in_place(left.subrows(0, columns), above.rb_mut(), self.par());
        let rest = left.subrows(columns, l.nrows() - columns);
        matmul(below, Accum::Add, rest, above.as_ref(), -T::ONE, self.par());
        Ok(())
    }

    fn stage_columns(&mut self, v: &LaterV<'_, T>) -> Result<Outline, Error> {
        let (l, scratch) = self.l_mut();
        let mut scratch = core::mem::replace(scratch, Mat::new());
        let columns = gather_v(l, v, &mut scratch);
        let staged = self.stage(&Operand::Host(columns), Weights::Each(&v.weights()));
        *self.l_mut().1 = scratch;
        staged
    }

    fn rearrange(&mut self, rearrangement: &Rearrangement) -> Result<(), Stop> {
        let par = self.par();
        let (l, scratch) = self.l_mut();
        rearrange(l, rearrangement, scratch, par);
        Ok(())
    }

    /// On one thread in one go: a panel moves, and is made anew while it is in a cache.
    fn remake(
        &mut self,
        outline: &Outline,
        new: &Rearrangement,
        columns: Range<usize>,
    ) -> Result<Modification<T>, Stop> {
        if columns.is_empty() || self.threads_for(outline, new.order, &columns) > 1 {
            return rearrange_and_sweep(self, outline, new, columns);
        }
        self.remake_panel_by_panel(outline, new, columns)
    }

    fn backwards(&mut self, from: usize, to: usize) -> Result<(), Stop> {
        let par = self.par();
        let (l, scratch) = self.l_mut();
        backwards(l, (from, to), scratch, par);
        Ok(())
    }

    fn write(&mut self, at: usize, border: &Border<T>) -> Result<(), Stop> {
        let par = self.par();
        write_border(self.l_mut().0, at, border, par);
        Ok(())
    }
}

impl<T: Scalar> HostColumns<T> for Mat<T> {
    fn order(&self) -> usize {
        self.nrows()
    }

    fn set_order(&mut self, order: usize) {
        self.resize_with(order, order, |_, _| T::ZERO);
    }

    fn get(&self, column: usize, rows: Range<usize>, mut to: ColMut<'_, T>) {
        to.copy_from(self.col(column).subrows(rows.start, rows.len()));
    }

    fn set(&mut self, row: usize, columns: Range<usize>, from: MatRef<'_, T>, par: Par) {
        let first = columns.start;
        let to = self.as_mut().subcols_mut(first, columns.len());
        each_column(to, par, |j, to| {
            let skipped = (first + j).saturating_sub(row).min(from.nrows());
            let rows = from.nrows() - skipped;
            to.subrows_mut(row + skipped, rows).copy_from(from.col(j).subrows(skipped, rows));
        });
    }
}
