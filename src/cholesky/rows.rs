//! The calls of the front type that change rows and columns of A.

use super::Extension;
use crate::check::{extent, finite, finite_lower, index, room_for_copy};
use crate::cholesky::Cholesky;
use crate::engine::Engine;
use crate::error::Error;
use crate::operand::Operand;
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::storage::{Room, Storage, Swept};
use crate::structure::{Parts, ascending, room, shifts};
use crate::sweep::stop::Stop;
use faer::reborrow::IntoConst;
use faer::{Mat, MatRef};

/// Insertion, removal and reordering of rows and columns.
impl<T: Scalar, E: Engine<T>> Cholesky<T, E> {
    /// The largest order to which this factor can grow without another allocation for L. A clone, or a copy on another engine,
    /// has room for its current order only.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.guarded.factor().capacity()
    }

    /// Reserves room for `additional` further rows and columns, in L and in the shadow buffer of its
    /// [`Safeguard`](crate::Safeguard). Growth beyond the capacity reserves room by itself, for slightly more rows than needed.
    ///
    /// # Errors
    /// `OutOfRange`, naming `additional`; `Device` or `Poisoned` on an engine with a device.
    ///
    /// # Cost
    /// A copy of L, unless there is room already.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// factor.reserve(10)?;
    /// assert!(factor.order() == 2 && factor.capacity() >= 12);
    /// # Ok(())
    /// # }
    /// ```
    pub fn reserve(&mut self, additional: usize) -> Result<(), Error> {
        self.guarded.finish()?;
        let capacity = self.order().saturating_add(additional);
        if capacity <= self.capacity() {
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

    /// A ← (A B; Bᵀ K): r further rows and columns at the end.
    ///
    /// # Shapes
    /// B (n × r), the cross terms; K (r × r), of which the lower triangle is read.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`, naming `cross` or `corner`; `NotPositiveDefinite` with the row of the new A. After
    /// an error the factor is as it was.
    ///
    /// # Cost
    /// r n² + r² n flops, those of the triangular solve. Up to the [`capacity`](Self::capacity) no entry of L is moved.
    ///
    /// # Source
    /// G. H. Golub, C. F. Van Loan, *Matrix Computations*, 4th ed., Johns Hopkins (2013), section 4.2.9: a block of the
    /// factorization.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// factor.append(&[2.0, 1.0], &[6.0])?; // A = (4 2 2; 2 5 1; 2 1 6)
    /// assert_eq!(factor.l().row(2), mat![[1.0, 0.0, 5.0_f64.sqrt()]].row(0));
    /// # Ok(())
    /// # }
    /// ```
    pub fn append<'a>(
        &mut self,
        cross: impl Into<Operand<'a, T>>,
        corner: impl Into<Operand<'a, T>>,
    ) -> Result<Modification, Error> {
        self.guarded.finish()?;
        let (at, par) = (self.order(), self.par());
        let (cross, corner) = (cross.into(), corner.into());
        self.check_border(&cross, &corner)?;
        let parts = Parts::at_the_end(&cross, &corner);
        if let Some(made) = self.guarded.enter_there(at, &parts, 0, &mut self.scratch)? {
            return Ok(made);
        }
        let mut columns = core::mem::replace(&mut self.scratch.columns, Mat::new());
        let put = self.bordering(&cross, &corner, &mut columns);
        let made =
            put.and_then(|columns| self.guarded.enter(at, columns, 0, "corner", (&mut self.scratch, par)));
        self.scratch.columns = columns;
        made
    }

    /// Inserts r rows and columns into A, which become rows `at..at + r`; the old rows from `at` on follow them.
    ///
    /// # Shapes
    /// `at` ≤ n. The new columns of A ((n + r) × r), in the numbering of the new A; of their rows `at..at + r` the lower
    /// triangle is read. For r = 1 a slice, array or vector: Octave's `cholinsert`.
    ///
    /// # Errors
    /// `Index`, `Shape`, `NonFinite` or `Overflow`, naming `at` or `columns`; `NotPositiveDefinite` with the row of the new A.
    /// After an error the factor is as it was.
    ///
    /// # Cost
    /// r at² + 2 r (n − at) at + 2 r (n − at)² flops, and a move of the rows and columns from `at` on.
    ///
    /// # Source
    /// P. E. Gill, G. H. Golub, W. Murray, M. A. Saunders, *Methods for modifying matrix factorizations*, Math. Comp. 28
    /// (1974), section 5, by blocks.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 6.0]])?;
    /// factor.insert(1, &[2.0, 5.0, 1.0])?; // A = (4 2 2; 2 5 1; 2 1 6)
    /// assert!((factor.log_det()? - 80.0_f64.ln()).abs() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn insert<'a>(
        &mut self,
        at: usize,
        columns: impl Into<Operand<'a, T>>,
    ) -> Result<Modification, Error> {
        self.guarded.finish()?;
        index("at", at, self.order() + 1)?;
        let columns = columns.into();
        let (rows, rank) = columns.shape();
        extent("columns", "rows", self.order().saturating_add(rank), rows)?;
        let parts = Parts::of(&columns, at, "columns");
        if let Some(made) = self.guarded.enter_there(at, &parts, 0, &mut self.scratch)? {
            return Ok(made);
        }
        room_for_copy::<T>("columns", columns.shape())?;
        let columns = columns.on_host()?;
        let columns = columns.as_ref();
        finite_columns(at, columns)?;
        let par = self.par();
        self.guarded.enter(at, columns, 0, "columns", (&mut self.scratch, par))
    }

    /// Removes rows and columns of A, in one sweep. It cannot break down.
    ///
    /// # Shapes
    /// Any number of distinct indices less than n, in any order.
    ///
    /// # Errors
    /// `Index` or `Duplicate`, naming `indices`; `Overflow`, naming it, if squares of rows of L are close to overflow; `Device`
    /// or `Poisoned` on an engine with a device.
    ///
    /// # Cost
    /// 2 r (n − f)² flops, where f is the first of the r indices, and a move of the rows and columns after f.
    ///
    /// # Source
    /// Gill, Golub, Murray and Saunders (1974), as for [`insert`](Self::insert).
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0, 2.0, 2.0], [2.0, 5.0, 1.0], [2.0, 1.0, 6.0]])?;
    /// factor.remove(&[1])?; // A = (4 2; 2 6)
    /// assert!((factor.log_det()? - 20.0_f64.ln()).abs() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn remove(&mut self, indices: &[usize]) -> Result<Modification, Error> {
        self.guarded.finish()?;
        let order = self.order();
        ascending("indices", indices, order, &mut self.scratch.rows)?;
        self.guarded.take_out(&mut self.scratch)
    }

    /// Replaces r neighbouring rows and columns of A, as [`remove`](Self::remove) and [`insert`](Self::insert) would, in one
    /// sweep and without a move.
    ///
    /// # Shapes
    /// `at` + r ≤ n. The new columns of A (n × r); of their rows `at..at + r` the lower triangle is read.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    ///
    /// # Cost
    /// r at² + 2 r (n − at) at + 4 r (n − at)² flops.
    ///
    /// # Source
    /// As [`insert`](Self::insert).
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[4.0, 1.0, 2.0], [1.0, 3.0, 0.0], [2.0, 0.0, 6.0]])?;
    /// factor.replace(1, &[2.0, 5.0, 1.0])?; // A = (4 2 2; 2 5 1; 2 1 6)
    /// assert!((factor.log_det()? - 80.0_f64.ln()).abs() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn replace<'a>(
        &mut self,
        at: usize,
        columns: impl Into<Operand<'a, T>>,
    ) -> Result<Modification, Error> {
        self.guarded.finish()?;
        let columns = columns.into();
        let (order, (rows, rank)) = (self.order(), columns.shape());
        extent("columns", "rows", order, rows)?;
        extent("columns", "columns", rank.min(order), rank)?;
        index("at", at, order - rank + 1)?;
        let parts = Parts::of(&columns, at, "columns");
        if let Some(made) = self.guarded.enter_there(at, &parts, rank, &mut self.scratch)? {
            return Ok(made);
        }
        room_for_copy::<T>("columns", columns.shape())?;
        let columns = columns.on_host()?;
        let columns = columns.as_ref();
        finite_columns(at, columns)?;
        let par = self.par();
        self.guarded.enter(at, columns, rank, "columns", (&mut self.scratch, par))
    }

    /// Moves row and column `from` of A to row and column `to`; those between move up or down by one. Octave's `cholshift`. It
    /// cannot break down, except that a factor on a device that is singular to working precision is lost.
    ///
    /// # Shapes
    /// `from`, `to` < n.
    ///
    /// # Report
    /// The smallest ratio of a row's new pivot² to its old one; det A does not change.
    ///
    /// # Errors
    /// `Index`, naming `from` or `to`; `Device` or `Poisoned` on an engine with a device.
    ///
    /// # Cost
    /// O(|to − from| (n − min(from, to))) flops, and a move of the rows and columns from min(from, to) on. On an engine with a
    /// device a shift to a later row costs the flops of an update of the rows after `from`.
    ///
    /// # Source
    /// J. J. Dongarra, J. R. Bunch, C. B. Moler, G. W. Stewart, *LINPACK Users' Guide*, SIAM (1979), chapter 10: `dchex`.
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[5.0_f64, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 6.0]])?;
    /// factor.shift(0, 2)?; // A = (4 2 2; 2 6 1; 2 1 5)
    /// assert!((factor.l()[(2, 1)]).abs() < 1e-15);
    /// # Ok(())
    /// # }
    /// ```
    pub fn shift(&mut self, from: usize, to: usize) -> Result<Modification, Error> {
        self.guarded.finish()?;
        index("from", from, self.order())?;
        index("to", to, self.order())?;
        self.guarded.shifts(&[(from, to)])
    }

    /// Reorders rows and columns of A by the smallest number of shifts. It cannot break down, with the exception that
    /// [`shift`](Self::shift) has.
    ///
    /// # Shapes
    /// The n old rows in their new order: row `order[i]` becomes row i.
    ///
    /// # Report
    /// The smallest ratio of all these shifts.
    ///
    /// # Errors
    /// `Shape`, `Index` or `Duplicate`, naming `order`; `Device` or `Poisoned` on an engine with a device.
    ///
    /// # Cost
    /// That of a [`shift`](Self::shift) for each row outside a longest ascending subsequence of `order`.
    ///
    /// # Source
    /// As [`shift`](Self::shift).
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let mut factor = Cholesky::new(&mat![[5.0_f64, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 6.0]])?;
    /// factor.permute(&[1, 2, 0])?; // A = (4 2 2; 2 6 1; 2 1 5)
    /// assert!((factor.l()[(2, 1)]).abs() < 1e-15);
    /// # Ok(())
    /// # }
    /// ```
    pub fn permute(&mut self, order: &[usize]) -> Result<Modification, Error> {
        self.guarded.finish()?;
        extent("order", "entries", self.order(), order.len())?;
        ascending("order", order, order.len(), &mut self.scratch.rows)?;
        self.guarded.shifts(&shifts(order))
    }
}

