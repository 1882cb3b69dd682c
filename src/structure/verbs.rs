//! The verbs of rows and columns on the front type.

use super::removal::ascending;
use super::{Border, Extension, Resizable};
use crate::check::{extent, finite, index};
use crate::cholesky::Cholesky;
use crate::engine::{Engine, Factor};
use crate::error::Error;
use crate::input::{AsMatrix, Operand};
use crate::modify::{Modifiable, Stop, Target};
use crate::report::Modification;
use crate::scalar::Scalar;
use crate::sweep::weights::Weights;
use faer::{Mat, MatRef};

/// Rows and columns that come and go. On the [`Cpu`](crate::Cpu) engine.
impl<T: Scalar, E: Engine<T>> Cholesky<T, E>
where
    E::Factor: Resizable<T>,
{
    /// The largest order that this factor can grow to without another allocation for L.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.guarded.factor().capacity()
    }

    /// Makes room for as many further rows and columns, for L and for the shadow buffer of its
    /// [`Safeguard`](crate::Safeguard). Growth beyond the capacity makes room by itself, for some more than asked.
    ///
    /// # Errors
    /// `Poisoned`.
    ///
    /// # Cost
    /// A copy of L, where there is no room yet.
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
        self.guarded.in_place(|factor| factor.reserve(capacity).map_err(Stop::before))
    }

    /// A ← (A B; Bᵀ K): r further rows and columns at the end.
    ///
    /// # Shapes
    /// B (n × r), the cross terms; K (r × r), of which the lower triangle counts.
    ///
    /// # Errors
    /// `Shape`, `NonFinite` or `Overflow`, naming `cross` or `corner`; `NotPositiveDefinite` with the row of the new A. The
    /// factor is as it was then.
    ///
    /// # Cost
    /// r n² + r² n flops: that of the triangular solve. No column of L moves, up to the [`capacity`](Self::capacity).
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
    pub fn append(
        &mut self,
        cross: &(impl AsMatrix<T> + ?Sized),
        corner: &(impl AsMatrix<T> + ?Sized),
    ) -> Result<Modification<T>, Error> {
        self.guarded.finish()?;
        let columns = self.bordering(&cross.as_matrix(), &corner.as_matrix())?;
        self.insert_columns(self.order(), columns.as_ref())
    }

    /// Inserts r rows and columns into A, which become rows `at..at + r`; those from `at` on come behind them.
    ///
    /// # Shapes
    /// `at` ≤ n. The new columns of A ((n + r) × r), numbered as afterwards; of their rows `at..at + r` the lower triangle
    /// counts. For r = 1 a slice, array or vector: Octave's `cholinsert`.
    ///
    /// # Errors
    /// `Index`, `Shape`, `NonFinite` or `Overflow`, naming `at` or `columns`; `NotPositiveDefinite` with the row of the new A.
    /// The factor is as it was then.
    ///
    /// # Cost
    /// r at² + 2 r (n − at) at + 2 r (n − at)² flops, and a move of what is behind row `at`.
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
    pub fn insert(
        &mut self,
        at: usize,
        columns: &(impl AsMatrix<T> + ?Sized),
    ) -> Result<Modification<T>, Error> {
        self.guarded.finish()?;
        index("at", at, self.order() + 1)?;
        let columns = columns.as_matrix().on_host()?;
        let columns = columns.as_ref();
        extent("columns", "rows", self.order().saturating_add(columns.ncols()), columns.nrows())?;
        finite("columns", columns)?;
        self.insert_columns(at, columns)
    }

    /// Removes rows and columns of A, in one sweep. It cannot break down.
    ///
    /// # Shapes
    /// Any number of different indices less than n, in any order.
    ///
    /// # Errors
    /// `Index` or `Duplicate`, naming `indices`.
    ///
    /// # Cost
    /// 2 r (n − f)² flops, where f is the first of the r indices, and a move of what is behind row f.
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
    pub fn remove(&mut self, indices: &[usize]) -> Result<Modification<T>, Error> {
        self.guarded.finish()?;
        let order = self.order();
        let removed = ascending(indices, order)?;
        let log_det = self.log_det_of(removed.iter().copied());
        let mut v = Mat::zeros(order - removed.len(), removed.len());
        let report = self.guarded.in_place(|factor| {
            factor.removed_columns(&removed, v.as_mut());
            let staged = factor.stage(&Operand::Host(v.as_ref()), Weights::Plus);
            let outline = staged.map_err(Stop::before)?;
            factor.remove(&removed);
            match outline.first_column::<T>(v.nrows()) {
                Some(start) => {
                    factor.sweep(&outline, start..v.nrows(), Target::InPlace)?;
                    factor.wait()
                }
                None => Ok(Modification::identity()),
            }
        })?;
        Ok(report.and(T::ONE, -log_det))
    }

    /// Gives r neighbouring rows and columns of A other values, as [`remove`](Self::remove) and [`insert`](Self::insert) in one
    /// sweep would, and without a move.
    ///
    /// # Shapes
    /// `at` + r ≤ n. The new columns of A (n × r); of their rows `at..at + r` the lower triangle counts.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    ///
    /// # Cost
    /// r at² + 2 r (n − at) at + 4 r (n − at)² flops.
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
    pub fn replace(
        &mut self,
        at: usize,
        columns: &(impl AsMatrix<T> + ?Sized),
    ) -> Result<Modification<T>, Error> {
        self.guarded.finish()?;
        let columns = columns.as_matrix().on_host()?;
        let columns = columns.as_ref();
        let (order, rank) = (self.order(), columns.ncols());
        extent("columns", "rows", order, columns.nrows())?;
        extent("columns", "columns", rank.min(order), rank)?;
        index("at", at, order - rank + 1)?;
        finite("columns", columns)?;
        let row_norm = self.row_norm_with(at, columns)?;
        let factor = self.guarded.healthy()?;
        let border = Border::new(factor, at, columns, rank, self.par())?;
        let replaced: Vec<usize> = (at..at + rank).collect();
        let log_det = self.log_det_of(at..at + rank);
        let mut old = Mat::zeros(order - rank, rank);
        factor.removed_columns(&replaced, old.as_mut());
        let mut v = Mat::zeros(order, 2 * rank);
        v.submatrix_mut(at + rank, 0, order - at - rank, rank).copy_from(old.subrows(at, order - at - rank));
        v.submatrix_mut(at + rank, rank, order - at - rank, rank).copy_from(&border.below);
        let weights: Vec<T> = (0..2 * rank).map(|r| if r < rank { T::ONE } else { -T::ONE }).collect();
        let report = self.sweep_behind(&v, Weights::Each(&weights), at, 0)?;
        self.guarded.in_place(|factor| {
            factor.write(at, &border);
            Ok(())
        })?;
        self.guarded.bound_rows(row_norm);
        Ok(report.and(border.least_ratio, border.log_det - log_det))
    }

    /// Inserts columns that have been checked. ((n + r) × r)
    fn insert_columns(&mut self, at: usize, columns: MatRef<'_, T>) -> Result<Modification<T>, Error> {
        let (order, rank) = (self.order(), columns.ncols());
        let row_norm = self.row_norm_with(at, columns)?;
        let border = Border::new(self.guarded.healthy()?, at, columns, 0, self.par())?;
        if order + rank > self.capacity() {
            // To copy L now and then costs less than the solve that each new row comes with.
            self.reserve(rank.max(order / 8))?;
        }
        let mut v = Mat::zeros(order, rank);
        v.subrows_mut(at, order - at).copy_from(&border.below);
        let report = self.sweep_behind(&v, Weights::Minus, at, rank)?;
        self.guarded.in_place(|factor| {
            factor.insert(at, &border);
            Ok(())
        })?;
        self.guarded.bound_rows(row_norm);
        Ok(report.and(border.least_ratio, border.log_det))
    }

    /// The modification of what is behind row `at`; a breakdown there is one of `moved` rows further on in the new A.
    fn sweep_behind(
        &mut self,
        v: &Mat<T>,
        weights: Weights<'_, T>,
        at: usize,
        moved: usize,
    ) -> Result<Modification<T>, Error> {
        // A row of V whose square overflows exceeds its diagonal entry of A by far.
        let most = T::LARGE_SQUARE.to_f64() / v.ncols() as f64;
        let large = |x: &T| !(x.to_f64() * x.to_f64() <= most);
        let too_large = (at..v.nrows()).find(|&i| v.row(i).iter().any(large));
        let made = match too_large {
            Some(column) => Err(Error::NotPositiveDefinite { column }),
            None => self.guarded.modify(&Operand::Host(v.as_ref()), weights),
        };
        made.map_err(|error| match error {
            Error::NotPositiveDefinite { column } => Error::NotPositiveDefinite { column: column + moved },
            Error::Overflow { .. } => Error::Overflow { argument: "columns" },
            error => error,
        })
    }

    /// The bound on the rows of L with these columns of A, whose diagonal begins at row `at`.
    fn row_norm_with(&self, at: usize, columns: MatRef<'_, T>) -> Result<f64, Error> {
        let largest = (0..columns.ncols()).map(|j| columns[(at + j, j)].to_f64()).fold(0.0, f64::max);
        if largest > T::LARGE_SQUARE.to_f64() {
            return Err(Error::Overflow { argument: "columns" });
        }
        Ok(self.guarded.row_norm().max(largest.sqrt()))
    }

    /// 2 Σ log l_jj over these rows.
    fn log_det_of(&self, rows: impl Iterator<Item = usize>) -> f64 {
        let pivots: Vec<T> = self.guarded.factor().diagonal().collect();
        2.0 * rows.map(|row| pivots[row].to_f64().ln()).sum::<f64>()
    }
}

