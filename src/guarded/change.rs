//! Insertion, removal and reordering of rows and columns under the failure contract: the step that may break down is a
//! modification of the existing factor, and the steps after it cannot.

use super::{Guarded, Source, swept};
use crate::check::finite;
use crate::element::Element;
use crate::error::Error;
use crate::operand::OperandMut;
use crate::report::Modification;
use crate::storage::{Edit, Op, Room, Staged, Storage, pivots};
use crate::structure::{
    Border, BorderThere, ColumnsAsV, Parts, Rearrangement, Run, Scratch, gather_v, places,
};
use crate::sweep::stop::Stop;
use crate::wide::Given;
use cholupdate_kernels::number::{Float, Number};
use faer::{Mat, MatMut, MatRef, Par};

/// New rows and columns whose border has been computed: their position, their number and the number of old ones they replace,
/// and the part of the border below the diagonal, if the host has it.
struct Entry<'a, T: Number> {
    places: (usize, usize, usize),
    argument: &'static str,
    /// The diagonal of K.
    diagonal: Diagonal<'a, T>,
    row_norm: f64,
    below: MatRef<'a, T>,
    least_ratio: T::Part,
    log_det: f64,
}

/// The diagonal of new rows and columns of A, from columns of A or by itself.
#[derive(Clone, Copy)]
enum Diagonal<'a, T: Number> {
    Of(MatRef<'a, T>),
    Alone(&'a [f64]),
}

impl<T: Element, F: Storage<T>> Guarded<T, F> {
    /// Inserts rows and columns at `at`. `columns` are the columns of A, in the numbering of the new A, and have been checked.
    /// The first `replaced` of them replace old ones.
    ///
    /// # Errors
    /// `Overflow`, naming the argument; `NotPositiveDefinite` with the row of the new A; `Device` or `Poisoned`.
    pub fn enter(
        &mut self,
        at: usize,
        columns: MatRef<'_, T>,
        replaced: usize,
        argument: &'static str,
        (scratch, par): (&mut Scratch<T>, Par),
    ) -> Result<Modification, Error> {
        if columns.ncols() == 0 {
            return self.regular().map(|_| Modification::identity());
        }
        let Scratch { new, kept, rows, border, .. } = scratch;
        let rank = columns.ncols();
        let row_norm = self.row_norm_with(at, columns, argument)?;
        let border = {
            let factor = self.regular()?;
            let eliminate = |rhs: MatMut<'_, T>| factor.apply(Op::Eliminate(at), OperandMut::Host(rhs));
            Border::new((factor.capacity(), eliminate), at, columns, replaced, border, par)?
        };
        self.finite_square(at + rank, border.below)?;
        let entry = Entry {
            places: (at, rank, replaced),
            argument,
            diagonal: Diagonal::Of(columns),
            row_norm,
            below: border.below,
            least_ratio: border.least_ratio,
            log_det: border.log_det,
        };
        self.entered(&entry, (new, kept, rows), |v| Staged::Columns(v), Edit::Write { at, border: &border })
    }

    /// As [`enter`](Self::enter), with a border that the engine computes; `None` if it does not. Only shapes have been checked.
    ///
    /// # Errors
    /// `NonFinite`, and those of [`enter`](Self::enter).
    pub fn enter_there(
        &mut self,
        at: usize,
        parts: &Parts<'_, T>,
        replaced: usize,
        scratch: &mut Scratch<T>,
    ) -> Result<Option<Modification>, Error> {
        let rank = parts.corner.entries.shape().1;
        if rank == 0 {
            return Ok(None);
        }
        self.regular()?;
        let made = self.in_place(|factor| factor.border_there(at, parts, replaced).map_err(Stop::before))?;
        let Some(BorderThere { least_ratio, log_det, largest, diagonal }) = made else { return Ok(None) };
        let row_norm = self.row_norm().max(largest.sqrt());
        let below = MatRef::from_column_major_slice(&[], 0, rank);
        let argument = parts.corner.argument;
        let places = (at, rank, replaced);
        let diagonal = Diagonal::Alone(&diagonal);
        let entry = Entry { places, argument, diagonal, row_norm, below, least_ratio, log_det };
        let Scratch { new, kept, rows, .. } = scratch;
        self.entered(&entry, (new, kept, rows), |v| Staged::Border(v), Edit::WriteThere { at }).map(Some)
    }

    /// The remaining steps after the border has been computed.
    fn entered(
        &mut self,
        entry: &Entry<'_, T>,
        (new, kept, rows): (&mut Rearrangement, &mut Vec<Run>, &mut Vec<usize>),
        staged: impl for<'v> Fn(&'v ColumnsAsV<'v, T>) -> Staged<'v, T>,
        write: Edit<'_, T>,
    ) -> Result<Modification, Error> {
        let &Entry {
            places: (at, rank, replaced),
            argument,
            diagonal,
            row_norm,
            below,
            least_ratio,
            log_det,
        } = entry;
        let order = self.order();
        let (came, old) = (rank - replaced, at..at + replaced);
        let log_det = log_det - self.log_det_of(old.clone());
        self.make_room(order + came, argument)?;
        let behind = at + replaced < order;
        if behind && came > 0 && self.factor().traits().prefers_shadow {
            // The move after the sweep needs the shadow buffer.
            self.in_place(|factor| factor.reserve(Room::Shadow).map_err(Stop::before))?;
        }
        rows.clear();
        rows.extend(old);
        places(kept, [(0, 0, at), (at + replaced, at + replaced, order - at - replaced)]);
        let v = ColumnsAsV { columns: rows, rows: kept, order, minus: (at + replaced, below) };
        let changed = match behind {
            true => {
                let swept = self.modify_by(Source::L, |factor| factor.stage(&staged(&v)));
                self.or_again(swept, |factor| given(factor, &v))
            }
            false => Ok(Modification::identity()),
        };
        let report = changed.map_err(|error| match error {
            Error::NotPositiveDefinite { column } => Error::NotPositiveDefinite { column: column + came },
            Error::Overflow { .. } => Error::Overflow { argument },
            error => error,
        })?;
        self.in_place(|factor| {
            let moved = match came {
                0 => Ok(()),
                _ => factor.edit(Edit::Rearrange(new.with_room(at, came, order))),
            };
            let moved = if behind { moved.map_err(Stop::after_a_change) } else { moved };
            moved.and_then(|()| factor.edit(write))
        })?;
        self.bound_rows(row_norm);
        let history = self.history_mut();
        match diagonal {
            Diagonal::Of(columns) => {
                history.came(at, replaced, (0..rank).map(|j| columns[(at + j, j)].real().to_f64()))
            }
            Diagonal::Alone(diagonal) => history.came(at, replaced, diagonal.iter().copied()),
        }
        Ok(report.and(least_ratio.to_f64(), log_det))
    }

    /// Removes the rows and columns in `rows`, which are in ascending order.
    ///
    /// # Errors
    /// `Device` or `Poisoned`.
    pub fn take_out(&mut self, scratch: &mut Scratch<T>) -> Result<Modification, Error> {
        let Scratch { new, rows: removed, .. } = scratch;
        self.regular()?;
        if removed.is_empty() {
            return Ok(Modification::identity());
        }
        let new = new.without(removed, self.order());
        let log_det = self.log_det_of(removed.iter().copied());
        let report = self.in_place(|factor| match removed.first() {
            Some(&first) if first < new.order => remake(factor, removed, new, new.order),
            _ => factor.edit(Edit::Rearrange(new)).map(|()| Modification::identity()),
        });
        let report = report.map_err(|error| match error {
            Error::Overflow { .. } => Error::Overflow { argument: "indices" },
            error => error,
        })?;
        self.history_mut().went(removed);
        Ok(report.and(1.0, -log_det))
    }

    /// Moves rows and columns one after the other, each from the first index of a pair to the second.
    ///
    /// # Errors
    /// `Device` or `Poisoned`.
    pub fn shifts(&mut self, shifts: &[(usize, usize)]) -> Result<Modification, Error> {
        let mut report = Modification::identity();
        for (done, &(from, to)) in shifts.iter().enumerate().filter(|(_, (from, to))| from != to) {
            report = report.then(self.shift(from, to).inspect_err(|_| {
                // Some shifts have been done and others have not.
                if done > 0 {
                    self.lose();
                }
            })?);
            self.history_mut().shifted(from, to);
        }
        Ok(report)
    }

    fn shift(&mut self, from: usize, to: usize) -> Result<Modification, Error> {
        let order = self.order();
        let old: Vec<T::Part> = pivots(self.regular()?).collect();
        let mut new = Rearrangement::default();
        let new = match from < to {
            true => new.forwards(from, to, order),
            false => new.backwards(from, to, order),
        };
        self.in_place(|factor| match from < to {
            true if factor.traits().tall => {
                remake(factor, &[from], new, to)?;
                // Computed from the determinant, which a shift does not change.
                let between = (from..to).map(|j| old[j + 1].to_f64() / factor.pivot(j).to_f64());
                let pivot = T::Part::from_f64(between.product::<f64>() * old[from].to_f64());
                factor.edit(Edit::Close { column: to, pivot })
            }
            true => remake(factor, &[from], new, order).map(|_| ()),
            false => factor.edit(Edit::MoveUp { from, to }),
        })?;
        let diagonal: Vec<T::Part> = pivots(self.factor()).collect();
        let rows = new.rows.iter().flat_map(|run| run.new_places().zip(run.old_places()));
        let ratios = rows.map(|(new, before)| diagonal[new] / old[before]).map(|ratio| ratio * ratio);
        let least = ratios.fold(T::Part::ONE, |least, ratio| if ratio < least { ratio } else { least });
        Ok(Modification::identity().and(least.to_f64(), 0.0))
    }

    /// Reserves room for a factor of this order and for some more rows: an occasional copy of L costs less than the solve for
    /// each new row.
    fn make_room(&mut self, order: usize, argument: &'static str) -> Result<(), Error> {
        if order <= self.factor().capacity() {
            return Ok(());
        }
        let capacity = order.max(self.order() + self.order() / 8);
        let made = self.in_place(|factor| factor.reserve(Room::Capacity(capacity)).map_err(Stop::before));
        made.map_err(|error| match error {
            Error::OutOfRange { rule, .. } => Error::OutOfRange { argument, rule },
            error => error,
        })?;
        self.history_mut().reserve(capacity);
        Ok(())
    }

    /// Checks that the squares of X are finite. The rows of X are rows of A from `first` on.
    ///
    /// # Errors
    /// `NotPositiveDefinite`: a row whose square overflows exceeds its diagonal entry of A by far.
    fn finite_square(&self, first: usize, x: MatRef<'_, T>) -> Result<(), Error> {
        let most = T::Part::LARGE_SQUARE.to_f64() / x.ncols() as f64;
        if finite("x", x).is_ok_and(|largest| largest.to_f64() * largest.to_f64() <= most) {
            return Ok(());
        }
        let large = |x: &T| !(x.square_to_f64() <= most);
        match (0..x.nrows()).find(|&i| x.row(i).iter().any(large)) {
            Some(row) => Err(Error::NotPositiveDefinite { column: first + row }),
            None => Ok(()),
        }
    }

    /// The bound on the rows of L after insertion of these columns of A, whose diagonal begins at row `at`.
    fn row_norm_with(&self, at: usize, columns: MatRef<'_, T>, argument: &'static str) -> Result<f64, Error> {
        let largest = (0..columns.ncols()).map(|j| columns[(at + j, j)].real().to_f64()).fold(0.0, f64::max);
        if largest > T::Part::LARGE_SQUARE.to_f64() {
            return Err(Error::Overflow { argument });
        }
        Ok(self.row_norm().max(largest.sqrt()))
    }

    /// 2 Σ log l_jj over these rows.
    fn log_det_of(&self, rows: impl Iterator<Item = usize>) -> f64 {
        2.0 * rows.map(|row| self.factor().pivot(row).to_f64().ln()).sum::<f64>()
    }
}

/// Rearranges L, and updates its columns up to `end` with the given old columns as V. It cannot break down.
fn remake<T: Element, F: Storage<T>>(
    factor: &mut F,
    columns: &[usize],
    new: &Rearrangement,
    end: usize,
) -> Result<Modification, Stop> {
    let v = ColumnsAsV {
        columns,
        rows: &new.rows,
        order: new.order,
        minus: (0, MatRef::from_column_major_slice(&[], 0, 0)),
    };
    let outline = factor.stage(&Staged::Columns(&v)).map_err(Stop::before)?;
    // No entry before this column changes, and V may not have been staged. Where a sweep may be one pass with the rearrangement, it
    // starts there, so that the result does not depend on the number of passes.
    let unchanged = new.unchanged();
    let start = outline.first_column::<T>(new.order).map_or(end, |first| match factor.traits().tall {
        true => unchanged,
        false => first.max(unchanged),
    });
    let columns = start..end;
    if let Some(report) = factor.rearrange_and_sweep(new, &outline, columns.clone())? {
        return Ok(report);
    }
    factor.edit(Edit::Rearrange(new))?;
    if columns.is_empty() {
        return Ok(Modification::identity());
    }
    swept(factor, &outline, columns).map_err(Stop::after_a_change)
}

/// Copies V and its weights to host memory. If the engine has computed the border, it has the columns with a minus sign too.
///
/// # Errors
/// `Device`.
fn given<T: Element>(factor: &impl Storage<T>, v: &ColumnsAsV<'_, T>) -> Result<Given<T>, Error> {
    let (order, [plus, minus]) = (factor.order(), [v.columns.len(), v.minus.1.ncols()]);
    let mut l = Mat::new();
    if plus > 0 {
        l = Mat::zeros(order, order);
        factor.read(l.as_mut())?;
    }
    let (row, below) = v.minus;
    let computed = if below.nrows() == 0 { factor.border_below()? } else { None };
    let below = computed.as_ref().map_or(below, |below| below.as_ref());
    let v = ColumnsAsV { minus: (row, below), ..*v };
    let all = gather_v(&l, &v, (&mut Mat::new(), v.order)).to_owned();
    let weights = (0..plus + minus).map(|r| if r < plus { T::Part::ONE } else { -T::Part::ONE }).collect();
    Ok(Given { v: all, weights, start: 0, scale: 1.0 })
}
