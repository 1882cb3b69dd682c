//! Insertion, removal and reordering of rows and columns of L in host memory.

use super::factor::HostFactor;
use super::moves::move_columns;
use crate::check::room;
use crate::element::Element;
use crate::error::Error;
use crate::host::layout::{copy_lower, stride, with_capacity};
use crate::operand::Operand;
use crate::report::Modification;
use crate::storage::{Storage, Swept};
use crate::structure::{ColumnsAsV, HostColumns, Rearrangement, each_column, gather_v, rearrange};
use crate::sweep::outline::Outline;
use crate::sweep::stop::Stop;
use core::ops::Range;
use faer::{ColMut, Mat, MatRef, Par};

/// The order and the number of threads from which on moves of rows and columns are shared. Shared moves need two copies, not
/// one.
const ORDER_WORTH_SHARING: usize = 2048;
const THREADS_WORTH_SHARING: usize = 4;

impl<T: Element> HostFactor<T> {
    /// As [`Swept::reserve`].
    pub(super) fn make_room(&mut self, capacity: usize) -> Result<(), Error> {
        let order = self.order();
        // First, because all three matrices together would exceed the documented memory.
        self.drop_shadow();
        room::<T>("additional", capacity, (stride::<T>(capacity) as usize / 2, 0))?;
        let mut l = with_capacity(capacity, order);
        copy_lower(self.l().as_ref(), l.as_mut(), 0..order);
        self.move_to(l, capacity);
        Ok(())
    }

    /// Stages columns of L, and other columns, as V.
    pub(super) fn stage_columns(&mut self, v: &ColumnsAsV<'_, T>) -> Result<Outline, Error> {
        let most = self.capacity();
        let (l, scratch, signs) = self.l_and_scratch();
        let (mut memory, mut each) = (core::mem::replace(scratch, Mat::new()), core::mem::take(signs));
        let columns = gather_v(l, v, (&mut memory, most));
        let staged = match (v.columns.first(), v.minus.1.ncols()) {
            (Some(&first), 0) => self.stage_from(first, columns),
            _ => self.stage_given(&Operand::Host(columns), v.weights(&mut each)),
        };
        let (_, scratch, signs) = self.l_and_scratch();
        (*scratch, *signs) = (memory, each);
        staged
    }

    /// Rearranges rows and columns.
    pub(super) fn rearrange(&mut self, new: &Rearrangement) {
        let par = self.par();
        let (l, scratch, _) = self.l_and_scratch();
        if new.order < ORDER_WORTH_SHARING || par.degree() < THREADS_WORTH_SHARING {
            l.set_order(l.nrows().max(new.order));
            move_columns(l, new, 0..new.order);
            l.set_order(new.order);
        } else {
            rearrange(l, new, scratch, par);
        }
    }

    /// If neighbours are removed and there are few threads, one thread rearranges and sweeps in one pass: the rows and columns
    /// after the removed ones move up and left during the sweep.
    pub(super) fn sweep_closing_a_gap(
        &mut self,
        new: &Rearrangement,
        outline: &Outline,
        columns: Range<usize>,
    ) -> Result<Option<Modification>, Stop> {
        let (start, order) = (columns.start, new.order);
        if columns.is_empty() || columns.end != order || order >= self.order() {
            return Ok(None);
        }
        let after = new.columns.last().filter(|run| run.from > run.to && run.to == start);
        let few_threads = self.threads_for(outline, order, &columns) < THREADS_WORTH_SHARING;
        let Some(run) = after.filter(|_| few_threads) else { return Ok(None) };
        move_columns(self.l_and_scratch().0, new, 0..start);
        let report = self.sweep_on_its_way(outline, (order, run.from - run.to), columns)?;
        self.l_and_scratch().0.set_order(order);
        Ok(Some(report))
    }
}

impl<T: Element> HostColumns<T> for Mat<T> {
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