impl<T: Scalar, E: Engine<T>> Cholesky<T, E> {
    /// A bordered by r rows and columns, without a change of this factor: many extensions can stand on one base.
    ///
    /// # Shapes
    /// B (n × r), the cross terms; K (r × r), of which the lower triangle counts.
    ///
    /// # Errors
    /// `Shape` or `NonFinite`, naming `cross` or `corner`; `NotPositiveDefinite` with the row of the bordered A; `Device` or
    /// `Poisoned` on an engine with a device.
    ///
    /// # Cost
    /// r n² + r² n flops and O((n + r) r) memory.
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
    pub fn extension(
        &self,
        cross: &(impl AsMatrix<T> + ?Sized),
        corner: &(impl AsMatrix<T> + ?Sized),
    ) -> Result<Extension<'_, T, E>, Error> {
        self.guarded.healthy()?;
        let columns = self.bordering(&cross.as_matrix(), &corner.as_matrix())?;
        let (cross, corner) = columns.as_ref().split_at_row(self.order());
        Extension::new(self, cross.to_owned(), corner)
    }

    /// B above K, checked. ((n + r) × r)
    fn bordering(&self, cross: &Operand<'_, T>, corner: &Operand<'_, T>) -> Result<Mat<T>, Error> {
        let (order, rank) = (self.order(), cross.shape().1);
        extent("cross", "rows", order, cross.shape().0)?;
        extent("corner", "rows", rank, corner.shape().0)?;
        extent("corner", "columns", rank, corner.shape().1)?;
        let (cross, corner) = (cross.clone().on_host()?, corner.clone().on_host()?);
        finite("cross", cross.as_ref())?;
        finite("corner", corner.as_ref())?;
        let mut columns = Mat::zeros(order + rank, rank);
        columns.subrows_mut(0, order).copy_from(cross.as_ref());
        columns.subrows_mut(order, rank).copy_from(corner.as_ref());
        Ok(columns)
    }
}