impl<T: Scalar, E: Engine<T>> Cholesky<T, E> {
    /// The factor of A bordered by r rows and columns, without a change of this factor: many extensions can share one base.
    ///
    /// # Shapes
    /// B (n × r), the cross terms; K (r × r), of which the lower triangle is read.
    ///
    /// # Errors
    /// `Shape` or `NonFinite`, naming `cross` or `corner`; `NotPositiveDefinite` with the row of the bordered A; `Device` or
    /// `Poisoned` on an engine with a device.
    ///
    /// # Cost
    /// r n² + r² n flops and O((n + r) r) memory.
    ///
    /// # Source
    /// As [`append`](Self::append).
    ///
    /// ```
    /// use cholupdate::{Cholesky, Error, faer::mat};
    ///
    /// # fn main() -> Result<(), Error> {
    /// let factor = Cholesky::new(&mat![[4.0, 2.0], [2.0, 5.0]])?;
    /// let more = factor.extension(&[2.0, 1.0], &[6.0])?; // of (4 2 2; 2 5 1; 2 1 6)
    /// let x = more.solve(&[8.0, 8.0, 9.0])?;
    /// assert!((x - mat![[1.0], [1.0], [1.0]]).norm_max() < 1e-14);
    /// assert!((more.log_det()? - 80.0_f64.ln()).abs() < 1e-14);
    /// # Ok(())
    /// # }
    /// ```
    pub fn extension<'a>(
        &self,
        cross: impl Into<Operand<'a, T>>,
        corner: impl Into<Operand<'a, T>>,
    ) -> Result<Extension<'_, T, E>, Error> {
        self.guarded.regular()?;
        let mut columns = Mat::new();
        let columns = self.bordering(&cross.into(), &corner.into(), &mut columns)?;
        let (cross, corner) = columns.split_at_row(self.order());
        Extension::new(self, cross.to_owned(), corner)
    }

    /// Checks the shapes of B and K. (n × r, r × r)
    fn check_border(&self, cross: &Operand<'_, T>, corner: &Operand<'_, T>) -> Result<(), Error> {
        extent("cross", "rows", self.order(), cross.shape().0)?;
        extent("corner", "rows", cross.shape().1, corner.shape().0)?;
        extent("corner", "columns", cross.shape().1, corner.shape().1)
    }

    /// Copies B above K, checked, to `memory`. ((n + r) × r)
    fn bordering<'m>(
        &self,
        cross: &Operand<'_, T>,
        corner: &Operand<'_, T>,
        memory: &'m mut Mat<T>,
    ) -> Result<MatRef<'m, T>, Error> {
        let (order, rank) = (self.order(), cross.shape().1);
        self.check_border(cross, corner)?;
        room_for_copy::<T>("corner", (order.saturating_add(rank), rank))?;
        let (cross, corner) = (cross.clone().on_host()?, corner.clone().on_host()?);
        finite("cross", cross.as_ref())?;
        finite_lower("corner", corner.as_ref())?;
        let mut columns = room(memory, (order + rank, self.guarded.factor().capacity()), rank);
        columns.as_mut().subrows_mut(0, order).copy_from(cross.as_ref());
        columns.as_mut().subrows_mut(order, rank).copy_from(corner.as_ref());
        Ok(columns.into_const())
    }
}

/// Checks that the columns of A are finite. Their diagonal begins at row `at`, and the entries above it in that block are not
/// read.
fn finite_columns<T: Scalar>(at: usize, columns: MatRef<'_, T>) -> Result<(), Error> {
    let (above, below) = columns.split_at_row(at);
    finite("columns", above)?;
    finite_lower("columns", below).map(|_| ()).map_err(|error| match error {
        Error::NonFinite { argument, row, column } => Error::NonFinite { argument, row: row + at, column },
        error => error,
    })
}
