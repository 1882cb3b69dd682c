//! Insertion, removal and reordering of rows and columns: the checks, and the columns of A that come.

use super::Factor;
use crate::check::{extent, finite, finite_hermitian, index, room_for_copy};
use crate::element::Element;
use crate::error::Error;
use crate::operand::Operand;
use crate::report::Modification;
use crate::storage::{Room, Storage};
use crate::structure::{Parts, ascending, room, shifts};
use crate::sweep::stop::Stop;
use faer::reborrow::IntoConst;
use faer::{Mat, MatRef, Par};

impl<T: Element, F: Storage<T>> Factor<T, F> {
    pub(super) fn reserve_more(&mut self, additional: usize) -> Result<(), Error> {
        self.guarded.finish()?;
        let capacity = self.order().saturating_add(additional);
        if capacity <= self.guarded.factor().capacity() {
            return Ok(());
        }
        // Columns are stored slightly farther apart than they are long.
        let bytes = capacity
            .checked_add(1 << 10)
            .and_then(|stride| stride.checked_mul(capacity)?.checked_mul(size_of::<T>()));
        if bytes.is_none_or(|bytes| bytes > isize::MAX as usize) {
            return Err(Error::OutOfRange {
                argument: "additional",
                rule: "few enough for an address space",
            });
        }
        self.guarded.in_place(|factor| factor.reserve(Room::Capacity(capacity)).map_err(Stop::before))?;
        self.guarded.history_mut().reserve(capacity);
        Ok(())
    }

    pub(super) fn append(
        &mut self,
        cross: &Operand<'_, T>,
        corner: &Operand<'_, T>,
        par: Par,
    ) -> Result<Modification, Error> {
        self.guarded.finish()?;
        let at = self.order();
        self.check_border(cross, corner)?;
        if cross.host().is_some() || corner.host().is_some() {
            self.has_room_to_border(cross.shape().1)?;
        }
        let parts = Parts::at_the_end(cross, corner);
        if let Some(made) = self.guarded.enter_there(at, &parts, 0, &mut self.scratch)? {
            return Ok(made);
        }
        let mut columns = core::mem::replace(&mut self.scratch.columns, Mat::new());
        let put = self.bordering(cross, corner, &mut columns);
        let made =
            put.and_then(|columns| self.guarded.enter(at, columns, 0, "corner", (&mut self.scratch, par)));
        self.scratch.columns = columns;
        made
    }

    pub(super) fn insert(
        &mut self,
        at: usize,
        columns: &Operand<'_, T>,
        par: Par,
    ) -> Result<Modification, Error> {
        self.guarded.finish()?;
        index("at", at, self.order() + 1)?;
        let (rows, rank) = columns.shape();
        extent("columns", "rows", self.order().saturating_add(rank), rows)?;
        self.put(at, columns, 0, par)
    }

    pub(super) fn replace(
        &mut self,
        at: usize,
        columns: &Operand<'_, T>,
        par: Par,
    ) -> Result<Modification, Error> {
        self.guarded.finish()?;
        let (order, (rows, rank)) = (self.order(), columns.shape());
        extent("columns", "rows", order, rows)?;
        extent("columns", "columns", rank.min(order), rank)?;
        index("at", at, order - rank + 1)?;
        self.put(at, columns, rank, par)
    }

    /// Puts columns of A, whose shape is right, at `at`, in the place of the first `replaced` old ones.
    fn put(
        &mut self,
        at: usize,
        columns: &Operand<'_, T>,
        replaced: usize,
        par: Par,
    ) -> Result<Modification, Error> {
        columns.has_room_on_host("columns")?;
        let parts = Parts::of(columns, at, "columns");
        if let Some(made) = self.guarded.enter_there(at, &parts, replaced, &mut self.scratch)? {
            return Ok(made);
        }
        let columns = columns.on_host()?;
        let columns = columns.as_ref();
        finite_columns(at, columns)?;
        self.guarded.enter(at, columns, replaced, "columns", (&mut self.scratch, par))
    }

    pub(super) fn remove(&mut self, indices: &[usize]) -> Result<Modification, Error> {
        self.guarded.finish()?;
        let order = self.order();
        ascending("indices", indices, order, &mut self.scratch.rows)?;
        self.guarded.take_out(&mut self.scratch)
    }

    pub(super) fn shift(&mut self, from: usize, to: usize) -> Result<Modification, Error> {
        self.guarded.finish()?;
        index("from", from, self.order())?;
        index("to", to, self.order())?;
        self.guarded.shifts(&[(from, to)])
    }

    pub(super) fn permute(&mut self, order: &[usize]) -> Result<Modification, Error> {
        self.guarded.finish()?;
        extent("order", "entries", self.order(), order.len())?;
        ascending("order", order, order.len(), &mut self.scratch.rows)?;
        self.guarded.shifts(&shifts(order))
    }

    fn check_border(&self, cross: &Operand<'_, T>, corner: &Operand<'_, T>) -> Result<(), Error> {
        extent("cross", "rows", self.order(), cross.shape().0)?;
        extent("corner", "rows", cross.shape().1, corner.shape().0)?;
        extent("corner", "columns", cross.shape().1, corner.shape().1)
    }

    /// Checks that there is memory for columns of A that border it.
    fn has_room_to_border(&self, rank: usize) -> Result<(), Error> {
        room_for_copy::<T>("corner", (self.order().saturating_add(rank), rank))
    }

    /// The columns of A that border it: B above K, checked. (n × r, r × r)
    pub(super) fn bordering<'m>(
        &self,
        cross: &Operand<'_, T>,
        corner: &Operand<'_, T>,
        memory: &'m mut Mat<T>,
    ) -> Result<MatRef<'m, T>, Error> {
        let (order, rank) = (self.order(), cross.shape().1);
        self.check_border(cross, corner)?;
        self.has_room_to_border(rank)?;
        let (cross, corner) = (cross.on_host()?, corner.on_host()?);
        finite("cross", cross.as_ref())?;
        finite_hermitian("corner", corner.as_ref())?;
        let mut columns = room(memory, (order + rank, self.guarded.factor().capacity()), rank);
        columns.as_mut().subrows_mut(0, order).copy_from(cross.as_ref());
        columns.as_mut().subrows_mut(order, rank).copy_from(corner.as_ref());
        Ok(columns.into_const())
    }
}

/// Checks that the columns of A are finite. Their diagonal begins at row `at`, and the entries above it in that block are not
/// read.
fn finite_columns<T: Element>(at: usize, columns: MatRef<'_, T>) -> Result<(), Error> {
    let (above, below) = columns.split_at_row(at);
    finite("columns", above)?;
    finite_hermitian("columns", below).map_err(|error| match error {
        Error::NonFinite { argument, row, column } => Error::NonFinite { argument, row: row + at, column },
        error => error,
    })
}
