//! Rows and columns of L in host memory that come and go.

use super::factor::HostFactor;
use super::moves::{move_columns, move_up};
use super::solve::solve;
use crate::check::room;
use crate::engine::Side;
use crate::error::Error;
use crate::guarded::{Modifiable, Stop, rearrange_and_sweep};
use crate::host::layout::{copy_lower, stride, with_capacity};
use crate::input::Operand;
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::structure::{
    Border, HostColumns, LaterV, Rearrangement, Resizable, each_column, gather_v, rearrange, write_border,
};
use crate::sweep::outline::Outline;
use core::ops::Range;
use faer::{ColMut, Mat, MatMut, MatRef, Par};

/// The order and the threads from which on they share moves of rows and columns, which takes them two copies and not one.
const ORDER_WORTH_SHARING: usize = 2048;
const THREADS_WORTH_SHARING: usize = 4;

impl<T: Scalar> Resizable<T> for HostFactor<T> {
    fn capacity(&self) -> usize {
        HostFactor::capacity(self)
    }

    fn reserve(&mut self, capacity: usize) -> Result<(), Error> {
        let order = self.order();
        // Before there is another L: all three would be more than what is documented.
        self.drop_shadow();
        room::<T>("additional", capacity, (stride::<T>(capacity) as usize / 2, 0))?;
        let mut l = with_capacity(capacity, order);
        copy_lower(self.l().as_ref(), l.as_mut(), 0..order);
        self.move_to(l, capacity);
        Ok(())
    }

    fn eliminate(&self, columns: usize, rhs: MatMut<'_, T>) -> Result<(), Error> {
        solve(&self.l().subcols(0, columns), Side::L, rhs, self.threads());
        Ok(())
    }

    fn stage_columns(&mut self, v: &LaterV<'_, T>) -> Result<Outline, Error> {
        let most = self.capacity();
        let (l, scratch, signs) = self.l_and_scratch();
        let (mut memory, mut each) = (core::mem::replace(scratch, Mat::new()), core::mem::take(signs));
        let columns = gather_v(l, v, (&mut memory, most));
        let staged = match (v.columns.first(), v.minus.1.ncols()) {
            (Some(&first), 0) => self.stage_from(first, columns),
            _ => self.stage(&Operand::Host(columns), v.weights(&mut each)),
        };
        let (_, scratch, signs) = self.l_and_scratch();
        (*scratch, *signs) = (memory, each);
        staged
    }

    fn rearrange(&mut self, new: &Rearrangement) -> Result<(), Stop> {
        let par = self.par();
        let (l, scratch, _) = self.l_and_scratch();
        if new.order < ORDER_WORTH_SHARING || par.degree() < THREADS_WORTH_SHARING {
            l.set_order(l.nrows().max(new.order));
            move_columns(l, new, 0..new.order);
            l.set_order(new.order);
        } else {
            rearrange(l, new, scratch, par);
        }
        Ok(())
    }

    /// Where neighbours are removed and there are few threads, one of them does it in one go: what is behind the neighbours moves up and
    /// to the left on its way through the sweep.
    fn remake(
        &mut self,
        outline: &Outline,
        new: &Rearrangement,
        columns: Range<usize>,
    ) -> Result<Modification<T>, Stop> {
        // V has been staged from here on.
        let (start, order) = (new.unchanged(), new.order);
        let columns = if columns.is_empty() { columns } else { start..columns.end };
        let removed = order < self.order();
        let behind = new.columns.last().filter(|run| removed && run.from > run.to && run.to == start);
        let threads = self.threads_for(outline, order, &columns);
        match behind {
            Some(run) if threads < THREADS_WORTH_SHARING && columns.end == order && !columns.is_empty() => {
                move_columns(self.l_and_scratch().0, new, 0..start);
                let report = self.sweep_on_its_way(outline, (order, run.from - run.to), columns)?;
                self.l_and_scratch().0.set_order(order);
                Ok(report)
            }
            _ => rearrange_and_sweep(self, outline, new, columns),
        }
    }

    fn close(&mut self, column: usize, pivot: T) -> Result<(), Stop> {
        self.column_of_v(column, pivot);
        Ok(())
    }

    fn backwards(&mut self, from: usize, to: usize) -> Result<(), Stop> {
        let (l, _, p) = self.l_and_scratch();
        move_up(l, (from, to), p);
        Ok(())
    }

    fn write(&mut self, at: usize, border: &Border<'_, T>) -> Result<(), Stop> {
        let par = self.par();
        write_border(self.l_and_scratch().0, at, border, par);
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
