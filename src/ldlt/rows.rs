//! Checks of the arguments of calls that change rows and columns.

use super::report::LdltModification;
use super::state::Indefinite;
use crate::check::{extent, finite, finite_lower, index, room_for_copy};
use crate::element::Element;
use crate::error::Error;
use crate::host::layout::make_diagonal_real;
use crate::operand::Operand;
use crate::structure::ascending;
use cholupdate_kernels::number::Float;
use faer::{Mat, MatRef};

pub(super) fn append<T: Element>(
    of: &mut Indefinite<T>,
    cross: &Operand<'_, T>,
    corner: &Operand<'_, T>,
) -> Result<LdltModification, Error> {
    let (order, columns) = (of.order(), bordering(of, cross, corner)?);
    of.exchange(&[], (order, columns.as_ref(), None), "corner")
}

/// B above K, for a border of A. ((n + r) × r)
pub(super) fn bordering<T: Element>(
    of: &Indefinite<T>,
    cross: &Operand<'_, T>,
    corner: &Operand<'_, T>,
) -> Result<Mat<T>, Error> {
    let (order, rank) = (of.order(), cross.shape().1);
    extent("cross", "rows", order, cross.shape().0)?;
    extent("corner", "rows", rank, corner.shape().0)?;
    extent("corner", "columns", rank, corner.shape().1)?;
    room_for_copy::<T>("corner", (order.saturating_add(rank), rank))?;
    let (cross, corner) = (cross.on_host()?, corner.on_host()?);
    small::<T>("cross", finite("cross", cross.as_ref())?)?;
    let mut columns = Mat::zeros(order + rank, rank);
    columns.subrows_mut(0, order).copy_from(cross.as_ref());
    columns.subrows_mut(order, rank).copy_from(corner.as_ref());
    make_diagonal_real(columns.subrows_mut(order, rank));
    small::<T>("corner", finite_lower("corner", columns.subrows(order, rank))?)?;
    Ok(columns)
}

pub(super) fn insert<T: Element>(
    of: &mut Indefinite<T>,
    at: usize,
    columns: &Operand<'_, T>,
) -> Result<LdltModification, Error> {
    index("at", at, of.order() + 1)?;
    let (rows, rank) = columns.shape();
    extent("columns", "rows", of.order().saturating_add(rank), rows)?;
    put(of, &[], at, columns)
}

pub(super) fn replace<T: Element>(
    of: &mut Indefinite<T>,
    at: usize,
    columns: &Operand<'_, T>,
) -> Result<LdltModification, Error> {
    let (order, (rows, rank)) = (of.order(), columns.shape());
    extent("columns", "rows", order, rows)?;
    extent("columns", "columns", rank.min(order), rank)?;
    index("at", at, order - rank + 1)?;
    let removed: Vec<usize> = (at..at + rank).collect();
    put(of, &removed, at, columns)
}

pub(super) fn remove<T: Element>(
    of: &mut Indefinite<T>,
    indices: &[usize],
) -> Result<LdltModification, Error> {
    let mut removed = Vec::new();
    ascending("indices", indices, of.order(), &mut removed)?;
    let nothing = MatRef::from_column_major_slice(&[], of.order() - removed.len(), 0);
    of.exchange(&removed, (0, nothing, None), "indices")
}

pub(super) fn shift<T: Element>(
    of: &mut Indefinite<T>,
    from: usize,
    to: usize,
) -> Result<LdltModification, Error> {
    index("from", from, of.order())?;
    index("to", to, of.order())?;
    of.moved((from, to))
}

pub(super) fn permute<T: Element>(
    of: &mut Indefinite<T>,
    order: &[usize],
) -> Result<LdltModification, Error> {
    extent("order", "entries", of.order(), order.len())?;
    ascending("order", order, order.len(), &mut Vec::new())?;
    of.permuted(order)
}

/// Puts columns of A, whose shape is right, at `at`, in the place of the removed rows.
fn put<T: Element>(
    of: &mut Indefinite<T>,
    removed: &[usize],
    at: usize,
    columns: &Operand<'_, T>,
) -> Result<LdltModification, Error> {
    room_for_copy::<T>("columns", columns.shape())?;
    let mut columns = columns.on_host()?.into_owned();
    let rank = columns.ncols();
    make_diagonal_real(columns.subrows_mut(at, rank));
    let (above, below) = columns.split_at_row(at);
    small::<T>("columns", finite("columns", above)?)?;
    let largest = finite_lower("columns", below).map_err(|error| match error {
        Error::NonFinite { argument, row, column } => Error::NonFinite { argument, row: row + at, column },
        error => error,
    })?;
    small::<T>("columns", largest)?;
    of.exchange(removed, (at, columns.as_ref(), None), "columns")
}

/// Checks that sums of entries of A of this size cannot overflow.
fn small<T: Element>(argument: &'static str, largest: T::Part) -> Result<(), Error> {
    if largest > T::Part::LARGE_SQUARE { Err(Error::Overflow { argument }) } else { Ok(()) }
}
